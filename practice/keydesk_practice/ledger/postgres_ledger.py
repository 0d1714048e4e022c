"""The ledger on a PostgreSQL server, of the broker that holds its lock.

The reads are small and indexed, and block the event loop as those of SQLite do, at most `STATEMENT_SECONDS`. After a lost
connection every call raises `LedgerUnreachable` for good: another broker may have the lock by then.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import Any, LiteralString

from psycopg.sql import SQL, Composed

from keydesk_practice.errors import (
    LedgerUnavailable,
    LedgerUnreachable,
    LedgerWriteFailed,
    OutcomeUnknown,
    PracticeError,
)
from keydesk_practice.ledger.ledger_file import LedgerLocked
from keydesk_practice.ledger.postgres_commit import commit_batches
from keydesk_practice.ledger.postgres_connection import (
    FORMAT,
    LOCK,
    OF_ACCOUNT,
    SCHEMA,
    STATEMENT_SECONDS,
    TABLES,
    connect,
    translated_errors,
)
from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    LedgerBatch,
    with_checksum,
)

CLOSE_SECONDS = 1.0  # for freeing the lock; PostgreSQL frees it with the session anyway


class PostgresLedger:
    """The ledger on a PostgreSQL server."""

    snapshot_interval = 100  # clients wait while a standby takes over

    def __init__(self, text: str) -> None:
        self.text = text
        self._connection = connect(text)
        self._ended: dict[tuple[str, str, int], EndedRecord] = {}

    @classmethod
    def open(cls, text: str) -> "PostgresLedger":
        """Open the ledger, created on first use; raise `LedgerUnavailable` when it is in use or cannot be opened."""
        try:
            ledger = cls(text)
        except LedgerUnreachable as error:
            raise LedgerUnavailable(f"the ledger cannot be opened: {error}") from None
        try:
            has_lock = ledger.try_lock()
        except BaseException:
            ledger.close()
            raise
        if not has_lock:
            ledger.close()
            raise LedgerLocked("the ledger is in use by another running practice broker")
        return ledger

    def try_lock(self) -> bool:
        """Become the one broker that serves the ledger; return False while another one is.

        Raises:
            LedgerUnreachable: the database does not answer.
            LedgerUnavailable: the ledger cannot be used.
        """
        row = self._one("SELECT pg_try_advisory_lock(%s)", LOCK)
        if row is None or not row[0]:
            return False
        if not self.exists():
            self._create_tables()
        if self.fact("format") != str(FORMAT):
            raise LedgerUnavailable(
                f"the ledger has format {self.fact('format')}, which this version cannot read: use the version that wrote it"
            )
        return True

    def exists(self) -> bool:
        """Return whether a broker has created the ledger."""
        row = self._one("SELECT to_regclass(%s)", f"{SCHEMA}.facts")
        return row is not None and row[0] is not None

    def _create_tables(self) -> None:
        with self.transaction():
            self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            self._connection.execute(TABLES)
            self.set_fact("format", str(FORMAT))

    def end_when_idle(self, seconds: float) -> None:
        """Let PostgreSQL end the session, and free the lock, when it hears nothing for some seconds."""
        self._all("SELECT set_config('idle_session_timeout', %s, false)", f"{seconds * 1000:.0f}")

    def verify(self) -> None:
        """Compare the newest id of each account with its transactions; raise `LedgerUnavailable`."""
        row = self._one(
            "SELECT id FROM accounts WHERE last_id IS DISTINCT FROM"
            " (SELECT max(t.id) FROM transactions t WHERE t.account = accounts.id) LIMIT 1"
        )
        if row is not None:
            raise LedgerUnavailable(
                f"the ledger is damaged: transactions of account {row[0]} are missing"
            )

    def close(self) -> None:
        """Free the lock, so that the next broker need not wait for PostgreSQL to end the session, and close the connection."""
        with suppress(PracticeError):  # the session may have ended, and its lock with it
            self._connection.limit = CLOSE_SECONDS
            self._one("SELECT pg_advisory_unlock(%s)", LOCK)
        self._connection.close()

    # --- facts and accounts ---

    def fact(self, name: str) -> str | None:
        """Return the value of a fact, None when it was never set."""
        row = self._one("SELECT value FROM facts WHERE name = %s", name)
        return None if row is None else str(row[0])

    def set_fact(self, name: str, value: str) -> None:
        """Store a fact, durably."""
        with self._writing():
            self._connection.execute(
                "INSERT INTO facts VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )

    def facts(self, prefix: str) -> dict[str, str]:
        """Return the facts whose names begin with a word."""
        rows = self._all("SELECT name, value FROM facts ORDER BY name")
        return {str(name): str(value) for name, value in rows if str(name).startswith(prefix)}

    def accounts(self) -> list[LedgerAccount]:
        """Return every account, in the order of the ids."""
        rows = self._all(
            'SELECT id, owner, currency, hedging, fifo FROM accounts ORDER BY id COLLATE "C"'
        )
        return [LedgerAccount(*row) for row in rows]

    def create_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Store an account and its first transactions, all or nothing."""
        with self.transaction():
            self._insert_account(account, history)

    def replace_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Delete everything of the account of that id and store the new one, all or nothing."""
        with self.transaction():
            for table in OF_ACCOUNT:
                self._all(f"DELETE FROM {table} WHERE account = %s", account.id)  # noqa: S608 - names of ours
            self._all("DELETE FROM accounts WHERE id = %s", account.id)
            self._insert_account(account, history)

    def _insert_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        self._all(
            "INSERT INTO accounts (id, owner, currency, hedging, fifo, last_id)"
            " VALUES (%s, %s, %s, %s, %s, 0)",
            *(account.id, account.owner, account.currency, account.hedging, account.fifo),
        )
        commit_batches(self._connection, [LedgerBatch(account.id, history)])

    # --- writing ---

    def stage_ended(self, account: str, ended: EndedRecord) -> None:
        """Stage an ended order or trade for the next commit; `ended` returns it already."""
        self._ended[account, ended.kind, ended.id] = ended

    def commit(self, batches: Sequence[LedgerBatch] = ()) -> None:
        """Make batches and what is staged durable, in one statement.

        Raises:
            LedgerWriteFailed: it is refused; nothing of the accounts is stored that have other transactions by now.
            LedgerFull: there is no space, or the server takes no writes; nothing is stored, and the next commit may succeed.
            OutcomeUnknown: the connection was lost; whether it is stored is not known.
            LedgerUnreachable: it was lost before.
        """
        staged, self._ended = self._ended, {}
        ended = [LedgerBatch(account, [record]) for (account, _, _), record in staged.items()]
        batches = [*batches, *ended]
        if not batches:
            return
        with self._writing():
            moved = commit_batches(self._connection, batches)
        if refused := {batch.account for batch in batches} - moved:
            raise LedgerWriteFailed(
                f"another program has written to the ledger: accounts {', '.join(sorted(refused))}"
            )

    # --- reading ---

    def last_id(self, account: str) -> int:
        """Return the id of the newest committed transaction, 0 when there is none."""
        row = self._one("SELECT last_id FROM accounts WHERE id = %s", account)
        return 0 if row is None else int(row[0])

    def last_time(self) -> int:
        """Return the time of the newest transaction of any account, 0 when there is none."""
        row = self._one(
            "SELECT max(t.time) FROM accounts a JOIN transactions t ON t.account = a.id AND t.id = a.last_id"
        )
        return int(row[0] or 0) if row else 0

    def time_of(self, account: str, id_: int) -> int | None:
        """Return when a transaction happened, None when there is no such id."""
        row = self._one(
            "SELECT time FROM transactions WHERE account = %s AND id = %s", account, id_
        )
        return None if row is None else int(row[0])

    def bodies(
        self, account: str, first: int, last: int, types: Sequence[str] = (), limit: int = -1
    ) -> list[str]:
        """Return the JSON texts of the transactions `first` to `last`, both inclusive, oldest first."""
        rows = self._all(
            "SELECT body FROM transactions WHERE account = %s AND id BETWEEN %s AND %s"
            " AND (%s::text[] = '{}' OR type = ANY(%s)) ORDER BY id LIMIT %s",
            *(account, first, last, list(types), list(types), limit if limit >= 0 else None),
        )
        return [str(body) for (body,) in rows]

    def ids_of_types(self, account: str, first: int, last: int, types: Sequence[str]) -> list[int]:
        """Return the ids in a range whose transactions are of the types, ascending."""
        rows = self._all(
            "SELECT id FROM transactions WHERE account = %s AND id BETWEEN %s AND %s"
            " AND (%s::text[] = '{}' OR type = ANY(%s)) ORDER BY id",
            *(account, first, last, list(types), list(types)),
        )
        return [int(id_) for (id_,) in rows]

    # --- ended orders and trades, marks, snapshots ---

    def ended(self, account: str, kind: str, id_: int) -> bytes | None:
        """Return the JSON text of an ended order or trade, None when there is none."""
        staged = self._ended.get((account, kind, id_))
        if staged is not None:
            return staged.record
        row = self._one(
            "SELECT record FROM ended WHERE account = %s AND kind = %s AND id = %s",
            *(account, kind, id_),
        )
        return None if row is None else bytes(row[0])

    def ended_between(
        self,
        account: str,
        kind: str,
        ids: tuple[int, int],
        state: str | None = None,
        instrument: str | None = None,
    ) -> list[bytes]:
        """Return the committed ended orders or trades of ids `ids`, both included, newest first."""
        rows = self._all(
            "SELECT record FROM ended WHERE account = %s AND kind = %s AND id BETWEEN %s AND %s"
            " AND coalesce(state = %s, true) AND coalesce(instrument = %s, true) ORDER BY id DESC",
            *(account, kind, *ids, state, instrument),
        )
        return [bytes(record) for (record,) in rows]

    def forget_ended(self, account: str) -> None:
        """Delete the ended orders and trades of an account, before they are restored."""
        self._all("DELETE FROM ended WHERE account = %s", account)

    def marks(self, account: str) -> list[tuple[int, Decimal]]:
        """Return the observed price level of each order that has one."""
        rows = self._all(
            "SELECT order_id, level FROM marks WHERE account = %s ORDER BY order_id", account
        )
        return [(int(order_id), Decimal(level)) for order_id, level in rows]

    def forget_marks(self, account: str, pending: Iterable[int]) -> None:
        """Delete the marks of orders that are not pending."""
        self._all(
            "DELETE FROM marks WHERE account = %s AND order_id <> ALL(%s)", account, list(pending)
        )

    def save_snapshot(self, account: str, id_: int, form: str, state: bytes) -> None:
        """Store the state of an account after transaction `id_`, in place of the older one.

        One that is lost in a crash only makes the next start longer, so none is waited for until it is on the disk.
        """
        self._all(
            "WITH unwaited AS (SELECT set_config('synchronous_commit', 'off', true))"
            " INSERT INTO snapshots SELECT %s, %s, %s, %s::bytea, %s FROM unwaited ON CONFLICT (account) DO UPDATE"
            " SET id = excluded.id, made_by = excluded.made_by, state = excluded.state, crc = excluded.crc",
            *with_checksum(account, id_, form, state),
        )

    def snapshot(self, account: str, form: str) -> tuple[int, bytes] | None:
        """Return the id and the state of the newest snapshot, None when it was stored in another format."""
        row = self._one(
            "SELECT id, state FROM snapshots WHERE account = %s AND made_by = %s", account, form
        )
        return None if row is None else (int(row[0]), bytes(row[1]))

    # --- the connection ---

    @property
    def is_lost(self) -> bool:
        """Whether the connection, and with it the lock, is lost."""
        return self._connection.closed

    @contextmanager
    def transaction(self, seconds: float = STATEMENT_SECONDS) -> Iterator[None]:
        """Do all of the block or nothing of it, with so many seconds for each statement."""
        former = self._connection.limit
        self._connection.limit = max(seconds, former)
        try:
            with self._writing(), self._connection.transaction():
                yield
        finally:
            self._connection.limit = former

    def rows(self, query: SQL | Composed, *values: object) -> list[tuple[Any, ...]]:
        """Execute a statement and return its rows."""
        with self._ending(), translated_errors():
            cursor = self._connection.execute(query, values or None)
            return [] if cursor.description is None else cursor.fetchall()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Raise `OutcomeUnknown` when the connection is lost in the block, `LedgerUnreachable` when it was before."""
        if self._connection.closed:
            raise LedgerUnreachable("the database does not answer: the connection was lost")
        with self._ending(), translated_errors(OutcomeUnknown):
            yield

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Close the connection after any error that leaves its state unknown, so that nothing follows on it."""
        try:
            yield
        except LedgerUnreachable:
            self._connection.close()
            raise

    def _one(self, query: LiteralString, *values: object) -> tuple[Any, ...] | None:
        return next(iter(self._all(query, *values)), None)

    def _all(self, query: LiteralString, *values: object) -> list[tuple[Any, ...]]:
        return self.rows(SQL(query), *values)
