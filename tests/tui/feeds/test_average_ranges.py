"""The hourly candles behind `1.5a`: read for the focus and for what is held, again each hour, kept on a failure."""

from decimal import Decimal

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.average_ranges import AGAIN_AFTER, STOOD_STILL, NextReads, read_next
from support.data.account_history import candle, instrument
from support.data.desk_store import long_euro
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to

TEN = 1_772_445_600_000_000_000  # 2026-03-02 10:00 UTC
HOUR = 3_600_000_000_000
CANDLES = "/candles"


def hours(count: int) -> dict[str, object]:
    """Return hourly candles of 12 pips each, the last one not complete and 50 pips high."""
    times = [f"2026-02-{1 + n // 24:02}T{n % 24:02}:00:00.000000000Z" for n in range(count)]
    made = [candle(time, "1.1006 1.1012 1.1000 1.1006") for time in times]
    forming = candle("2026-03-02T10:00:00.000000000Z", "1.1 1.105 1.1 1.1", complete=False)
    wire = [each.to_wire() for each in (*made, forming)]
    return {"instrument": "EUR_USD", "granularity": "H1", "candles": wire}


def ready(broker: ScriptedBroker, clock: Clock) -> AccountFeed:
    feed = link_to(broker, clock=clock)
    feed.store.instruments = {name: instrument(name) for name in ("EUR_USD", "USD_JPY")}
    feed.store.clock_ns = TEN
    feed.store.focus = "EUR_USD"
    return feed


async def settle(feed: AccountFeed, due: NextReads, clock: Clock, looks: int = 6) -> None:
    for _ in range(looks):
        await read_next(feed, due)
        await clock.pause(0.2)


async def test_the_range_of_the_focus_is_read_once_it_stands_still() -> None:
    broker, clock = ScriptedBroker(answers={CANDLES: hours(127)}), Clock()
    feed, due = ready(broker, clock), NextReads()
    assert await read_next(feed, due) == STOOD_STILL
    assert not broker.asked
    await settle(feed, due, clock)
    await feed.client.close()
    assert broker.asked == ["candles"]
    assert feed.store.average_ranges["EUR_USD"].value == Decimal("0.0012")


async def test_what_is_held_is_read_as_well() -> None:
    broker, clock = ScriptedBroker(answers={CANDLES: hours(127)}), Clock()
    feed, due = ready(broker, clock), NextReads()
    feed.store.focus = "USD_JPY"
    feed.store.trades["6411"] = long_euro()
    await settle(feed, due, clock)
    await feed.client.close()
    assert set(feed.store.average_ranges) == {"EUR_USD", "USD_JPY"}


async def test_it_is_read_again_when_the_hour_is_over_and_not_before() -> None:
    broker, clock = ScriptedBroker(answers={CANDLES: hours(127)}), Clock()
    feed, due = ready(broker, clock), NextReads()
    for minutes, asked in ((0, 1), (59, 1), (61, 2)):
        feed.store.clock_ns = TEN + minutes * HOUR // 60
        await settle(feed, due, clock)
        assert len(broker.asked) == asked
    await feed.client.close()


async def test_a_failure_keeps_what_was_known_and_is_not_repeated_at_once() -> None:
    broker, clock = ScriptedBroker(answers={CANDLES: hours(127)}), Clock()
    feed, due = ready(broker, clock), NextReads()
    await settle(feed, due, clock)
    known = feed.store.average_ranges["EUR_USD"]
    broker.statuses = {CANDLES: 404}
    feed.store.clock_ns = TEN + 2 * HOUR
    await settle(feed, due, clock)
    assert len(broker.asked) == 2
    assert feed.store.average_ranges["EUR_USD"] == known
    clock.seconds += AGAIN_AFTER
    await settle(feed, due, clock)
    assert len(broker.asked) == 3
    await feed.client.close()


async def test_too_few_candles_leave_the_range_unknown() -> None:
    broker, clock = ScriptedBroker(answers={CANDLES: hours(9)}), Clock()
    feed = ready(broker, clock)
    await settle(feed, NextReads(), clock)
    await feed.client.close()
    assert feed.store.average_ranges["EUR_USD"].value is None
