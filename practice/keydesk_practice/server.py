"""One run of the broker: open the ledger, listen, print the address, serve with uvicorn, and stop on a signal."""

import asyncio
import contextlib
import errno
import json
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import uvicorn
from msgspec import Struct

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.startup import open_broker
from keydesk_practice.connections import ConnectionLimits, connection_class, raise_descriptor_limit
from keydesk_practice.control.application import ControlApplication
from keydesk_practice.control.client import CONTROL_TOKEN_FILE, forget_address, write_address
from keydesk_practice.control.context import Control
from keydesk_practice.control.fault_files import read_profile
from keydesk_practice.control.fault_operations import use_faults
from keydesk_practice.control.operations import BASE
from keydesk_practice.errors import CannotListen, LedgerUnavailable
from keydesk_practice.garbage_collection import exclude_long_lived
from keydesk_practice.http.middleware import TOKEN_FACT, Application, PublicPaths
from keydesk_practice.http.routes import make_application
from keydesk_practice.ledger.kept_ledgers import FolderLedgerStore
from keydesk_practice.ledger.ledger_file import make_folders
from keydesk_practice.ledger.ledger_store import LedgerStore
from keydesk_practice.ledger.records import LedgerAccount
from keydesk_practice.options import Options

TOKEN_FILE = "token"  # noqa: S105 - a file name
TOKEN_BYTES = 32
BACKLOG = 2048
_WILDCARDS = {  # family, a documentation address that is routed like any other, loopback
    "0.0.0.0": (socket.AF_INET, "192.0.2.1", "127.0.0.1"),  # noqa: S104 - recognized, not bound
    "::": (socket.AF_INET6, "2001:db8::1", "::1"),
}
ACCEPTED_AT_ONCE = 64  # connections, before the open ones get their turn
SHUTDOWN_SECONDS = 1


class Listener(Struct, frozen=True):
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
    address = reachable_address(host)
    name = f"[{address}]" if ":" in address else address
    return Listener(listening, f"http://{name}:{listening.getsockname()[1]}")


def reachable_address(host: str) -> str:
    """Return the address under which clients reach a listener: of `0.0.0.0` and `::` this machine's own address.

    It is that of the interface with the default route; connecting a datagram socket looks the route up and sends nothing.
    """
    if host not in _WILDCARDS:
        return host
    family, elsewhere, loopback = _WILDCARDS[host]
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return loopback


def listen_on_path(path: Path) -> Listener:
    """Listen on a unix socket, mode 0600; create its folder with mode 0700; raise `CannotListen` when it is not available."""
    path = path.absolute()
    make_folders(path.parent)
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


