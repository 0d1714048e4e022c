"""A real practice broker for tests: its own process, on a private unix socket, gone when the test is over.

    async def test_something(practice: PracticeServer) -> None:      # fixture: tests/conftest.py loads this module
        Client(token=practice.token, rest_url=practice.rest_url, stream_url=practice.stream_url, ...)

or, with arguments of `practice serve` (as on the command line) or a second run on the same ledger:

    async with practice_server(folder, "--start", "2015-01-15T08:00Z", "--speed", "60") as practice: ...
    async with practice_server(folder) as again: ...

`folder` holds the ledger (`folder/data`) and must be short enough for a socket path; the fixture makes one.
`practice.get(path)` and `practice.send(method, path, body)` are plain HTTP for tests that need no client of ours.
`practice.kill()` is `kill -9`; `practice.stop()` is SIGTERM and returns the exit code.

The fixture `desk_of_my_own` is quicker: one process for the whole run, a token with two fresh accounts for each test.
Do not stop that one.
"""

import asyncio
import contextlib
import json
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.forked import ForkedBroker, is_coverage_measured

START_SECONDS = 120.0
STOP_SECONDS = 60.0
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients that never encrypt: httpx would read all authorities of the machine for each, 35 ms."""


@dataclass(frozen=True, slots=True)
class PracticeAccount:
    """An account of the JSON line."""

    id: str
    currency: str
    hedging: bool


@dataclass(slots=True)
class PracticeServer:
    """The running broker and what its JSON line said."""

    process: asyncio.subprocess.Process | ForkedBroker | None
    rest_url: str
    stream_url: str
    token: str
    accounts: tuple[PracticeAccount, ...]
    data: Path
    tokens: tuple[dict[str, Any], ...] = ()  # each token with its accounts
    _http: httpx.AsyncClient | None = field(default=None, repr=False)

    @property
    def account_id(self) -> str:
        """The first account: US dollars, netting."""
        return self.accounts[0].id

    @property
    def hedging_id(self) -> str:
        """The second account: euros, hedging."""
        return self.accounts[1].id

    @property
    def http(self) -> httpx.AsyncClient:
        """A plain HTTP client with the token, on the broker's socket or port."""
        if self._http is None:
            self._http = plain_client(self.rest_url, self.token)
        return self._http

    async def get(self, path: str, **query: str) -> httpx.Response:
        """GET a path of the interface; `{a}` stands for the first account's path."""
        return await self.http.get(self._full(path), params=query or None)

    async def send(self, method: str, path: str, body: object = None) -> httpx.Response:
        """Send a JSON body."""
        return await self.http.request(method, self._full(path), json=body)

    def _full(self, path: str) -> str:
        return path.replace("{a}", f"/v3/accounts/{self.account_id}")

    async def kill(self) -> None:
        """End it as a power cut would."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        """Ask it to leave; returns its exit code."""
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), STOP_SECONDS)

    async def close(self) -> None:
        """Leave nothing behind."""
        if self._http is not None:
            await self._http.aclose()
        if self.process is None:
            return
        if self.process.returncode is None:
            try:
                await self.stop()
            except TimeoutError:
                await self.kill()
        transport = getattr(self.process, "_transport", None)  # its pipes outlive the process else
        if transport is not None:
            transport.close()


def plain_client(url: str, token: str) -> httpx.AsyncClient:
    """Return an HTTP client that reaches a broker's url, unix sockets included."""
    headers = {"Authorization": f"Bearer {token}"}
    if url.startswith("http+unix://"):
        path = url.removeprefix("http+unix://")
        transport = httpx.AsyncHTTPTransport(verify=NO_TLS, uds=path)
        return httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers, timeout=30.0
        )
    return httpx.AsyncClient(verify=NO_TLS, base_url=url, headers=headers, timeout=30.0)


async def start_practice(folder: Path, *arguments: str) -> PracticeServer:
    """Start a broker with its ledger in `folder/data`; the caller closes it."""
    program = _start_program if is_coverage_measured() else _fork
    data = folder / "data"
    place = () if "--port" in arguments or "--uds" in arguments else ("--uds", str(folder / "s"))
    process, line = await program("--data", str(data), *place, *arguments)
    if not line:
        raise AssertionError(f"the practice broker did not start: exit {await process.wait()}")
    said = json.loads(line)
    accounts = tuple(PracticeAccount(**account) for account in said["accounts"])
    return PracticeServer(
        process,
        said["rest_url"],
        said["stream_url"],
        said["token"],
        accounts,
        data,
        tuple(said["tokens"]),
    )


