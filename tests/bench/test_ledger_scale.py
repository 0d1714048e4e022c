"""A ledger of a million transactions starts and pages like a small one; figures are printed."""

import json
import re
import sys
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_practice.broker.snapshots import restore_account
from keydesk_practice.engine.commands import CloseTrade
from keydesk_practice.engine.transactions import to_wire
from keydesk_practice.ledger.records import Entry, LedgerAccount, WireTransaction, entry_of
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from support.broker import PracticeServer, practice_server
from support.practised_account import ID, PractisedAccount

pytestmark = pytest.mark.bench
ACCOUNT = LedgerAccount(ID, 0, "USD", hedging=False)
CYCLE = 4  # order, fill that opens, order, fill that closes
IDS = re.compile(r'("(?:id|batchID|orderID|tradeID)":")(\d+)"')


def history(count: int) -> Iterator[Entry]:
    """Open an account, then open and close one trade again and again."""
    account = PractisedAccount()
    trade = account.trade("EUR_USD", 1000)
    account.do(CloseTrade(specifier=str(trade.id), units=Decimal(1000)))
    entries = [entry_of(WireTransaction(to_wire(one)), one.time) for one in account.transactions]
    opening, cycle = entries[:-CYCLE], entries[-CYCLE:]
    yield from opening
    for shift in range(0, count - len(opening), CYCLE):
        for one in cycle:
            body = IDS.sub(lambda found: f'{found[1]}{int(found[2]) + shift}"', one.body)  # noqa: B023 - used at once
            yield Entry(one.id + shift, one.time, one.type, body)


async def seconds_of(practice: PracticeServer, path: str) -> float:
    took = []
    for _ in range(20):
        began = time.perf_counter()
        answer = await practice.get(path)
        took.append(time.perf_counter() - began)
        assert answer.status_code == 200
    return min(took)


@pytest.mark.parametrize("count", [1_000, 1_000_000])
async def test_it_starts_and_pages_like_a_small_one(practice_folder: Path, count: int) -> None:
    ledger = SqliteLedger.open(practice_folder / "data")
    ledger.create_account(ACCOUNT, history(count))
    began = time.perf_counter()
    state = restore_account(ledger, ACCOUNT)
    folded = time.perf_counter() - began
    last = state.last_transaction_id
    ledger.close()
    began = time.perf_counter()
    async with practice_server(practice_folder, "--rate-limit", "100000") as practice:
        started = time.perf_counter() - began
        page = await seconds_of(practice, f"{{a}}/transactions/idrange?from={last - 99}&to={last}")
        closed = await seconds_of(practice, "{a}/trades?state=CLOSED&count=500")
        summary = (await practice.get("{a}/summary")).json()
    assert json.loads(summary["lastTransactionID"]) == last
    print(  # noqa: T201 - a bench speaks
        f"\n    {last:,} transactions: first fold {folded:.1f} s, start {started:.2f} s, "
        f"a page of 100 {page * 1e3:.1f} ms, 500 closed trades {closed * 1e3:.1f} ms",
        file=sys.stderr,
    )
    assert started < 10
