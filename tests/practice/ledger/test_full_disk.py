"""A disk without space refuses writes and nothing else, loses nothing that was acknowledged, and is written again later."""

import asyncio
import contextlib
import json
import resource
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from keydesk_practice.engine.quotes import day_end_after
from keydesk_practice.engine.wire_form import SECOND, rfc3339
from keydesk_practice.errors import LedgerFull
from keydesk_practice.ledger.group_commit import GroupCommit
from keydesk_practice.ledger.records import Entry, LedgerAccount, WireTransaction, entry_of
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from support.broker import PracticeServer, practice_server
from support.controlled_broker import ControlledBroker, controlled_broker
from support.full_disk import no_room

ACCOUNT = LedgerAccount("101-001-1-001", 0, "USD", hedging=False)
FIRST = "101-001-1000001-001"
MANY = 40


@contextlib.contextmanager
def no_space_for(practice: PracticeServer) -> Iterator[None]:
    """Let no file of a running broker grow: what a full disk or a quota does."""
    assert practice.process is not None
    pid = practice.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # it was killed
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def buy(**members: object) -> dict[str, Any]:
    return {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "100", **members}}


async def order_many(practice: PracticeServer) -> list[httpx.Response]:
    bodies = (buy(clientExtensions={"comment": "c" * 120}) for _ in range(MANY))
    return await asyncio.gather(*(practice.send("POST", "{a}/orders", body) for body in bodies))


def newest_id(answers: list[httpx.Response]) -> str:
    newest: str = max((answer.json()["lastTransactionID"] for answer in answers), key=int)
    return newest


@pytest.mark.e2e
async def test_a_full_disk_refuses_writes_and_everything_else_goes_on(
    practice_folder: Path,
) -> None:
    async with practice_server(practice_folder, "--rate-limit", "100000") as practice:
        before = newest_id(await order_many(practice))
        stream = f"/v3/accounts/{practice.account_id}/pricing/stream?instruments=EUR_USD"
        async with practice.http.stream("GET", stream) as prices:
            lines = prices.aiter_lines()
            await anext(lines)
            with no_space_for(practice):
                refused = await order_many(practice)
                assert {answer.status_code for answer in refused} == {503}
                assert {answer.headers["Retry-After"] for answer in refused} == {"5"}
                assert "make room" in refused[0].json()["errorMessage"]
                assert (await practice.http.get("/health")).json()["status"] == "full"
                summary = (await practice.get("{a}/summary")).json()
                assert summary["lastTransactionID"] == before
                assert (await practice.get("{a}/pricing", instruments="EUR_USD")).is_success
                candles = "/v3/instruments/EUR_USD/candles"
                assert (await practice.get(candles, granularity="M1", count="5")).is_success
                assert (await practice.get("{a}/changes", sinceTransactionID="1")).is_success
                await anext(lines)
            after = await order_many(practice)
        assert {answer.status_code for answer in after} == {201}
        assert (await practice.http.get("/health")).json()["status"] == "ok"
        known = (await practice.get("{a}/transactions/idrange", **{"from": "1", "to": newest_id(after)})).json()  # fmt: skip
        account = (await practice.get("{a}")).json()["account"]
        await practice.kill()
    ids = [int(one["id"]) for one in known["transactions"]]
    assert ids == list(range(1, len(ids) + 1)), "ids have no gaps"
    assert account["openTradeCount"] == 2 * MANY
    async with practice_server(practice_folder) as again:
        kept = (await again.get("{a}")).json()["account"]
        assert [one["id"] for one in kept["trades"]] == [one["id"] for one in account["trades"]]


@pytest.mark.e2e
async def test_nothing_acknowledged_is_lost_when_the_broker_dies_on_the_full_disk(
    practice_folder: Path,
) -> None:
    async with practice_server(practice_folder, "--rate-limit", "100000") as practice:
        await order_many(practice)
        with no_space_for(practice):
            assert {answer.status_code for answer in await order_many(practice)} == {503}
            await practice.kill()
    async with practice_server(practice_folder) as again:
        assert (await again.get("{a}")).json()["account"]["openTradeCount"] == MANY


