"""The ledger: every transaction of every account by its id, on disk before anybody hears of it.

Batches are staged in memory and made durable together by `commit`, one fsync for all that wait. What was staged but not
committed never happened: whoever stages must not answer before `commit` returned. Bodies are kept as the JSON text of
the wire, so that history is served as it was written.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.ledger.checksums import Value, checksum
from keydesk_practice.ledger.ledger_file import LedgerWatch, open_ledger_file, verify

_FIFO = "fifo "  # with an account's id: the fact that it has FIFO rules; older ledgers know none


@dataclass(frozen=True, slots=True)
class LedgerAccount:
    """Who an account belongs to and what it is; `owner` counts the tokens from 0."""

    id: str
    owner: int
    currency: str
    hedging: bool
    fifo: bool = False  # the rules of a US division


@dataclass(frozen=True, slots=True)
class Entry:
    """One transaction as the ledger keeps it."""

    id: int
    time: int
    type: str
    body: str


class MarkRecord(NamedTuple):
    """What the market showed an order, such as a trailing stop's level."""

    order_id: int
    level: Decimal


class EndedRecord(NamedTuple):
    """An order or a trade that ended, as JSON text, with what lists are filtered by."""

    kind: str
    id: int
    state: str
    instrument: str
    record: bytes


Row = tuple[Value, ...]  # as the ledger stores it, its checksum last


class LedgerBatch:
    """What one batch adds to the ledger, made ready row by row before any of it is written."""

    def __init__(self, account: str) -> None:
        self.account = account
        self.entries: list[Entry] = []
        self.transactions: list[Row] = []
        self.ended: list[Row] = []
        self.marks: list[Row] = []

    def add(self, record: Entry | EndedRecord | MarkRecord) -> None:
        """Take in a record."""
        match record:
            case Entry():
                self.entries.append(record)
                self.transactions.append(_transaction_row(self.account, record))
            case EndedRecord():
                self.ended.append(_summed(self.account, *record))
            case MarkRecord():
                self.marks.append(_summed(self.account, record.order_id, str(record.level)))


def entry_of(transaction: Mapping[str, Any], time: int) -> Entry:
    """Return the ledger's form of a wire transaction."""
    body = json.dumps(transaction, separators=(",", ":"))
    return Entry(int(transaction["id"]), time, str(transaction["type"]), body)


