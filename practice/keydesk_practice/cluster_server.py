"""One run of a node of a cluster: opened with its market's seed, pace and accounts, then its clients' listener and one for the other nodes."""

import asyncio
import contextlib
import json
import logging
import secrets
from collections.abc import Callable, Sequence

from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.feeds import PriceBoard
from keydesk_practice.broker.replay import stored_overlay
from keydesk_practice.broker.startup import (
    MODEL,
    change_model,
    default_accounts,
    market_seed,
    new_account_history,
)
from keydesk_practice.cluster.clock import ClusterClock, DatabaseWallClock
from keydesk_practice.cluster.control import (
    ACCOUNTS_HERE,
    TIME_HERE,
    ClusterControl,
    load_tokens,
)
from keydesk_practice.cluster.database import (
    MarketTime,
    counts,
    read_pace,
    wall_offset,
    write_pace,
)
from keydesk_practice.cluster.database_threads import Listener as Notifications
from keydesk_practice.cluster.internal import InternalApplication
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.peers import Peers
from keydesk_practice.cluster.router import ClusterRouter
from keydesk_practice.connections import ConnectionLimits, raise_descriptor_limit
from keydesk_practice.control.application import ControlApplication, answer_operation
from keydesk_practice.control.client import CONTROL_TOKEN_FILE, forget_address, write_address
from keydesk_practice.control.context import Control
from keydesk_practice.control.fault_files import read_profile
from keydesk_practice.control.faults import use_faults
from keydesk_practice.control.operations import BASE
from keydesk_practice.errors import LedgerUnavailable, LedgerUnreachable
from keydesk_practice.garbage_collection import exclude_long_lived
from keydesk_practice.http.application import make_application, make_router
from keydesk_practice.http.middleware import PublicPaths
from keydesk_practice.http.responses import json_bytes
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.postgres_connection import (
    CONTROL_CHANNEL,
    TRANSACTIONS_CHANNEL,
    connect,
    connection_text,
)
from keydesk_practice.market.market import MARKET_MODEL, PracticeMarket
from keydesk_practice.market.replay import ReplayedInstrument, read_candle_file
from keydesk_practice.options import Options
from keydesk_practice.server import (
    Listener,
    Server,
    address_line,
    listen,
    listen_on_port,
    load_token,
    stop_on_signals,
    stop_with_parent,
)

SECRET_FACT = "cluster_secret"  # noqa: S105 - the name of the fact
HOURS = "hours"  # the fact with the hours of the market
CANDLES = "candles"  # the fact with instruments and digests of the replayed candles
_SECRET_BYTES = 32
REQUEST_IDS = 10_000_000_000_000  # for each run of a node
log = logging.getLogger("keydesk.practice.cluster")


def open_node(options: Options, owners: int) -> Node:
    """Open the ledger and the market of a node; it has no accounts until it is started.

    Seed, start, speed and hours are those of the first node that ever opened the ledger.

    Raises:
        LedgerUnavailable: the ledger cannot be opened, or is of another market.
        CandleFileError: a file of `--candles` cannot be read.
    """
    assert options.ledger is not None  # noqa: S101 - else it is no node
    ledger = PostgresLedger.open(connection_text(options.ledger))
    try:
        return _open(options, owners, ledger)
    except BaseException:
        ledger.close()
        raise


def cluster_secret(node: Node) -> bytes:
    """Return the secret by which the nodes authenticate each other."""
    return (node.ledger.fact(SECRET_FACT) or "").encode()


def _open(options: Options, owners: int, ledger: PostgresLedger) -> Node:
    own = tuple(read_candle_file(instrument, file) for instrument, file in options.candles)
    with ledger.setup():
        seed, hours = market_seed(options, ledger), _hours(options, ledger)
        _refuse_two_models(ledger)
        _refuse_other_candles(own, ledger)
        earlier_model = change_model(ledger)
        if ledger.fact(SECRET_FACT) is None:
            ledger.set_fact(SECRET_FACT, secrets.token_hex(_SECRET_BYTES))
    wall, pace = _pace(options, ledger)
    clock = ClusterClock(pace, wall)
    broker = Broker(
        ledger,
        lambda: PracticeMarket(seed, hours, own),
        clock,
        since=clock(),
        price_rate=options.price_rate,
        overlay=stored_overlay(ledger),
    )
    broker.earlier_model = earlier_model
    with ledger.setup():
        known = {account.id for account in ledger.accounts()}
        board = PriceBoard(broker.market_at, clock())
        for owner in range(owners):
            for account in default_accounts(owner, options.fifo):
                if account.id not in known:
                    ledger.create_account(account, new_account_history(board, account)[1])
    return Node(broker, ledger, clock, wall)


def _hours(options: Options, ledger: PostgresLedger) -> str:
    """Return the hours of the ledger's market: nodes with other ones would show other prices at weekends."""
    stored = ledger.fact(HOURS)
    if stored is None:
        ledger.set_fact(HOURS, options.hours)
        return options.hours
    if stored != options.hours:
        log.warning("this ledger's market has the hours %r: they are kept", stored)
    return stored


def _refuse_two_models(ledger: PostgresLedger) -> None:
    """Raise `LedgerUnavailable` while nodes run whose version has another market model, and so shows other prices."""
    stored = ledger.fact(MODEL)
    if stored in {None, str(MARKET_MODEL)}:
        return
    if _has_nodes(ledger):
        raise LedgerUnavailable(
            f"nodes of another version run on this ledger, with market model {stored}; this one has model {MARKET_MODEL}: "
            "stop all of them, then start every node with the same version"
        )


