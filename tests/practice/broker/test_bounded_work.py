"""Whatever a client asks of a large account, one turn of the event loop does little, so that orders and heartbeats go on.

Work is counted in function calls and in steps of SQLite, not in seconds; the seconds are in `tests/bench`.
"""

import asyncio
import contextlib
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import httpx
import pytest

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.startup import open_broker
from keydesk_practice.http.account_endpoints import MAX_CHANGES
from keydesk_practice.http.routes import make_application
from keydesk_practice.http.transaction_endpoints import MAX_SINCE
from keydesk_practice.ledger.group_commit import RECORDS_PER_TURN
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from keydesk_practice.options import Options
from support.data.large_account import ACCOUNT, large_ledger
from support.data.practice_market import store_rates
from support.fakes.still_market import NOON
from support.loop_work import TurnWork, measured_turns

TRANSACTIONS, TRADES, ORDERS = 7_000, 200, 200
MAX_CALLS = 15_000  # in a turn: some 3 ms
MAX_CALLS_OF_A_COMMAND = 25_000  # that closes 100 trades with 100 orders: some 3 ms to decide
MAX_STEPS = 100_000  # in a turn: some 2 ms
ACCOUNT_PATH = f"/v3/accounts/{ACCOUNT.id}"
TOKEN = "token-of-a-test"
EVERYTHING = "EUR_USD,USD_JPY,GBP_USD,EUR_JPY,AUD_CAD,USD_CHF,EUR_GBP"


@dataclass(slots=True)
class LargeBroker:
    """A broker in this process, with an account that has traded much."""

    broker: Broker
    http: httpx.AsyncClient

    async def get(self, path: str, **headers: str) -> httpx.Response:
        """Return the answer to a request; `{a}` is the account's path, `{oldest}` the id that changes reach back to."""
        oldest = self.broker.sessions[ACCOUNT.id].committed_id - MAX_CHANGES
        path = path.replace("{a}", ACCOUNT_PATH).replace("{oldest}", str(oldest))
        return await self.http.get(path, headers=headers)

    async def measure_longest_turn(
        self, *paths: str, **headers: str
    ) -> tuple[list[httpx.Response], TurnWork]:
        """Return the answers to requests made at once, and what the longest turn of the loop did for them."""
        connection = cast(SqliteLedger, self.broker.ledger)._connection  # what it reads is counted
        async with measured_turns(connection) as work:
            answers = await asyncio.gather(*(self.get(path, **headers) for path in paths))
        return list(answers), work


@pytest.fixture(scope="module")
def serve_market(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Broker, httpx.ASGITransport]]:
    folder = tmp_path_factory.mktemp("large")
    large_ledger(folder, TRANSACTIONS, TRADES, ORDERS)
    broker = open_broker(Options(command="serve", data=folder, start=NOON), owners=1)
    broker.candles._own_market()  # built on first use, which is not what is measured
    transport = httpx.ASGITransport(make_application(broker, [TOKEN], rate_limit=1_000_000))
    yield broker, transport
    broker.close()
    shutil.rmtree(folder)


@contextlib.asynccontextmanager
async def large_broker(folder: Path) -> AsyncIterator[LargeBroker]:
    """A broker of its own, for a test that changes much."""
    large_ledger(folder, 1_000, TRADES, ORDERS)
    store_rates(folder)
    broker = open_broker(Options(command="serve", data=folder, start=NOON), owners=1)
    transport = httpx.ASGITransport(make_application(broker, [TOKEN], rate_limit=1_000_000))
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://broker", headers=headers
    ) as http:
        yield LargeBroker(broker, http)
    broker.close()


@pytest.fixture
async def large(serve_market: tuple[Broker, httpx.ASGITransport]) -> AsyncIterator[LargeBroker]:
    broker, transport = serve_market
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://broker", headers=headers
    ) as http:
        yield LargeBroker(broker, http)