class Ledger:
    """The open ledger of one folder."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._watch = LedgerWatch(folder)
        self._batches: list[LedgerBatch] = []
        self._ended: dict[tuple[str, str, int], EndedRecord] = {}

    @classmethod
    def open(cls, folder: Path) -> "Ledger":
        """Open the ledger in `folder`, made on first use; raises `LedgerUnavailable`."""
        return cls(open_ledger_file(folder), folder)

    def verify(self) -> None:
        """Check the checksum of every row; raises `LedgerUnavailable` when the ledger is damaged."""
        verify(self._connection, self._folder)

    def close(self) -> None:
        """Give the file back; staged batches that were never committed are forgotten."""
        self._connection.close()

    # --- facts and accounts ---

    def fact(self, name: str) -> str | None:
        """Return what was noted under `name`, such as the market's seed."""
        row = self._connection.execute("SELECT value FROM facts WHERE name=?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def note(self, name: str, value: str) -> None:
        """Keep a fact at once."""
        self._connection.execute(
            "INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", _summed(name, value)
        )

    def accounts(self) -> list[LedgerAccount]:
        """Return every account, in the order of its id."""
        rows = self._connection.execute(
            "SELECT id, owner, currency, hedging, ? || id IN (SELECT name FROM facts)"
            " FROM accounts ORDER BY id",
            (_FIFO,),
        )
        return [
            LedgerAccount(id_, owner, currency, bool(hedging), bool(fifo))
            for id_, owner, currency, hedging, fifo in rows
        ]

    def create_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Enter an account together with its first transactions: both or neither."""
        values = (account.id, account.owner, account.currency, int(account.hedging))
        with _transaction(self._connection):
            self._connection.execute(
                "INSERT INTO accounts VALUES (?, ?, ?, ?, ?)", _summed(*values)
            )
            if account.fifo:
                self.note(_FIFO + account.id, "yes")
            self._insert([_transaction_row(account.id, entry) for entry in history])

    # --- writing ---

    def stage(self, account: str, batch: Iterable[Entry]) -> None:
        """Hold some transactions for the next commit."""
        made = LedgerBatch(account)
        for entry in batch:
            made.add(entry)
        self.stage_batch(made)

    def stage_mark(self, account: str, order_id: int, level: Decimal) -> None:
        """Hold what the market showed an order, such as a trailing stop's level, for the next commit."""
        made = LedgerBatch(account)
        made.add(MarkRecord(order_id, level))
        self.stage_batch(made)

    def stage_batch(self, batch: LedgerBatch) -> None:
        """Hold a batch for the next commit."""
        self._batches.append(batch)

    def stage_ended(self, account: str, ended: EndedRecord) -> None:
        """Hold an ended order or trade for the next commit; it can be read at once."""
        self._ended[account, ended.kind, ended.id] = ended

    def commit(self) -> None:
        """Make everything staged durable with one fsync.

        Raises:
            LedgerWriteFailed: the disk refused; nothing of it was kept, and memory is ahead of the ledger now.
        """
        batches, self._batches = self._batches, []
        staged, self._ended = self._ended, {}
        if not (batches or staged):
            return
        ended = [_summed(account, *record) for (account, _, _), record in staged.items()]
        try:
            with _transaction(self._connection):
                self._insert([row for batch in batches for row in batch.transactions])
                self._connection.executemany(
                    "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)",
                    [row for batch in batches for row in batch.marks],
                )
                self._connection.executemany(
                    "INSERT OR REPLACE INTO ended VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [*ended, *(row for batch in batches for row in batch.ended)],
                )
        except sqlite3.Error as error:
            raise LedgerWriteFailed(f"the ledger cannot be written: {error}") from error
        if problem := self._watch.problem():
            raise LedgerWriteFailed(problem)

    def _insert(self, rows: Sequence[Row]) -> None:
        self._connection.executemany("INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?)", rows)
        heads = {account: id_ for account, id_, *_ in rows}
        self._connection.executemany(
            "INSERT OR REPLACE INTO heads VALUES (?, ?, ?)",
            [_summed(*head) for head in heads.items()],
        )

    # --- reading ---

    def last_id(self, account: str) -> int:
        """Return the id of the newest committed transaction, 0 when there is none."""
        query = "SELECT max(id) FROM transactions WHERE account=?"
        (found,) = self._connection.execute(query, (account,)).fetchone()
        return int(found or 0)

    def last_time(self) -> int:
        """Return the time of the newest transaction of any account, 0 when there is none."""
        times = [self.time_of(account.id, self.last_id(account.id)) for account in self.accounts()]
        return max((time for time in times if time is not None), default=0)

    def time_of(self, account: str, id_: int) -> int | None:
        """Return when a transaction happened, None when there is no such id."""
        query = "SELECT time FROM transactions WHERE account=? AND id=?"
        row = self._connection.execute(query, (account, id_)).fetchone()
        return None if row is None else int(row[0])

    def bodies(
        self, account: str, first: int, last: int, types: Sequence[str] = (), limit: int = -1
    ) -> list[str]:
        """Return the JSON texts of the transactions `first` to `last`, both inclusive, oldest first."""
        query = f"SELECT body FROM transactions WHERE account=? AND id BETWEEN ? AND ?{_of(types)} ORDER BY id LIMIT ?"  # noqa: S608 - only question marks are put in
        rows = self._connection.execute(query, (account, first, last, *types, limit))
        return [body for (body,) in rows]

    def ids_of_types(self, account: str, first: int, last: int, types: Sequence[str]) -> list[int]:
        """Return the ids in a range whose transactions are of the types, ascending."""
        query = f"SELECT id FROM transactions WHERE account=? AND id BETWEEN ? AND ?{_of(types)} ORDER BY id"  # noqa: S608 - only question marks are put in
        return [id_ for (id_,) in self._connection.execute(query, (account, first, last, *types))]

    def first_id_not_before(self, account: str, time: int) -> int:
        """Return the lowest id that happened at `time` or later; one above the last when none did."""
        low, high = 1, self.last_id(account) + 1
        while low < high:  # ids and times ascend together
            middle = (low + high) // 2
            happened = self.time_of(account, middle)
            if happened is not None and happened < time:
                low = middle + 1
            else:
                high = middle
        return low

    # --- what ended ---

    def ended(self, account: str, kind: str, id_: int) -> bytes | None:
        """Return an ended order or trade as it was kept."""
        staged = self._ended.get((account, kind, id_))
        if staged is not None:
            return staged.record
        query = "SELECT record FROM ended WHERE account=? AND kind=? AND id=?"
        row = self._connection.execute(query, (account, kind, id_)).fetchone()
        return None if row is None else bytes(row[0])

    def ended_between(
        self,
        account: str,
        kind: str,
        ids: tuple[int, int],
        state: str | None = None,
        instrument: str | None = None,
    ) -> list[bytes]:
        """Return what ended and is committed in a range of ids, both ends included, newest first."""
        query = (
            "SELECT record FROM ended WHERE account=? AND kind=? AND id BETWEEN ? AND ?"
            " AND coalesce(state=?, 1) AND coalesce(instrument=?, 1) ORDER BY id DESC"
        )
        rows = self._connection.execute(query, (account, kind, *ids, state, instrument))
        return [bytes(record) for (record,) in rows]

    def forget_ended(self, account: str) -> None:
        """Drop everything that ended, before it is folded anew."""
        self._connection.execute("DELETE FROM ended WHERE account=?", (account,))

    # --- what makes a restart quick, and whole ---

    def marks(self, account: str) -> list[tuple[int, Decimal]]:
        """Return what the market last showed each order of an account."""
        rows = self._connection.execute(
            "SELECT order_id, level FROM marks WHERE account=? ORDER BY order_id", (account,)
        )
        return [(order_id, Decimal(level)) for order_id, level in rows]

    def forget_marks(self, account: str, pending: Iterable[int]) -> None:
        """Drop the marks of orders that ended."""
        kept = set(pending)
        gone = [(account, order_id) for order_id, _ in self.marks(account) if order_id not in kept]
        self._connection.executemany("DELETE FROM marks WHERE account=? AND order_id=?", gone)

    def keep_snapshot(self, account: str, id_: int, form: str, state: bytes) -> None:
        """Keep the state of an account after transaction `id_`, replacing the older one."""
        values = _summed(account, id_, form, state)
        self._connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", values)

    def snapshot(self, account: str, form: str) -> tuple[int, bytes] | None:
        """Return the newest state kept in the same form, and the id that it includes."""
        query = "SELECT id, state FROM snapshots WHERE account=? AND made_by=?"
        row = self._connection.execute(query, (account, form)).fetchone()
        return None if row is None else (int(row[0]), bytes(row[1]))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block becomes durable, or none of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk makes SQLite roll back by itself
            connection.execute("ROLLBACK")
        raise


def _summed(*values: Value) -> Row:
    """Return the values of a row with their checksum behind them."""
    return (*values, checksum(*values))


def _transaction_row(account: str, entry: Entry) -> Row:
    return _summed(account, entry.id, entry.time, entry.type, entry.body)


def _of(types: Sequence[str]) -> str:
    return f" AND type IN ({','.join('?' * len(types))})" if types else ""
