"""`keydesk export`: trades, transactions or daily balances as a CSV file, numbers exactly as the broker wrote them."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from keydesk.cli.csv_file import Row, refuse_existing, write_csv
from keydesk.cli.daily_balance import EQUITY_COLUMNS, daily_balances
from keydesk.cli.reaching import account_parser, reached
from keydesk.terminal.output import say, say_error
from keydesk.text.sanitize import safe
from keydesk_client.client import Client
from keydesk_client.models import DateTime
from keydesk_client.models._core.record import Record

LAST = "9999-12-31T00:00:00Z"
FIRST = DateTime.from_ns(0)
"""Said to the service, too: without a beginning the live one is reported to go back a week."""
TRADE_COLUMNS = (
    *("id", "instrument", "state", "openTime", "price", "initialUnits", "currentUnits"),
    *("averageClosePrice", "closeTime", "realizedPL", "unrealizedPL", "financing"),
    *("dividendAdjustment", "closingTransactionIDs", "clientID", "tag", "comment"),
)
TRANSACTION_COLUMNS = (
    *("id", "time", "type", "reason", "rejectReason", "instrument", "units", "price", "distance"),
    *("pl", "quotePL", "lossQuoteHomeConversionFactor", "gainQuoteHomeConversionFactor"),
    *("financing", "commission", "guaranteedExecutionFee", "halfSpreadCost", "amount"),
    *("accountBalance", "orderID", "tradeID", "batchID", "requestID"),
    *("clientID", "tag", "comment"),
)
TEXT_COLUMNS = frozenset({"clientID", "tag", "comment", "requestID"})
EXTENSIONS = (("id", "clientID"), ("tag", "tag"), ("comment", "comment"))


def export(words: Sequence[str]) -> int:
    """Write the file; returns the exit code."""
    options = _options(words)
    if options.csv is not None:
        refuse_existing(options.csv, overwrite=options.force)
    columns, rows = asyncio.run(_rows(options))
    write_csv(options.csv, columns, rows, TEXT_COLUMNS)
    if options.csv is None:
        say_error(safe(f"{len(rows)} rows"))
    else:
        say(safe(f"{len(rows)} rows in {options.csv}"))
    return 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = account_parser(
        "export", "Trades, transactions or daily balances of an account as a CSV file."
    )
    parser.add_argument(
        "what",
        choices=sorted(KINDS),
        help="trades by their opening, transactions by their time, or equity: what each trading day "
        "(17:00 New York) booked and the balance at its end, open profit not included",
    )
    parser.add_argument("--from", dest="from_", type=_time, metavar="T", help="from this time on")
    parser.add_argument("--to", type=_time, metavar="T", help="before this time")
    parser.add_argument(
        "--csv",
        type=_file,
        required=True,
        metavar="FILE",
        help="where to write; - is standard output",
    )
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    options = parser.parse_args(words)
    options.from_ = options.from_ or FIRST
    options.to = options.to or DateTime(LAST)
    if options.to <= options.from_:
        parser.error("--to must be later than --from")
    return options


def _file(text: str) -> Path | None:
    """Return the file; None is standard output."""
    return None if text == "-" else Path(text)


def _time(text: str) -> DateTime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time such as 2026-03-02 or 2026-03-02T14:00:00Z"
        ) from None
    return DateTime.of(found if found.tzinfo else found.replace(tzinfo=UTC))


async def _rows(options: argparse.Namespace) -> tuple[Sequence[str], list[Row]]:
    columns, kind = KINDS[options.what]
    async with reached(options) as reach:
        return columns, [row async for row in kind(reach.client, options.from_, options.to)]


async def _trades(client: Client, from_: DateTime, to: DateTime) -> AsyncIterator[Row]:
    found = [each async for each in client.trades.iterate(state="ALL")]
    for trade in reversed(found):
        if from_ <= trade.open_time < to:
            yield _row(trade, TRADE_COLUMNS)


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
    """Return the record's members as they stand on the wire, lists joined, client extensions spread."""
    wire = record.to_wire()
    extensions = wire.get("clientExtensions") or wire.get("tradeClientExtensions")
    if isinstance(extensions, dict):
        wire |= {column: extensions.get(member) for member, column in EXTENSIONS}
    return {column: _text_of(wire.get(column)) for column in columns}


def _text_of(value: object) -> str:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


Kind = Callable[[Client, DateTime, DateTime], AsyncIterator[Row]]
KINDS: Mapping[str, tuple[Sequence[str], Kind]] = {
    "trades": (TRADE_COLUMNS, _trades),
    "transactions": (TRANSACTION_COLUMNS, _transactions),
    "equity": (EQUITY_COLUMNS, _equity),
}
