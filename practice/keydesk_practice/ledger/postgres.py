"""The ledger on a PostgreSQL server, shared by the nodes of a cluster.

Each write compares the account's fencing number with that in `fences`; an account that no node ever took has 0. The
reads are small and indexed, and block the event loop as those of SQLite do, at most `STATEMENT_SECONDS`. After a lost
connection every call raises `LedgerUnreachable` until `reconnect`.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg

from keydesk_practice.errors import LedgerUnavailable, LedgerUnreachable, LedgerWriteFailed
from keydesk_practice.ledger.postgres_accounts import commit_batches
from keydesk_practice.ledger.postgres_connection import (
    FORMAT,
    OF_ACCOUNT,
    SAVE_SNAPSHOT,
    SCHEMA,
    TABLES,
    BoundedConnection,
    away_errors,
    connect,
    without_password,
)
from keydesk_practice.ledger.records import (
    EndedRecord,
    Entry,
    LedgerAccount,
    LedgerBatch,
    checksum,
)

_SETUP_LOCK = 5_207_012  # of the nodes that start at the same time


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Raise the driver's errors as `LedgerUnreachable` or `LedgerWriteFailed`."""
    try:
        with away_errors():
            yield
    except psycopg.Error as error:
        raise LedgerWriteFailed(
            f"the ledger cannot be written: {without_password(error)}"
        ) from None


