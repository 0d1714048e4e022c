"""One run of the broker: open the ledger, listen, print the address, serve with uvicorn, and stop on a signal.

Connections are bounded: their number, the time until a request is complete, and the time a client may read nothing. An
idle connection or half a request is closed after a while, and earlier when other clients need its place, so idle clients
cannot exhaust the descriptors; a connection with a request in progress is never closed for another one.
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
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.opening import open_broker
from keydesk_practice.errors import CannotListen, LedgerUnavailable
from keydesk_practice.http.application import make_application
from keydesk_practice.http.middleware import Application
from keydesk_practice.options import Options

TOKEN_FILE = "token"  # noqa: S105 - a file name
TOKEN_BYTES = 32
BACKLOG = 2048
ACCEPTED_AT_ONCE = 64  # connections, before the open ones get their turn
SHUTDOWN_SECONDS = 1
MAX_CONNECTIONS = 2_000
RESERVED_DESCRIPTORS = 128  # for the ledger's files and connections that are about to be refused
REQUEST_SECONDS = 10.0
READER_SECONDS = 60.0
MAX_HEAD_BYTES = 64 * 1024
MAX_HELD_BYTES = 16 * 1024  # of one write
_KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 40_000}
_FULL = b'{"errorMessage":"The practice broker has as many connections open as it accepts: try again later"}'


@dataclass(frozen=True, slots=True)
class Listener:
    """An open socket and the address clients use for it."""

    socket: socket.socket
    url: str
    path: Path | None = None

    def remove(self) -> None:
        """Remove the file of a unix socket."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def listen_on_port(host: str, port: int) -> Listener:
    """Listen on a TCP port, 0 for any free one; raise `CannotListen` when it is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only on sockets that carry it; without the option,
    # each answer on a busy connection waits for the delayed acknowledgement (40 ms).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise CannotListen(f"cannot listen on {host} port {port}: {error.strerror}") from error
    name = f"[{host}]" if ":" in host else host
    return Listener(listening, f"http://{name}:{listening.getsockname()[1]}")


def listen_on_path(path: Path) -> Listener:
    """Listen on a unix socket, mode 0600; create its folder with mode 0700; raise `CannotListen` when it is not available."""
    path = path.absolute()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_stale_socket(path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listening.bind(str(path))
    except OSError as error:
        listening.close()
        raise CannotListen(f"cannot listen on {path}: {error}") from error
    finally:
        os.umask(mask)
    return Listener(listening, f"http+unix://{path}", path)


def _remove_stale_socket(path: Path) -> None:
    """Remove the socket of a killed broker; raise `CannotListen` for one in use or another kind of file."""
    if not path.exists():
        return
    if not path.is_socket():
        raise CannotListen(f"{path} exists and is not a socket: choose another path with --uds")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(str(path)) != errno.ECONNREFUSED:
            raise CannotListen(
                f"{path} is in use by another process: choose another path with --uds"
            )
    path.unlink()


@dataclass(slots=True)
class ConnectionLimits:
    """The limits of one server, and its connections that wait for a complete request."""

    most: int = MAX_CONNECTIONS
    request_seconds: float = (
        REQUEST_SECONDS  # from connecting, or the first byte, to a complete request
    )
    reader_seconds: float = READER_SECONDS  # that a client may read nothing of what it is sent
    awaiting_request: "dict[LimitedConnection, None]" = field(
        default_factory=dict
    )  # longest waiting first


def raise_descriptor_limit() -> int:
    """Raise the process's descriptor limit as far as possible; return the number of connections it allows."""
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


class WholeWrites(asyncio.Transport):
    """A connection's transport that sends what one iteration of the event loop writes in one piece.

    uvicorn writes head and body of a response apart: each would be a packet of its own, and wake the client once more.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._unsent: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes at the end of this iteration, many of them at once: the transport counts what waits."""
        if not self._unsent:
            self._loop.call_soon(self._send)
        self._unsent.append(bytes(data))
        if len(data) > MAX_HELD_BYTES:
            self._send()

    def _send(self) -> None:
        unsent, self._unsent = self._unsent, []
        if unsent:
            self._transport.write(unsent[0] if len(unsent) == 1 else b"".join(unsent))

    def close(self) -> None:
        """Send what was written, then close the connection."""
        self._send()
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._unsent = []
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether the connection is closed or being closed."""
        return self._transport.is_closing()

    def pause_reading(self) -> None:
        """Stop reading from the client."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read from the client again."""
        self._transport.resume_reading()

    def get_extra_info(self, name: str, default: object = None) -> Any:  # noqa: ANN401 - asyncio's signature
        """Return a fact about the connection."""
        return self._transport.get_extra_info(name, default)


