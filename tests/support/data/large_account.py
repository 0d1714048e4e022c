"""Accounts of a size that only machines make: hundreds of thousands of transactions, a thousand trades and orders."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from keydesk_practice.broker.snapshots import restore_account
from keydesk_practice.engine.commands import (
    CloseTrade,
    LimitRequest,
    MarketRequest,
    StopLossDetails,
    TakeProfitDetails,
)
from keydesk_practice.engine.transactions import Transaction, to_wire
from keydesk_practice.ledger.records import Entry, LedgerAccount, WireTransaction, entry_of
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from support.practised_account import ID, PractisedAccount

ACCOUNT = LedgerAccount(ID, 0, "USD", hedging=False)
CYCLE = 4  # order, fill that opens, order, fill that closes
TIME = 1_700_000_000_000_000_000
_IDS = re.compile(r'("(?:id|batchID|orderID|tradeID)":")(\d+)"')


def round_trips(count: int) -> Iterator[Entry]:
    """Open an account, then open and close one trade again and again, `count` transactions in all."""
    account = PractisedAccount(deposit="100000000")
    trade = account.trade("EUR_USD", 1000)
    account.do(CloseTrade(specifier=str(trade.id), units=Decimal(1000)))
    entries = _entries(account.transactions)
    opening, cycle = entries[:-CYCLE], entries[-CYCLE:]
    yield from opening
    for shift in range(0, count - len(opening), CYCLE):
        for one in cycle:
            yield _shifted(one, shift)


def open_positions(first: int, trades: int, orders: int) -> Iterator[Entry]:
    """Open trades with a stop and a target each, and place entry orders; ids begin at `first`."""
    account = PractisedAccount(deposit="100000000")
    known = len(account.transactions)
    for number in range(trades):
        account.place(
            MarketRequest(
                instrument=("EUR_USD", "USD_JPY")[number % 2],
                units=Decimal(100),
                **(_protection(number % 2) if number * 2 < orders else {}),  # type: ignore[arg-type]
            )
        )
    while len(account.state.orders) < orders:
        account.place(LimitRequest(instrument="EUR_USD", units=Decimal(1), price=Decimal("0.5")))
    for one in _entries(account.transactions[known:]):
        yield _shifted(one, first - known - 1)


def _protection(yen: int) -> dict[str, object]:
    return {
        "stop_loss_on_fill": StopLossDetails(distance=Decimal(30 if yen else "0.3")),
        "take_profit_on_fill": TakeProfitDetails(distance=Decimal(30 if yen else "0.3")),
    }


def large_ledger(folder: Path, transactions: int, trades: int = 0, orders: int = 0) -> int:
    """Make the ledger of an account in `folder`; returns its last id. The snapshot is there, so it starts quickly."""
    ledger = SqliteLedger.open(folder)
    entries = [*round_trips(transactions)]
    entries += open_positions(len(entries) + 1, trades, orders)
    ledger.create_account(ACCOUNT, entries)
    restore_account(ledger, ACCOUNT)
    ledger.close()
    return len(entries)


def _entries(transactions: list[Transaction]) -> list[Entry]:
    return [entry_of(WireTransaction(to_wire(one)), one.time) for one in transactions]


def _shifted(one: Entry, shift: int) -> Entry:
    body = _IDS.sub(lambda found: f'{found[1]}{int(found[2]) + shift}"', one.body)
    return Entry(one.id + shift, one.time, one.type, body)
