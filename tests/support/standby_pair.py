"""Two brokers that share a ledger on PostgreSQL, bots that send orders to the one that serves, and faults meanwhile.

Each order carries a unique comment, so that one that was executed twice, or after it was refused, is found in the ledger.
"""

import asyncio
import contextlib
import itertools
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from support.broker import PracticeServer, plain_client, start_practice
from support.postgres import PostgresServer

NAMES = ("one", "two")
POLL_SECONDS = 0.02
WAIT_SECONDS = 120.0
ANSWER_SECONDS = 8.0  # a broker that was stopped does not answer
PROBE_SECONDS = 0.25
UNAVAILABLE, REFUSED = 503, 0


@dataclass(slots=True)
class Report:
    """What came of a run; `away` holds the seconds from each fault until an order was executed again."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    away: dict[str, list[float]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the figures."""
        lines = [
            f"{self.acknowledged} orders acknowledged, {self.refused} refused, {self.unknown} unknown; {len(self.problems)} problems"
        ]
        for fault, seconds in self.away.items():
            known = sorted(seconds)
            middle = known[len(known) // 2]
            lines.append(
                f"{len(known)} x {fault}: the next order is executed after {middle:.2f} s, at most {known[-1]:.2f} s"
            )
        return "\n".join(lines)


class StandbyPair:
    """The two brokers, and who serves."""

    def __init__(self, folder: Path, ledger: str, *options: str) -> None:
        self._folder = folder
        self._options = ("--ledger", ledger, "--rate-limit", "1000000", *options)
        self.servers: dict[str, PracticeServer] = {}

    async def start(self, name: str) -> PracticeServer:
        """Start a broker."""
        place = self._folder / name
        place.mkdir(mode=0o700, exist_ok=True)
        self.servers[name] = await start_practice(place, *self._options)
        return self.servers[name]

    async def status(self, name: str) -> str:
        """Return what a broker says of itself, "" when it says nothing."""
        with contextlib.suppress(httpx.TransportError):
            async with plain_client(self.servers[name].rest_url, "no-token") as client:
                answer = await client.get("/health", timeout=ANSWER_SECONDS)
                return str(answer.json()["status"])
        return ""

    async def serving(self) -> str:
        """Return the name of the broker that serves, as soon as there is one."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                for name in self.servers:
                    if await self.status(name) == "ok":
                        return name
                await asyncio.sleep(POLL_SECONDS)

    async def until(self, name: str, status: str) -> None:
        """Return when a broker says something of itself."""
        async with asyncio.timeout(WAIT_SECONDS):
            while await self.status(name) != status:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(POLL_SECONDS)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a broker's process."""
        process = self.servers[name].process
        assert process is not None
        os.kill(process.pid, number)


@contextlib.asynccontextmanager
async def standby_pair(folder: Path, ledger: str, *options: str) -> AsyncIterator[StandbyPair]:
    """Run both brokers for the length of the block; the first one serves."""
    pair = StandbyPair(folder, ledger, *options)
    try:
        for name in NAMES:
            await pair.start(name)
        yield pair
    finally:
        for server in pair.servers.values():
            await server.close()


class Traders:
    """Bots that send orders to the broker that serves, one account each."""

    def __init__(self, pair: StandbyPair, connections: int, seed: int = 1) -> None:
        self.report = Report()
        self._pair = pair
        self._random = random.Random(seed)
        accounts = [
            (token["token"], account["id"])
            for token in pair.servers["one"].tokens
            for account in token["accounts"]
        ]
        self._tokens = {account: token for token, account in accounts}
        self._bots = [accounts[number % len(accounts)] for number in range(connections)]
        self._outcomes: dict[str, dict[str, int | None]] = {one: {} for one in self._tokens}
        self._executed: dict[str, float] = {}  # when the last acknowledged order was sent
        self._ends = False

    @contextlib.asynccontextmanager
    async def trading(self) -> AsyncIterator[None]:
        """Trade for the length of the block, then compare what was answered with the ledger."""
        bots = [asyncio.create_task(self._trade(*one)) for one in enumerate(self._bots)]
        try:
            await self.all_trade()
            yield
        finally:
            self._ends = True
            await asyncio.gather(*bots)
        serving = await self._pair.serving()
        for account, token in self._tokens.items():
            await self._compare(self._pair.servers[serving], account, token)

    async def all_trade(self) -> None:
        """Return when each account has traded from now on."""
        began = time.monotonic()
        async with asyncio.timeout(WAIT_SECONDS):
            while min(self._executed.get(one, 0.0) for one in self._tokens) < began:  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)

    # --- faults ---

    async def kill(self) -> None:
        """Kill the broker that serves; later it is the standby."""
        name = await self._pair.serving()
        began = time.monotonic()
        await self._pair.servers[name].kill()
        await self._measure("kill -9", began)
        await self._pair.servers[name].close()
        await self._pair.start(name)
        await self._pair.until(name, "standby")

    async def pause(self) -> None:
        """Let the broker that serves stand still until the other one serves, then wake it."""
        name = await self._pair.serving()
        began = time.monotonic()
        self._pair.signal(name, signal.SIGSTOP)
        await self._measure("SIGSTOP", began)
        self._pair.signal(name, signal.SIGCONT)
        await self._pair.until(name, "standby")

    async def restart(self, database: PostgresServer) -> None:
        """Restart the database, half of the times without letting it shut down."""
        how = self._random.choice([signal.SIGINT, signal.SIGQUIT])
        await asyncio.to_thread(database.stop, how)
        await asyncio.to_thread(database.start)
        await self._measure("restart of the database", time.monotonic())

    async def _measure(self, fault: str, began: float) -> None:
        """Note when an order is executed that one more bot sends to both brokers in turn, then let every account trade."""
        token, account = self._bots[0]
        names = itertools.cycle(self._pair.servers)
        for turn in itertools.count():
            comment = f"{fault} {began} {turn}"
            async with plain_client(self._pair.servers[next(names)].rest_url, token) as client:
                outcome = await self._order(client, account, comment, "100", PROBE_SECONDS)
            self._outcomes[account][comment] = outcome
            if outcome:
                break
        self.report.away.setdefault(fault, []).append(time.monotonic() - began)
        await self.all_trade()

    # --- orders ---

    async def _trade(self, number: int, bot: tuple[str, str]) -> None:
        token, account = bot
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(plain_client(server.rest_url, token))
                for server in self._pair.servers.values()
            ]
            turn = 0
            while not self._ends:
                turn += 1
                comment, units = f"{number}-{turn}", "100" if turn % 2 else "-100"
                outcome = await self._order(clients[0], account, comment, units)
                self._outcomes[account][comment] = outcome
                if not outcome:
                    clients.reverse()
                    await asyncio.sleep(POLL_SECONDS)

    async def _order(
        self,
        http: httpx.AsyncClient,
        account: str,
        comment: str,
        units: str,
        seconds: float = ANSWER_SECONDS,
    ) -> int | None:
        """Send an order and return its transaction's id, 0 for one that was refused, None for one that is not known."""
        details = {"clientExtensions": {"comment": comment}}
        order = {"type": "MARKET", "instrument": "EUR_USD", "units": units, **details}
        began = time.monotonic()
        try:
            answer = await http.post(
                f"/v3/accounts/{account}/orders", json={"order": order}, timeout=seconds
            )
        except httpx.ConnectError:
            self.report.refused += 1
            return REFUSED
        except httpx.TransportError:
            self.report.unknown += 1
            return None
        if answer.status_code == httpx.codes.CREATED:
            self.report.acknowledged += 1
            self._executed[account] = max(self._executed.get(account, 0.0), began)
            return int(answer.json()["orderCreateTransaction"]["id"])
        if answer.status_code == UNAVAILABLE and "retry-after" in answer.headers:
            self.report.refused += 1
            return REFUSED
        if answer.status_code != httpx.codes.GATEWAY_TIMEOUT:
            self.report.problems.append(f"{account}: {answer.status_code} {answer.text}")
        self.report.unknown += 1
        return None

    async def _compare(self, server: PracticeServer, account: str, token: str) -> None:
        """Compare what the bots were answered with the account's transactions."""
        ids: list[int] = []
        made: Counter[str] = Counter()
        by_comment: dict[str, int] = {}
        async with plain_client(server.rest_url, token) as http:
            path = f"/v3/accounts/{account}/transactions/sinceid"
            while True:
                answer = await http.get(path, params={"id": str(ids[-1] if ids else 0)})
                found = answer.json()["transactions"]
                if not found:
                    break
                for one in found:
                    ids.append(int(one["id"]))
                    comment = one.get("clientExtensions", {}).get("comment")
                    if one["type"] == "MARKET_ORDER" and comment:
                        made[comment] += 1
                        by_comment[comment] = ids[-1]
        say: Callable[[str], None] = self.report.problems.append
        if ids != list(range(1, len(ids) + 1)):
            say(f"{account}: gaps in its ids")
        for comment, outcome in self._outcomes[account].items():
            if problem := _problem(outcome, made[comment], by_comment.get(comment)):
                say(f"{account} order {comment}: {problem}")


def _problem(outcome: int | None, made: int, id_: int | None) -> str | None:
    """Return what is wrong between an answer and the ledger, which holds the order so many times."""
    if made > 1:
        return f"executed {made} times"
    if outcome is None:
        return None
    if outcome == REFUSED:
        return "executed after it was refused" if made else None
    return None if id_ == outcome else f"acknowledged as {outcome} and found as {id_}"
