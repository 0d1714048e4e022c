"""A cluster for thirty virtual minutes, with every kind of fault many times.

    pytest -m soak -n0 -p no:randomly -s tests/chaos/test_cluster_soak.py

It takes some 15 minutes on two cores without other work, and prints its figures as a table. The counts can be chosen:

    KEYDESK_CLUSTER_BOTS=40 KEYDESK_CLUSTER_MINUTES=1 KEYDESK_CLUSTER_FAULTS=kill:1,restart:2,cut:1,pause:1,isolate:1,outage:1 \
        pytest -m soak -n0 -p no:randomly -s tests/chaos/test_cluster_soak.py
"""

import os
import random

import pytest

from support.cluster import Cluster
from support.cluster_faults import rehearse
from support.postgres import PostgresServer, postgres_programs

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")

BOTS = int(os.environ.get("KEYDESK_CLUSTER_BOTS", "400"))
FAULTS = os.environ.get(
    "KEYDESK_CLUSTER_FAULTS", "kill:30,restart:10,cut:20,pause:20,isolate:3,outage:3"
)
MARKET_MINUTES = float(os.environ.get("KEYDESK_CLUSTER_MINUTES", "30"))
ORDERS_A_SECOND = 80
OUTAGE_SECONDS = 10.0
SPEED = os.environ.get("KEYDESK_CLUSTER_SPEED", "5")
FAIL_OVER_SECONDS = 5.0


@pytest.mark.soak
@pytest.mark.timeout(3 * 3600)
async def test_three_nodes_lose_and_double_nothing() -> None:
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    faults = [
        name
        for part in FAULTS.split(",")
        for name in [part.partition(":")[0]] * int(part.partition(":")[2])
    ]
    random.Random(1).shuffle(faults)
    server = PostgresServer(programs, durable=True)
    try:
        arguments = ("--speed", SPEED)
        async with Cluster(
            server,
            nodes=3,
            tokens=max(BOTS // 4, 1),
            arguments=arguments,
            clocks=(0, -420, 660),
        ) as cluster:
            report = await rehearse(
                cluster,
                bots=BOTS,
                faults=faults,
                think=BOTS / ORDERS_A_SECOND,
                outage=OUTAGE_SECONDS,
                market_seconds=60 * MARKET_MINUTES,
            )
            print(report.table())  # noqa: T201 - the figures of the run
            assert report.problems == []
            assert report.percentile(0.99) <= FAIL_OVER_SECONDS
    finally:
        server.remove()
