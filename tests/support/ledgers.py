"""Both kinds of ledger, for the tests of what the broker needs of one: an SQLite file and a PostgreSQL server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from support.postgres import PostgresServer

OpenLedger = Callable[[], LedgerInterface]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.e2e)])
def open_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenLedger]:
    """Open the test's ledger; called again, it is opened once more, as after a restart."""
    opened: list[LedgerInterface] = []

    def of_file() -> LedgerInterface:
        return SqliteLedger.open(tmp_path)

    def of_server() -> LedgerInterface:
        # Imported here: without the extra `postgres` the tests of the file still run.
        from keydesk_practice.ledger.postgres_ledger import PostgresLedger  # noqa: PLC0415

        return PostgresLedger.open(address)

    address = ""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        address = server.new_database()

    def open_it() -> LedgerInterface:
        opened.append(of_server() if address else of_file())
        return opened[-1]

    yield open_it
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> LedgerInterface:
    """A new ledger of each kind."""
    return open_ledger()
