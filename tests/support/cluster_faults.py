"""Faults of a cluster while bots trade: what they were answered is compared with the ledger in the end.

report = await rehearse(cluster, bots=8, faults=["kill", "pause", "restart", "cut"], think=0.1)
assert report.problems == []
"""

import asyncio
import itertools
import json
import random
import signal
import time
from collections import Counter

from keydesk_practice.engine.wire_form import SECOND, parse_time
from support.cluster import MOVE_SECONDS, Cluster, ClusterNode
from support.cluster_bots import Bots
from support.cluster_prices import identical_prices
from support.cluster_report import Report


async def rehearse(
    cluster: Cluster,
    *,
    bots: int,
    faults: list[str],
    think: float,
    seed: int = 1,
    outage: float = 0.0,
    market_seconds: float = 0.0,
) -> Report:
    """Let bots trade while faults happen, one after the other, and compare their answers with the ledger."""
    began = time.monotonic()
    await cluster.balanced()
    draw, report = random.Random(seed), Report(outage=outage)
    opened = await _market_seconds(cluster)
    trading = Bots(cluster, bots, think)
    for number, fault in enumerate(faults, 1):
        await trade_a_while(trading, len(set(trading.accounts)))
        await _FAULTS[fault](cluster, draw.choice(cluster.nodes), trading, report)
        report.faults[fault] += 1
        await cluster.balanced()
        if number % FAULTS_A_COMPARISON == 0 or number == len(faults):
            await _compare_prices(cluster, report)
    await trade_a_while(trading, len(set(trading.accounts)))
    while await _market_seconds(cluster) - opened < market_seconds:
        await trade_a_while(trading, len(set(trading.accounts)))
    report.market_seconds = await _market_seconds(cluster) - opened
    await trading.stop()
    compare(cluster, trading, report)
    report.seconds = time.monotonic() - began
    return report


async def _market_seconds(cluster: Cluster) -> float:
    """Return the time of the cluster's market."""
    return parse_time((await cluster.control(cluster.nodes[0], "GET", "/state"))["time"]) / SECOND


async def _compare_prices(cluster: Cluster, report: Report) -> None:
    """Compare the prices of all nodes at the same time of the market."""
    try:
        await identical_prices(cluster)
    except AssertionError as error:
        report.problems.append(str(error))
    report.price_comparisons += 1


async def trade_a_while(trading: Bots, orders: int) -> None:
    """Return when some more orders were answered."""
    wanted = len(trading.orders) + orders
    while len(trading.orders) < wanted:
        trading.answered.clear()
        await trading.answered.wait()


