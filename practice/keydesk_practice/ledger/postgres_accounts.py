"""Commits the batches of many accounts to a ledger on PostgreSQL, in one statement."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg

from keydesk_practice.ledger.postgres_connection import (
    COMMIT,
    TRANSACTIONS_CHANNEL,
    BoundedConnection,
)
from keydesk_practice.ledger.records import LedgerBatch, Row

_WIDTHS = {"transactions": 6, "ended": 7, "marks": 4}  # columns
_TRIES = 3


def commit_batches(
    connection: BoundedConnection,
    batches: Sequence[LedgerBatch],
    fences: Mapping[str, int],
) -> set[str]:
    """Store batches in one statement, and return the accounts whose batches are stored.

    The others belong to another node by now, or one of their requests was given up: nothing of theirs is stored.

    Raises:
        psycopg.Error: nothing is stored; after a lost connection that is not known.
    """
    parameters = _parameters(sorted(batches, key=lambda one: one.account), fences)
    for left in range(_TRIES, 0, -1):
        try:
            rows = connection.execute(COMMIT, parameters).fetchall()
            return {str(id_) for id_, _ in rows}
        except (psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):
            if left == 1:  # else a request was given up at the same time: it is seen now
                raise
    raise AssertionError


def _parameters(batches: Sequence[LedgerBatch], fences: Mapping[str, int]) -> dict[str, Any]:
    heads: dict[str, list[int | None]] = {}
    for batch in batches:
        head = heads.setdefault(batch.account, [None, None])
        if batch.entries:
            head[0] = batch.entries[0].id - 1 if head[0] is None else head[0]
            head[1] = batch.entries[-1].id
    parameters: dict[str, Any] = {
        "channel": TRANSACTIONS_CHANNEL,
        "accounts": list(heads),
        "fences": [fences.get(account, 0) for account in heads],
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
