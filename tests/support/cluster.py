"""A cluster of practice brokers for tests: processes that share a PostgreSQL server, what can happen to them, and bots.

    async with Cluster(server, nodes=3, tokens=4) as cluster:
        report = await rehearse(cluster, bots=8, faults=["kill", "pause", "restart", "cut"])
        assert report.problems == []

The links between the nodes run through this process, which can cut them. Each bot sends market orders with a unique
comment to any node and notes what it was answered; in the end that is compared with the ledger.
"""

import asyncio
import contextlib
import itertools
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from keydesk_practice.cluster.peers import PeerAnswer, PeerRequest, Peers
from keydesk_practice.errors import NotExecuted, OutcomeUnknown
from support.postgres import PostgresServer

START_SECONDS = 120.0
ANSWER_SECONDS = 30.0
MOVE_SECONDS = 60.0  # for which the end of a fault is awaited, on a machine of any speed
UNAVAILABLE = 503  # with Retry-After: the account is moving to another node


class Link:
    """The way to a node's inner listener, which can be cut."""

    def __init__(self) -> None:
        self.target: tuple[str, int] | None = None
        self.is_cut = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> str:
        """Listen, and return the address that the other nodes use."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break the open connections, and refuse others until `mend`."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        """Let connections through again."""
        self.is_cut = False

    async def close(self) -> None:
        """Stop listening."""
        self.cut()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_cut or self.target is None:
            writer.transport.abort()
            return
        try:
            there = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there[1]}
        await asyncio.gather(_copy(reader, there[1]), _copy(there[0], writer))
        self._writers -= {writer, there[1]}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()


@dataclass(slots=True)
class ClusterNode:
    """One node: its folder, its link, and its process while it runs."""

    folder: Path
    link: Link
    link_url: str
    process: asyncio.subprocess.Process | None = None
    url: str = ""
    accounts: list[dict[str, Any]] = field(default_factory=list)  # of each token


class Cluster:
    """Some nodes on a database of their own."""

    def __init__(
        self,
        server: PostgresServer,
        *,
        nodes: int,
        tokens: int,
        arguments: tuple[str, ...] = (),
        shared: bool = True,
    ) -> None:
        self.server = server
        self.address = server.new_database()
        self.tokens = [f"cluster-token-{number:04}" for number in range(tokens)]
        self.nodes: list[ClusterNode] = []
        self.peers = Peers()
        self._count = nodes
        self._arguments = arguments
        self._shared = shared  # else each has an SQLite ledger, to be compared with
        self._folder = Path(tempfile.mkdtemp(prefix="kd-cluster-"))
        self._ports = itertools.count(random.SystemRandom().randrange(20_000, 30_000))

    async def __aenter__(self) -> Self:
        (self._folder / "tokens").write_text("\n".join(self.tokens))
        (self._folder / "ledger").write_text(self.address)
        for number in range(self._count):
            link = Link()
            node = ClusterNode(self._folder / str(number), link, await link.open())
            self.nodes.append(node)
        await asyncio.gather(*map(self.start, self.nodes))
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*map(self._end, self.nodes))
        for node in self.nodes:
            await node.link.close()
        self.peers.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def start(self, node: ClusterNode) -> None:
        """Start the process of a node, and wait until it listens."""
        inner = next(self._ports)
        node.link.target = ("127.0.0.1", inner)
        arguments = (
            *("serve", "--data", str(node.folder), "--port", "0", "--rate-limit", "1000000"),
            *("--token-file", str(self._folder / "tokens")),
            *self._arguments,
        )
        if self._shared:
            arguments += ("--ledger", f"@{self._folder / 'ledger'}")
            arguments += ("--node-address", f"127.0.0.1:{inner}", "--node-url", node.link_url)
        with (node.folder.parent / f"{node.folder.name}.log").open("ab") as log:
            node.process = await self._run(arguments, log.fileno())
        assert node.process.stdout is not None
        line = await asyncio.wait_for(node.process.stdout.readline(), START_SECONDS)
        assert line, f"the node did not start: {self.log(node)}"
        said = json.loads(line)
        node.url, node.accounts = said["rest_url"], said["tokens"]

    async def _run(self, arguments: tuple[str, ...], log: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "keydesk_practice.__main__",
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )

    def log(self, node: ClusterNode) -> str:
        """Return what a node wrote to stderr."""
        return (node.folder.parent / f"{node.folder.name}.log").read_text()

    async def _end(self, node: ClusterNode) -> None:
        if node.process is None or node.process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            node.process.send_signal(signal.SIGCONT)
            node.process.terminate()
        try:
            await asyncio.wait_for(node.process.wait(), MOVE_SECONDS)
        except TimeoutError:
            node.process.kill()
            await node.process.wait()

    async def send(
        self, node: ClusterNode, token: str, method: str, path: str, body: object = None
    ) -> PeerAnswer:
        """Send a request to a node; raise `NotExecuted` or `OutcomeUnknown` when there is no answer."""
        headers = ((b"authorization", f"Bearer {token}".encode()),)
        text = b"" if body is None else json.dumps(body).encode()
        request = PeerRequest(method, path.encode(), headers, text)
        return await self.peers.send(node.url, request, (), ANSWER_SECONDS)

    @contextlib.asynccontextmanager
    async def stream(
        self, node: ClusterNode, token: str, account: str
    ) -> AsyncIterator[asyncio.StreamReader]:
        """Open the transaction stream of an account at a node; its lines follow the head and chunk sizes."""
        parts = urlsplit(node.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        head = f"GET /v3/accounts/{account}/transactions/stream HTTP/1.0"
        writer.write(f"{head}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).split()[1] == b"200"
        try:
            yield reader
        finally:
            writer.transport.abort()

    async def control(self, node: ClusterNode, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Send a request to the control interface of a node, and return its answer; again while the account moves."""
        token = (node.folder / "control-token").read_text().strip()
        deadline = time.monotonic() + MOVE_SECONDS
        while True:
            answer = await self.send(node, token, method, f"/control/v1{path}", body)
            if answer.status != UNAVAILABLE or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.1)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def query(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query of the database."""
        import psycopg  # noqa: PLC0415 - tests without the extra `cluster` import this module, too

        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("SET search_path = keydesk_practice")
            return connection.execute(text.encode(), values).fetchall()

    def owned(self, node: ClusterNode) -> list[str]:
        """Return the accounts that belong to a node."""
        rows = self.query(
            "SELECT a.id FROM accounts a JOIN nodes n ON n.number = a.node"
            " WHERE n.address = %s AND n.expires > clock_timestamp() ORDER BY 1",
            node.link_url,
        )
        return [str(id_) for (id_,) in rows]

    async def balanced(self) -> None:
        """Return when every node owns its share of the accounts."""
        deadline = time.monotonic() + MOVE_SECONDS
        counts: list[int] = []
        while True:
            with contextlib.suppress(Exception):
                counts = [len(self.owned(node)) for node in self.nodes]
                share = -(-2 * len(self.tokens) // len(self.nodes))
                if sum(counts) == 2 * len(self.tokens) and max(counts) <= share:
                    return
            if time.monotonic() > deadline:
                logs = "\n".join(self.log(node)[-3_000:] for node in self.nodes)
                raise AssertionError(f"the accounts were not shared out: {counts}\n{logs}")
            await asyncio.sleep(0.1)


@dataclass(slots=True)
class Report:
    """What bots were answered, and what the ledger says."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    fail_over: list[float] = field(
        default_factory=list
    )  # seconds from a kill to an account's next order
    problems: list[str] = field(default_factory=list)
    transactions: int = 0
    seconds: float = 0.0

    def percentile(self, share: float) -> float:
        """Return a percentile of the fail-over times."""
        ordered = sorted(self.fail_over)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0

    def text(self) -> str:
        """Return the figures in a line."""
        return (
            f"{self.seconds:.0f} s, {dict(self.faults)}: {self.acknowledged} orders acknowledged,"
            f" {self.refused} refused, {self.unknown} unknown, {self.transactions} transactions;"
            f" fail-over of {len(self.fail_over)} accounts: p50 {self.percentile(0.5):.2f} s,"
            f" p99 {self.percentile(0.99):.2f} s; problems: {self.problems[:5] or 'none'}"
        )


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
        if answer.status == 504:
            return Order(account, tag, "unknown")
        if answer.status != UNAVAILABLE:
            self.unexpected.append(f"{answer.status} {answer.body[:200]!r}")
        return Order(account, tag, "refused")


