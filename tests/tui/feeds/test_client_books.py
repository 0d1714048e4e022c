"""The books follow the focus and the broker's snapshots; the scripted broker counts who asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.client_books import AGAIN_AFTER, STOOD_STILL, NextReads, load_book, update_books
from keydesk.feeds.conversions import watch_names
from keydesk.feeds.instruments import list_instruments
from keydesk.store.prices import step_book
from keydesk.store.state import ClientBook
from keydesk_client.following.feeds import stream_prices
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


EARLIER_TIMES = [f"2026-03-02T{time}:00.000000000Z" for time in ("09:40", "09:20", "09:00")]


@dataclass
class BrokerWithHistory(ScriptedBroker):
    """Serves the book of ten o'clock and those before it that it holds; others are 404."""

    held: tuple[str, ...] = ()
    wanted: list[str] = field(default_factory=list)  # times of earlier books, as asked for
    instrument: str = "EUR_USD"
    links: Mapping[str, str] = field(default_factory=dict)

    def answer(self, request: httpx.Request) -> httpx.Response:
        kind = request.url.path.rpartition("/")[2]
        time = request.url.params.get("time", "2026-03-02T10:00:00.000000000Z")
        self.asked.append(kind)
        if "time" in request.url.params:
            self.wanted.append(time)
            if time not in self.held:
                return httpx.Response(404, json={"errorMessage": "no such snapshot"})
        body = {kind: wire_book(time) | {"instrument": self.instrument}}
        headers = {"Link": f'<{self.links[time]}>; rel="prev"'} if time in self.links else {}
        return httpx.Response(200, json=body, headers=headers)


async def check(feed: AccountFeed, clock: Clock, looks: int, due: NextReads | None = None) -> None:
    """Look again and again at EUR_USD in focus."""
    feed.store.focus = "EUR_USD"
    due = due or NextReads()
    for _ in range(looks):
        await load_book(feed, due)
        await clock.pause(0.2)


async def settle(broker: ScriptedBroker, clock: Clock, looks: int = 12) -> list[str]:
    """Look again and again at a focus that does not turn; returns what was asked."""
    feed = link_to(broker, clock=clock)
    feed.store.focus = "EUR_USD"
    due = NextReads()
    for _ in range(looks):
        await load_book(feed, due)
        await clock.pause(0.2)
    await feed.client.close()
    return broker.asked


async def test_both_books_are_asked_for_once_the_focus_stands_still_and_those_before_them() -> None:
    broker = BrokerWithHistory(held=(EARLIER_TIMES[0],))
    assert await settle(broker, Clock(), 40) == ["orderBook", "positionBook"] * 2
    assert broker.wanted == EARLIER_TIMES[:1] * 2


async def test_the_snapshot_before_is_held_with_the_newest() -> None:
    broker, clock = BrokerWithHistory(held=tuple(EARLIER_TIMES)), Clock()
    feed = link_to(broker, clock=clock)
    await check(feed, clock, 40)
    await feed.client.close()
    held = feed.store.books["EUR_USD", "orders"]
    assert [each.time_ns for each in held.snapshots] == [TEN, TEN - 20 * MINUTE]


async def test_each_step_back_asks_for_one_more_until_the_broker_has_none() -> None:
    broker, clock = BrokerWithHistory(held=tuple(EARLIER_TIMES)), Clock()
    feed, due = link_to(broker, clock=clock), NextReads()
    await check(feed, clock, 40, due)
    for minutes, times in ((20, 2), (40, 3), (60, 3), (60, 3)):
        step_book(feed.store, -1)
        assert feed.store.book_time_ns == TEN - minutes * MINUTE
        await check(feed, clock, 40, due)
        assert len(feed.store.books["EUR_USD", "orders"].earlier) == times
    await feed.client.close()
    assert feed.store.books["EUR_USD", "positions"].reaches_start
    assert broker.wanted.count("2026-03-02T08:40:00.000000000Z") == 2  # once for each book


async def test_the_time_before_is_the_one_that_the_answer_links() -> None:
    link_back = "https://x/v3/instruments/EUR_USD/orderBook?time=2026-03-02T09%3A00%3A00Z"
    links = {"2026-03-02T10:00:00.000000000Z": link_back}
    broker, clock = BrokerWithHistory(held=(EARLIER_TIMES[2],), links=links), Clock()
    feed = link_to(broker, clock=clock)
    await check(feed, clock, 40)
    await feed.client.close()
    assert feed.store.books["EUR_USD", "orders"].earlier[0].time_ns == TEN - 60 * MINUTE