async def test_the_control_interface_refuses_on_a_full_disk_and_goes_on_later(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        transfer = f"/accounts/{FIRST}/transfer"
        with no_room():
            refused = await market.control("POST", transfer, expect=503, amount="1000")
        assert "make room" in refused["errorMessage"]
        made = await market.control("POST", transfer, amount="1000")
        assert made["balance"] == "101000.0000", "the refused one never happened"


async def test_an_account_returns_to_what_the_ledger_holds(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        session = market.broker.sessions[FIRST]
        await market.buy("EUR_USD")
        last = session.last_transaction_id
        with no_room():
            await market.v20("POST", "{a}/orders", buy(), expect=503)
            await market.v20("PUT", "{a}/positions/EUR_USD/close", {"longUnits": "ALL"}, 503)
            assert (await market.v20("GET", "{a}/openTrades"))["trades"][0][
                "currentUnits"
            ] == "1000"
            assert (await market.v20("GET", "{a}/trades/4"))["lastTransactionID"] == last
        assert session.last_transaction_id == last == str(session.committed_id)
        closed = await market.v20("PUT", "{a}/positions/EUR_USD/close", {"longUnits": "ALL"}, 200)
        assert closed["longOrderCreateTransaction"]["id"] == str(int(last) + 1)


async def test_a_stop_that_fell_due_without_space_fills_when_there_is_some(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        price = Decimal((await market.buy("EUR_USD"))["price"])
        order = {"type": "MARKET_IF_TOUCHED", "instrument": "EUR_USD", "units": "1", "price": "1.0"}
        await market.v20("POST", "{a}/orders", {"order": order}, expect=201)
        soon = rfc3339(market.broker.now() + 60 * SECOND)
        good_till = {"timeInForce": "GTD", "gtdTime": soon, "price": f"{price / 2:.5f}"}
        await market.v20("PUT", "{a}/trades/5/orders", {"stopLoss": good_till}, expect=200)
        with no_room():
            await market.broker.advance(market.broker.now() + 300 * SECOND)
            await settled(market)
            assert len(market.broker.sessions[FIRST].state.orders) == 2
        await market.broker.advance(market.broker.now() + 5 * SECOND)
        await settled(market)
        assert "TIME_IN_FORCE_EXPIRED" in market.ledger_lines()[-1]


async def test_an_order_that_a_price_touched_without_space_fills_at_that_price_when_there_is_some(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        began = market.broker.now()
        moments = range(began + SECOND, began + 600 * SECOND, SECOND)
        asks = {at: market.broker.board.at(at).quote("EUR_USD").ask for at in moments}
        touched = min(asks, key=asks.__getitem__)
        assert asks[touched] < min(list(asks.values())[-5:]), "the price leaves the level again"
        order = {
            "type": "LIMIT",
            "instrument": "EUR_USD",
            "units": "1",
            "price": f"{asks[touched]}",
        }
        await market.v20("POST", "{a}/orders", {"order": order}, expect=201)
        with no_room():
            await market.broker.advance(began + 599 * SECOND, step=SECOND)
            await settled(market)
            assert len(market.broker.sessions[FIRST].state.orders) == 1
        await market.broker.advance(began + 600 * SECOND)
        await settled(market)
        filled = json.loads(market.ledger_lines()[-1])
        assert (filled["type"], Decimal(filled["price"])) == ("ORDER_FILL", asks[touched])
        assert filled["time"] == rfc3339(touched)


async def test_financing_that_fell_due_without_space_is_booked_once_and_for_its_moment(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD")
        day_end = day_end_after(market.broker.now())
        await market.broker.advance(day_end - 60 * SECOND, step=60 * SECOND)
        with no_room():
            await market.broker.advance(day_end + 600 * SECOND, step=60 * SECOND)
            await settled(market)
        before = len(market.ledger_lines())
        await market.broker.advance(day_end + 1200 * SECOND, step=60 * SECOND)
        await settled(market)
        (booked,) = map(json.loads, market.ledger_lines()[before:])
        assert (booked["type"], booked["time"]) == ("DAILY_FINANCING", rfc3339(day_end))


async def test_a_trailing_stop_in_the_ledger_is_that_of_the_account_after_a_full_disk(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD", trailingStopLossOnFill={"distance": "0.0500"})
        with no_room():
            await market.broker.advance(market.broker.now() + 3600 * SECOND, step=60 * SECOND)
            await settled(market)
        await market.broker.advance(market.broker.now() + SECOND)
        await settled(market)
        session = market.broker.sessions[FIRST]
        marks = market.broker.ledger.marks(FIRST)
        assert marks == [(id_, order.mark) for id_, order in session.state.orders.items()]


async def settled(market: ControlledBroker) -> None:
    """Wait for the batches of the ticks, written or dropped."""
    with contextlib.suppress(LedgerFull):
        await market.broker.commits.wait_until_committed()


async def test_who_waits_hears_of_a_dropped_batch_even_when_the_next_one_was_written(
    tmp_path: Path,
) -> None:
    ledger = SqliteLedger.open(tmp_path)
    ledger.create_account(ACCOUNT, [entry(1)])
    dropped: list[int] = []
    commits = GroupCommit(ledger, lambda *_: None)

    async def write() -> None:
        commits.add(ACCOUNT.id, [entry(2)], on_dropped=lambda: dropped.append(2))
        await commits.wait_until_committed()

    waiting = asyncio.create_task(write())
    await asyncio.sleep(0)
    with no_room():
        commits.flush()
    commits.add(ACCOUNT.id, [entry(2)])
    commits.flush()
    with pytest.raises(LedgerFull, match="make room on the disk of"):
        await waiting
    assert (dropped, ledger.last_id(ACCOUNT.id), commits.failure) == ([2], 2, None)
    ledger.close()


def entry(id_: int) -> Entry:
    return entry_of(WireTransaction({"id": str(id_), "type": "ORDER_FILL"}), id_)
