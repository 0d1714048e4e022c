"""Bots that trade on a cluster: each sends market orders with a unique comment to any node, and notes its answers."""

import asyncio
import itertools
import json
import random
import time
from dataclasses import dataclass

from keydesk_practice.errors import NotExecuted, OutcomeUnknown
from support.cluster import MOVE_SECONDS, UNAVAILABLE, Cluster, ClusterNode

UNKNOWN = 504


@dataclass(slots=True)
class Order:
    """One order of a bot."""

    account: str
    tag: str
    outcome: str  # acknowledged, refused, unknown
    ids: tuple[int, ...] = ()


class Bots:
    """Bots that trade until they are stopped."""

    def __init__(self, cluster: Cluster, count: int, think: float) -> None:
        self._cluster = cluster
        self._think = think
        self.orders: list[Order] = []
        self.unexpected: list[str] = []
        self.refusals: list[tuple[ClusterNode, int, str]] = []  # who said why, with which status
        self.answered = asyncio.Event()
        accounts = [
            (one["token"], account["id"])
            for one in cluster.nodes[0].accounts
            for account in one["accounts"]
        ]
        self.accounts = [accounts[number % len(accounts)] for number in range(count)]
        self._tasks = [
            asyncio.create_task(self._trade(number, *account))
            for number, account in enumerate(self.accounts)
        ]
        self._stopping = False

    async def stop(self) -> None:
        """Let each bot finish its order, and stop."""
        self._stopping = True
        await asyncio.gather(*self._tasks)

    async def _trade(self, number: int, token: str, account: str) -> None:
        draw = random.Random(number)
        for turn in itertools.count():
            if self._stopping:
                return
            tag = f"{number}-{turn}"
            units = "100" if turn % 2 == 0 else "-100"
            order = {
                "type": "MARKET",
                "instrument": draw.choice(["EUR_USD", "USD_JPY"]),
                "units": units,
                "clientExtensions": {"comment": tag},
            }
            node = draw.choice(self._cluster.nodes)
            self.orders.append(await self._send(node, token, account, tag, {"order": order}))
            self.answered.set()
            answered = self.orders[-1].outcome == "acknowledged"
            await asyncio.sleep(self._think * draw.uniform(0.5, 1.5) if answered else 0.1)

    async def probe(self, token: str, account: str, nodes: list[ClusterNode], name: str) -> float:
        """Send orders until one is acknowledged, and return when that was."""
        deadline = time.monotonic() + MOVE_SECONDS
        for turn in itertools.count():
            tag = f"{name}-{turn}"
            order = {
                "type": "MARKET",
                "instrument": "EUR_USD",
                "units": "100",
                "clientExtensions": {"comment": tag},
            }
            node = nodes[turn % len(nodes)]
            self.orders.append(await self._send(node, token, account, tag, {"order": order}))
            if self.orders[-1].outcome == "acknowledged":
                break
            assert time.monotonic() < deadline, f"account {account} did not move"
            await asyncio.sleep(0.1)
        return time.monotonic()

    async def _send(
        self, node: ClusterNode, token: str, account: str, tag: str, body: object
    ) -> Order:
        try:
            answer = await self._cluster.send(
                node, token, "POST", f"/v3/accounts/{account}/orders", body
            )
        except NotExecuted:
            return Order(account, tag, "refused")
        except OutcomeUnknown:
            return Order(account, tag, "unknown")
        if answer.status == 201:
            members = json.loads(answer.body)
            return Order(
                account, tag, "acknowledged", tuple(map(int, members["relatedTransactionIDs"]))
            )
        if answer.status not in {UNAVAILABLE, UNKNOWN}:
            self.unexpected.append(f"{answer.status} {answer.body[:200]!r}")
            return Order(account, tag, "refused")
        self.refusals.append((node, answer.status, json.loads(answer.body)["errorMessage"]))
        if (answer.status == UNAVAILABLE) != bool(answer.header(b"retry-after")):
            self.unexpected.append(f"{self.refusals[-1]}: a wrong Retry-After")
        return Order(account, tag, "refused" if answer.status == UNAVAILABLE else "unknown")