PATHS = {
    "details": "{a}",
    "summary": "{a}/summary",
    "instruments": "{a}/instruments",
    "prices": f"{{a}}/pricing?instruments={EVERYTHING}&includeHomeConversions=true",
    "positions": "{a}/positions",
    "pending orders": "{a}/pendingOrders",
    "open trades": "{a}/openTrades",
    "500 orders": "{a}/orders?state=ALL&count=500",
    "500 cancelled orders of many filled": "{a}/orders?state=CANCELLED&count=500",
    "orders of an instrument without any": "{a}/orders?state=ALL&count=500&instrument=EUR_GBP",
    "an old order by its id": "{a}/orders?state=ALL&count=500&ids=4",
    "500 trades": "{a}/trades?state=ALL&count=500",
    "500 closed trades": "{a}/trades?state=CLOSED&count=500",
    "an old trade by its id": "{a}/trades?state=CLOSED&count=500&ids=5",
    "pages of everything": "{a}/transactions",
    "pages of one each": "{a}/transactions?pageSize=1",
    "pages of a rare type": "{a}/transactions?type=CREATE",
    "pages of a frequent family": "{a}/transactions?type=ORDER",
    "a range of a thousand": "{a}/transactions/idrange?from=1&to=1000",
    "a rare type in a long range": "{a}/transactions/idrange?from=1&to=7000&type=CREATE",
    "a thousand since": "{a}/transactions/sinceid?id=1",
    "a rare type since": "{a}/transactions/sinceid?id=1&type=CREATE",
    "many changes": "{a}/changes?sinceTransactionID={oldest}",
    "5,000 candles of five seconds": "/v3/instruments/EUR_JPY/candles?count=5000&price=MBA",
    "5,000 candles of a minute": "/v3/instruments/EUR_JPY/candles?granularity=M1&count=5000&price=MBA",
    "the latest candles": "{a}/candles/latest?candleSpecifications=EUR_USD:M1:MBA,EUR_JPY:S5:M",
}


LIKE_ANOTHER = {  # that is asked for in the usual run
    *("500 cancelled orders of many filled", "500 closed trades", "pages of one each"),
    *("pages of a rare type", "a range of a thousand", "5,000 candles of a minute"),
}


@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=[pytest.mark.e2e] * (what in LIKE_ANOTHER)) for what in PATHS],
)
async def test_no_request_holds_the_loop(large: LargeBroker, what: str) -> None:
    (answer,), work = await large.measure_longest_turn(PATHS[what])
    assert answer.status_code == 200, answer.text
    assert work.calls <= MAX_CALLS
    assert work.steps <= MAX_STEPS


@pytest.mark.parametrize(
    "what",
    [
        "open trades",
        *(
            pytest.param(what, marks=pytest.mark.e2e)
            for what in ("500 orders", "a thousand since", "many changes")
        ),
    ],
)
async def test_nor_does_one_for_times_in_unix_form(large: LargeBroker, what: str) -> None:
    (answer,), work = await large.measure_longest_turn(
        PATHS[what], **{"Accept-Datetime-Format": "UNIX"}
    )
    assert "T12:00:00" not in answer.text
    assert work.calls <= MAX_CALLS


@pytest.mark.e2e
async def test_ten_requests_at_once_share_the_turns(large: LargeBroker) -> None:
    paths = [PATHS[what] for what in ("details", "open trades", "500 orders", "many changes")]
    answers, work = await large.measure_longest_turn(
        *paths, *paths, PATHS["500 trades"], PATHS["prices"]
    )
    assert {answer.status_code for answer in answers} == {200}
    assert work.calls <= 2 * MAX_CALLS  # each begins by itself; the reading is shared
    assert work.steps <= 2 * MAX_STEPS


async def test_changes_from_far_back_are_refused_in_words(large: LargeBroker) -> None:
    last = large.broker.sessions[ACCOUNT.id].committed_id
    assert MAX_CHANGES <= MAX_SINCE
    refused = await large.get(f"{{a}}/changes?sinceTransactionID={last - MAX_CHANGES - 1}")
    assert refused.status_code == 416
    assert "read the account and poll from its lastTransactionID" in refused.json()["errorMessage"]
    answered = await large.get(f"{{a}}/changes?sinceTransactionID={last - MAX_CHANGES}")
    assert len(answered.json()["changes"]["transactions"]) == MAX_CHANGES


async def test_an_answer_holds_a_bounded_number_of_transactions(large: LargeBroker) -> None:
    for path in ("idrange?from=1&to=5000", "idrange?from=1&to=7000&type=ORDER_FILL"):
        assert (await large.get(f"{{a}}/transactions/{path}")).status_code == 200
    refused = await large.get("{a}/transactions/idrange?from=1&to=5001")
    assert refused.status_code == 400
    assert "a range holds 5000 transactions at most" in refused.json()["errorMessage"]


async def test_the_pages_of_a_type_hold_what_they_say(large: LargeBroker) -> None:
    index = (await large.get("{a}/transactions?type=ORDER_FILL&pageSize=1000")).json()
    pages = [(await large.get(page)).json()["transactions"] for page in index["pages"]]
    assert {len(page) for page in pages[:-1]} == {1000}
    assert sum(map(len, pages)) == index["count"]
    assert {one["type"] for page in pages for one in page} == {"ORDER_FILL"}


async def test_pages_of_a_list_lead_to_its_end_with_nothing_twice(large: LargeBroker) -> None:
    seen: list[int] = []
    path = f"{ACCOUNT_PATH}/orders?state=ALL&count=500"
    for _ in range(6):
        answer = await large.get(path)
        seen += [int(order["id"]) for order in answer.json()["orders"]]
        path = answer.links["next"]["url"]
    assert seen == sorted(set(seen), reverse=True)


