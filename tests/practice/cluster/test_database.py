"""The leases of the nodes in the database: who may take an account, and when."""

from collections.abc import Iterator

import pytest

from keydesk_practice.ledger.records import Entry, LedgerAccount
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster import database
from keydesk_practice.cluster.node import LEASE_SECONDS
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.postgres_connection import BoundedConnection, connect

ACCOUNT = LedgerAccount("101-001-1-001", 0, "USD", hedging=False)


@pytest.fixture
def connection(postgres: PostgresServer) -> Iterator[BoundedConnection]:
    ledger = PostgresLedger.open(postgres.new_database())
    ledger.create_account(ACCOUNT, [Entry(1, 10, "CREATE", "{}")])
    with connect(ledger.text) as connection:
        yield connection
    ledger.close()


def test_an_account_is_free_when_the_lease_of_its_node_has_expired(
    connection: BoundedConnection,
) -> None:
    first, second = (database.register(connection, one, LEASE_SECONDS) for one in ("a", "b"))
    assert [one.account.id for one in database.lease_free(connection, first, 9)] == [ACCOUNT.id]
    assert database.lease_free(connection, second, 9) == []
    assert database.counts(connection) == (2, 1)
    database.leave(connection, first)
    assert database.owners(connection)[0] == {ACCOUNT.id: None}
    assert [one.fence for one in database.lease_free(connection, second, 9)] == [2]


def test_a_lease_from_before_the_clock_was_set_back_does_not_last(
    connection: BoundedConnection,
) -> None:
    first, second = (database.register(connection, one, LEASE_SECONDS) for one in ("a", "b"))
    database.lease_free(connection, first, 9)
    # The clock is set back by an hour:
    connection.execute("UPDATE nodes SET expires = expires + interval '1 hour'")
    assert database.counts(connection) == (0, 1)
    database.renew(connection, second, LEASE_SECONDS, 0)
    assert [one.fence for one in database.lease_free(connection, second, 9)] == [2]

    lease = database.renew(connection, first, LEASE_SECONDS, 0)
    # It lives, and has lost the account.
    assert lease is not None
    assert (lease.nodes, lease.fences) == (2, {})
    assert database.lease_free(connection, first, 9) == []
