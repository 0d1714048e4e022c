"""A cluster of practice brokers for tests: processes that share a PostgreSQL server, and the links between them.

Every node may have a wall clock of its own, minutes from the others', and a link of its own to the database.

    async with Cluster(server, nodes=3, tokens=4) as cluster:
        answer = await cluster.send(cluster.nodes[0], ...)

The links run through this process, which can cut them.
"""

import asyncio
import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from keydesk_practice.cluster.peers import PeerAnswer, PeerRequest, Peers
from support.clock_ahead.environment import ahead_environment
from support.links import Link
from support.postgres import PostgresServer

START_SECONDS = 120.0
ANSWER_SECONDS = 30.0
MOVE_SECONDS = 60.0  # for which the end of a fault is awaited, on a machine of any speed
SOCKET = ".s.PGSQL.5432"
UNAVAILABLE = 503  # with Retry-After: the account is moving to another node


@dataclass(slots=True)
class ClusterNode:
    """One node: its folder, its link, and its process while it runs."""

    folder: Path
    link: Link
    link_url: str
    database: Link
    clock: int = 0  # seconds by which its wall clock is ahead
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
        clocks: tuple[int, ...] = (),
        database_links: bool = False,
    ) -> None:
        self.server = server
        self.address = server.new_database()
        self.tokens = [f"cluster-token-{number:04}" for number in range(tokens)]
        self.nodes: list[ClusterNode] = []
        self.peers = Peers()
        self._count = nodes
        self._arguments = arguments
        self._clocks = clocks  # by how many seconds the nodes' are ahead
        self._database_links = (
            database_links  # each node reaches the database by a link that can be cut
        )
        self._shared = shared  # else each has an SQLite ledger, to be compared with
        self._folder = Path(tempfile.mkdtemp(prefix="kd-cluster-"))
        self._ports = itertools.count(random.SystemRandom().randrange(20_000, 30_000))

    async def __aenter__(self) -> Self:
        (self._folder / "tokens").write_text("\n".join(self.tokens))
        for number in range(self._count):
            self.nodes.append(await self._new_node(number))
        await asyncio.gather(*map(self.start, self.nodes))
        return self

    async def _new_node(self, number: int) -> ClusterNode:
        folder, link, database = self._folder / str(number), Link(), Link()
        address = self.address
        if self._database_links:
            there = self._folder / f"database-{number}"
            there.mkdir()
            await database.open_unix(there / SOCKET)
            database.target = str(self.server.folder / SOCKET)
            address = address.replace(str(self.server.folder), str(there))
        (self._folder / f"ledger-{number}").write_text(address)
        clock = self._clocks[number] if self._clocks else 0
        return ClusterNode(folder, link, await link.open(), database, clock)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*map(self._end, self.nodes))
        for node in self.nodes:
            await node.link.close()
            await node.database.close()
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
            arguments += ("--ledger", f"@{self._folder / f'ledger-{node.folder.name}'}")
            arguments += ("--node-address", f"127.0.0.1:{inner}", "--node-url", node.link_url)
        with (node.folder.parent / f"{node.folder.name}.log").open("ab") as log:
            node.process = await self._run(arguments, log.fileno(), node.clock)
        assert node.process.stdout is not None
        line = await asyncio.wait_for(node.process.stdout.readline(), START_SECONDS)
        assert line, f"the node did not start: {self.log(node)}"
        said = json.loads(line)
        node.url, node.accounts = said["rest_url"], said["tokens"]

    async def _run(
        self, arguments: tuple[str, ...], log: int, clock: int
    ) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "keydesk_practice.__main__",
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=os.environ | ahead_environment(clock),
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
