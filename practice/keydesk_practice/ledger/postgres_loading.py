"""Reading accounts from PostgreSQL when a node takes them, and writing their snapshots: several accounts at a time.

Another node's accounts wait meanwhile, so all of a portion is read in three statements, in a thread, and nothing is written
before they are served.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from keydesk_practice.ledger.checksums import checksum
from keydesk_practice.ledger.postgres_connection import BoundedConnection
from keydesk_practice.ledger.postgres_tables import SAVE_SNAPSHOT
from keydesk_practice.ledger.records import StoredAccount

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
