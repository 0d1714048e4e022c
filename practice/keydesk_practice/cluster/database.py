"""What the nodes of a cluster keep in the database beside the ledger: leases, owners, the clock's pace, and requests.

A lease belongs to a run of a node, which renews it by the clock of the database. After it expires, others may take its
accounts; the fencing number, which each take-over raises and each commit compares, makes that safe. One that ends later than any
lease can was made before the clock was set back: it has expired, too, else the accounts of a dead node would wait for hours.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from keydesk_practice.ledger.postgres_connection import (
    CONTROL_CHANNEL,
    OWNERS_CHANNEL,
    BoundedConnection,
)
from keydesk_practice.ledger.records import LedgerAccount

MAX_LEASE_SECONDS = 4  # twice a lease
KEPT_REQUESTS = "1 day"  # far above the time for which a node repeats one
_TAKE = """
UPDATE accounts a SET node = %(node)s, fence = fence + 1,
    ticked = greatest(a.ticked, (SELECT n.ticked FROM nodes n WHERE n.number = a.node))
FROM (SELECT id FROM accounts a WHERE {condition} ORDER BY id LIMIT %(most)s FOR UPDATE SKIP LOCKED) w
WHERE a.id = w.id
RETURNING a.id, a.owner, a.currency, a.hedging, a.fifo, a.fence, a.ticked
"""
_LIVES = (
    "expires > clock_timestamp()"
    f" AND expires < clock_timestamp() + interval '{MAX_LEASE_SECONDS} s'"
)
_FREE = f"node IS NULL OR NOT EXISTS (SELECT FROM nodes n WHERE n.number = a.node AND {_LIVES})"
_OWN = "node = %(node)s AND id = ANY(%(ids)s)"


@dataclass(frozen=True, slots=True)
class TakenAccount:
    """An account that belongs to this node now; it was ticked until `ticked` by the former one."""

    account: LedgerAccount
    fence: int
    ticked: int


@dataclass(frozen=True, slots=True)
class Lease:
    """The state of the cluster at a renewal."""

    nodes: int  # that live
    accounts: int
    fences: dict[str, int]  # of this node's accounts


@dataclass(frozen=True, slots=True)
class MarketTime:
    """The market's time as a function of the wall time: `market` at `wall`, then `speed` times as fast, until `stops`."""

    market: int
    wall: int
    speed: float
    stops: int | None
    number: int


