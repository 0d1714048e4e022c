"""No value of any answer ends a feed, and none leaves a mark once the service answers well again.

Every feed runs against a server on a real socket. Of one operation, each member of each record is left out, null, of
another type, no number, endless, huge, in another century; then everything is good, and the desk must find back alone.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import pytest

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.session import FEEDS
from keydesk.store.candles import want_history
from keydesk.store.valuation import revalue
from support.data.wire_samples import specification
from support.fakes.hostile_broker import (
    GOOD,
    NEXT_ID,
    TIME,
    Clock,
    HostileBroker,
    broken,
    hostile_desk,
    mutations,
    record,
    sample,
)

IN_TIME_S = 240.0  # without any progress
A_FEW = 3602
# Every feed asks again after each answer, which takes 60 ms of a processor: of the 29 variants of a member two or three each,
# others for the next member.
MANY = 11


FITTING = {"instrument": "EUR_USD", "tradeID": "4", "orderID": "5"}
"""What a transaction is about, so that it reaches what the account holds."""


def good_body(ending: str) -> Any:  # noqa: ANN401 - a body of any shape
    """What the good broker answers."""
    if ending in GOOD:
        return GOOD[ending]
    broker = HostileBroker()
    query = {"/changes": "?sinceTransactionID=9", "/idrange": "?from=1&to=9"}.get(ending, "")
    _, body = broker._answer(f"/v3/accounts/x{ending}", f"/v3/accounts/x{ending}{query}")
    return json.loads(body)


OPERATIONS = {
    "101-001-1-001": "get_account",
    "/changes": "poll_changes",
    "/instruments": "list_instruments",
    "/pricing": "get_pricing",
    "/candles": "instrument_candles",
    "/candles/latest": "latest_candles",
    "/orderBook": "get_order_book",
    "/positionBook": "get_position_book",
    "/idrange": "transactions_range",
}


def hostile_answers(ending: str, every: int) -> Iterator[bytes]:
    good = good_body(ending)
    yield from broken(good)
    yield from mutations(good, every)
    yield from mutations(sample(OPERATIONS[ending]), every, start=3)


def transaction_lines(every: int) -> Iterator[bytes]:
    """Every transaction, each member of it wrong once; the broker numbers them, unless the id is what is wrong."""
    kinds = specification()["unions"]["Transaction"]["members"]
    for number, kind in enumerate(kinds):
        made = record(kind) | {"time": TIME} | FITTING
        del made["id"]
        for line in mutations(made, every * 4, number):
            yield line.replace(b"{", b'{"id":"%b",' % NEXT_ID.encode(), 1)
        if number == 0:
            yield from (json.dumps(made | {"id": wrong}).encode() for wrong in ("x", 7, None, "-1"))
    beat = {"type": "HEARTBEAT", "time": TIME, "lastTransactionID": "9"}
    yield from mutations(beat, every)
    yield from (b"nonsense", b"{", b"[[[[")


def price_lines(every: int) -> Iterator[bytes]:
    price = GOOD["/pricing"]["prices"][0]
    yield from mutations(price, every)
    yield from mutations(record("$ClientPrice"), every)
    yield from mutations({"type": "HEARTBEAT", "time": TIME}, min(every, 5))
    yield from broken(price)


STREAMS: dict[str, Callable[[int], Iterator[bytes]]] = {
    "/pricing/stream": price_lines,
    "/transactions/stream": transaction_lines,
}


async def until(
    condition: Callable[[], object],
    feed: AccountFeed,
    clock: Clock,
    nudge: bool,
    progress: Callable[[], int] = int,
) -> None:
    """Wait for a condition, as long as there is progress; every look also values the account, as each frame does."""
    async with asyncio.timeout(IN_TIME_S) as limit:
        seen = progress()
        while not condition():
            if progress() != seen:
                seen = progress()
                limit.reschedule(asyncio.get_running_loop().time() + IN_TIME_S)
            if nudge:
                ask_for_everything(feed, clock)
            revalue(feed.store, feed.now())
            feed.store.pop_dirty()
            await asyncio.sleep(0.002)


def ask_for_everything(feed: AccountFeed, clock: Clock) -> None:
    """Have every feed ask again, as hours of trading would."""
    clock.ahead += 31.0
    for wanted in (feed.follower.snapshot_wanted, feed.follower.check_wanted, feed.history_wanted):
        wanted.set()
    store = feed.store
    for series in store.series.values():
        series.wants_reload = True
        want_history(store, series.instrument, series.granularity, "older")
    kind = "orders" if clock.ahead // 31 % 2 else "positions"
    store.books = {key: held for key, held in store.books.items() if key[1] != kind}


def is_recovered(feed: AccountFeed, broker: HostileBroker) -> Callable[[], bool]:
    """Whether everything is as the good broker says."""

    def check() -> bool:
        store, account = feed.store, feed.store.account
        quote = store.quotes.get("EUR_USD")
        series = store.series.get(("EUR_USD", "M5"))
        book = store.books.get(("EUR_USD", "orders"))
        return (
            account is not None
            and account.balance == Decimal(10000)
            and list(store.trades) == ["4"]
            and store.trades["4"].stop_loss is not None
            and list(store.orders) == ["5", "6", "7"]
            and len(store.instruments) == 4
            and quote is not None
            and (str(quote.bid), str(quote.ask)) == ("1.08490", "1.08500")
            and store.health.prices == store.health.events == "OK"
            and not store.health.warning
            and series is not None
            and not series.error
            and not series.history_error
            and len(series.candles) > 0
            and series.candles[-1].close == pytest.approx(1.0851, abs=0.001)
            and book is not None
            and not book.trouble
            and feed.follower.gate.applied
            == feed.follower.synchronizer.checked
            == broker.good.last_id
            and "JPY" in store.conversions
            and store.clock_ns == quote.time_ns
            and (store.today is None or store.today.start_ns < store.clock_ns)
        )

    return check


async def survive(ending: str, bodies: Iterator[bytes]) -> None:
    broker, clock = HostileBroker(), Clock()
    async with hostile_desk(broker, clock) as feed:
        if ending != "/instruments":
            await until(is_recovered(feed, broker), feed, clock, nudge=False)
        broker.hostile[ending].extend(bodies)
        waiting = broker.hostile[ending]
        await until(
            lambda: not broker.is_hostile, feed, clock, nudge=True, progress=lambda: len(waiting)
        )
        feed.store.set_focus("EUR_USD")  # where the first list of instruments lacked it
        await until(is_recovered(feed, broker), feed, clock, nudge=False)
        assert feed.store.health.restarted == {}
        assert feed.store.health.unreadable > 0
        if ending in STREAMS:
            assert not [line.text for line in feed.store.log if "stream is down" in line.text]


USUAL = ("101-001-1-001", "/changes")


@pytest.mark.parametrize(
    "ending",
    [pytest.param(each, marks=[pytest.mark.e2e] * (each not in USUAL)) for each in OPERATIONS],
)
async def test_no_value_of_an_answer_ends_a_feed(ending: str) -> None:
    await survive(ending, hostile_answers(ending, A_FEW))


@pytest.mark.parametrize("ending", STREAMS)
async def test_no_line_of_a_stream_ends_a_feed(ending: str) -> None:
    await survive(ending, STREAMS[ending](A_FEW))


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("ending", OPERATIONS)
async def test_many_values_of_an_answer_end_no_feed(ending: str) -> None:
    await survive(ending, hostile_answers(ending, MANY))


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("ending", STREAMS)
async def test_many_lines_of_a_stream_end_no_feed(ending: str) -> None:
    await survive(ending, STREAMS[ending](MANY))


def fail_at_first(name: str, monkeypatch: pytest.MonkeyPatch) -> list[RuntimeError]:
    """Let a feed fail three times before it runs; returns the failures that are still to come."""
    failures = [RuntimeError("planted")] * 3
    worker = FEEDS[name]

    async def failing(feed: AccountFeed) -> None:
        if failures:
            raise failures.pop()
        await worker(feed)

    monkeypatch.setitem(FEEDS, name, failing)
    return failures


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(list(FEEDS), id="all at once"),
        *(pytest.param([name], id=name, marks=pytest.mark.soak) for name in FEEDS),
    ],
)
async def test_a_feed_that_fails_is_told_and_started_again(
    names: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = {name: fail_at_first(name, monkeypatch) for name in names}
    broker, clock = HostileBroker(), Clock()
    async with hostile_desk(broker, clock) as feed:
        await until(lambda: not any(failures.values()), feed, clock, nudge=False)
        await until(is_recovered(feed, broker), feed, clock, nudge=False)
        assert set(names) <= set(feed.store.health.restarted)
        said = [line.text for line in feed.store.log]
        for name in names:
            told = f"The feed of the {name} failed and is started again (RuntimeError: planted)"
            assert told in said
