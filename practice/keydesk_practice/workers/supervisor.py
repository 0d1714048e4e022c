"""The supervisor: holds the data folder and the address, and answers the control interface.

`pool` starts the workers, and starts them again when they end; `group` keeps what they share.
"""

import asyncio
import contextlib
import hashlib
import itertools
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.broker import LAST_SEEN
from keydesk_practice.broker.clock import Clock
from keydesk_practice.broker.replay import load_replay
from keydesk_practice.broker.startup import DEFAULT_SEED, FIRST_USER
from keydesk_practice.cluster.peers import Peers
from keydesk_practice.control.application import ControlApplication
from keydesk_practice.control.client import CONTROL_TOKEN_FILE, forget_address, write_address
from keydesk_practice.control.fault_files import read_profile
from keydesk_practice.control.operations import BASE
from keydesk_practice.engine.wire_form import rfc3339
from keydesk_practice.http.faults import NO_FAULTS
from keydesk_practice.http.middleware import HEALTH
from keydesk_practice.http.responses import json_bytes
from keydesk_practice.ledger.ledger import Ledger
from keydesk_practice.ledger.ledger_file import FILE_NAME, translated_errors
from keydesk_practice.ledger.placement import (
    folder_lock,
    ledger_folders,
    place_accounts,
    worker_of,
)
from keydesk_practice.ledger.records import LedgerAccount
from keydesk_practice.options import Options
from keydesk_practice.server import (
    BACKLOG,
    Listener,
    Server,
    address_line,
    listen,
    listen_on_path,
    load_token,
    stop_on_signals,
    stop_with_parent,
)
from keydesk_practice.workers.control import WorkersControl
from keydesk_practice.workers.group import WorkerGroup
from keydesk_practice.workers.handover import Acceptor, FirstRequest
from keydesk_practice.workers.pool import Pool
from keydesk_practice.workers.router import AWAY
from keydesk_practice.workers.settings import (
    SUPERVISOR,
    SharedState,
    WorkerSettings,
    address,
    socket_path,
)


@dataclass(frozen=True, slots=True)
class _Start:
    """Where the market begins: a time, the wall time that belongs to it, and whether it runs."""

    market: int
    wall: int
    runs: bool
    seed: int


async def run_workers(options: Options) -> int:
    """Serve until a signal, the end of the parent process, or a worker that cannot be started; return the exit code."""
    tokens = options.tokens or (load_token(options.data),)
    options = replace(options, tokens=tokens)
    with folder_lock(options.data):
        place_accounts(options.data, options.workers)
        start = _start(options)
        listener = listen(options)
        sockets = Path(
            tempfile.mkdtemp(prefix="keydesk-workers-")
        )  # short: a socket's path has some 100 bytes
        try:
            write_address(options.data, listener.url)
            return await _Supervisor(options, start, listener, sockets).run()
        finally:
            forget_address(options.data)
            listener.remove()
            shutil.rmtree(sockets, ignore_errors=True)


def _start(options: Options) -> _Start:
    """Return where the market goes on: never before what any ledger has seen; a replay is paused where it was left."""
    last_seen, is_replay, seed = 0, False, DEFAULT_SEED if options.seed is None else options.seed
    for folder in ledger_folders(options.data):
        ledger = Ledger.open(folder)
        with translated_errors(folder / FILE_NAME), contextlib.closing(ledger):
            last_seen = max(last_seen, int(ledger.fact(LAST_SEEN) or 0), ledger.last_time())
            is_replay |= load_replay(ledger) is not None
            seed = int(ledger.fact("seed") or seed)
    wall = time.time_ns()
    begin = wall if options.start is None else options.start
    if is_replay and last_seen:
        begin = options.start or 0
    runs = not (options.paused or is_replay)
    return _Start(max(begin, last_seen), wall, runs, seed)


