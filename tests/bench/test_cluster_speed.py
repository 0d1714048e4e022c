"""Orders a second of a cluster with one, two and three nodes, each order sent to any node; beside one process on SQLite.

pytest -m bench -n0 -p no:randomly -s tests/bench/test_cluster_speed.py
"""

import asyncio
import json
import os
import time

import pytest

from support.cluster import Cluster
from support.postgres import PostgresServer, postgres_programs
from support.processor_time import cpu_of

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")

CONNECTIONS = 32
SECONDS = float(os.environ.get("KEYDESK_CLUSTER_SECONDS", "8"))


async def _measure(cluster: Cluster) -> list[float]:
    """Return the time of each order that was answered, in seconds."""
    accounts = [
        (one["token"], account["id"])
        for one in cluster.nodes[0].accounts
        for account in one["accounts"]
    ]
    took: list[float] = []
    end = time.monotonic() + SECONDS

    async def trade(number: int) -> None:
        token, account = accounts[number % len(accounts)]
        path = f"/v3/accounts/{account}/orders"
        for turn in range(1_000_000):
            units = "100" if turn % 2 == 0 else "-100"
            order = {"type": "MARKET", "instrument": "EUR_USD", "units": units}
            node = cluster.nodes[(number + turn) % len(cluster.nodes)]
            began = time.monotonic()
            if began > end:
                return
            answer = await cluster.send(node, token, "POST", path, {"order": order})
            assert answer.status == 201, answer.body
            assert "orderFillTransaction" in json.loads(answer.body)
            took.append(time.monotonic() - began)

    await asyncio.gather(*map(trade, range(CONNECTIONS)))
    return sorted(took)


@pytest.mark.bench
@pytest.mark.timeout(600)
@pytest.mark.parametrize("nodes", [0, 1, 2, 3])
async def test_orders_a_second_of_a_cluster(nodes: int) -> None:
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    server = PostgresServer(programs, durable=True)
    try:
        tokens = CONNECTIONS // 2
        async with Cluster(server, nodes=max(nodes, 1), tokens=tokens, shared=nodes > 0) as cluster:
            if nodes:
                await cluster.balanced()
            before = [cpu_of(node.process.pid) for node in cluster.nodes if node.process]
            took = await _measure(cluster)
            after = [cpu_of(node.process.pid) for node in cluster.nodes if node.process]
    finally:
        server.remove()
    p50, p99 = (took[int(share * len(took))] * 1000 for share in (0.5, 0.99))
    each = (sum(after) - sum(before)) / len(took) * 1000
    print(  # noqa: T201 - the figures
        f"{nodes or 'no'} nodes, {CONNECTIONS} connections: {len(took) / SECONDS:.0f} orders a second,"
        f" p50 {p50:.1f} ms, p99 {p99:.1f} ms; {each:.2f} ms of processor time of the nodes an order"
    )
    assert took