async def _fork(*words: str) -> tuple[ForkedBroker, bytes]:
    """Start a broker and return it with its JSON line, from a process that has imported it."""
    broker = ForkedBroker(words)
    return broker, await asyncio.wait_for(broker.first_line(), START_SECONDS)


async def _start_program(*words: str) -> tuple[asyncio.subprocess.Process, bytes]:
    """Do the same with the start of Python."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "keydesk_practice.__main__", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    return process, await asyncio.wait_for(process.stdout.readline(), START_SECONDS)


@contextlib.asynccontextmanager
async def practice_server(folder: Path, *arguments: str) -> AsyncIterator[PracticeServer]:
    """Run a broker for the length of the block."""
    server = await start_practice(folder, *arguments)
    try:
        yield server
    finally:
        await server.close()


def _short_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="kd-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def practice_folder() -> Iterator[Path]:
    """A private folder with a path short enough for a unix socket."""
    yield from _short_folder()


@pytest.fixture(scope="module")
def module_folder() -> Iterator[Path]:
    """Such a folder for a desk that the tests of a module share."""
    yield from _short_folder()


@pytest.fixture
async def practice(practice_folder: Path) -> AsyncIterator[PracticeServer]:
    """A practice broker with its usual settings, but for a rate limit that tests do not meet."""
    async with practice_server(practice_folder, "--rate-limit", "100000") as server:
        yield server


OWNERS = 400
SPARE_OWNERS = 60


class SharedPractice:
    """Brokers for all tests of a run or a module: a process serves many tokens, each given to one test; then another starts."""

    def __init__(self, folder: Path, *options: str, owners: int = OWNERS) -> None:
        self._folder = folder
        self._options = options
        self._owners = owners
        self._processes: list[subprocess.Popen[bytes]] = []
        self._servers: list[PracticeServer] = []  # of the newest process, not given out yet

    def open_desk(self) -> PracticeServer:
        """Return the newest process as seen with a token that no other test uses."""
        if not self._servers:
            self._start()
        return self._servers.pop(0)

    def open_first_desk(self) -> PracticeServer:
        """Return an unused token of a process that has others left, for tests that need several at one broker."""
        if len(self._servers) <= SPARE_OWNERS:
            self._start()
        return self.open_desk()

    def close(self) -> None:
        """Stop the processes."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.wait(STOP_SECONDS)
            assert process.stdout is not None
            process.stdout.close()

    def _start(self) -> None:
        number = len(self._processes)
        data = self._folder / f"data{number}"
        tokens = [f"token-{owner:03}-of-a-test" for owner in range(self._owners)]
        words = [word for token in tokens for word in ("--token", token)]
        place = ["--uds", str(self._folder / f"s{number}"), "--data", str(data)]
        command = [sys.executable, "-m", "keydesk_practice.__main__", *place]
        process = subprocess.Popen(
            [*command, "--rate-limit", "1000000", *self._options, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        self._processes.append(process)
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())
        url = address["rest_url"]
        self._servers = [
            PracticeServer(None, url, url, token, _accounts_of(address, owner), data)
            for owner, token in enumerate(tokens)
        ]


def _accounts_of(address: Mapping[str, Any], owner: int) -> tuple[PracticeAccount, ...]:
    """Return the accounts of a token, from those of the first token in a broker's address line."""
    accounts = []
    for account in address["accounts"]:
        site, division, user, serial = account["id"].split("-")
        id_ = f"{site}-{division}-{int(user) + owner}-{serial}"
        accounts.append(PracticeAccount(id_, account["currency"], account["hedging"]))
    return tuple(accounts)


@pytest.fixture(scope="session")
def shared_practice() -> Iterator[SharedPractice]:
    """The processes behind `desk_of_my_own`."""
    folder = Path(tempfile.mkdtemp(prefix="kd-"))
    shared = SharedPractice(folder)
    try:
        yield shared
    finally:
        shared.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def desk_of_my_own(shared_practice: SharedPractice) -> AsyncIterator[PracticeServer]:
    """Two fresh accounts at a broker that is running already."""
    desk = shared_practice.open_first_desk()
    yield desk
    await desk.close()
