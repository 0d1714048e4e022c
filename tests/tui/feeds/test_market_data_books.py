"""The books follow the focus and the broker's snapshots; the scripted broker counts who asks."""

from keydesk.feeds.market_data import (
    AGAIN_AFTER,
    STOOD_STILL,
    Due,
    keep_books,
    list_instruments,
    load_book,
)
from keydesk.feeds.streams import stream_prices
from keydesk.store.state import ClientBook
from support.data.account_history import price
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to, running, until

TEN = 1_772_445_600_000_000_000  # 2026-03-02 10:00 UTC
MINUTE = 60_000_000_000


def wire_book(time: str = "2026-03-02T10:00:00.000000000Z") -> dict[str, object]:
    """A book of one bucket."""
    bucket = {"price": "1.08400", "longCountPercent": "53.2", "shortCountPercent": "46.8"}
    return {
        "instrument": "EUR_USD",
        "time": time,
        "price": "1.08431",
        "bucketWidth": "0.00050",
        "buckets": [bucket],
    }


def broker_with_books() -> ScriptedBroker:
    return ScriptedBroker(
        answers={
            "orderBook": {"orderBook": wire_book()},
            "positionBook": {"positionBook": wire_book()},
        }
    )


async def settle(broker: ScriptedBroker, clock: Clock, looks: int = 12) -> list[str]:
    """Look again and again at a focus that does not turn; returns what was asked."""
    link = link_to(broker, clock=clock)
    link.store.focus = "EUR_USD"
    due = Due()
    for _ in range(looks):
        await load_book(link, due)
        await clock.pause(0.2)
    await link.client.close()
    return broker.asked


async def test_both_books_are_asked_for_once_the_focus_stands_still() -> None:
    assert await settle(broker_with_books(), Clock()) == ["orderBook", "positionBook"]


async def test_a_focus_that_passes_by_is_not_asked_about() -> None:
    broker, clock = broker_with_books(), Clock()
    link = link_to(broker, clock=clock)
    due = Due()
    for name in ("EUR_USD", "USD_JPY", "EUR_GBP", "AUD_NZD"):
        link.store.focus = name
        await load_book(link, due)
        await clock.pause(STOOD_STILL / 2)
    await link.client.close()
    assert broker.asked == []


async def test_the_next_snapshot_is_asked_for_when_it_is_due_and_not_before() -> None:
    broker, clock = broker_with_books(), Clock()
    link, due = link_to(broker, clock=clock), Due()
    link.store.focus = "EUR_USD"
    for minutes, asked in ((19, 2), (21, 4)):
        link.store.clock_ns = TEN + minutes * MINUTE
        for _ in range(12):
            await load_book(link, due)
            await clock.pause(0.2)
        assert len(broker.asked) == asked
        clock.seconds += AGAIN_AFTER
    await link.client.close()


async def test_an_instrument_without_books_is_said_plainly_and_asked_about_once() -> None:
    broker = ScriptedBroker(statuses={"Book": 404})
    clock = Clock()
    link, due = link_to(broker, clock=clock), Due()
    link.store.focus = "AUD_NZD"
    for _ in range(200):
        await load_book(link, due)
        await clock.pause(1.0)
    await link.client.close()
    assert broker.asked == ["orderBook", "positionBook"]
    assert link.store.books["AUD_NZD", "orders"] == ClientBook(
        "orders", None, "There is no order book for AUD/NZD."
    )


async def test_a_broker_in_trouble_is_asked_again_and_the_reason_is_told() -> None:
    broker = ScriptedBroker(statuses={"Book": 503})
    clock = Clock()
    link, due = link_to(broker, clock=clock), Due()
    link.store.focus = "EUR_USD"
    for _ in range(int(2 * AGAIN_AFTER)):
        await load_book(link, due)
        await clock.pause(1.0)
    await link.client.close()
    assert 4 <= len(broker.asked) <= 6
    assert "could not be read" in link.store.books["EUR_USD", "positions"].trouble


async def test_nothing_is_asked_before_the_first_price() -> None:
    broker = broker_with_books()
    async with running(link_to(broker), list_instruments, stream_prices, keep_books) as link:
        await until(lambda: link.store.focus)
        assert "orderBook" not in broker.asked
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await until(lambda: ("EUR_USD", "positions") in link.store.books)


async def test_a_book_that_had_to_make_room_is_asked_for_again_when_the_focus_returns() -> None:
    broker, clock = broker_with_books(), Clock()
    link, due = link_to(broker, clock=clock), Due()
    for name in ("EUR_USD", "USD_JPY", "EUR_USD"):
        link.store.focus = name
        link.store.books.clear()
        await load_book(link, due)
        await clock.pause(STOOD_STILL)
        await load_book(link, due)
    await link.client.close()
    assert broker.asked == ["orderBook"] * 3