async def test_ids_are_looked_up_and_filtered_by_state(large: LargeBroker) -> None:
    every = (await large.get("{a}/orders?state=ALL&ids=4,6,999999")).json()["orders"]
    assert [order["id"] for order in every] == ["6", "4"]
    assert (await large.get("{a}/orders?state=PENDING&ids=4,6")).json()["orders"] == []


async def test_what_is_read_over_many_turns_is_the_account_of_one_instant(
    large: LargeBroker,
) -> None:
    buy = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "1"}}
    reading = [
        asyncio.create_task(large.get(path))
        for path in ("{a}", "{a}/openTrades", "{a}/trades?state=ALL&count=500")
    ]
    while not reading[0].done():
        await large.http.post(f"{ACCOUNT_PATH}/orders", json=buy)
        await asyncio.sleep(0)
    whole = (await reading[0]).json()["account"]
    assert len(whole["trades"]) == whole["openTradeCount"]
    assert whole["lastTransactionID"] == (await reading[0]).json()["lastTransactionID"]
    for answer in await asyncio.gather(*reading[1:]):
        newest = max(int(trade["id"]) for trade in answer.json()["trades"])
        assert newest <= int(answer.json()["lastTransactionID"])


async def test_closing_many_trades_is_decided_once_and_written_over_many_turns(
    tmp_path: Path,
) -> None:
    """100 trades with 100 orders end: the longest turn decides, no turn encodes more than a few of their records."""
    async with large_broker(tmp_path) as large:
        body = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "-10000"}}
        connection = cast(SqliteLedger, large.broker.ledger)._connection
        async with measured_turns(connection) as work:
            answer = await large.http.post(f"{ACCOUNT_PATH}/orders", json=body)
        fill = answer.json()["orderFillTransaction"]
        assert len(fill["tradesClosed"]) == TRADES // 2
        assert len(answer.json()["relatedTransactionIDs"]) == 2 + ORDERS // 2
        assert work.calls <= MAX_CALLS_OF_A_COMMAND
        assert work.turns >= 3 * (TRADES // 2) / RECORDS_PER_TURN
        assert work.steps <= MAX_STEPS
        closed = (await large.get("{a}/trades?state=CLOSED&count=500")).json()["trades"]
        assert {part["tradeID"] for part in fill["tradesClosed"]} <= {one["id"] for one in closed}


async def test_who_reads_while_a_long_batch_is_written_is_shown_the_account_before_it(
    tmp_path: Path,
) -> None:
    async with large_broker(tmp_path) as large:
        session = large.broker.sessions[ACCOUNT.id]
        before = session.state.last_transaction_id
        body = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "-10000"}}
        closing = asyncio.create_task(large.http.post(f"{ACCOUNT_PATH}/orders", json=body))
        while session.state.last_transaction_id == before:  # noqa: ASYNC110 - turns, not time
            await asyncio.sleep(0)
        assert session.committed_id == before
        other = next(one for one in large.broker.sessions if one != ACCOUNT.id)
        order, trade, summary, another = await asyncio.gather(
            large.get(f"{{a}}/orders/{before + 1}"),
            large.get(f"{{a}}/trades/{min(session.committed.trades)}"),
            large.get("{a}/summary"),
            large.http.get(f"/v3/accounts/{other}/summary"),
        )
        assert (order.status_code, another.status_code) == (404, 200)
        assert trade.json()["trade"]["state"] == "OPEN"
        assert summary.json()["account"]["openTradeCount"] == TRADES
        assert summary.json()["lastTransactionID"] == str(before)
        made = (await closing).json()
        after = await large.get(f"{{a}}/orders/{before + 1}")
        assert after.json()["order"]["state"] == "FILLED"
        assert after.json()["lastTransactionID"] == made["lastTransactionID"]
        assert (session.committed, session.archive._orders, session.archive._trades) == (
            session.state,
            {},
            {},
        )


async def test_a_turn_is_bounded_and_who_came_first_goes_on_first() -> None:
    budget, done, turn = WorkBudget(units_per_turn=10), list[tuple[int, str]](), 0

    async def work(name: str) -> None:
        async for _ in budget.iterate(range(25)):
            done.append((turn, name))

    tasks = [asyncio.create_task(work(name)) for name in "ab"]
    while not all(task.done() for task in tasks):
        turn += 1
        await asyncio.sleep(0)
    in_a_turn = Counter(number for number, _ in done)
    assert max(in_a_turn.values()) <= 2 * 10
    assert {name for _, name in done[:30]} == {"a", "b"}
    assert len(done) == 50


async def test_one_who_goes_away_while_waiting_holds_nobody_up() -> None:
    budget = WorkBudget(units_per_turn=1)
    await budget.spend(3)
    waiting = [asyncio.create_task(budget.spend()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.wait(waiting)
    assert [task.cancelled() for task in waiting] == [True, False, False]
