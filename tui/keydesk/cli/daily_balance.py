"""What each trading day booked, and the balance at its end: a fold of the account's transactions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from itertools import groupby

from keydesk.calc.day import SECOND, day_start, next_day_start
from keydesk.cli.csv_file import Row
from keydesk_client.models import (
    DailyFinancingTransaction,
    OrderFillTransaction,
    Transaction,
    TransferFundsTransaction,
)

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
NOTHING = Decimal(0)


@dataclass(slots=True)
class Day:
    """One trading day with bookings."""

    start_ns: int
    balance: Decimal = NOTHING
    sums: dict[str, Decimal] = field(default_factory=dict)

    @property
    def row(self) -> Row:
        """The day as a row; it is named by the instant at which it ends."""
        end = datetime.fromtimestamp(next_day_start(self.start_ns) // SECOND, UTC)
        sums = {name: str(self.sums.get(name, NOTHING)) for name in EQUITY_COLUMNS[1:-1]}
        return {"dayEnd": f"{end:%Y-%m-%dT%H:%M:%SZ}", **sums, "balance": str(self.balance)}


def daily_balances(transactions: Iterable[Transaction]) -> Iterator[Day]:
    """Return every trading day that booked something, oldest first."""
    before = NOTHING
    for start, booked in groupby(transactions, lambda each: day_start(each.time.ns)):
        day = Day(start, balance=before)
        for transaction in booked:
            _book(day, transaction)
        if day.sums:
            yield day
        before = day.balance


def _book(day: Day, transaction: Transaction) -> None:
    """Add what the transaction booked; what moved the balance and has no column of its own is `other`."""
    balance: Decimal | None = getattr(transaction, "account_balance", None)
    if balance is None:
        return
    booked = _booked(transaction)
    moved = sum((SIGNS[name] * amount for name, amount in booked.items()), NOTHING)
    booked["other"] = balance - day.balance - moved
    for name, amount in booked.items():
        day.sums[name] = day.sums.get(name, NOTHING) + amount
    day.balance = balance


def _booked(transaction: Transaction) -> dict[str, Decimal]:
    match transaction:
        case OrderFillTransaction():
            return {
                "realizedPL": transaction.pl,
                "financing": transaction.financing,
                "commission": transaction.commission,
                "guaranteedExecutionFee": transaction.guaranteed_execution_fee or NOTHING,
            }
        case DailyFinancingTransaction():
            return {"financing": transaction.financing}
        case TransferFundsTransaction():
            return {"transfers": transaction.amount}
        case _:
            return {}