class _Supervisor:
    """One run of several workers."""

    def __init__(self, options: Options, start: _Start, listener: Listener, sockets: Path) -> None:
        self._options = options
        self._listener = listener
        self._sockets = sockets
        self._secret = secrets.token_hex(32)
        self._control_token = load_token(options.data, CONTROL_TOKEN_FILE)
        self._start = start
        self._earlier_model: int | None = None
        clock = Clock(start.market, options.speed, running=False)
        profile = NO_FAULTS if options.faults is None else read_profile(options.faults)
        self._group = WorkerGroup(
            clock,
            Peers(),
            self._secret.encode(),
            lambda number: address(sockets, number),
            shared=SharedState(faults=profile),
        )
        self._pool = Pool(options.workers, self._settings, self._group.join, self.stop)
        self._group.workers = self._pool.workers
        self._control = WorkersControl(
            self._group,
            start.seed,
            owners=tuple(range(len(options.tokens))),
            start_digests=frozenset(map(_digest, options.tokens)),
        )
        self._turns = itertools.cycle(range(options.workers))
        self._stopped = asyncio.Event()
        self._adopting: set[asyncio.Task[None]] = set()
        self._controlled = ControlApplication(
            self._control,
            self._control_token,
            anywhere=options.control_anywhere,
            operations=self._control.operations(),
        )
        self._server = Server(self._answer, None)
        inner = listen_on_path(socket_path(sockets, SUPERVISOR))
        self._inner_server = Server(self._answer, inner)

    def stop(self) -> None:
        """Stop serving."""
        self._stopped.set()

    async def run(self) -> int:
        """Serve until it is stopped; return the exit code."""
        stop_on_signals(self.stop)
        if self._options.parent_fd is not None:
            stop_with_parent(self._options.parent_fd, self.stop)
        serving = [
            asyncio.create_task(one.serve_listener()) for one in (self._server, self._inner_server)
        ]
        starting = asyncio.create_task(self._start_workers())
        stopping = asyncio.create_task(self._stopped.wait())
        acceptor: Acceptor | None = None
        is_started = False
        try:
            await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
            if starting.done() and (is_started := starting.result()):
                self._pool.watch()
                acceptor = Acceptor(self._listener.socket, self._choose)
                acceptor.start(BACKLOG)
                print(self._line(), flush=True)  # noqa: T201 - the start line
                await stopping
        finally:
            starting.cancel()
            stopping.cancel()
            if acceptor is not None:
                acceptor.stop()
            ended_well = await self._pool.stop()
            for one in (self._server, self._inner_server):
                one.stop()
            await asyncio.gather(*serving, return_exceptions=True)
            self._group.peers.close()
        failed = self._pool.failed or (starting.done() and not is_started) or not ended_well
        return 1 if failed else 0

    async def _start_workers(self) -> bool:
        """Start every worker, send all of them the same state, and start the market; return False when one cannot start."""
        if not await self._pool.start():
            return False
        group, workers = self._group, self._pool.workers
        reports = await asyncio.gather(*map(group.read_report, workers))
        tokens = {one.owner: one for report in reports for one in report.tokens}
        group.shared = replace(
            group.shared, tokens=tuple(tokens.values()), shocks=reports[0].shocks
        )
        self._earlier_model = next((r.earlier_model for r in reports if r.earlier_model), None)
        group.clock.set(max(self._start.market, *(one.market for one in reports)))
        for worker in workers:
            worker.up.set()
        await group.publish()
        if self._start.runs:
            if self._options.start is None:  # the time that it took to start has passed
                since = round((time.time_ns() - self._start.wall) * self._options.speed)
                group.clock.set(group.clock() + since)
                await group.publish()
            group.clock.play()
            await group.publish()
        return True

    def _settings(self, number: int) -> WorkerSettings:
        options = replace(
            self._options,
            start=self._group.clock(),
            faults=None,
            uds=None,
            parent_fd=None,
        )
        return WorkerSettings(
            number,
            self._options.workers,
            self._sockets,
            self._secret,
            self._control_token,
            options,
        )

    def _choose(self, first: FirstRequest) -> Callable[[socket.socket], None]:
        """Return the function that takes a connection: into the account's worker, or into this process."""
        if first.path.startswith(f"{BASE}/") or first.path == HEALTH:
            return self._adopt
        worker = self._pool.workers[self._number_of(first)]

        def take(connection: socket.socket) -> None:
            if not worker.hand_over(connection):
                self._adopt(connection)

        return take

    def _number_of(self, first: FirstRequest) -> int:
        """Return the number of the worker of an account, of a token's first account, or the next one in turn."""
        if first.account:
            return worker_of(first.account, self._options.workers)
        digest = hashlib.sha256(first.token).hexdigest()
        tokens = {one.digest: one.owner for one in self._group.shared.tokens}
        tokens |= {_digest(token): owner for owner, token in enumerate(self._options.tokens)}
        if (owner := tokens.get(digest)) is not None:
            return worker_of(f"101-001-{FIRST_USER + owner}-001", self._options.workers)
        return next(self._turns)

    def _adopt(self, connection: socket.socket) -> None:
        task = asyncio.get_running_loop().create_task(self._server.adopt(connection))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer control requests, the health, and 503 while the worker of an account is away."""
        if scope["type"] != "http":
            return
        if scope["path"].startswith(f"{BASE}/"):
            await self._controlled(scope, receive, send)
            return
        status, body = (
            503,
            {"errorMessage": f"The request was not executed: {AWAY}. Send it again."},
        )
        headers = [(b"retry-after", b"1"), (b"connection", b"close")]
        if scope["path"] == HEALTH and scope["method"] == "GET":
            status, body = self._health()
            headers = []
        text = json_bytes(body)
        fields = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(text)),
        ]
        await send(
            {"type": "http.response.start", "status": status, "headers": [*fields, *headers]}
        )
        await send({"type": "http.response.body", "body": text})

    def _health(self) -> tuple[int, dict[str, str]]:
        members = {"status": "ok", "time": rfc3339(self._group.clock())}
        if not (restarting := self._pool.not_serving):
            return 200, members
        text = ", ".join(map(str, restarting))
        return 503, {**members, "status": "restarting", "reason": f"restarting worker {text}"}

    def _line(self) -> str:
        def accounts_of(owner: int) -> list[LedgerAccount]:
            known = self._group.shared.accounts
            return [one.ledger_account() for one in known if one.owner == owner]

        return address_line(
            self._listener.url, self._options.tokens, accounts_of, self._earlier_model
        )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