def _refuse_other_candles(own: Sequence[ReplayedInstrument], ledger: PostgresLedger) -> None:
    """Raise `LedgerUnavailable` while nodes run that replay other candles, and so show other prices."""
    mine = {one.listing.name: one.digest for one in own}
    theirs: dict[str, str] = json.loads(ledger.fact(CANDLES) or "{}")
    if mine == theirs:
        return
    if _has_nodes(ledger):
        names = sorted(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
        raise LedgerUnavailable(
            f"the nodes that run on this ledger have other candles of {', '.join(names)}: start this one with the same "
            "files of --candles, or stop all of them"
        )
    ledger.set_fact(CANDLES, json.dumps(mine))


def _has_nodes(ledger: PostgresLedger) -> bool:
    with contextlib.closing(connect(ledger.text)) as connection:
        live, _ = counts(connection)
    return live > 0


def _pace(options: Options, ledger: PostgresLedger) -> tuple[DatabaseWallClock, MarketTime]:
    """Return the clock of the database, and the pace of the market, which the first node sets."""
    connection = connect(ledger.text)
    try:
        wall = DatabaseWallClock(*wall_offset(connection))
        with ledger.setup():
            pace = read_pace(connection)
            if pace is None:
                start = wall() if options.start is None else options.start
                stops = start if options.paused else None
                pace = MarketTime(start, wall(), options.speed, stops, 1)
                write_pace(connection, pace)
    finally:
        connection.close()
    return wall, pace


async def run_node(options: Options) -> int:
    """Serve until a signal or the end of the parent process; return the exit code."""
    node = open_node(options, owners=len(options.tokens))
    try:
        listener = listen(options)
        inner = listen_on_port(options.node_host, options.node_port)
        write_address(options.data, listener.url)
        try:
            await _serve(node, listener, inner, options)
        finally:
            forget_address(options.data)
            listener.remove()
    finally:
        node.broker.close()
    return 1 if node.failed else 0


async def _serve(node: Node, listener: Listener, inner: Listener, options: Options) -> None:
    broker, secret = node.broker, cluster_secret(node)
    peers = Peers()
    router = ClusterRouter(node, peers, make_router(broker), secret)
    application = make_application(
        broker,
        options.tokens,
        options.rate_limit,
        trusts_proxy=options.trust_proxy,
        router=router,
    )
    limits = ConnectionLimits(most=raise_descriptor_limit())
    control = Control(broker, options, application)
    cluster = ClusterControl(node, peers, secret)
    if options.faults is not None:
        use_faults(control, read_profile(options.faults))
    load_tokens(node, control)
    node.on_control = lambda: load_tokens(node, control)
    controlled = ControlApplication(
        control,
        load_token(options.data, CONTROL_TOKEN_FILE),
        anywhere=options.control_anywhere,
        operations=cluster.operations(),
    )
    public = PublicPaths(
        broker,
        application,
        mount=(f"{BASE}/", controlled),
        origins=options.origins,
        logs_requests=options.log_requests,
    )
    forwarded = InternalApplication(
        broker.budget,
        router,
        _InnerControl(control, cluster),
        secret,
        application.faults,
        trusts_proxy=options.trust_proxy,
    )
    inner_server = Server(forwarded, inner, lambda: None)
    inner_serving = asyncio.create_task(inner_server.serve_listener(), name="inner")
    await node.start(options.node_url or inner.url)
    application.count_request_ids(node.number * REQUEST_IDS)
    line = address_line(listener.url, options.tokens, broker.accounts_of, broker.earlier_model)
    exclude_long_lived()
    server = Server(public, listener, lambda: print(line, flush=True), limits)  # noqa: T201

    def stop() -> None:
        broker.end_streams()
        node.watched.end_all()
        server.stop()

    node.commits.on_failure = stop
    stop_on_signals(stop)
    if options.parent_fd is not None:
        stop_with_parent(options.parent_fd, stop)
    notifications = Notifications(node.ledger.text, _notification_handler(node, peers))
    notifications.start()
    ticking = asyncio.create_task(broker.run(), name="market")
    ticking.add_done_callback(lambda _: stop())
    try:
        await server.serve_listener()
    finally:
        await notifications.stop()
        await node.stop()
        inner_server.stop()
        await inner_serving
        peers.close()
        if not ticking.cancel():
            ticking.result()


def _notification_handler(node: Node, peers: Peers) -> Callable[[str, str], None]:
    """Return what is done on a notification of the database."""
    under_way: set[asyncio.Task[None]] = set()

    async def look(channel: str) -> None:
        try:
            if channel in {"", CONTROL_CHANNEL}:
                await node.follow_control()
            await node.refresh()
            peers.keep_only({one.address for one in node.owners.values() if one is not None})
        except LedgerUnreachable as error:
            node.connection_lost(error)

    def hear(channel: str, payload: str) -> None:
        if node.away:
            return
        if channel == TRANSACTIONS_CHANNEL:
            account, _, newest = payload.partition(" ")
            try:
                node.watched.committed_elsewhere(account, int(newest))
            except LedgerUnreachable as error:
                node.connection_lost(error)
            return
        task = asyncio.get_running_loop().create_task(look(channel))
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    return hear


class _InnerControl:
    """Control operations that other nodes forward for accounts of this one."""

    def __init__(self, control: Control, cluster: ClusterControl) -> None:
        self._control = control
        self._cluster = cluster
        self._operations = cluster.inner_operations()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == ACCOUNTS_HERE:
            body: object = {"accounts": self._cluster.accounts_here(self._control)}
        elif scope["path"] == TIME_HERE:
            body = await self._cluster.time_here()
        else:
            body = await answer_operation(self._control, self._operations, scope, receive)
        text = json_bytes(body)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(text)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": text})