async def test_a_link_that_is_no_time_counts_as_none() -> None:
    for address in ("x?time=never", "x?time=", "]://[", "x?a=1&b=2&c=3&d=4&e=5", "?time=9e99"):
        links = {"2026-03-02T10:00:00.000000000Z": address}
        broker, clock = BrokerWithHistory(held=(EARLIER_TIMES[0],), links=links), Clock()
        feed = link_to(broker, clock=clock)
        await check(feed, clock, 40)
        await feed.client.close()
        assert broker.wanted == EARLIER_TIMES[:1] * 2


async def test_a_book_of_another_instrument_is_refused_and_asked_for_seldom() -> None:
    broker, clock = BrokerWithHistory(instrument="USD_JPY"), Clock()
    feed = link_to(broker, clock=clock)
    await check(feed, clock, 100)
    await feed.client.close()
    assert broker.asked == ["orderBook", "positionBook"]
    assert ("USD_JPY", "orders") not in feed.store.books
    assert "could not be read" in feed.store.books["EUR_USD", "orders"].trouble


async def test_another_focus_drops_the_earlier_snapshots() -> None:
    broker, clock = BrokerWithHistory(held=tuple(EARLIER_TIMES)), Clock()
    feed, due = link_to(broker, clock=clock), NextReads()
    await check(feed, clock, 40, due)
    feed.store.set_focus("USD_JPY")
    await load_book(feed, due)
    await feed.client.close()
    held = feed.store.books["EUR_USD", "orders"]
    assert held.snapshot is not None
    assert held.earlier == ()


async def test_a_focus_that_passes_by_is_not_asked_about() -> None:
    broker, clock = broker_with_books(), Clock()
    feed = link_to(broker, clock=clock)
    due = NextReads()
    for name in ("EUR_USD", "USD_JPY", "EUR_GBP", "AUD_NZD"):
        feed.store.focus = name
        await load_book(feed, due)
        await clock.pause(STOOD_STILL / 2)
    await feed.client.close()
    assert broker.asked == []


async def test_the_next_snapshot_is_asked_for_when_it_is_due_and_not_before() -> None:
    broker, clock = BrokerWithHistory(), Clock()
    feed, due = link_to(broker, clock=clock), NextReads()
    feed.store.focus = "EUR_USD"
    for minutes, asked in ((19, 4), (21, 6)):  # two of them are earlier books, which it lacks
        feed.store.clock_ns = TEN + minutes * MINUTE
        for _ in range(12):
            await load_book(feed, due)
            await clock.pause(0.2)
        assert len(broker.asked) == asked
        clock.seconds += AGAIN_AFTER
    await feed.client.close()


async def test_an_instrument_without_books_is_said_plainly_and_asked_about_once() -> None:
    broker = ScriptedBroker(statuses={"Book": 404})
    clock = Clock()
    feed, due = link_to(broker, clock=clock), NextReads()
    feed.store.focus = "AUD_NZD"
    for _ in range(200):
        await load_book(feed, due)
        await clock.pause(1.0)
    await feed.client.close()
    assert broker.asked == ["orderBook", "positionBook"]
    assert feed.store.books["AUD_NZD", "orders"] == ClientBook(
        "orders", None, "There is no order book for AUD/NZD."
    )


async def test_a_broker_in_trouble_is_asked_again_and_the_reason_is_told() -> None:
    broker = ScriptedBroker(statuses={"Book": 503})
    clock = Clock()
    feed, due = link_to(broker, clock=clock), NextReads()
    feed.store.focus = "EUR_USD"
    for _ in range(int(2 * AGAIN_AFTER)):
        await load_book(feed, due)
        await clock.pause(1.0)
    await feed.client.close()
    assert 4 <= len(broker.asked) <= 6
    assert "could not be read" in feed.store.books["EUR_USD", "positions"].trouble


async def test_nothing_is_asked_before_the_first_price() -> None:
    broker = broker_with_books()
    async with running(
        link_to(broker), list_instruments, stream_prices, watch_names, update_books
    ) as feed:
        await until(lambda: feed.store.focus)
        assert "orderBook" not in broker.asked
        broker.price_line.say(price("EUR_USD", "1.08490", "1.08500"))
        await until(lambda: ("EUR_USD", "positions") in feed.store.books)


async def test_a_book_that_had_to_make_room_is_asked_for_again_when_the_focus_returns() -> None:
    broker, clock = broker_with_books(), Clock()
    feed, due = link_to(broker, clock=clock), NextReads()
    for name in ("EUR_USD", "USD_JPY", "EUR_USD"):
        feed.store.focus = name
        feed.store.books.clear()
        await load_book(feed, due)
        await clock.pause(STOOD_STILL)
        await load_book(feed, due)
    await feed.client.close()
    assert broker.asked == ["orderBook"] * 3
