"""A broker of several workers whose processes are killed while bots send orders; what they were answered is compared with the ledger.

Each order carries a unique comment, so that one that was executed twice is found.
"""

import asyncio
import inspect
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from support.broker import PracticeServer, plain_client

POLL_SECONDS = 0.05
WAIT_SECONDS = 120.0
UNAVAILABLE = 503


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started and that run."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for file in tasks for word in file.read_text().split()]


async def wait_until(is_so: Callable[[], bool | Awaitable[bool]]) -> None:
    """Return when something is so."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            found = is_so()
            if await found if inspect.isawaitable(found) else found:
                return
            await asyncio.sleep(POLL_SECONDS)


@dataclass(slots=True)
class KillReport:
    """What came of a run; `back` holds the seconds from each kill to the next executed order of the worker's accounts."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    back: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the figures in one line."""
        back = sorted(self.back)
        return (
            f"{self.acknowledged} orders acknowledged, {self.refused} refused, {self.unknown} unknown; "
            f"{len(back)} kills, back after {back[len(back) // 2]:.1f} s, at most {back[-1]:.1f} s"
        )


class KilledWorkers:
    """Bots on every account of a broker, and kills of its workers."""

    def __init__(self, practice: PracticeServer, seed: int = 1) -> None:
        self.report = KillReport()
        self._practice = practice
        self._random = random.Random(seed)
        self._accounts = {
            account["id"]: token["token"]
            for token in practice.tokens
            for account in token["accounts"]
        }
        self._outcomes: dict[str, dict[str, int | None]] = {one: {} for one in self._accounts}
        self._executed: dict[str, float] = {}  # when each account's last order was acknowledged
        self._ends = False

    async def run(self, kills: int) -> KillReport:
        """Kill workers one after the other while every account trades, then compare with the ledger."""
        bots = [asyncio.create_task(self._trade(one)) for one in self._accounts]
        try:
            for _ in range(kills):
                await self._kill_one()
        finally:
            self._ends = True
            await asyncio.gather(*bots)
        for account, token in self._accounts.items():
            await self._compare(account, token)
        return self.report

    async def _kill_one(self) -> None:
        assert self._practice.process is not None
        victim = self._random.choice(children_of(self._practice.process.pid))
        began = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        await wait_until(lambda: min(self._executed.values(), default=0.0) > began)
        await wait_until(lambda: len(self._executed) == len(self._accounts))
        self.report.back.append(min(self._executed.values()) - began)

    async def _trade(self, account: str) -> None:
        number = 0
        async with plain_client(self._practice.rest_url, self._accounts[account]) as http:
            while not self._ends:
                number += 1
                comment = f"order-{number}"
                units = "100" if number % 2 else "-100"
                self._outcomes[account][comment] = await self._order(http, account, comment, units)

    async def _order(
        self, http: httpx.AsyncClient, account: str, comment: str, units: str
    ) -> int | None:
        """Send an order and return its transaction's id, 0 for one that was refused, None for one that is not known."""
        order = {
            "type": "MARKET",
            "instrument": "EUR_USD",
            "units": units,
            "clientExtensions": {"comment": comment},
        }
        try:
            answer = await http.post(f"/v3/accounts/{account}/orders", json={"order": order})
        except httpx.ConnectError:
            self.report.refused += 1
            return 0
        except httpx.TransportError:
            self.report.unknown += 1
            return None
        if answer.status_code == UNAVAILABLE and "retry-after" in answer.headers:
            self.report.refused += 1
            await asyncio.sleep(POLL_SECONDS)
            return 0
        if answer.status_code != httpx.codes.CREATED:
            self.report.unknown += 1
            return None
        self.report.acknowledged += 1
        self._executed[account] = time.monotonic()
        return int(answer.json()["orderCreateTransaction"]["id"])

    async def _compare(self, account: str, token: str) -> None:
        """Compare what the bot was answered with the account's transactions."""
        async with plain_client(self._practice.rest_url, token) as http:
            path = f"/v3/accounts/{account}/transactions/sinceid"
            ids: list[int] = []
            made: Counter[str] = Counter()
            by_comment: dict[str, int] = {}
            while True:
                answer = await http.get(path, params={"id": str(ids[-1] if ids else 0)})
                found = json.loads(answer.text)["transactions"]
                if not found:
                    break
                for one in found:
                    ids.append(int(one["id"]))
                    comment = one.get("clientExtensions", {}).get("comment")
                    if one["type"] == "MARKET_ORDER" and comment:
                        made[comment] += 1
                        by_comment[comment] = ids[-1]
        if ids != list(range(1, len(ids) + 1)):
            self.report.problems.append(f"{account}: gaps in its ids")
        for comment, outcome in self._outcomes[account].items():
            if problem := _problem(outcome, made[comment], by_comment.get(comment)):
                self.report.problems.append(f"{account}: {comment} {problem}")


def _problem(outcome: int | None, made: int, id_: int | None) -> str | None:
    """Return what is wrong about an order that was answered with an id, refused (0), or not known."""
    if made > 1:
        return f"was executed {made} times"
    if outcome and id_ != outcome:
        return f"was acknowledged as {outcome} and is {id_}"
    if outcome == 0 and made:
        return "was refused and executed"
    return None
