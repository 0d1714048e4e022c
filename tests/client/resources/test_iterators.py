"""Iterators over more than a page: none twice, none missing, at every edge."""

from collections.abc import Callable
from random import Random
from typing import Any, Literal, cast

import httpx
import pytest

from keydesk_client import Client
from keydesk_client.errors import InvalidRequest, UnreadableAnswer
from keydesk_client.models import DateTime, Instrument, Reader
from support.data.wire_samples import Samples

MINUTE = 60_000_000_000
WHOLE = Reader(Instrument).read(
    b'{"name":"EUR_USD","tradeUnitsPrecision":0,"minimumTradeSize":"10","maximumOrderUnits":"50"}'
)
ACCOUNT = "/v3/accounts/1"

Query = dict[str, str]


def client_of(answer: Callable[[str, Query], dict[str, Any]]) -> Client:
    """A client of a service that is one function of path and query."""

    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=answer(request.url.path, dict(request.url.params)))

    url = "https://rest.test"
    transport = httpx.MockTransport(respond)
    return Client(token="t", rest_url=url, stream_url=url, account_id="1", transport=transport)


class History:
    """Minutes of candles as the service cuts them; the last one is forming."""

    def __init__(self, minutes: list[int]) -> None:
        self.minutes = minutes
        self.asked: list[Query] = []

    def __call__(self, _: str, query: Query) -> dict[str, Any]:
        self.asked.append(query)
        if "from" not in query:
            end = DateTime(query["to"]).ns if "to" in query else self.minutes[-1] * MINUTE + 1
            before = [each for each in self.minutes if each * MINUTE < end]
            return self.page(before[-int(query["count"]) :])
        start = DateTime(query["from"]).ns
        covering = max((m for m in self.minutes if m * MINUTE <= start), default=0)
        first = covering if (covering + 1) * MINUTE > start else covering + 1
        found = [m for m in self.minutes if m >= first]
        if query.get("includeFirst") == "false" and found[:1] == [covering]:
            found = found[1:]
        return self.page(found[: int(query["count"])])

    def page(self, found: list[int]) -> dict[str, Any]:
        prices = {"o": "1", "h": "1", "l": "1", "c": "1"}
        return {
            "instrument": "EUR_USD",
            "granularity": "M1",
            "candles": [
                {
                    "time": DateTime.from_ns(minute * MINUTE).text,
                    "volume": 1,
                    "complete": minute != self.minutes[-1],
                    "mid": prices,
                }
                for minute in found
            ],
        }


WEEK = [*range(100, 150), *range(300, 351)]
"""Fifty minutes, a weekend, fifty more and one that is forming."""


@pytest.mark.parametrize("page", [2, 7, 50, 101, 5000])
@pytest.mark.parametrize("start", [0, 101, 149, 200, 350])
async def test_candles_come_once_each_over_pages_of_any_size(page: int, start: int) -> None:
    history = History(WEEK)
    client = client_of(history)
    from_ = DateTime.from_ns(start * MINUTE)
    got = [
        candle.time.ns // MINUTE
        async for candle in client.candles.iterate(
            "EUR_USD", granularity="M1", from_=from_, page=page
        )
    ]
    assert got == [minute for minute in WEEK if minute >= start]


