"""`keydesk export`: write trades, transactions or daily balances to a CSV file, numbers as the broker wrote them.

Times in the file are UTC, as the broker wrote them; a time that is typed without an offset is in the trader's zone.

The file is written whole or not at all, mode 0600, and no cell starts a formula in a spreadsheet.
"""

import asyncio
from argparse import Namespace
from collections.abc import (
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import UTC, datetime
from decimal import Decimal
from itertools import groupby
from typing import Literal

from msgspec import Struct, field

from keydesk.calc.market.trading_day import booking_day_start, next_day_start
from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.arguments.options import STDOUT
from keydesk.cli.csv_output import Row, refuse_existing, say_written, write_csv
from keydesk.cli.option_values import read_period
from keydesk.cli.script_output import AccountDocument, print_document
from keydesk_client.arithmetic.constants import SECOND, ZERO
from keydesk_client.client import Client
from keydesk_client.models import (
    DailyFinancingTransaction,
    DateTime,
    OrderFillTransaction,
    Transaction,
    TransferFundsTransaction,
)
from keydesk_client.models._core.record import Record

EQUITY_COLUMNS = (
    *("dayEnd", "realizedPL", "financing", "commission", "guaranteedExecutionFee"),
    *("transfers", "other", "balance"),
)
SIGNS = {
    "realizedPL": 1,
    "financing": 1,
    "transfers": 1,
    "commission": -1,  # written as positive numbers
    "guaranteedExecutionFee": -1,
}
LAST = DateTime("9999-12-31T00:00:00Z")
FIRST = DateTime.from_ns(0)
"""Said to the service, too: without a beginning the live one is reported to go back a week."""
TRANSACTION_COLUMNS = (
    *("id", "time", "type", "reason", "rejectReason", "instrument", "units", "price", "distance"),
    *("pl", "quotePL", "lossQuoteHomeConversionFactor", "gainQuoteHomeConversionFactor"),
    *("financing", "commission", "guaranteedExecutionFee", "halfSpreadCost", "amount"),
    *("accountBalance", "orderID", "tradeID", "batchID", "requestID"),
    *("clientID", "tag", "comment"),
)
TEXT_COLUMNS = frozenset({"clientID", "tag", "comment", "requestID"})
EXTENSIONS = (("id", "clientID"), ("tag", "tag"), ("comment", "comment"))
Kind = Callable[[Client, DateTime, DateTime], AsyncIterator[Row]]


class Day(Struct):
    """One trading day with bookings."""

    start_ns: int
    balance: Decimal = ZERO
    sums: dict[str, Decimal] = field(default_factory=dict)

    @property
    def row(self) -> Row:
        """The day as a row, named by the instant at which it ends."""
        end = datetime.fromtimestamp(next_day_start(self.start_ns) // SECOND, UTC)
        sums = {name: str(self.sums.get(name, ZERO)) for name in EQUITY_COLUMNS[1:-1]}
        return {"dayEnd": f"{end:%Y-%m-%dT%H:%M:%SZ}", **sums, "balance": str(self.balance)}


def daily_balances(transactions: Iterable[Transaction]) -> Iterator[Day]:
    """Return every trading day with bookings, oldest first."""
    before = ZERO
    for start, booked in groupby(transactions, lambda each: booking_day_start(each.time.ns)):
        day = Day(start, balance=before)
        for transaction in booked:
            _book(day, transaction)
        if day.sums:
            yield day
        before = day.balance


def _book(day: Day, transaction: Transaction) -> None:
    """Add a transaction's bookings; a change of the balance without a column of its own is `other`."""
    balance: Decimal | None = getattr(transaction, "account_balance", None)
    if balance is None:
        return
    booked = _booked_amounts(transaction)
    moved = sum((SIGNS[name] * amount for name, amount in booked.items()), ZERO)
    booked["other"] = balance - day.balance - moved
    for name, amount in booked.items():
        day.sums[name] = day.sums.get(name, ZERO) + amount
    day.balance = balance


def _booked_amounts(transaction: Transaction) -> dict[str, Decimal]:
    match transaction:
        case OrderFillTransaction():
            return {
                "realizedPL": transaction.pl,
                "financing": transaction.financing,
                "commission": transaction.commission,
                "guaranteedExecutionFee": transaction.guaranteed_execution_fee or ZERO,
            }
        case DailyFinancingTransaction():
            return {"financing": transaction.financing}
        case TransferFundsTransaction():
            return {"transfers": transaction.amount}
        case _:
            return {}


class ExportDocument(AccountDocument, frozen=True, tag="export"):
    """`keydesk export WHAT --json`; the members of a row are the columns of the CSV file."""

    what: Literal["equity", "trades", "transactions"]
    rows: list[dict[str, str | None]]


def export(options: Namespace) -> int:
    """Write the file; return the exit code."""
    read_period(options)
    if options.json:
        return asyncio.run(_print_json(options))
    path = None if options.csv == STDOUT else options.csv
    if path is not None:
        refuse_existing(path, overwrite=options.force)
    columns, rows = asyncio.run(_rows(options))
    write_csv(path, columns, rows, TEXT_COLUMNS)
    say_written(len(rows), "row", path)
    return 0


async def _print_json(options: Namespace) -> int:
    async with open_account(options) as account:
        _, rows = await _rows_of(account, options)
        own = [{name: text or None for name, text in row.items()} for row in rows]
        print_document(ExportDocument(**account.head, what=options.what, rows=own))
    return 0


async def _rows(options: Namespace) -> tuple[Sequence[str], list[Row]]:
    async with open_account(options) as account:
        return await _rows_of(account, options)


async def _rows_of(account: OpenAccount, options: Namespace) -> tuple[Sequence[str], list[Row]]:
    columns, rows = KINDS[options.what]
    from_, to = options.from_ or FIRST, options.to or LAST
    return columns(), [row async for row in rows(account.client, from_, to)]


def _trade_columns() -> Sequence[str]:
    """Return what the columns of the desk's trades have in the file."""
    from keydesk.tables.trade_columns import csv_members  # noqa: PLC0415 - loads what draws them

    return csv_members()


async def _trades(client: Client, from_: DateTime, to: DateTime) -> AsyncIterator[Row]:
    columns = _trade_columns()
    trades = [each async for each in client.trades.iterate(state="ALL")]
    for trade in reversed(trades):
        if from_ <= trade.open_time < to:
            yield _row(trade, columns)


async def _transactions(client: Client, from_: DateTime, to: DateTime) -> AsyncIterator[Row]:
    async for transaction in client.transactions.iterate(from_=from_):
        if from_ <= transaction.time < to:
            yield _row(transaction, TRANSACTION_COLUMNS)


async def _equity(client: Client, from_: DateTime, to: DateTime) -> AsyncIterator[Row]:
    transactions = [each async for each in client.transactions.iterate(from_=FIRST)]
    for day in daily_balances(transactions):
        if from_.ns <= day.start_ns < to.ns:
            yield day.row


def _row(record: Record, columns: Sequence[str]) -> Row:
    """Return a record's members as on the wire, lists joined and client extensions in columns."""
    wire = record.to_wire()
    extensions = wire.get("clientExtensions") or wire.get("tradeClientExtensions")
    if isinstance(extensions, dict):
        wire |= {column: extensions.get(member) for member, column in EXTENSIONS}
    return {column: _text_of(wire.get(column)) for column in columns}


def _text_of(value: object) -> str:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


KINDS: Mapping[str, tuple[Callable[[], Sequence[str]], Kind]] = {
    "trades": (_trade_columns, _trades),
    "transactions": (lambda: TRANSACTION_COLUMNS, _transactions),
    "equity": (lambda: EQUITY_COLUMNS, _equity),
}