@dataclass(frozen=True, slots=True)
class Owner:
    """The node that an account belongs to."""

    node: int
    address: str


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A request that the ledger knows; one without an answer was given up and will never be executed."""

    answer: str | None


def register(connection: BoundedConnection, address: str, seconds: float) -> int:
    """Add a run of a node, and return its number; forget what no node needs any more."""
    connection.execute(
        f"DELETE FROM requests WHERE at < clock_timestamp() - interval '{KEPT_REQUESTS}'"  # noqa: S608 - a constant
    )
    connection.execute(
        "DELETE FROM nodes n WHERE expires < clock_timestamp() - interval '1 hour'"
        " AND NOT EXISTS (SELECT FROM accounts WHERE node = n.number)"
    )
    row = connection.execute(
        "INSERT INTO nodes (address, expires, ticked)"
        " VALUES (%s, clock_timestamp() + %s * interval '1 s', 0) RETURNING number",
        (address, seconds),
    ).fetchone()
    assert row is not None  # noqa: S101 - for the type checker: RETURNING has a row
    return int(row[0])


def renew(connection: BoundedConnection, node: int, seconds: float, ticked: int) -> Lease | None:
    """Renew a lease, also one that has expired; return None when its node is forgotten."""
    renewed = connection.execute(
        "UPDATE nodes SET expires = clock_timestamp() + %s * interval '1 s', ticked = greatest(ticked, %s)"
        " WHERE number = %s RETURNING 1",
        (seconds, ticked, node),
    ).fetchone()
    if renewed is None:
        return None
    nodes, accounts = counts(connection)
    own = connection.execute("SELECT id, fence FROM accounts WHERE node = %s", (node,)).fetchall()
    return Lease(nodes, accounts, {str(id_): int(fence) for id_, fence in own})


def counts(connection: BoundedConnection) -> tuple[int, int]:
    """Return the number of nodes that live, and of all accounts."""
    row = connection.execute(
        f"SELECT (SELECT count(*) FROM nodes WHERE {_LIVES}), (SELECT count(*) FROM accounts)"  # noqa: S608 - a constant
    ).fetchone()
    nodes, accounts = (1, 0) if row is None else row
    return int(nodes), int(accounts)


def lease_free(connection: BoundedConnection, node: int, most: int) -> list[TakenAccount]:
    """Take accounts whose node has no valid lease."""
    return _take(connection, _FREE, node=node, most=most, ids=[])


def lease_again(connection: BoundedConnection, node: int, ids: Iterable[str]) -> list[TakenAccount]:
    """Take accounts of this node again, so that nothing it sent before can still be stored."""
    return _take(connection, _OWN, node=node, most=None, ids=list(ids))


def _take(connection: BoundedConnection, condition: str, **values: object) -> list[TakenAccount]:
    rows = connection.execute(_TAKE.format(condition=condition).encode(), values).fetchall()
    if rows:
        notify_owners(connection)
    return [TakenAccount(LedgerAccount(*row[:5]), row[5], row[6]) for row in rows]


def release(connection: BoundedConnection, node: int, ids: Iterable[str], ticked: int) -> None:
    """Give accounts up, so that another node takes them at once."""
    connection.execute(
        "UPDATE accounts SET node = NULL, fence = fence + 1, ticked = greatest(ticked, %s)"
        " WHERE node = %s AND id = ANY(%s)",
        (ticked, node, list(ids)),
    )
    notify_owners(connection)


def leave(connection: BoundedConnection, node: int) -> None:
    """End the lease of a node that stops."""
    connection.execute("UPDATE nodes SET expires = clock_timestamp() WHERE number = %s", (node,))
    notify_owners(connection)


def notify_owners(connection: BoundedConnection) -> None:
    """Tell every node that accounts have moved."""
    connection.execute("SELECT pg_notify(%s, '')", (OWNERS_CHANNEL,))


def notify_control(connection: BoundedConnection) -> None:
    """Tell every node that the clock, a shock, a token or an account was changed."""
    connection.execute("SELECT pg_notify(%s, '')", (CONTROL_CHANNEL,))


def owners(connection: BoundedConnection) -> tuple[dict[str, Owner | None], dict[str, int]]:
    """Return every account with the node that it belongs to, None when that has not renewed its lease, and its newest id."""
    rows = connection.execute(
        "SELECT a.id, n.number, n.address, a.last_id FROM accounts a"  # noqa: S608 - a constant
        f" LEFT JOIN nodes n ON n.number = a.node AND {_LIVES}"
    ).fetchall()
    leases = {
        str(id_): None if number is None else Owner(int(number), str(address))
        for id_, number, address, _ in rows
    }
    return leases, {str(id_): int(newest) for id_, _, _, newest in rows}


def accounts(connection: BoundedConnection) -> list[LedgerAccount]:
    """Return every account."""
    rows = connection.execute("SELECT id, owner, currency, hedging, fifo FROM accounts").fetchall()
    return [LedgerAccount(*row) for row in rows]


def ids_of(connection: BoundedConnection, node: int) -> list[str]:
    """Return the accounts that belong to a node, whether it serves them or not."""
    rows = connection.execute("SELECT id FROM accounts WHERE node = %s", (node,)).fetchall()
    return [str(id_) for (id_,) in rows]


# --- the clock ---


def read_pace(connection: BoundedConnection) -> MarketTime | None:
    """Return the pace of the market, None before the first node set it."""
    row = connection.execute("SELECT market, wall, speed, stops, number FROM clock").fetchone()
    return None if row is None else MarketTime(*row)


def write_pace(connection: BoundedConnection, pace: MarketTime) -> bool:
    """Replace the pace `pace.number - 1`; return False when another node has replaced it."""
    values = (pace.market, pace.wall, pace.speed, pace.stops, pace.number)
    if pace.number == 1:
        connection.execute("INSERT INTO clock VALUES (%s, %s, %s, %s, %s)", values)
        return True
    row = connection.execute(
        "UPDATE clock SET market = %s, wall = %s, speed = %s, stops = %s, number = %s WHERE number = %s"
        " RETURNING 1",
        (*values, pace.number - 1),
    ).fetchone()
    if row is not None:
        notify_control(connection)
    return row is not None


def wall_offset(connection: BoundedConnection) -> tuple[int, int]:
    """Return how far the clock of the database is ahead of this process's steady one, and the error at most."""
    before = time.monotonic_ns()
    row = connection.execute(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
    ).fetchone()
    after = time.monotonic_ns()
    assert row is not None  # noqa: S101 - for the type checker
    return int(row[0]) * 1_000 - (before + after) // 2, (after - before) // 2


# --- requests ---


def find_request(connection: BoundedConnection, account: str, request: str) -> StoredRequest | None:
    """Return what the ledger knows of a request, None when it may still be executed."""
    row = connection.execute(
        "SELECT answer FROM requests WHERE account = %s AND request = %s", (account, request)
    ).fetchone()
    return None if row is None else StoredRequest(row[0])


def give_up(connection: BoundedConnection, account: str, request: str) -> StoredRequest:
    """Mark a request as never to be executed; if it was executed already, return its record."""
    connection.execute(
        "INSERT INTO requests (account, request) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (account, request),
    )
    answer = find_request(connection, account, request)
    assert answer is not None  # noqa: S101 - for the type checker
    return answer