async def rehearse(
    cluster: Cluster, *, bots: int, faults: list[str], think: float, seed: int = 1
) -> Report:
    """Let bots trade while faults happen, one after the other, and compare their answers with the ledger."""
    began = time.monotonic()
    await cluster.balanced()
    draw, report = random.Random(seed), Report()
    trading = Bots(cluster, bots, think)
    for fault in faults:
        await _trade_a_while(trading, len(set(trading.accounts)))
        await _FAULTS[fault](cluster, draw.choice(cluster.nodes), trading, report)
        report.faults[fault] += 1
        await cluster.balanced()
    await _trade_a_while(trading, len(set(trading.accounts)))
    await trading.stop()
    _compare(cluster, trading, report)
    report.seconds = time.monotonic() - began
    return report


async def _trade_a_while(trading: Bots, orders: int) -> None:
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
    others = [one for one in cluster.nodes if one is not node]
    deadline = time.monotonic() + MOVE_SECONDS
    while not owned <= {account for one in others for account in cluster.owned(one)}:
        assert time.monotonic() < deadline, "the accounts of a paused node did not move"
        await asyncio.sleep(0.1)
    node.process.send_signal(signal.SIGCONT)


async def _restart(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Restart PostgreSQL, fast and immediate in turns."""
    del node, trading
    how = signal.SIGQUIT if report.faults["restart"] % 2 else signal.SIGINT
    await asyncio.to_thread(cluster.server.stop, how)
    await asyncio.to_thread(cluster.server.start)


async def _cut(cluster: Cluster, node: ClusterNode, trading: Bots, report: Report) -> None:
    """Cut the way to a node while some orders are sent."""
    del cluster, report
    node.link.cut()
    await _trade_a_while(trading, len(trading.accounts))
    node.link.mend()


_FAULTS = {"kill": _kill, "pause": _pause, "restart": _restart, "cut": _cut}


Stored = dict[str, list[tuple[int, int, str]]]  # id, time and text by account


def _compare(cluster: Cluster, trading: Bots, report: Report) -> None:
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
    counts = Counter(order.outcome for order in trading.orders)
    report.acknowledged, report.refused = counts["acknowledged"], counts["refused"]
    report.unknown = counts["unknown"]
    report.transactions = sum(map(len, stored.values()))
    report.problems += trading.unexpected


_POSSIBLE = {"acknowledged": {1}, "refused": {0}, "unknown": {0, 1}}  # times in the ledger


def _gaps(account: str, rows: list[tuple[int, int, str]]) -> list[str]:
    problems = []
    if [id_ for id_, _, _ in rows] != list(range(1, len(rows) + 1)):
        problems.append(f"the ids of {account} have gaps")
    if any(one[1] > other[1] for one, other in itertools.pairwise(rows)):
        problems.append(f"the times of {account} do not ascend")
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


def prices(text: bytes) -> list[tuple[object, object]]:
    """Return the bids and asks of a pricing answer."""
    return [(one["bids"], one["asks"]) for one in json.loads(text)["prices"]]