@pytest.mark.parametrize("page", [2, 7, 50, 51, 101, 5000])
@pytest.mark.parametrize("count", [1, 2, 51, 100, 101, 102, 50_000])
async def test_the_last_candles_are_as_many_as_asked_for_or_all(count: int, page: int) -> None:
    history = History(WEEK)
    last = client_of(history).candles.last("EUR_USD", granularity="M1", count=count, page=page)
    assert [candle.time.ns // MINUTE for candle in await last] == WEEK[-count:]
    assert all(int(query["count"]) <= page for query in history.asked)


async def test_a_page_that_holds_the_candle_at_its_end_again_gives_it_once() -> None:
    """A service may count the end of a range in."""

    def inclusive(path: str, query: Query) -> dict[str, Any]:
        if "to" in query:
            query["to"] = DateTime.from_ns(DateTime(query["to"]).ns + 1).text
        return History(WEEK)(path, query)

    last = await client_of(inclusive).candles.last("EUR_USD", count=60, page=9)
    assert [candle.time.ns // MINUTE for candle in last] == WEEK[-60:]


@pytest.mark.parametrize("count", [0, -1, True, "5"])
async def test_a_count_of_candles_is_a_whole_number(count: object) -> None:
    with pytest.raises(InvalidRequest, match=r"^count: "):
        await client_of(History(WEEK)).candles.last("EUR_USD", count=cast("int", count))


async def test_candles_end_before_the_end_that_was_asked_for_even_in_the_future() -> None:
    for end, last in ((120, 119), (150, 149), (200, 149), (300, 149), (301, 300), (9999, 350)):
        client = client_of(History(WEEK))
        got = [
            candle.time.ns // MINUTE
            async for candle in client.candles.iterate(
                "EUR_USD",
                from_=DateTime.from_ns(100 * MINUTE),
                to=DateTime.from_ns(end * MINUTE),
                page=7,
            )
        ]
        assert got[-1] == last


async def test_a_start_within_a_candle_leaves_that_candle_out() -> None:
    client = client_of(History(WEEK))
    from_ = DateTime.from_ns(110 * MINUTE + 1)
    got = [
        c.time.ns // MINUTE async for c in client.candles.iterate("EUR_USD", from_=from_, page=2)
    ]
    assert got[0] == 111


async def test_a_service_that_repeats_itself_does_not_keep_the_client_for_ever() -> None:
    history = History(WEEK)

    def stubborn(path: str, query: Query) -> dict[str, Any]:
        return history(path, {**query, "includeFirst": "true", "count": "1"})

    client = client_of(stubborn)
    from_ = DateTime.from_ns(100 * MINUTE)
    assert len([c async for c in client.candles.iterate("EUR_USD", from_=from_)]) == 1


def listing(kind: str, ids: list[int], *, cap: int = 500) -> Callable[[str, Query], dict[str, Any]]:
    record = Samples(Random(2)).record("LimitOrder" if kind == "orders" else "Trade")

    def answer(path: str, query: Query) -> dict[str, Any]:
        assert path == f"{ACCOUNT}/{kind}"
        highest = int(query.get("beforeID", 10**9))
        found = [each for each in sorted(ids, reverse=True) if each <= highest]
        page = found[: min(cap, int(query["count"]))]
        return {kind: [{**record, "id": str(each)} for each in page], "lastTransactionID": "9"}

    return answer


async def test_orders_and_trades_come_once_each_newest_first() -> None:
    for kind in ["orders", "trades"]:
        for page in [1, 2, 5, 10, 11, 500]:
            ids = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
            client = client_of(listing(kind, ids))
            area = client.orders if kind == "orders" else client.trades
            got = [
                int(each.id)
                async for each in area.iterate(state="ALL", instrument="EUR_USD", page=page)
            ]
            assert got == sorted(ids, reverse=True)


@pytest.mark.parametrize("kind", ["orders", "trades"])
async def test_pages_that_go_back_to_what_was_listed_end_with_an_error(kind: str) -> None:
    def same_page_again(path: str, query: Query) -> dict[str, Any]:
        return listing(kind, [55, 89])(path, {"count": query["count"]})

    client = client_of(same_page_again)
    area = client.orders if kind == "orders" else client.trades
    pages = area.iterate(state="ALL", page=2)
    assert [(await anext(pages)).id, (await anext(pages)).id] == ["89", "55"]
    with pytest.raises(UnreadableAnswer, match="id 89, although 54 was the highest requested"):
        await anext(pages)


async def test_an_empty_list_ends_at_once() -> None:
    assert [each async for each in client_of(listing("trades", [])).trades.iterate()] == []


def ledger(ids: range, *, at_most: int = 1000) -> Callable[[str, Query], dict[str, Any]]:
    def record(each: int) -> dict[str, Any]:
        return {
            "id": str(each),
            "type": "REOPEN",
            "accountID": "1",
            "userID": 1,
            "batchID": "1",
            "time": "5",
        }

    def answer(path: str, query: Query) -> dict[str, Any]:
        if path.endswith("/transactions"):
            size = int(query["pageSize"])
            pages = [
                f"https://elsewhere.test/v3/x?from={first}&to={min(first + size, ids.stop) - 1}"
                for first in range(ids.start, ids.stop, size)
            ]
            return {"from": "1", "to": "2", "pageSize": size, "count": len(ids), "pages": pages}
        if path.endswith("/summary"):
            return {"account": {}, "lastTransactionID": str(ids.stop - 1)}
        first = int(query["from"]) if "from" in query else int(query["id"]) + 1
        last = int(query.get("to", ids.stop - 1))
        found = [each for each in ids if first <= each <= last][:at_most]
        newest = str(ids.stop - 1)
        return {"transactions": [record(each) for each in found], "lastTransactionID": newest}

    return answer


@pytest.mark.parametrize("page_size", [1, 7, 99, 100, 1000])
async def test_transactions_of_a_period_come_once_each_ascending(page_size: int) -> None:
    client = client_of(ledger(range(1, 101)))
    got = [int(each.id) async for each in client.transactions.iterate(page_size=page_size)]
    assert got == list(range(1, 101))


@pytest.mark.parametrize(("known", "requests"), [(5, 4), (40, 2), (99, 1), (100, 1)])
async def test_transactions_since_an_id_are_requested_until_the_newest_has_come(
    known: int, requests: int
) -> None:
    asked: list[str] = []
    whole = ledger(range(1, 101), at_most=30)

    def answer(path: str, query: Query) -> dict[str, Any]:
        asked.append(query["id"])
        return whole(path, query)

    since = client_of(answer).transactions.iterate_since(known)
    assert [int(each.id) async for each in since] == list(range(known + 1, 101))
    assert len(asked) == requests


async def test_a_full_page_that_says_it_is_the_last_is_not_believed() -> None:
    whole = ledger(range(1, 1501), at_most=1000)

    def answer(path: str, query: Query) -> dict[str, Any]:
        return whole(path, query) | {"lastTransactionID": "1000"}  # of a part that lags behind

    since = client_of(answer).transactions.iterate_since(0)
    assert [int(each.id) async for each in since] == list(range(1, 1501))


async def test_an_empty_answer_that_does_not_tell_the_newest_id_is_the_end() -> None:
    since = client_of(lambda *_: {"transactions": []}).transactions.iterate_since(5)
    assert [each async for each in since] == []


async def test_a_thousand_others_in_between_do_not_hide_the_transactions_of_a_kind() -> None:
    """The service may count its thousand before it looks at their kinds: the answer is empty, and not the end."""
    whole = ledger(range(1, 5001))

    def answer(path: str, query: Query) -> dict[str, Any]:
        found = whole(path, query)["transactions"][:1000]
        if "type" in query:
            found = [each for each in found if int(each["id"]) in {7, 3500}]
        return {"transactions": found, "lastTransactionID": "5000"}

    since = client_of(answer).transactions.iterate_since(0, type_=["REOPEN"])
    assert [each.id async for each in since] == ["7", "3500"]


@pytest.mark.parametrize("type_", [None, "FUNDING"])
async def test_a_newest_id_that_is_made_up_is_not_followed_page_after_page(
    type_: Literal["FUNDING"] | None,
) -> None:
    asked: list[str] = []
    whole = ledger(range(1, 101))

    def answer(path: str, query: Query) -> dict[str, Any]:
        asked.append(path)
        assert len(asked) < 10
        return whole(path, query) | {"lastTransactionID": str(10**18)}

    since = client_of(answer).transactions.iterate_since(0, type_=type_)
    with pytest.raises(UnreadableAnswer, match="transaction 1000000000000000000"):
        _ = [each async for each in since]


@pytest.mark.parametrize(("count", "first"), [(1, 100), (50, 51), (500, 1)])
async def test_the_newest_transactions_are_the_trailing_range(count: int, first: int) -> None:
    answer = await client_of(ledger(range(1, 101))).transactions.recent(count)
    assert [int(each.id) for each in answer.transactions] == list(range(first, 101))


async def test_a_page_without_bounds_is_unreadable_and_not_followed() -> None:
    def answer(*_: object) -> dict[str, Any]:
        return {"from": "1", "to": "2", "pageSize": 1, "count": 1, "pages": ["https://evil.test/"]}

    with pytest.raises(UnreadableAnswer):
        _ = [each async for each in client_of(answer).transactions.iterate()]


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda c: c.candles.get("EUR_USD", count=1, from_="5", to="6"), "count"),
        (lambda c: c.candles.get("EUR_USD", count=5001), "count"),
        (lambda c: c.candles.get("EUR_USD", include_first=False), "include_first"),
        (lambda c: c.candles.get("EUR_USD", price="X"), "price"),
        (lambda c: c.candles.get("EUR_USD", daily_alignment=24), "daily_alignment"),
        (lambda c: c.candles.get("EUR_USD", price=5), "price"),
        (lambda c: c.candles.get("EUR_USD", granularity="m1"), "granularity"),
        (lambda c: c.candles.get("EUR_USD", weekly_alignment="Noday"), "weekly_alignment"),
        (lambda c: c.candles.get("EUR_USD", alignment_timezone=5), "alignment_timezone"),
        (lambda c: c.candles.get("EUR_USD", from_="1700000001", to="1700000000"), "from_"),
        (lambda c: c.candles.latest([]), "specifications"),
        (lambda c: c.candles.latest(["garbage"]), "specifications"),
        (lambda c: c.candles.latest(["EUR_USD:M1:BM", "EUR_USD:m1:BM"]), "specifications"),
        (lambda c: c.candles.latest(["EUR_USD:M1:X"]), "specifications"),
        (lambda c: c.candles.latest([":M1:M"]), "specifications"),
        (lambda c: c.pricing.get(None), "instruments"),
        (lambda c: c.pricing.get([True]), "instruments"),
        (lambda c: c.accounts.configure(alias=b"x"), "alias"),
        (lambda c: c.accounts.changes(None), "since"),
        (lambda c: c.accounts.changes(10**21), "since"),
        (lambda c: c.trades.list(ids=5), "ids"),
        (lambda c: c.trades.list(ids=[1.5]), "ids"),
        (lambda c: c.trades.list(ids=["1\n2"]), "ids"),
        (lambda c: c.trades.list(state="FOO"), "state"),
        (lambda c: c.orders.list(state="OPEN"), "state"),
        (lambda c: c.orders.list(instrument=5), "instrument"),
        (lambda c: c.accounts.configure(), "alias"),
        (lambda c: c.orders.list(count=0), "count"),
        (lambda c: c.orders.set_client_extensions("5"), "client_extensions"),
        (lambda c: c.trades.close("5", units=-1), "units"),
        (lambda c: c.trades.close("5", units="0.5", instrument=WHOLE), "units"),
        (lambda c: c.positions.close(WHOLE, long_units="0.5"), "long_units"),
        (lambda c: c.positions.close(WHOLE, long_units="ALL", short_units="1.5"), "short_units"),
        (lambda c: c.trades.set_dependent_orders("5"), "take_profit"),
        (lambda c: c.positions.close("EUR_USD"), "long_units"),
        (lambda c: c.positions.close("EUR_USD", long_units="NONE"), "long_units"),
        (lambda c: c.transactions.range(5, 4), "from_id"),
        (lambda c: c.transactions.list(page_size=1001), "page_size"),
    ],
)
async def test_a_call_that_can_not_be_right_is_not_sent(
    call: Callable[[Client], Any], field: str
) -> None:
    def answer(path: str, _: Query) -> dict[str, Any]:
        raise AssertionError(path)

    with pytest.raises(InvalidRequest) as refused:
        await call(client_of(answer))
    assert refused.value.field == field


