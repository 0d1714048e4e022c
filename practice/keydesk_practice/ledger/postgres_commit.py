"""Commits the batches of many accounts to a ledger on PostgreSQL, in one statement.

It moves `last_id` of each account from the number that the broker expects (compare-and-set), and stores only what belongs to
accounts that moved.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from keydesk_practice.ledger.postgres_connection import BoundedConnection
from keydesk_practice.ledger.records import LedgerBatch, Row

_WIDTHS = {"transactions": 6, "ended": 7, "marks": 4}  # columns

# The parameters are arrays, one item a row. `previous` is NULL for an account without transactions in the batch.
_COMMIT = """
WITH head AS (
    SELECT * FROM unnest(%(accounts)s::text[], %(previous)s::bigint[], %(newest)s::bigint[]) AS h(id, previous, newest)
), moved AS (
    UPDATE accounts a SET last_id = coalesce(h.newest, a.last_id) FROM head h
    WHERE a.id = h.id AND (h.previous IS NULL OR a.last_id = h.previous) RETURNING a.id
), kept_transactions AS (
    INSERT INTO transactions SELECT t.* FROM unnest(%(transactions_0)s::text[], %(transactions_1)s::bigint[],
        %(transactions_2)s::bigint[], %(transactions_3)s::text[], %(transactions_4)s::text[],
        %(transactions_5)s::bigint[]) AS t(account, id, time, type, body, crc) JOIN moved ON moved.id = account
), kept_ended AS (
    INSERT INTO ended AS e SELECT t.* FROM unnest(%(ended_0)s::text[], %(ended_1)s::text[], %(ended_2)s::bigint[],
        %(ended_3)s::text[], %(ended_4)s::text[], %(ended_5)s::bytea[], %(ended_6)s::bigint[])
        AS t(account, kind, id, state, instrument, record, crc) JOIN moved ON moved.id = account
    ON CONFLICT (account, kind, id) DO UPDATE
        SET state = excluded.state, instrument = excluded.instrument, record = excluded.record, crc = excluded.crc
), kept_marks AS (
    INSERT INTO marks AS m SELECT t.* FROM unnest(%(marks_0)s::text[], %(marks_1)s::bigint[], %(marks_2)s::text[],
        %(marks_3)s::bigint[]) AS t(account, order_id, level, crc) JOIN moved ON moved.id = account
    ON CONFLICT (account, order_id) DO UPDATE SET level = excluded.level, crc = excluded.crc
)
SELECT id FROM moved
"""


def commit_batches(connection: BoundedConnection, batches: Sequence[LedgerBatch]) -> set[str]:
    """Store batches in one statement, and return the accounts whose batches are stored.

    Those of the others do not follow the newest transaction of their account: nothing of them is stored.

    Raises:
        psycopg.Error: nothing is stored; after a lost connection that is not known.
    """
    return {str(id_) for (id_,) in connection.execute(_COMMIT, _parameters(batches)).fetchall()}


def _parameters(batches: Sequence[LedgerBatch]) -> dict[str, Any]:
    heads: dict[str, list[int | None]] = {}
    for batch in batches:
        head = heads.setdefault(batch.account, [None, None])
        if batch.entries:
            head[0] = batch.entries[0].id - 1 if head[0] is None else head[0]
            head[1] = batch.entries[-1].id
    parameters: dict[str, Any] = {
        "accounts": list(heads),
        "previous": [head[0] for head in heads.values()],
        "newest": [head[1] for head in heads.values()],
    }
    for table, rows in (
        ("transactions", [row for batch in batches for row in batch.transactions]),
        ("ended", _newest([row for batch in batches for row in batch.ended], 3)),
        ("marks", _newest([row for batch in batches for row in batch.marks], 2)),
    ):
        columns = list(zip(*rows, strict=True)) or [()] * _WIDTHS[table]
        parameters |= {f"{table}_{number}": list(one) for number, one in enumerate(columns)}
    return parameters


def _newest(rows: Iterable[Row], key: int) -> list[Row]:
    """Return the last row of each key: one statement may write a row once."""
    return list({row[:key]: row for row in rows}.values())
