"""Two brokers on one ledger: kills, pauses and restarts of the database under load lose and double nothing.

The usual run has one of each; the long one chooses its counts by the environment:

    KEYDESK_STANDBY_FAULTS=30,10,10 pytest -m soak -n0 -p no:randomly -s tests/chaos/test_standby.py
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.postgres import PostgresServer, postgres_programs
from support.standby_pair import Traders, standby_pair

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")

FAULTS = os.environ.get("KEYDESK_STANDBY_FAULTS", "30,10,10")
MAX_SECONDS = 5.0  # of a kill or a pause, until every account trades again


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    """A server of its own, which keeps what it acknowledges as in earnest."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    server = PostgresServer(programs, durable=True)
    yield server
    server.remove()


async def trade_through(
    folder: Path, database: PostgresServer, faults: tuple[int, int, int], connections: int
) -> Traders:
    """Trade over so many connections through kills, pauses and restarts of the database."""
    kills, pauses, restarts = faults
    tokens = [word for number in range(connections // 4) for word in ("--token", f"token-{number:03}")]  # fmt: skip
    async with standby_pair(folder, database.new_database(), *tokens) as pair:
        traders = Traders(pair, connections)
        async with traders.trading():
            for _ in range(kills):
                await traders.kill()
            for _ in range(pauses):
                await traders.pause()
            for _ in range(restarts):
                await traders.restart(database)
    return traders


async def test_a_standby_takes_over_and_no_order_is_lost_or_doubled(
    practice_folder: Path, database: PostgresServer
) -> None:
    report = (await trade_through(practice_folder, database, (1, 1, 1), connections=8)).report
    assert report.problems == []
    assert report.acknowledged


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_many_faults_under_32_connections_lose_and_double_nothing(
    practice_folder: Path, database: PostgresServer
) -> None:
    kills, pauses, restarts = map(int, FAULTS.split(","))
    found = await trade_through(practice_folder, database, (kills, pauses, restarts), 32)
    print(found.report.text())  # noqa: T201 - the figures of the run
    assert found.report.problems == []
    for fault in ("kill -9", "SIGSTOP"):
        assert max(found.report.away.get(fault, [0.0])) < MAX_SECONDS