class PostgresLedger:
    """The ledger on a PostgreSQL server."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.fences: dict[str, int] = {}
        self._connection: BoundedConnection | None = connect(text)
        self._ended: dict[tuple[str, str, int], EndedRecord] = {}

    @classmethod
    def open(cls, text: str) -> "PostgresLedger":
        """Open the ledger, made on first use; raise `LedgerUnavailable` when that is not possible."""
        try:
            ledger = cls(text)
            ledger._create_tables()
        except (LedgerUnreachable, psycopg.Error) as error:
            raise LedgerUnavailable(
                f"the ledger on PostgreSQL cannot be opened: {without_password(error)}"
            ) from None
        return ledger

    def _create_tables(self) -> None:
        connection = self._open_connection()
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            found = connection.execute("SELECT to_regclass('facts')").fetchone()
            if found is None or found[0] is None:
                connection.execute(TABLES)
                self.set_fact("format", str(FORMAT))
        if self.fact("format") != str(FORMAT):
            raise LedgerUnavailable(
                f"the ledger has format {self.fact('format')}, which this version cannot read"
            )

    @contextmanager
    def setup(self) -> Iterator[None]:
        """Run the block in a transaction in which no other node sets the ledger up."""
        with _translated_errors(), self._open_connection().transaction():
            self._all("SELECT pg_advisory_xact_lock(%s)", _SETUP_LOCK)
            yield

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
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def reconnect(self) -> None:
        """Open a connection in place of a lost one; raise `LedgerUnreachable`."""
        self.close()
        self._connection = connect(self.text)

    def ping(self) -> None:
        """Raise `LedgerUnreachable` when the connection is lost."""
        self._all("SELECT 1")

    # --- facts and accounts ---

    def fact(self, name: str) -> str | None:
        """Return the value of a fact, None when it was never set."""
        row = self._one("SELECT value FROM facts WHERE name = %s", name)
        return None if row is None else str(row[0])

    def set_fact(self, name: str, value: str) -> None:
        """Store a fact, durably."""
        self._all(
            "INSERT INTO facts VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            name,
            value,
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
        """Store an account, which belongs to no node yet, and its first transactions."""
        batch = LedgerBatch(account.id, history)
        with _translated_errors(), self._open_connection().transaction():
            self._all(
                "INSERT INTO accounts (id, owner, currency, hedging, fifo, last_id)"
                " VALUES (%s, %s, %s, %s, %s, 0)",
                *(account.id, account.owner, account.currency, account.hedging, account.fifo),
            )
            commit_batches(self._open_connection(), [batch], {})

    def replace_account(self, account: LedgerAccount, history: Iterable[Entry]) -> None:
        """Delete everything of the account of that id, if it still belongs to this node, and store the new one.

        It belongs to no node then. Its fencing number goes on: nothing that was sent before can be stored in the new one.
        """
        id_ = account.id
        with _translated_errors(), self._open_connection().transaction():
            replaced = self._all(
                "UPDATE accounts SET owner = %s, currency = %s, hedging = %s, fifo = %s, last_id = 0,"
                " node = NULL, fence = fence + 1 WHERE id = %s AND fence = %s RETURNING fence",
                *(account.owner, account.currency, account.hedging, account.fifo),
                *(id_, self._fence(id_)),
            )
            if not replaced:
                raise LedgerWriteFailed(f"account {id_} belongs to another node")
            for table in OF_ACCOUNT:
                self._all(f"DELETE FROM {table} WHERE account = %s", id_)  # noqa: S608 - names of ours
            batch = LedgerBatch(id_, history)
            commit_batches(self._open_connection(), [batch], {id_: replaced[0][0]})
        self.fences.pop(id_, None)

    def copy_to(self, path: Path) -> None:
        """Raise `LedgerUnavailable`: a server's data are copied with its own tools."""
        raise LedgerUnavailable(f"cannot write {path}: copy a ledger on PostgreSQL with pg_dump")

    # --- writing ---

    def stage_ended(self, account: str, ended: EndedRecord) -> None:
        """Stage an ended order or trade for the next commit; `ended` returns it already."""
        self._ended[account, ended.kind, ended.id] = ended

    def commit(self, batches: Sequence[LedgerBatch] = ()) -> None:
        """Make batches and what is staged durable, in one statement.

        Raises:
            LedgerWriteFailed: it is refused; nothing of the accounts that belong to another node is stored.
            LedgerUnreachable: the database does not answer; whether it is stored is not known.
        """
        staged, self._ended = self._ended, {}
        ended = [LedgerBatch(account, [record]) for (account, _, _), record in staged.items()]
        batches = [*batches, *ended]
        if not batches:
            return
        with _translated_errors():
            moved = commit_batches(self._open_connection(), batches, self.fences)
        if refused := {batch.account for batch in batches} - moved:
            raise LedgerWriteFailed(
                f"accounts belong to another node: {', '.join(sorted(refused))}"
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
        """Delete the ended orders and trades of an account that belongs to this node."""
        self._all(
            "DELETE FROM ended USING accounts a"
            " WHERE ended.account = a.id AND a.id = %s AND a.fence = %s",
            *(account, self._fence(account)),
        )

    def marks(self, account: str) -> list[tuple[int, Decimal]]:
        """Return the observed price level of each order that has one."""
        rows = self._all(
            "SELECT order_id, level FROM marks WHERE account = %s ORDER BY order_id", account
        )
        return [(int(order_id), Decimal(level)) for order_id, level in rows]

    def forget_marks(self, account: str, pending: Iterable[int]) -> None:
        """Delete the marks of orders that are not pending, of an account that belongs to this node."""
        self._all(
            "DELETE FROM marks USING accounts a WHERE marks.account = a.id AND a.id = %s AND a.fence = %s"
            " AND order_id <> ALL(%s)",
            *(account, self._fence(account), list(pending)),
        )

    def save_snapshot(self, account: str, id_: int, form: str, state: bytes) -> None:
        """Store the state of an account of this node after transaction `id_`, in place of the older one."""
        crc = checksum(account, id_, form, state)
        self._all(SAVE_SNAPSHOT, id_, form, state, crc, account, self._fence(account))

    def snapshot(self, account: str, form: str) -> tuple[int, bytes] | None:
        """Return the id and the state of the newest snapshot, None when it was stored in another format."""
        row = self._one(
            "SELECT id, state FROM snapshots WHERE account = %s AND made_by = %s", account, form
        )
        return None if row is None else (int(row[0]), bytes(row[1]))

    # --- the connection ---

    def _fence(self, account: str) -> int:
        return self.fences.get(account, 0)

    def _open_connection(self) -> BoundedConnection:
        connection = self._connection
        if connection is None or connection.closed:
            raise LedgerUnreachable("the database does not answer: the connection was lost")
        return connection

    def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        return next(iter(self._all(query, *values)), None)

    def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with away_errors():
            cursor = self._open_connection().execute(query.encode(), values or None)
            return [] if cursor.description is None else cursor.fetchall()
