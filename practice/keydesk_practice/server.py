"""One run of the broker: open the ledger, listen, say where, and leave cleanly when told to.

The broker's own token: random, kept 0600 in the data folder so that it outlives a restart.
The socket the broker listens on: a TCP port, or a unix socket that only its owner can reach.
Bounds connections: how many there are, how long a request may take to arrive, how long a reader may not read.

A connection that sends nothing, or half a request, is closed after a while, and before that when others need its place.
So connections that nobody uses exhaust no descriptors; those of clients that talk are never closed for others.
uvicorn, stripped: one process, our own socket, our own signals, nothing logged per request.
"""

import asyncio
import contextlib
import errno
import json
import os
import resource
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from keydesk_practice.broker.broker import Broker, open_broker
from keydesk_practice.errors import CannotListen, LedgerUnavailable
from keydesk_practice.http.application import make_application
from keydesk_practice.http.middleware import Application
from keydesk_practice.options import Options

FILE_NAME = "token"
RANDOM_BYTES = 32


def load_token(folder: Path) -> str:
    """Return the token of the data folder, made on first use."""
    path = folder / FILE_NAME
    try:
        kept = path.read_text("ascii").strip()
    except FileNotFoundError:
        kept = ""
    if kept:
        return kept
    token = secrets.token_hex(RANDOM_BYTES)
    try:
        _write(path, token)
    except OSError as error:
        raise LedgerUnavailable(f"cannot write {path}: {error.strerror}") from error
    return token


def _write(path: Path, token: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())


BACKLOG = 2048


@dataclass(frozen=True, slots=True)
class Listener:
    """An open socket and the address clients use for it."""

    socket: socket.socket
    url: str
    path: Path | None = None

    def remove(self) -> None:
        """Take the unix socket's name away."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def listen_on_port(host: str, port: int) -> Listener:
    """Listen on a TCP port; 0 takes a free one. Raises `CannotListen`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only on sockets that carry it; without the option,
    # each answer on a busy connection waits for the delayed acknowledgement (40 ms).
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise CannotListen(f"cannot listen on {host} port {port}: {error.strerror}") from error
    name = f"[{host}]" if ":" in host else host
    return Listener(found, f"http://{name}:{found.getsockname()[1]}")


def listen_on_path(path: Path) -> Listener:
    """Listen on a unix socket, 0600, in a folder made 0700 if it is not there. Raises `CannotListen`."""
    path = path.absolute()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _clear_away(path)
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        found.bind(str(path))
    except OSError as error:
        found.close()
        raise CannotListen(f"cannot listen on {path}: {error}") from error
    finally:
        os.umask(mask)
    return Listener(found, f"http+unix://{path}", path)


def _clear_away(path: Path) -> None:
    """Remove a socket that a killed broker left behind, but never one in use, nor anything else."""
    if not path.exists():
        return
    if not path.is_socket():
        raise CannotListen(f"{path} is there already and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(str(path)) != errno.ECONNREFUSED:
            raise CannotListen(f"{path} is in use")
    path.unlink()


MAX_CONNECTIONS = 2_000
RESERVED_DESCRIPTORS = (
    128  # for the ledger, the files beside it, and connections about to be refused
)
REQUEST_SECONDS = 10.0
READER_SECONDS = 60.0
LARGEST_HEAD = 64 * 1024
_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 40_000}
_FULL = b'{"errorMessage":"The practice broker has as many connections open as it takes"}'


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of one server, and which of its connections wait for a whole request."""

    most: int = MAX_CONNECTIONS
    request_seconds: float = (
        REQUEST_SECONDS  # from the first byte, or from connecting, to the whole request
    )
    reader_seconds: float = READER_SECONDS  # without taking anything of what it is sent
    awaiting_request: "dict[LimitedConnection, None]" = field(default_factory=dict)  # longest first


def raise_descriptor_limit() -> int:
    """Allow this process as many descriptors as the system lets it; return how many connections that bears."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + RESERVED_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(MAX_CONNECTIONS, soft - RESERVED_DESCRIPTORS))


def connection_class(limits: ConnectionLimits) -> type[HttpToolsProtocol]:
    """Return the protocol class of a server's connections."""
    return type("LimitedConnection", (LimitedConnection,), {"limits": limits})


