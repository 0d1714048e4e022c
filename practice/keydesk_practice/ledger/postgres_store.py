"""The kept ledgers and the checkpoints of a ledger on PostgreSQL: a schema of the database each.

The comment of a schema says what it holds. A change of ledgers renames or copies schemas in one transaction, on the connection
that holds the lock: after a failure or a kill the former ledger is in use.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from psycopg.sql import SQL, Identifier, Literal

from keydesk_practice.errors import LedgerUnreachable
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.ledger_store import (
    HOME,
    KeptLedger,
    Source,
    check_new_name,
    named,
    unknown,
)
from keydesk_practice.ledger.postgres_connection import FORMAT, OF_ACCOUNT, SCHEMA, TABLES
from keydesk_practice.ledger.postgres_ledger import PostgresLedger

COPY_SECONDS = 120.0  # for the statements of a change: a long ledger is copied by one
_ALL_TABLES = ("facts", "accounts", *OF_ACCOUNT)
_KEPT, _CHECKPOINT = "kept", "checkpoint"
_LABELS = """
SELECT nspname, description, coalesce((SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c
    WHERE c.relnamespace = n.oid AND c.relkind = 'r'), 0)
FROM pg_namespace n JOIN pg_description d ON d.objoid = n.oid AND d.classoid = 'pg_namespace'::regclass
WHERE starts_with(nspname, %s) ORDER BY nspname DESC
"""


class PostgresLedgerStore:
    """The schemas beside that of a ledger."""

    def __init__(self, ledger: PostgresLedger) -> None:
        self._ledger = ledger

    def kept(self) -> list[KeptLedger]:
        """Return the kept ledgers, that of the account which was left for a replay first, then the newest first."""
        found = [
            KeptLedger(name, size, self._facts(schema))
            for kind, name, schema, size in self._labelled()
            if kind == _KEPT
        ]
        return sorted(found, key=lambda one: one.name != HOME)

    def rename(self, name: str, new: str) -> None:
        """Give a kept ledger another name; raise `LedgerUnavailable` for one that cannot be used."""
        check_new_name(self.kept(), name, new)
        with self._ledger.transaction():
            self._label(self._schema(Source(name)), _KEPT, new)

    def delete(self, name: str) -> None:
        """Delete a kept ledger for ever."""
        named(self.kept(), name)
        with self._ledger.transaction():
            self._drop(self._schema(Source(name)))

    def checkpoints(self) -> list[str]:
        """Return the names of the checkpoints."""
        return sorted(name for kind, name, *_ in self._labelled() if kind == _CHECKPOINT)

    def save_checkpoint(self, ledger: LedgerInterface, name: str) -> None:
        """Copy the committed ledger; a checkpoint of the same name is replaced."""
        del ledger  # it is the one that the connection has
        with self._ledger.transaction(COPY_SECONDS):
            if name in self.checkpoints():
                self._drop(self._schema(Source(name, is_checkpoint=True)))
            copy = self._new_schema()
            self._copy(SCHEMA, copy)
            self._label(copy, _CHECKPOINT, name)

    def facts(self, source: Source) -> Mapping[str, str]:
        """Return the facts of a kept ledger or a checkpoint; raise `UnknownLedger`, which lists those that there are."""
        return self._facts(self._schema(source))

    async def problem(self, source: Source) -> str | None:
        """Return what is damaged in it, None when nothing is."""
        schema = Identifier(self._schema(source))
        form = self.facts(source).get("format")
        if form != str(FORMAT):
            return f"it has format {form}, which this version cannot read"
        rows = self._ledger.rows(
            SQL(
                "SELECT id FROM {}.accounts a WHERE last_id IS DISTINCT FROM"
                " (SELECT max(t.id) FROM {}.transactions t WHERE t.account = a.id) LIMIT 1"
            ).format(schema, schema)
        )
        return f"transactions of account {rows[0][0]} are missing" if rows else None

    @contextmanager
    def change(
        self, ledger: LedgerInterface, source: Source | None, *, as_home: bool, keep: bool
    ) -> Iterator[LedgerInterface]:
        """Put another ledger in the place of the one in use, in one transaction with all that is done in the block."""
        with self._ledger.transaction(COPY_SECONDS):
            placed = None if source is None else self._schema(source)
            self._set_aside(as_home=as_home and keep, keep=keep)
            if placed is None:
                self._create(SCHEMA)
                ledger.set_fact("format", str(FORMAT))
            elif source is not None and source.is_checkpoint:
                self._copy(placed, SCHEMA)
            else:
                self._rename_schema(placed, SCHEMA)
            yield ledger

    def former(self) -> LedgerInterface:
        """Return the ledger that was in use before a change that failed; raise `LedgerUnreachable` after a lost connection."""
        if self._ledger.is_lost:
            raise LedgerUnreachable("the database does not answer: the connection was lost")
        return self._ledger

    # --- schemas ---

    def _labelled(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield kind, name, schema and bytes of what stands beside the ledger, the newest first."""
        for schema, text, size in self._ledger.rows(SQL(_LABELS), f"{SCHEMA}_"):
            ((kind, name),) = json.loads(text).items()
            yield str(kind), str(name), str(schema), int(size)

    def _schema(self, source: Source) -> str:
        kind = _CHECKPOINT if source.is_checkpoint else _KEPT
        found = {name: schema for label, name, schema, _ in self._labelled() if label == kind}
        if source.name not in found:
            raise unknown(source, list(found))
        return found[source.name]

    def _facts(self, schema: str) -> dict[str, str]:
        return dict(
            self._ledger.rows(SQL("SELECT name, value FROM {}.facts").format(Identifier(schema)))
        )

    def _set_aside(self, *, as_home: bool, keep: bool) -> None:
        if not keep:
            self._drop(SCHEMA)
            return
        now = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.{time.time_ns() // 1000 % 1_000_000:06}Z"
        if as_home and any(one.name == HOME for one in self.kept()):
            self._label(self._schema(Source(HOME)), _KEPT, f"{now}-{HOME}")
        left = self._new_schema()
        self._rename_schema(SCHEMA, left)
        self._label(left, _KEPT, HOME if as_home else now)

    def _new_schema(self) -> str:
        return f"{SCHEMA}_{time.time_ns()}"

    def _create(self, schema: str) -> None:
        """Create the tables of a ledger in a new schema."""
        named_schema = Identifier(schema)
        for statement in (
            SQL("CREATE SCHEMA {}").format(named_schema),
            SQL("SET LOCAL search_path = {}").format(named_schema),
            SQL(TABLES),
            SQL("SET LOCAL search_path = {}").format(Identifier(SCHEMA)),
        ):
            self._ledger.rows(statement)

    def _copy(self, source: str, target: str) -> None:
        self._create(target)
        for table in _ALL_TABLES:
            self._ledger.rows(
                SQL("INSERT INTO {} SELECT * FROM {}").format(
                    Identifier(target, table), Identifier(source, table)
                )
            )

    def _rename_schema(self, old: str, new: str) -> None:
        self._ledger.rows(
            SQL("ALTER SCHEMA {} RENAME TO {}").format(Identifier(old), Identifier(new))
        )

    def _drop(self, schema: str) -> None:
        self._ledger.rows(SQL("DROP SCHEMA {} CASCADE").format(Identifier(schema)))

    def _label(self, schema: str, kind: str, name: str) -> None:
        text = Literal(json.dumps({kind: name}))
        self._ledger.rows(SQL("COMMENT ON SCHEMA {} IS {}").format(Identifier(schema), text))