class LimitedConnection(HttpToolsProtocol):
    """One connection within the limits."""

    limits: ClassVar[ConnectionLimits]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; at the limit, close one that sends no request instead, or else refuse this one."""
        self._request_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None
        self._head_size = 0
        super().connection_made(WholeWrites(transport, self.loop))
        _set_keepalive(transport)
        if len(self.connections) > self.limits.most:
            if not self.limits.awaiting_request:
                self._refuse()
                return
            next(iter(self.limits.awaiting_request)).abort()
        self._start_request_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the connection's timers."""
        self._stop_request_timer()
        self._stop_reader_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse bytes; start the request timer at the first of a request."""
        if self._request_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._start_request_timer()
        self._head_size += len(data)
        super().data_received(data)
        if self._head_size > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(
                f"The request head is too large: send at most {MAX_HEAD_BYTES} bytes"
            )

    def on_headers_complete(self) -> None:
        """Start the request."""
        self._head_size = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Add a part of the body, whose size is limited by the endpoint."""
        self._head_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop the request timer: the request is complete."""
        self._head_size = 0
        self._stop_request_timer()
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Start the reader timer: the client does not read."""
        super().pause_writing()
        self._stop_reader_timer()
        self._reader_timer = self.loop.call_later(self.limits.reader_seconds, self.abort)

    def resume_writing(self) -> None:
        """Stop the reader timer: the client reads again."""
        self._stop_reader_timer()
        super().resume_writing()

    def abort(self) -> None:
        """Close the connection at once."""
        self._stop_request_timer()
        self.transport.abort()

    def _start_request_timer(self) -> None:
        self.limits.awaiting_request[self] = None
        self._request_timer = self.loop.call_later(self.limits.request_seconds, self.abort)

    def _stop_request_timer(self) -> None:
        self.limits.awaiting_request.pop(self, None)
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _stop_reader_timer(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def _refuse(self) -> None:
        head = (
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
            f"content-length: {len(_FULL)}\r\nretry-after: 1\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + _FULL)
        self.transport.close()


def _set_keepalive(transport: asyncio.Transport) -> None:
    """Set TCP keep-alive, so that the system notices a lost peer."""
    found = transport.get_extra_info("socket")
    if found is None or found.family == socket.AF_UNIX:
        return
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if sys.platform == "linux":
        for name, value in _KEEPALIVE.items():
            found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Server(uvicorn.Server):
    """A uvicorn server for one listener: no access log, no own signal handlers."""

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
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._listener = listener
        self._when_listening = when_listening

    async def serve_listener(self) -> None:
        """Serve in the running loop until `stop` is called."""
        await self.serve(sockets=[self._listener.socket])

    def stop(self) -> None:
        """Finish the requests in progress and stop."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then call `when_listening`."""
        await super().startup(sockets=sockets)
        self._listener.socket.listen(BACKLOG)  # connections that the system queues
        self._when_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signal handling to `run_broker`."""
        yield


async def run_broker(options: Options) -> int:
    """Serve until a signal, the end of the parent process, or a ledger that cannot be written; return the exit code."""
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
    ticking.add_done_callback(lambda _: stop())  # do not serve a market that stands still
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
    """Stop when the parent's end of the pipe closes, however the parent ended."""
    os.set_blocking(descriptor, False)
    loop = asyncio.get_running_loop()

    def readable() -> None:
        if not os.read(descriptor, 1):
            loop.remove_reader(descriptor)
            stop()

    loop.add_reader(descriptor, readable)


def load_token(folder: Path) -> str:
    """Return the token in the data folder; create a random one, mode 0600, on first use."""
    path = folder / TOKEN_FILE
    try:
        token = path.read_text("ascii").strip()
    except FileNotFoundError:
        token = ""
    if token:
        return token
    token = secrets.token_hex(TOKEN_BYTES)
    try:
        _write_private(path, token)
    except OSError as error:
        raise LedgerUnavailable(f"cannot write {path}: {error.strerror}") from error
    return token


def _write_private(path: Path, token: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