async def _kill(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Kill a node, and measure when each of its accounts that trade has the next order answered."""
    assert node.process is not None
    tokens = {account: token for token, account in trading.accounts}
    moved = [account for account in cluster.owned(node) if account in tokens]
    others = [one for one in cluster.nodes if one is not node]
    killed = time.monotonic()
    node.process.kill()
    answered = [
        trading.probe(tokens[account], account, others, f"probe-{report.faults['kill']}")
        for account in moved
    ]
    report.fail_over += [at - killed for at in await asyncio.gather(*answered)]
    await node.process.wait()
    await cluster.start(node)


async def _pause(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Stop the process until others have its accounts, then let it wake with its old lease."""
    del trading, report
    assert node.process is not None
    owned = set(cluster.owned(node))
    node.process.send_signal(signal.SIGSTOP)
    await _until_moved(cluster, node, owned)
    node.process.send_signal(signal.SIGCONT)


async def _until_moved(cluster: Cluster, node: ClusterNode, owned: set[str]) -> None:
    """Return when other nodes have the accounts of one."""
    others = [one for one in cluster.nodes if one is not node]
    deadline = time.monotonic() + MOVE_SECONDS
    while not owned <= {account for one in others for account in cluster.owned(one)}:
        assert time.monotonic() < deadline, "the accounts of a silent node did not move"
        await asyncio.sleep(0.1)


async def _restart(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Restart PostgreSQL, fast and immediate in turns."""
    del node, trading
    how = signal.SIGQUIT if report.faults["restart"] % 2 else signal.SIGINT
    await asyncio.to_thread(cluster.server.stop, how)
    await asyncio.to_thread(cluster.server.start)


async def _outage(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Let the database be silent for all nodes: connections stay open, and what is sent to it arrives late or never."""
    del node
    for one in cluster.nodes:
        one.database.mute()
    await asyncio.gather(
        *(_until_refused(one, trading) for one in cluster.nodes),
        asyncio.sleep(report.outage),
    )
    for one in cluster.nodes:
        one.database.mend()


async def _isolate(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Cut one node alone from the database until others have its accounts; clients and nodes reach it all the time."""
    del report
    owned = set(cluster.owned(node))
    node.database.mute()
    await _until_refused(node, trading)
    await _until_moved(cluster, node, owned)
    await trade_a_while(trading, len(trading.accounts))
    node.database.mend()


async def _until_refused(node: ClusterNode, trading: Bots) -> None:
    """Return when a node has told bots that the database does not answer."""
    heard = len(trading.refusals)
    deadline = time.monotonic() + MOVE_SECONDS
    while not any(one is node and "database" in text for one, _, text in trading.refusals[heard:]):
        assert time.monotonic() < deadline, "no client was told that the database does not answer"
        await trade_a_while(trading, 1)


async def _cut(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Cut the way to a node while some orders are sent."""
    del cluster, report
    node.link.cut()
    await trade_a_while(trading, len(trading.accounts))
    node.link.mend()


FAULTS_A_COMPARISON = 10  # of prices
_FAULTS = {
    "kill": _kill,
    "pause": _pause,
    "restart": _restart,
    "cut": _cut,
    "outage": _outage,
    "isolate": _isolate,
}


Stored = dict[str, list[tuple[int, int, str]]]  # id, time and text by account


def compare(cluster: Cluster, trading: Bots, report: Report) -> None:
    """Compare what the bots were answered with the ledger."""
    stored: Stored = {}
    for account, id_, at, body in cluster.query(
        "SELECT account, id, time, body FROM transactions ORDER BY account, id"
    ):
        stored.setdefault(account, []).append((id_, at, body))
    report.problems += [
        problem for account in stored for problem in _gaps(account, stored[account])
    ]
    tags = _tags(stored)
    for order in trading.orders:
        found = tags[order.account, order.tag]
        if found not in _POSSIBLE[order.outcome]:
            report.problems.append(f"{order.outcome} {order.tag}: {found} times in the ledger")
        if order.ids and order.ids[-1] > len(stored[order.account]):
            report.problems.append(f"acknowledged {order.tag}: its ids {order.ids} are not stored")
        report.lost += order.outcome == "acknowledged" and not found
        report.doubled += found > 1
        report.executed_after_all += order.outcome == "refused" and found > 0
    counts = Counter(order.outcome for order in trading.orders)
    report.acknowledged, report.refused = counts["acknowledged"], counts["refused"]
    report.unknown = counts["unknown"]
    report.transactions = sum(map(len, stored.values()))
    report.gaps = sum(
        [id_ for id_, _, _ in rows] != list(range(1, len(rows) + 1)) for rows in stored.values()
    )
    report.problems += trading.unexpected


_POSSIBLE = {"acknowledged": {1}, "refused": {0}, "unknown": {0, 1}}  # times in the ledger


def _gaps(account: str, rows: list[tuple[int, int, str]]) -> list[str]:
    problems = []
    if [id_ for id_, _, _ in rows] != list(range(1, len(rows) + 1)):
        problems.append(f"the ids of {account} have gaps")
    problems += [
        f"transaction {other[0]} of {account} is {(one[1] - other[1]) / 1e9:.3f} s before its predecessor"
        for one, other in itertools.pairwise(rows)
        if one[1] > other[1]
    ]
    return problems


def _tags(stored: Stored) -> Counter[tuple[str, str]]:
    """Return how often the ledger has the order of each account and comment."""
    tags: Counter[tuple[str, str]] = Counter()
    for account, rows in stored.items():
        for _, _, body in rows:
            members = json.loads(body)
            if members["type"] == "MARKET_ORDER" and "clientExtensions" in members:
                tags[account, members["clientExtensions"]["comment"]] += 1
    return tags