async def test_an_unknown_granularity_is_told_the_known_ones() -> None:
    with pytest.raises(InvalidRequest, match=r"'m1': use one of S5, S10, .* M1, .* D, W, M$"):
        await client_of(lambda *_: {}).candles.get("EUR_USD", granularity="m1")  # type: ignore[arg-type]  # that is what is refused


async def test_ids_may_be_numbers() -> None:
    asked: list[Query] = []

    def answer(_: str, query: Query) -> dict[str, Any]:
        asked.append(query)
        return {"trades": [], "lastTransactionID": "9"}

    await client_of(answer).trades.list(ids=[1, "2"])
    assert asked[0]["ids"] == "1,2"


def test_the_account_of_a_client_is_read_and_not_changed() -> None:
    client = Client(
        token="t", rest_url="https://r.test", stream_url="https://s.test", account_id="A"
    )
    assert client.account_id == "A"
    with pytest.raises(AttributeError):
        client.account_id = "B"  # type: ignore[misc]  # that is what must not work
    assert "'A'" in repr(client)


async def test_a_client_without_an_account_asks_for_one() -> None:
    client = Client(token="t", rest_url="https://r.test", stream_url="https://s.test")
    with pytest.raises(InvalidRequest) as refused:
        await client.accounts.get()
    assert refused.value.field == "account_id"


async def test_a_single_type_of_transactions_is_not_split_into_letters() -> None:
    asked: list[Query] = []

    def answer(path: str, query: Query) -> dict[str, Any]:
        asked.append(query)
        if path.endswith("sinceid"):
            return {"transactions": [], "lastTransactionID": "1"}
        return {"pages": [], "count": 0}

    client = client_of(answer)
    await client.transactions.list(type_="ORDER_FILL")
    assert [each async for each in client.transactions.iterate(type_="ORDER_FILL")] == []
    assert [each async for each in client.transactions.iterate_since(1, type_="ORDER_FILL")] == []
    await client.transactions.since(1, type_=["ORDER_FILL", "FUNDING"])
    assert [each["type"] for each in asked] == ["ORDER_FILL"] * 3 + ["ORDER_FILL,FUNDING"]


@pytest.mark.parametrize("type_", ["ORDER_FIL", ["ORDER_FILL", "FILL"], [], [7]])
async def test_an_unknown_type_of_transactions_is_refused(type_: Any) -> None:  # noqa: ANN401 - what callers pass by mistake
    with pytest.raises(InvalidRequest) as refused:
        await client_of(lambda *_: {}).transactions.since(1, type_=type_)
    assert refused.value.field == "type_"
