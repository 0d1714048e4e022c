"""What the broker needs of a ledger; `SqliteLedger` keeps it in an SQLite file, `PostgresLedger` on a PostgreSQL server.

And what is done with either: the transactions of an account searched by time and copied.
"""

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Protocol

from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    LedgerBatch,
    MarkRecord,
    WireTransaction,
    entry_of,
)


class LedgerInterface(Protocol):
    """The transactions of every account by id, with what a restart needs beside them."""

    @property
    def snapshot_interval(self) -> int:
        """The transactions of an account that a start reads again, at most: so many follow a snapshot."""

    def verify(self) -> None:
        """Check the ledger; raise `LedgerUnavailable` when it is damaged."""

    def close(self) -> None:
        """Close it; staged items that were not committed are lost."""

    def fact(self, name: str) -> str | None:
        """Return the value of a fact, None when it was never set."""

    def set_fact(self, name: str, value: str) -> None:
        """Store a fact, durably."""

    def facts(self, prefix: str) -> dict[str, str]:
        """Return the facts whose names begin with a word."""

    def accounts(self) -> list[LedgerAccount]:
        """Return every account, in the order of the ids."""

    def create_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Store an account and its first transactions, all or nothing."""

    def replace_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Delete everything of the account of that id and store the new one, all or nothing."""

    def stage_ended(self, account: str, ended: EndedRecord) -> None:
        """Stage an ended order or trade for the next commit; `ended` returns it already."""

    def commit(self, batches: Sequence[LedgerBatch] = ()) -> None:
        """Make batches and what is staged durable; raise `LedgerWriteFailed` when nothing of it is stored."""

    def last_id(self, account: str) -> int:
        """Return the id of the newest committed transaction, 0 when there is none."""

    def last_time(self) -> int:
        """Return the time of the newest transaction of any account, 0 when there is none."""

    def time_of(self, account: str, id_: int) -> int | None:
        """Return when a transaction happened, None when there is no such id."""

    def bodies(
        self, account: str, first: int, last: int, types: Sequence[str] = (), limit: int = -1
    ) -> list[str]:
        """Return the JSON texts of the transactions `first` to `last`, both inclusive, oldest first."""

    def ids_of_types(self, account: str, first: int, last: int, types: Sequence[str]) -> list[int]:
        """Return the ids in a range whose transactions are of the types, ascending."""

    def ended(self, account: str, kind: str, id_: int) -> bytes | None:
        """Return the JSON text of an ended order or trade, None when there is none."""

    def ended_between(
        self,
        account: str,
        kind: str,
        ids: tuple[int, int],
        state: str | None = None,
        instrument: str | None = None,
    ) -> list[bytes]:
        """Return the committed ended orders or trades of ids `ids`, both included, newest first."""

    def forget_ended(self, account: str) -> None:
        """Delete the ended orders and trades of an account, before they are restored."""

    def marks(self, account: str) -> list[tuple[int, Decimal]]:
        """Return the observed price level of each order that has one."""

    def forget_marks(self, account: str, pending: Iterable[int]) -> None:
        """Delete the marks of orders that are not pending."""

    def save_snapshot(self, account: str, id_: int, form: str, state: bytes) -> None:
        """Store the state of an account after transaction `id_`, in place of the older one."""

    def snapshot(self, account: str, form: str) -> tuple[int, bytes] | None:
        """Return the id and the state of the newest snapshot, None when it was stored in another format."""


def first_id_not_before(ledger: LedgerInterface, account: str, time: int) -> int:
    """Return the lowest id that happened at `time` or later; one above the last when none did."""
    low, high = 1, ledger.last_id(account) + 1
    while low < high:  # ids and times ascend together
        middle = (low + high) // 2
        happened = ledger.time_of(account, middle)
        if happened is not None and happened < time:
            low = middle + 1
        else:
            high = middle
    return low


def copy_account(ledger: LedgerInterface, source: str, copy: LedgerAccount) -> None:
    """Store a copy of an account's transactions and marks under another id."""
    number = int(copy.id.rpartition("-")[2])
    entries = []
    for text in ledger.bodies(source, 1, ledger.last_id(source)):
        body = WireTransaction(json.loads(text), accountID=copy.id)
        if "accountNumber" in body:
            body["accountNumber"] = number
        entries.append(entry_of(body, ledger.time_of(source, int(body["id"])) or 0))
    ledger.create_account(copy, entries)
    marks = (MarkRecord(order_id, level) for order_id, level in ledger.marks(source))
    ledger.commit([LedgerBatch(copy.id, marks)])
