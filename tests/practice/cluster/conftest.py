"""Three nodes on one ledger, for the tests of one file."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.cluster import Cluster
from support.postgres import PostgresServer, postgres_programs


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def cluster() -> AsyncIterator[Cluster]:
    """Three nodes and three tokens, on a server of their own, which a test may restart; their clocks are minutes apart."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: the tests of a cluster are left out")
    server = PostgresServer(programs, durable=True)
    try:
        async with Cluster(
            server, nodes=3, tokens=3, clocks=(0, -420, 660), database_links=True
        ) as cluster:
            await cluster.balanced()
            yield cluster
    finally:
        server.remove()
