"""The prices of all nodes of a cluster at the same time of the market."""

import asyncio
import json

from support.cluster import MOVE_SECONDS, UNAVAILABLE, Cluster, ClusterNode

Prices = list[tuple[object, object]]
INSTRUMENTS = "EUR_USD,USD_JPY,EUR_JPY"


async def identical_prices(cluster: Cluster) -> Prices:
    """Stop the market's time, compare the prices of each node for an account of its own, and let the time go on."""
    await cluster.control(cluster.nodes[0], "POST", "/clock/pause", {})
    try:
        return await _alike(cluster)
    finally:
        await cluster.control(cluster.nodes[-1], "POST", "/clock/play", {})


async def _alike(cluster: Cluster) -> Prices:
    deadline = asyncio.get_running_loop().time() + MOVE_SECONDS
    while True:  # a busy node takes its last step some time after its clock stands
        shown = await asyncio.gather(*(_prices(cluster, node) for node in cluster.nodes))
        if None not in shown and shown[0] and all(one == shown[0] for one in shown):
            return shown[0]
        if asyncio.get_running_loop().time() > deadline:
            states = [await cluster.control(node, "GET", "/state") for node in cluster.nodes]
            times = [state["time"] for state in states]
            raise AssertionError(f"the nodes have different prices at {times}: {shown}")
        await asyncio.sleep(0.05)


async def _prices(cluster: Cluster, node: ClusterNode) -> Prices | None:
    """Return what a node shows for an account of its own; None while it has none."""
    owned = cluster.owned(node)
    tokens = {one["id"]: token["token"] for token in node.accounts for one in token["accounts"]}
    if not owned:
        return None
    path = f"/v3/accounts/{owned[0]}/pricing?instruments={INSTRUMENTS}"
    answer = await cluster.send(node, tokens[owned[0]], "GET", path)
    if answer.status == UNAVAILABLE:
        return None
    return [(one["bids"], one["asks"]) for one in json.loads(answer.body)["prices"]]