class Server(uvicorn.Server):
    """A uvicorn server for one listener: no access log, no own signal handlers."""

    def __init__(
        self,
        application: Application,
        listener: Listener,
        when_listening: Callable[[], None] = lambda: None,
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

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish the requests in progress; close the connections that are left after `SHUTDOWN_SECONDS`.

        uvicorn leaves open what it accepted last, and what does not end in time.
        """
        loop = asyncio.get_running_loop()
        for listening in (one for server in self.servers for one in server.sockets):
            loop.remove_reader(listening)
        # A connection that was accepted just now is attached to its asyncio server in the next iteration. With a closed
        # server that fails, and the connection stays open until it is garbage-collected (CPython 3.11).
        await asyncio.sleep(0)
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # the transports close in the loop's next iteration

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signal handling to `run_broker`."""
        yield


async def run_broker(options: Options) -> int:
    """Serve until a signal, the end of the parent process, or a ledger that cannot be written; return the exit code."""
    tokens = options.tokens or (load_token(options.data),)
    broker = open_broker(options, owners=len(tokens))
    try:
        listener = listen(options)
        write_address(options.data, listener.url)
        try:
            await _serve(broker, listener, tokens, options)
        finally:
            forget_address(options.data)
            listener.remove()
    finally:
        broker.close()
    return 1 if broker.failed else 0


def listen(options: Options) -> Listener:
    """Listen on the socket or the port of the options."""
    if options.uds is not None:
        return listen_on_path(options.uds)
    return listen_on_port(options.host, options.port)


async def _serve(
    broker: Broker, listener: Listener, tokens: tuple[str, ...], options: Options
) -> None:
    line = address_line(listener.url, tokens, broker.accounts_of, broker.earlier_model)

    def stop() -> None:
        broker.end_streams()
        server.stop()

    public = public_application(broker, FolderLedgerStore(options.data), tokens, options, stop)
    exclude_long_lived()
    server = server_of(public, listener, line)
    broker.commits.on_failure = stop
    stop_when_asked(stop, options)
    ticking = asyncio.create_task(broker.run(), name="market")
    ticking.add_done_callback(lambda _: stop())  # do not serve a market that stands still
    try:
        await server.serve_listener()
    finally:
        if not ticking.cancel():
            ticking.result()


def server_of(application: Application, listener: Listener, line: str) -> Server:
    """Return the server of an application, which prints a line when it listens."""
    limits = ConnectionLimits(max_connections=raise_descriptor_limit())
    return Server(application, listener, lambda: print(line, flush=True), limits)  # noqa: T201


def public_application(
    broker: Broker,
    store: LedgerStore,
    tokens: tuple[str, ...],
    options: Options,
    stop: Callable[[], None],
) -> PublicPaths:
    """Return the application of a broker, with the control interface; `stop` ends the process."""
    application = make_application(
        broker, tokens, options.rate_limit, trusts_proxy=options.trust_proxy
    )
    for fact, digest in broker.ledger.facts(TOKEN_FACT).items():
        application.authenticator.add(bytes.fromhex(digest), int(fact.removeprefix(TOKEN_FACT)))
    application.restart_request_ids(broker.now())
    control = Control(broker, options, application, store, stop)
    if options.faults is not None:
        use_faults(control, read_profile(options.faults))
    controlled = ControlApplication(
        control,
        load_token(options.data, CONTROL_TOKEN_FILE),
        anywhere=options.control_anywhere,
    )
    return PublicPaths(
        broker,
        application,
        mount=(f"{BASE}/", controlled),
        origins=options.origins,
        logs_requests=options.log_requests,
    )


def address_line(
    url: str,
    tokens: Sequence[str],
    accounts_of: Callable[[int], Sequence[LedgerAccount]],
    earlier_model: int | None = None,
    *,
    is_standby: bool = False,
) -> str:
    """Return the line that is printed at the start; `token` and `accounts` are those of the first token."""
    by_token = [
        {"token": token, "accounts": _accounts(accounts_of(owner))}
        for owner, token in enumerate(tokens)
    ]
    members: dict[str, object] = {
        "rest_url": url,
        "stream_url": url,
        **by_token[0],
        "tokens": by_token,
        "control_url": f"{url}{BASE}",
    }
    if earlier_model is not None:
        members["earlier_market_model"] = earlier_model
    if is_standby:
        members["standby"] = True
    return json.dumps(members)


def _accounts(accounts: Sequence[LedgerAccount]) -> list[dict[str, object]]:
    return [
        {"id": account.id, "currency": account.currency, "hedging": account.hedging}
        for account in accounts
    ]


def stop_when_asked(stop: Callable[[], None], options: Options) -> None:
    """Stop when the process is asked to end, by a signal or by the end of its parent."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    if options.parent_fd is not None:
        _stop_with_parent(options.parent_fd, stop)


def _stop_with_parent(descriptor: int, stop: Callable[[], None]) -> None:
    """Stop when the parent's end of the pipe closes, however the parent ended."""
    os.set_blocking(descriptor, False)
    loop = asyncio.get_running_loop()

    def readable() -> None:
        if not os.read(descriptor, 1):
            loop.remove_reader(descriptor)
            stop()

    loop.add_reader(descriptor, readable)


def load_token(folder: Path, name: str = TOKEN_FILE) -> str:
    """Return the token in a file of the data folder; create a random one, mode 0600, on first use."""
    path = folder / name
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
