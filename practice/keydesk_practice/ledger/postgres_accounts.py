"""What a ledger on PostgreSQL does for many accounts at a time: commit their batches, read them, save their snapshots.

A commit is one statement, with the requests that made the batches. Accounts that a node takes wait meanwhile, so a portion of
them is read in three statements, in a thread, and nothing is written before they are served.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import psycopg

from keydesk_practice.ledger.postgres_connection import (
    COMMIT,
    SAVE_SNAPSHOT,
    TRANSACTIONS_CHANNEL,
    BoundedConnection,
)
from keydesk_practice.ledger.records import LedgerBatch, Row, StoredAccount, checksum

_WIDTHS = {"transactions": 6, "ended": 7, "marks": 4}  # columns
_TRIES = 3
MAX_TRANSACTIONS = 1_000  # of an account, since its snapshot; more are read in portions
_NEWEST = """
SELECT a.id, a.last_id, coalesce(s.id, 0), coalesce(s.state, ''::bytea), coalesce(t.time, 0) FROM accounts a
LEFT JOIN snapshots s ON s.account = a.id AND s.made_by = %s
LEFT JOIN transactions t ON t.account = a.id AND t.id = a.last_id
WHERE a.id = ANY(%s)
"""
_SINCE = """
SELECT t.account, t.body FROM unnest(%s::text[], %s::bigint[]) AS s(account, id)
JOIN transactions t ON t.account = s.account AND t.id > s.id ORDER BY t.account, t.id
"""


_FORGET_MARKS = """
DELETE FROM marks USING accounts a
WHERE marks.account = a.id AND a.id = %s AND a.fence = %s AND order_id <= %s AND order_id <> ALL(%s)
"""


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A client's request that made transactions; `answer` is its response as JSON, with ids for transactions."""

    account: str
    request: str
    first_id: int
    last_id: int
    answer: str | None


def commit_batches(
    connection: BoundedConnection,
    batches: Sequence[LedgerBatch],
    fences: Mapping[str, int],
    requests: Sequence[RequestRecord] = (),
) -> set[str]:
    """Store batches in one statement, and return the accounts whose batches are stored.

    The others belong to another node by now, or one of their requests was given up: nothing of theirs is stored.

    Raises:
        psycopg.Error: nothing is stored; after a lost connection that is not known.
    """
    parameters = _parameters(sorted(batches, key=lambda one: one.account), fences, requests)
    for left in range(_TRIES, 0, -1):
        try:
            rows = connection.execute(COMMIT, parameters).fetchall()
            return {str(id_) for id_, _ in rows}
        except (psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):
            if left == 1:  # else a request was given up at the same time: it is seen now
                raise
    raise AssertionError


def _parameters(
    batches: Sequence[LedgerBatch], fences: Mapping[str, int], requests: Sequence[RequestRecord]
) -> dict[str, Any]:
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
        "request_accounts": [one.account for one in requests],
        "requests": [one.request for one in requests],
        "first_ids": [one.first_id for one in requests],
        "last_ids": [one.last_id for one in requests],
        "answers": [one.answer for one in requests],
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


class Snapshot(NamedTuple):
    """The state of an account after a transaction, as a snapshot stores it, and the orders that were pending."""

    account: str
    id: int
    form: str
    state: bytes
    pending: list[int]


def read_accounts(
    connection: BoundedConnection, ids: Sequence[str], form: str
) -> dict[str, StoredAccount]:
    """Return what the ledger holds of accounts; one with many transactions since its snapshot is left out."""
    newest = connection.execute(_NEWEST, (form, list(ids))).fetchall()
    short = [row for row in newest if row[1] - row[2] <= MAX_TRANSACTIONS]
    texts: dict[str, list[str]] = {}
    since = connection.execute(_SINCE, ([row[0] for row in short], [row[2] for row in short]))
    for account, text in since.fetchall():
        texts.setdefault(account, []).append(text)
    levels: dict[str, list[tuple[int, Decimal]]] = {}
    query = "SELECT account, order_id, level FROM marks WHERE account = ANY(%s) ORDER BY order_id"
    for account, order_id, level in connection.execute(query, (list(ids),)).fetchall():
        levels.setdefault(account, []).append((int(order_id), Decimal(level)))
    return {
        str(id_): StoredAccount(
            int(snapshot_id), bytes(state), texts.get(id_, []), levels.get(id_, []), int(time)
        )
        for id_, _, snapshot_id, state, time in short
    }


def save_snapshots(
    connection: BoundedConnection, snapshots: Iterable[Snapshot], fences: Mapping[str, int]
) -> None:
    """Store snapshots of accounts that belong to this node, and delete the price levels of orders that ended before.

    One that is lost in a crash only makes the next loading longer, so none is waited for until it is on the disk.
    """
    connection.execute("SET synchronous_commit = off")
    for one in snapshots:
        crc = checksum(one.account, one.id, one.form, one.state)
        fence = fences.get(one.account, -1)
        values = (one.id, one.form, one.state, crc, one.account, fence)
        connection.execute(SAVE_SNAPSHOT, values)
        connection.execute(_FORGET_MARKS, (one.account, fence, one.id, one.pending))
    connection.execute("SET synchronous_commit = on")
