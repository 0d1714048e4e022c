"""A cluster for thirty virtual minutes, with every kind of fault many times; and one whose database fails in every way.

    pytest -m soak -n0 -p no:randomly -s tests/chaos/test_cluster_soak.py

It takes some 15 minutes on two cores without other work, and prints its figures as tables. The counts of the first can be
chosen:

    KEYDESK_CLUSTER_BOTS=40 KEYDESK_CLUSTER_MINUTES=1 KEYDESK_CLUSTER_FAULTS=kill:1,restart:2,cut:1,pause:1 \\
        pytest -m soak -n0 -p no:randomly -s tests/chaos/test_cluster_soak.py
"""

import os
import random
from collections.abc import Iterator

import pytest

from support.cluster import Cluster
from support.cluster_disk import SmallDisk, disk_fills_up, may_mount
from support.cluster_faults import rehearse
from support.postgres import PostgresServer, postgres_programs

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")

BOTS = int(os.environ.get("KEYDESK_CLUSTER_BOTS", "400"))
FAULTS = os.environ.get("KEYDESK_CLUSTER_FAULTS", "kill:30,restart:10,cut:20,pause:20")
MARKET_MINUTES = float(os.environ.get("KEYDESK_CLUSTER_MINUTES", "30"))
SPEED = ("--speed", os.environ.get("KEYDESK_CLUSTER_SPEED", "5"))
ORDERS_A_SECOND = 40
FAIL_OVER_SECONDS = 5.0
OUTAGE_SECONDS = 10.0
CLOCKS = (0, -420, 660)


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server that keeps what it has acknowledged."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    server = PostgresServer(programs, durable=True)
    yield server
    server.remove()


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
async def test_three_nodes_lose_and_double_nothing(server: PostgresServer) -> None:
    faults = [
        name
        for part in FAULTS.split(",")
        for name in [part.partition(":")[0]] * int(part.partition(":")[2])
    ]
    random.Random(1).shuffle(faults)
    tokens = max(BOTS // 4, 1)
    async with Cluster(server, nodes=3, tokens=tokens, arguments=SPEED, clocks=CLOCKS) as cluster:
        report = await rehearse(
            cluster,
            bots=BOTS,
            faults=faults,
            think=BOTS / ORDERS_A_SECOND,
            market_seconds=60 * MARKET_MINUTES,
        )
    print(f"\n{report.table()}")  # noqa: T201 - the figures of the run
    assert report.problems == []
    assert report.percentile(0.99) <= FAIL_OVER_SECONDS


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_a_silent_database_loses_and_doubles_nothing(server: PostgresServer) -> None:
    faults = ["outage", "isolate", "kill"] * 3
    async with Cluster(
        server, nodes=3, tokens=10, arguments=SPEED, clocks=CLOCKS, database_links=True
    ) as cluster:
        report = await rehearse(cluster, bots=40, faults=faults, think=1.0, outage=OUTAGE_SECONDS)
    print(f"\n{report.table()}")  # noqa: T201 - the figures of the run
    assert report.problems == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not may_mount(), reason="a small disk can only be mounted by root")
@pytest.mark.parametrize("of", ["tables", "log"])
async def test_a_database_on_a_full_disk_loses_and_doubles_nothing(
    server: PostgresServer, of: str
) -> None:
    cluster = Cluster(server, nodes=2, tokens=3)
    with SmallDisk(server, cluster.address, of) as disk:
        async with cluster:
            report, words = await disk_fills_up(cluster, disk, bots=6)
    print(f"\n{report.table()}")  # noqa: T201 - the figures of the run
    assert report.problems == []
    assert any({"tables": "No space left", "log": "does not answer"}[of] in one for one in words)
