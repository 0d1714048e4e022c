"""The price stream, conversions, chart, days and history, against a scripted broker."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Self, cast

import pytest

from keydesk.calc.market.watchlists import DEFAULT_WATCHLIST, Watchlist, Watchlists
from keydesk.feeds.candles import update_chart
from keydesk.feeds.conversions import update_conversions, watch_names
from keydesk.feeds.days import DAYS_EVERY, days_once, update_days
from keydesk.feeds.history import update_history
from keydesk.feeds.instruments import list_instruments
from keydesk.feeds.round_trips import RoundTrips
from keydesk.feeds.session import assess_streams, check
from keydesk.store.state import Health
from keydesk.values import Day
from keydesk_client.errors import ConnectionLost
from keydesk_client.following.feeds import stream_prices, take_prices, update_snapshot
from keydesk_client.models import ClientPrice, PricingHeartbeat
from keydesk_client.models._core.scalars import DateTime
from keydesk_client.streams.prices import PriceStream
from keydesk_client.streams.settings import StreamHealth
from support.data.account_history import (
    candle,
    conversions,
    fill,
    open_trade,
    opening,
    price,
    reduction,
    transaction,
)
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to, running, until

LATER = "2026-03-02T10:00:01.000000000Z"


def candles_of(*each: str) -> list[object]:
    minutes = (f"2026-03-02T10:0{minute}:00.000000000Z" for minute in range(9))
    return [candle(time, ohlc).to_wire() for time, ohlc in zip(minutes, each, strict=False)]


async def test_prices_come_without_waiting_for_the_account() -> None:
    broker = ScriptedBroker(statuses={"101-001-1-001": 503})
    async with running(
        link_to(broker), list_instruments, update_snapshot, stream_prices, watch_names
    ) as feed:
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await feed.priced.wait()
        assert not feed.follower.ready.is_set()
        assert feed.store.quotes["EUR_USD"].bid == Decimal("1.08490")
        assert feed.store.health.prices == "OK"
        assert broker.price_line.opened == [("EUR_USD", "USD_JPY", "EUR_GBP", "AUD_NZD")]


async def test_nothing_is_kept_of_instruments_and_currencies_that_the_account_does_not_have() -> (
    None
):
    broker = ScriptedBroker()
    async with running(link_to(broker), list_instruments) as feed:
        await feed.instruments_known.wait()
        for number in range(100):
            odd = price(f"X{number}_Y", "1.1", "1.2")
            rates = [conversions(f"Z{number}", "1", "1", "1").to_wire()]
            feed.take_price(odd)
            feed.take_price(price("EUR_USD", "1.1", "1.2", homeConversions=rates))
        assert list(feed.store.quotes) == ["EUR_USD"]
        assert feed.store.conversions == {}
        assert feed.store.health.unreadable == 200


async def test_prices_that_come_before_the_instruments_of_a_new_market_are_no_unreadable_records() -> (
    None
):
    feed = link_to(ScriptedBroker())
    early = price("EUR_USD", "1.08490", "1.08500")
    feed.take_price(early)
    assert feed.store.health.unreadable == 0
    assert feed.store.quotes == {}
    await feed.client.close()


async def test_what_is_held_or_in_focus_is_streamed_as_well() -> None:
    broker = ScriptedBroker()
    feed = link_to(broker)
    feed.store.lists = Watchlists((DEFAULT_WATCHLIST, Watchlist("Mine", ("EUR_USD",))))
    feed.store.list_name = "Mine"
    async with running(feed, list_instruments, stream_prices, watch_names):
        await until(lambda: broker.price_line.opened == [("EUR_USD",)])
        feed.store.set_focus("AUD_NZD")
        broker.price_line.say(*(price("EUR_USD", "1.08490", "1.08500") for _ in range(3)))
        await until(lambda: feed.wanted() == ("EUR_USD", "AUD_NZD"))
        await until(lambda: feed.store.quotes)
        for _ in range(1000):  # the old stream is left with the first item after the change is seen
            broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await until(lambda: broker.price_line.opened[-1] == ("EUR_USD", "AUD_NZD"))
        assert feed.store.health.prices == "OK"


class TimedStream:
    """A price stream whose items come at these moments."""

    def __init__(self, clock: Clock, moments: Sequence[float]) -> None:
        self.health = StreamHealth()
        self._clock, self._moments = clock, iter(moments)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ClientPrice:
        for moment in self._moments:
            self._clock.seconds = max(self._clock.seconds, moment)
            return price("EUR_USD", "1.08490", "1.08500")
        raise StopAsyncIteration


async def rests_between(*moments: float) -> list[float]:
    """How long the reader rested while a price came at each of these moments."""
    clock, rests = Clock(0), list[float]()
    feed = link_to(ScriptedBroker(), clock=clock)

    async def pause(seconds: float) -> None:
        rests.append(round(seconds, 3))
        clock.seconds += seconds

    feed.follower.timing = replace(feed.timing, sleep=pause)
    await take_prices(feed.follower, cast("PriceStream", TimedStream(clock, moments)))
    await feed.client.close()
    return rests


async def test_prices_that_come_together_are_read_at_once_and_a_flood_once_a_frame() -> None:
    assert await rests_between(1.0, 1.001, 1.002, 1.25, 1.251, 1.252) == []
    assert await rests_between(1.0, 1.001, 1.071, 1.072, 1.142, 1.143) == [0.024, 0.048]
    assert len(await rests_between(*(1 + each / 1000 for each in range(1000)))) == 11


async def test_a_lost_price_stream_is_said_and_opened_again() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), list_instruments, stream_prices, watch_names) as feed:
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"), ConnectionLost("cut"))
        await until(lambda: len(broker.price_line.opened) > 1)
        assert "The price stream is down: cut" in [line.text for line in feed.store.log]
        broker.price_line.say(price("EUR_USD", "1.08491", "1.08501", LATER))
        await until(lambda: feed.store.health.prices == "OK")


async def test_after_a_gap_older_times_count_and_candles_are_loaded_again() -> None:
    broker = ScriptedBroker(
        answers={
            "/candles": {
                "instrument": "EUR_USD",
                "granularity": "M5",
                "candles": candles_of("1.0 1.1 0.9 1.05"),
            }
        }
    )
    async with running(
        link_to(broker), list_instruments, stream_prices, watch_names, update_chart
    ) as feed:
        await until(lambda: broker.asked.count("candles") == 1)
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500", LATER), "a gap")
        broker.price_line.say(price("EUR_USD", "1.00000", "1.00010"))
        await until(lambda: feed.store.quotes and feed.store.quotes["EUR_USD"].bid == 1)
        await until(lambda: broker.asked.count("candles") == 2)


async def test_a_heartbeat_is_a_sign_of_life_and_tells_the_time() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), list_instruments, stream_prices, watch_names) as feed:
        broker.price_line.say(PricingHeartbeat(time=DateTime(LATER)))
        await until(lambda: feed.store.clock_ns == DateTime(LATER).ns)
        assert feed.store.health.prices_at is not None
        assert feed.store.health.clock_offset_ms == 1000


async def test_conversions_and_prices_come_by_asking_too() -> None:
    yen = conversions("JPY", "0.00641", "0.00648", "0.00644")
    broker = ScriptedBroker(
        answers={
            "/pricing": {
                "prices": [price("EUR_USD", "1.08490", "1.08500").to_wire()],
                "homeConversions": [yen.to_wire()],
                "time": LATER,
            }
        }
    )
    async with running(link_to(broker), list_instruments, update_conversions) as feed:
        await until(lambda: "JPY" in feed.store.conversions)
        assert feed.store.quotes["EUR_USD"].ask == Decimal("1.08500")


async def test_the_chart_follows_the_focus() -> None:
    broker = ScriptedBroker(
        answers={
            "/candles": {
                "instrument": "EUR_USD",
                "granularity": "M5",
                "candles": candles_of("1.0 1.1 0.9 1.05"),
            }
        }
    )
    async with running(link_to(broker), list_instruments, update_chart) as feed:
        await until(lambda: ("EUR_USD", "M5") in feed.store.series)
        await until(lambda: not feed.store.series["EUR_USD", "M5"].loading)
        feed.store.set_focus("USD_JPY")
        feed.store.set_granularity("H1")
        await until(lambda: set(feed.store.series) == {("USD_JPY", "H1")})


async def test_candles_that_do_not_come_say_why_and_are_asked_for_again() -> None:
    broker = ScriptedBroker(statuses={"/candles": 503})
    async with running(link_to(broker), list_instruments, update_chart) as feed:
        await until(lambda: broker.asked.count("candles") > 2)
        assert "503" in feed.store.series["EUR_USD", "M5"].error


@pytest.mark.parametrize("latest_works", [True, False])
async def test_the_days_of_what_is_watched(latest_works: bool) -> None:
    two = candles_of("1.0 1.1 0.9 1.05", "1.05 1.08 1.01 1.02")
    series = {"instrument": "EUR_USD", "granularity": "D", "candles": two}
    broker = ScriptedBroker(
        answers={"/latest": {"latestCandles": [series]}, "/candles": series},
        statuses={} if latest_works else {"/latest": 501},
    )
    async with running(link_to(broker), list_instruments) as feed:
        await feed.instruments_known.wait()
        assert await days_once(feed, ["EUR_USD"])
        day = feed.store.days["EUR_USD"]
        expected = ("1.05", "1.08", "1.01", "1.1", "0.9")
        assert day == Day(*map(Decimal, expected))


async def test_days_wait_for_the_first_price() -> None:
    broker = ScriptedBroker(answers={"/latest": {"latestCandles": []}})
    async with running(
        link_to(broker), list_instruments, stream_prices, watch_names, update_days
    ) as feed:
        await feed.instruments_known.wait()
        assert "latest" not in broker.asked
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await until(lambda: "latest" in broker.asked)


async def test_days_are_read_again_at_once_when_the_market_jumps() -> None:
    """High and low of the day stayed those of before for a minute."""
    broker = ScriptedBroker(answers={"/latest": {"latestCandles": []}})

    class UntilTheJump(Clock):
        async def pause(self, seconds: float) -> None:
            await (asyncio.Event().wait() if seconds >= DAYS_EVERY else asyncio.sleep(0))

    feed = link_to(broker, clock=UntilTheJump())
    async with running(feed, list_instruments, stream_prices, watch_names, update_days):
        await feed.instruments_known.wait()
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await until(lambda: "latest" in broker.asked)
        await until(lambda: feed.store.clock_ns > 0)
        asked = broker.asked.count("latest")
        feed.store.see_clock(feed.store.clock_ns + 3600 * 10**9)
        await until(lambda: broker.asked.count("latest") > asked)


async def test_history_fills_the_log_the_day_and_the_first_stops() -> None:
    before = "2026-03-01T12:00:00.000000000Z"
    stop = {"tradeID": "5", "timeInForce": "GTC", "reason": "ON_FILL", "price": "1.08300"}
    part = reduction(4, "-100", "1.08600", "0.1000")
    broker = ScriptedBroker()
    broker.happens(transaction(1, "CREATE", homeCurrency="USD", time=before))
    broker.happens(opening(5, "100", "1.08500"), transaction(6, "STOP_LOSS_ORDER", **stop))
    broker.happens(fill(7, tradesClosed=[part], pl="0.1000"))
    held = {"openTime": LATER, "initialUnits": "100", "currentUnits": "100"}
    broker.members = {"trades": [open_trade(5, **held)]}
    feed = link_to(broker)
    sides = {"bid": dict.fromkeys("ohlc", "1.08545"), "ask": dict.fromkeys("ohlc", "1.08555")}
    last = {"time": before, "volume": 1, "complete": True, **sides}
    broker.answers["/EUR_USD/candles"] = {
        "instrument": "EUR_USD",
        "granularity": "S5",
        "candles": [last],
    }
    async with running(
        feed, list_instruments, update_snapshot, stream_prices, watch_names, update_history
    ):
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await until(lambda: feed.store.today is not None)
        assert [line.id for line in feed.store.log] == ["1", "5", "6", "7"]
        assert feed.store.trades["5"].initial_stop == Decimal("1.08300")
        assert feed.store.today is not None
        assert feed.store.today.booked == Decimal("0.1")
        # trade 4 was open before and made 0.055 of its 0.1 since the day began at 1.08545
        assert feed.store.today.unrealized_then == Decimal("0.1") - Decimal("0.055")


def test_a_stream_is_stale_after_six_seconds_of_silence() -> None:
    health, trips = Health(prices="OK", prices_at=10.0), RoundTrips()
    said: list[str] = []
    for received_at, now in ((10.0, 16.0), (10.0, 16.1), (17.0, 17.5)):
        health.prices_at = received_at
        assess_streams(health, trips, now)
        said.append(health.prices)
    assert said == ["OK", "STALE", "OK"]
    assert health.events == "CONNECTING"


async def test_a_stream_that_is_being_opened_again_is_down() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), list_instruments, stream_prices, watch_names) as feed:
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await feed.priced.wait()
        broker.price_line.health.connected = False
        broker.price_line.health.last_error = ConnectionLost("cut")
        check(feed)
        check(feed)
        assert [line.text for line in feed.store.log] == ["The price stream is down: cut"]
        broker.price_line.say(price("EUR_USD", "1.08491", "1.08501", LATER))
        broker.price_line.health.connected = True
        await until(lambda: feed.store.health.prices == "OK")


async def test_a_price_does_not_hide_that_answers_are_slow_until_the_next_look() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), list_instruments, stream_prices, watch_names) as feed:
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await feed.priced.wait()
        for _ in range(20):
            feed.round_trips.took(1.2, feed.now())
        check(feed)
        assert feed.store.health.prices == "SLOW"
        broker.price_line.say(price("EUR_USD", "1.08491", "1.08501", LATER))
        await until(lambda: feed.store.quotes["EUR_USD"].bid == Decimal("1.08491"))
        assert feed.store.health.prices == "SLOW"


def test_slow_answers_are_said() -> None:
    health, trips = Health(events="OK", events_at=10.0), RoundTrips()
    for _ in range(20):
        trips.took(1.2, 10.0)
    assess_streams(health, trips, 11.0)
    assert health.events == "SLOW"
    assert health.rtt_p95_ms == 1200


def test_a_line_that_is_fast_again_is_ok_after_a_minute() -> None:
    health, trips = Health(events="OK", events_at=10.0), RoundTrips()
    for _ in range(20):
        trips.took(1.2, 10.0)
    for now, state in ((69.0, "SLOW"), (70.0, "OK")):
        health.events_at = now
        trips.took(0.1, now)
        assess_streams(health, trips, now)
        assert health.events == state


second_chart = partial(update_chart, place=2)


async def test_a_second_chart_follows_the_same_focus() -> None:
    series = {"instrument": "EUR_USD", "granularity": "M5", "candles": candles_of("1 2 0.5 1.5")}
    broker = ScriptedBroker(answers={"/candles": series})
    async with running(link_to(broker), list_instruments, update_chart, second_chart) as feed:
        feed.store.set_side_chart(2, "", "H1")
        await until(lambda: set(feed.store.series) == {("EUR_USD", "M5"), ("EUR_USD", "H1")})
        feed.store.set_granularity("H1")  # both show the same: it is loaded once and stays
        await until(lambda: set(feed.store.series) == {("EUR_USD", "H1")})
        feed.store.set_focus("USD_JPY")
        await until(lambda: set(feed.store.series) == {("USD_JPY", "H1")})
        assert set(feed.store.charted) == {"USD_JPY"}


async def test_a_second_chart_that_went_from_the_screen_loads_no_more() -> None:
    series = {"instrument": "EUR_USD", "granularity": "M5", "candles": candles_of("1 2 0.5 1.5")}
    broker = ScriptedBroker(answers={"/candles": series})
    async with running(link_to(broker), list_instruments, update_chart, second_chart) as feed:
        feed.store.set_side_chart(2, "", "H1")
        await until(lambda: set(feed.store.series) == {("EUR_USD", "M5"), ("EUR_USD", "H1")})
        feed.store.set_side_chart(2, "", "")  # the terminal became smaller
        await until(lambda: set(feed.store.series) == {("EUR_USD", "M5")})
        [live] = feed.store.charted["EUR_USD"]
        assert live.granularity == "M5", "no tick moves the other one either"
        feed.store.set_focus("USD_JPY")
        await until(lambda: set(feed.store.series) == {("USD_JPY", "M5")})
        feed.store.set_side_chart(2, "", "H1")
        await until(lambda: set(feed.store.series) == {("USD_JPY", "M5"), ("USD_JPY", "H1")})