class LimitedConnection(HttpToolsProtocol):
    """One connection, within limits."""

    limits: ClassVar[ConnectionLimits]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take in a connection, in place of one that sends no request if there are too many, or refuse it."""
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._head_size = 0
        super().connection_made(transport)
        _set_keepalive(transport)
        if len(self.connections) > self.limits.most:
            if not self.limits.awaiting_request:
                self._refuse()
                return
            next(iter(self.limits.awaiting_request)).abort()
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._request_is_whole()
        self._cancel_unread()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request must be whole some seconds after its first."""
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_request()
        self._head_size += len(data)
        super().data_received(data)
        if self._head_size > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of a request has at most {LARGEST_HEAD} bytes")

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._head_size = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, which has a limit of its own."""
        self._head_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole; how long its answer takes is our affair."""
        self._head_size = 0
        self._request_is_whole()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """The client does not read what it is sent: it has some time to begin again."""
        super().pause_writing()
        self._cancel_unread()
        self._unread = self.loop.call_later(self.limits.reader_seconds, self.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._cancel_unread()
        super().resume_writing()

    def abort(self) -> None:
        """Close the connection at once."""
        self._request_is_whole()
        self.transport.abort()

    def _expect_request(self) -> None:
        self.limits.awaiting_request[self] = None
        self._deadline = self.loop.call_later(self.limits.request_seconds, self.abort)

    def _request_is_whole(self) -> None:
        self.limits.awaiting_request.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _cancel_unread(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _refuse(self) -> None:
        head = (
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
            f"content-length: {len(_FULL)}\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + _FULL)
        self.transport.close()


def _set_keepalive(transport: asyncio.Transport) -> None:
    """Let the system notice that the other machine is gone."""
    found = transport.get_extra_info("socket")
    if found is None or found.family == socket.AF_UNIX:
        return
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        for name, value in _KEEPALIVE.items():
            found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


SECONDS_TO_FINISH = 1
ACCEPTED_AT_ONCE = 64  # connections, before those that came earlier are looked at


class Server(uvicorn.Server):
    """Serves an application on one listener until `stop`."""

    def __init__(
        self,
        application: Application,
        listener: Listener,
        when_listening: Callable[[], None],
        limits: ConnectionLimits | None = None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                loop="asyncio",
                http=connection_class(limits or ConnectionLimits()),
                ws="none",
                lifespan="off",
                interface="asgi3",
                backlog=ACCEPTED_AT_ONCE,
                access_log=False,
                log_config=None,
                log_level="critical",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=SECONDS_TO_FINISH,
            )
        )
        self._listener = listener
        self._when_listening = when_listening

    async def serve_listener(self) -> None:
        """Serve in the running loop until `stop` was called."""
        await self.serve(sockets=[self._listener.socket])

    def stop(self) -> None:
        """Finish what is being answered and leave."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets=sockets)
        self._listener.socket.listen(BACKLOG)  # what the system holds, whatever is accepted at once
        self._when_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to the command that runs us."""
        yield


async def run_broker(options: Options) -> int:
    """Serve until a signal, the end of the parent, or a ledger that cannot be written; returns the exit code."""
    tokens = options.tokens or (load_token(options.data),)
    broker = open_broker(options, owners=len(tokens))
    try:
        listener = _listen(options)
        try:
            await _serve(broker, listener, tokens, options)
        finally:
            listener.remove()
    finally:
        broker.close()
    return 1 if broker.failed else 0


def _listen(options: Options) -> Listener:
    if options.uds is not None:
        return listen_on_path(options.uds)
    return listen_on_port(options.host, options.port)


async def _serve(
    broker: Broker, listener: Listener, tokens: tuple[str, ...], options: Options
) -> None:
    application = make_application(broker, tokens, options.rate_limit)
    line = _address_line(broker, listener.url, tokens[0])
    limits = ConnectionLimits(most=raise_descriptor_limit())
    server = Server(application, listener, lambda: print(line, flush=True), limits)  # noqa: T201

    def stop() -> None:
        broker.end_streams()
        server.stop()

    broker.commits.on_failure = stop
    _stop_on_signals(stop)
    if options.parent_fd is not None:
        _stop_with_parent(options.parent_fd, stop)
    ticking = asyncio.create_task(broker.run(), name="market")
    ticking.add_done_callback(lambda _: stop())  # a market that stands still serves nobody
    try:
        await server.serve_listener()
    finally:
        if not ticking.cancel():
            ticking.result()


def _address_line(broker: Broker, url: str, token: str) -> str:
    accounts = [
        {"id": account.id, "currency": account.currency, "hedging": account.hedging}
        for account in broker.accounts_of(owner=0)
    ]
    return json.dumps({"rest_url": url, "stream_url": url, "token": token, "accounts": accounts})


def _stop_on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop)


def _stop_with_parent(descriptor: int, stop: Callable[[], None]) -> None:
    """Leave when the other end of the parent's pipe closes, however the parent ended."""
    os.set_blocking(descriptor, False)
    loop = asyncio.get_running_loop()

    def readable() -> None:
        if not os.read(descriptor, 1):
            loop.remove_reader(descriptor)
            stop()

    loop.add_reader(descriptor, readable)
