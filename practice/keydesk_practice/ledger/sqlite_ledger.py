"""The ledger: every transaction of every account by its id, with what a restart needs beside them.

Batches are made durable together by `commit`, with one fsync. One that was not committed never happened: it must not be
shown to a client before `commit` returned. Transactions are stored as the JSON text of the
wire, so that history is served exactly as it was written.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

from keydesk_practice.errors import LedgerFull, LedgerUnavailable, LedgerWriteFailed
from keydesk_practice.ledger.ledger_file import (
    FILE_NAME,
    check_copy,
    open_ledger_file,
    verify_connection,
)
from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    LedgerBatch,
    Row,
    transaction_row,
    with_checksum,
)

_WITHOUT_SPACE = (
    frozenset(  # the system refused a write: a full disk, a quota, a limit of file sizes
        {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE}
    )
)
_LOG_MAGIC = b"\x37\x7f\x06"  # begins every write-ahead log
_FIFO = "fifo "  # followed by an account's id: the fact that it has FIFO rules


Identity = tuple[int, int]  # device and inode


class SqliteLedger:
    """The open ledger of one folder."""

    snapshot_interval = 5_000

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._files = LedgerFiles(folder)
        self._ended: dict[tuple[str, str, int], EndedRecord] = {}

    @classmethod
    def open(cls, folder: Path) -> "SqliteLedger":
        """Open the ledger in `folder`, made on first use; raises `LedgerUnavailable`."""
        return cls(open_ledger_file(folder), folder)

    def verify(self) -> None:
        """Compare the checksum of every row; raise `LedgerUnavailable` when the ledger is damaged."""
        verify_connection(self._connection, self._folder)

    def close(self) -> None:
        """Close the file; staged items that were not committed are lost."""
        if self._files.log_lost:
            self._save_from_lost_log()
        self._connection.close()

    def _save_from_lost_log(self) -> None:
        """Put a copy in place of the ledger, as SQLite would copy what is left of the log into it on closing.

        The copy is complete if the pages of the log are still in memory, else the ledger at its last checkpoint.
        """
        path, saved = self._folder / FILE_NAME, self._folder / f"{FILE_NAME}.saved"
        try:
            self.copy_to(saved)
            complete = not check_copy(saved).problems
        except (sqlite3.Error, LedgerUnavailable, OSError):
            complete = False
        with contextlib.suppress(OSError):
            if complete:
                Path(f"{path}-wal").unlink(missing_ok=True)
            else:
                shutil.copy2(path, saved)
            saved.replace(path)

    # --- facts and accounts ---

    def fact(self, name: str) -> str | None:
        """Return the value of a fact, such as the market's seed; None when it was never set."""
        row = self._connection.execute("SELECT value FROM facts WHERE name=?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_fact(self, name: str, value: str) -> None:
        """Store a fact, durably."""
        self._connection.execute(
            "INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", with_checksum(name, value)
        )

    def accounts(self) -> list[LedgerAccount]:
        """Return every account, in the order of the ids."""
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
        """Store an account and its first transactions, in one SQL transaction."""
        with _transaction(self._connection):
            self._insert_account(account, history)

    def replace_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Delete everything of the account of that id and store the new one, in one SQL transaction."""
        with _transaction(self._connection):
            for table in ("transactions", "marks", "ended", "snapshots", "heads"):
                self._connection.execute(f"DELETE FROM {table} WHERE account=?", (account.id,))  # noqa: S608 - names of ours
            self._connection.execute("DELETE FROM accounts WHERE id=?", (account.id,))
            self._connection.execute("DELETE FROM facts WHERE name=?", (_FIFO + account.id,))
            self._insert_account(account, history)

    def _insert_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        values = (account.id, account.owner, account.currency, int(account.hedging))
        self._connection.execute(
            "INSERT INTO accounts VALUES (?, ?, ?, ?, ?)", with_checksum(*values)
        )
        if account.fifo:
            self.set_fact(_FIFO + account.id, "yes")
        self._insert([transaction_row(account.id, entry) for entry in history])

    def facts(self, prefix: str) -> dict[str, str]:
        """Return the facts whose names begin with a word."""
        rows = self._connection.execute("SELECT name, value FROM facts ORDER BY name")
        return {str(name): str(value) for name, value in rows if str(name).startswith(prefix)}

    def copy_to(self, path: Path) -> None:
        """Write a copy of the committed ledger to a file, private to its owner, complete or not at all."""
        new = path.with_name(f".{path.name}.new")
        new.unlink(missing_ok=True)
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with contextlib.closing(sqlite3.connect(new)) as copy:
            self._connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        new.replace(path)

    # --- writing ---

    def stage_ended(self, account: str, ended: EndedRecord) -> None:
        """Stage an ended order or trade for the next commit; `ended` returns it already."""
        self._ended[account, ended.kind, ended.id] = ended

    def commit(self, batches: Sequence[LedgerBatch] = ()) -> None:
        """Make batches and what is staged durable, with one fsync.

        Raises:
            LedgerFull: there is no space; nothing of it is stored, and the next commit may succeed.
            LedgerWriteFailed: the ledger cannot be written; nothing of it is stored.
        """
        staged, self._ended = self._ended, {}
        if not (batches or staged):
            return
        if problem := self._files.problem():
            raise LedgerWriteFailed(problem)
        ended = [with_checksum(account, *record) for (account, _, _), record in staged.items()]
        try:
            with _transaction(self._connection):
                self._insert([row for batch in batches for row in batch.transactions])
                if marks := [row for batch in batches for row in batch.marks]:
                    self._connection.executemany(
                        "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)", marks
                    )
                self._connection.executemany(
                    "INSERT OR REPLACE INTO ended VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [*ended, *(row for batch in batches for row in batch.ended)],
                )
        except sqlite3.Error as error:
            problem = f"the ledger cannot be written: {error}"
            if error.sqlite_errorcode in _WITHOUT_SPACE:
                remedy = f"make room on the disk of {self._folder}"
                raise LedgerFull(f"{problem}: {remedy}") from error
            raise LedgerWriteFailed(problem) from error
        if problem := self._files.problem() or self._files.log_problem():
            raise LedgerWriteFailed(problem)

    def _insert(self, rows: Sequence[Row]) -> None:
        self._connection.executemany("INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?)", rows)
        heads = {account: id_ for account, id_, *_ in rows}
        self._connection.executemany(
            "INSERT OR REPLACE INTO heads VALUES (?, ?, ?)",
            [with_checksum(*head) for head in heads.items()],
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
        query = f"SELECT body FROM transactions WHERE account=? AND id BETWEEN ? AND ?{_type_condition(types)} ORDER BY id LIMIT ?"  # noqa: S608 - the formatted part holds placeholders only
        rows = self._connection.execute(query, (account, first, last, *types, limit))
        return [body for (body,) in rows]

    def ids_of_types(self, account: str, first: int, last: int, types: Sequence[str]) -> list[int]:
        """Return the ids in a range whose transactions are of the types, ascending."""
        query = f"SELECT id FROM transactions WHERE account=? AND id BETWEEN ? AND ?{_type_condition(types)} ORDER BY id"  # noqa: S608 - the formatted part holds placeholders only
        return [id_ for (id_,) in self._connection.execute(query, (account, first, last, *types))]

    # --- ended orders and trades ---

    def ended(self, account: str, kind: str, id_: int) -> bytes | None:
        """Return the JSON text of an ended order or trade, None when there is none."""
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
        """Return the committed ended orders or trades of ids `ids`, both ends included, newest first."""
        query = (
            "SELECT record FROM ended WHERE account=? AND kind=? AND id BETWEEN ? AND ?"
            " AND coalesce(state=?, 1) AND coalesce(instrument=?, 1) ORDER BY id DESC"
        )
        rows = self._connection.execute(query, (account, kind, *ids, state, instrument))
        return [bytes(record) for (record,) in rows]

    def forget_ended(self, account: str) -> None:
        """Delete the ended orders and trades of an account, before they are restored from its transactions."""
        self._connection.execute("DELETE FROM ended WHERE account=?", (account,))

    # --- marks and snapshots ---

    def marks(self, account: str) -> list[tuple[int, Decimal]]:
        """Return the observed price level of each order that has one."""
        rows = self._connection.execute(
            "SELECT order_id, level FROM marks WHERE account=? ORDER BY order_id", (account,)
        )
        return [(order_id, Decimal(level)) for order_id, level in rows]

    def forget_marks(self, account: str, pending: Iterable[int]) -> None:
        """Delete the marks of orders that are not pending."""
        kept = set(pending)
        gone = [(account, order_id) for order_id, _ in self.marks(account) if order_id not in kept]
        self._connection.executemany("DELETE FROM marks WHERE account=? AND order_id=?", gone)

    def save_snapshot(self, account: str, id_: int, form: str, state: bytes) -> None:
        """Store the state of an account after transaction `id_`, in place of the older one."""
        values = with_checksum(account, id_, form, state)
        self._connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", values)

    def snapshot(self, account: str, form: str) -> tuple[int, bytes] | None:
        """Return the id and the state of the newest snapshot, None when it was stored in another format."""
        query = "SELECT id, state FROM snapshots WHERE account=? AND made_by=?"
        row = self._connection.execute(query, (account, form)).fetchone()
        return None if row is None else (int(row[0]), bytes(row[1]))


class LedgerFiles:
    """Notices that a file of the open ledger was removed, replaced or truncated.

    SQLite goes on writing to a removed file, and what it acknowledges then is lost when the process ends. It also goes on
    writing behind the end of a truncated log, and copies the zeros before that into the ledger.
    """

    def __init__(self, folder: Path) -> None:
        self._ledger = str(folder / FILE_NAME)
        self._log = str(folder / f"{FILE_NAME}-wal")  # made by the first commit
        self._known: dict[str, Identity] = {}
        self._sizes = dict.fromkeys((self._ledger, self._log), 0)
        self.log_lost = False  # a part of the log, that is
        self.problem()

    def problem(self) -> str | None:
        """Return what happened to the files since they were opened, None when nothing did."""
        for file in (self._ledger, self._log):
            try:
                found = os.stat(file)  # noqa: PTH116 - at each commit, and a path takes ten times as long
            except FileNotFoundError:
                if file in self._known:
                    return f"{file} was removed while the broker runs"
                continue
            except OSError as error:
                return f"{file} cannot be checked: {error.strerror}"
            identity = (found.st_dev, found.st_ino)
            if self._known.setdefault(file, identity) != identity:
                return f"{file} was replaced while the broker runs"
            if found.st_size < self._sizes[file]:  # SQLite never makes it smaller
                return self._truncated(file)
            self._sizes[file] = found.st_size
        return None

    def log_problem(self) -> str | None:
        """Return what happened to the log if it was truncated during a commit, which made it as long again."""
        try:
            with open(self._log, "rb") as log:  # noqa: PTH123 - as above
                intact = log.read(len(_LOG_MAGIC)) == _LOG_MAGIC
        except OSError as error:
            return f"{self._log} cannot be checked: {error.strerror}"
        return None if intact else self._truncated(self._log)

    def _truncated(self, file: str) -> str:
        self.log_lost = file == self._log
        return f"{file} was truncated while the broker runs"


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in an SQL transaction: all of it becomes durable, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # on a full disk SQLite rolls back by itself
            connection.execute("ROLLBACK")
        raise


def _type_condition(types: Sequence[str]) -> str:
    return f" AND type IN ({','.join('?' * len(types))})" if types else ""
