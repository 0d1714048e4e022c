"""One run of a node of a cluster: its clients' listener, and one for the other nodes."""

import asyncio
from collections.abc import Callable

from starlette.types import Receive, Scope, Send

from keydesk_practice.cluster.control import (
    ACCOUNTS_HERE,
    TIME_HERE,
    ClusterControl,
    load_tokens,
)
from keydesk_practice.cluster.inner import InnerApplication
from keydesk_practice.cluster.listener import Listener as Notifications
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.opening import cluster_secret, open_node
from keydesk_practice.cluster.peers import Peers
from keydesk_practice.cluster.router import ClusterRouter
from keydesk_practice.connections import ConnectionLimits, raise_descriptor_limit
from keydesk_practice.control.application import ControlApplication, answer_operation
from keydesk_practice.control.client import CONTROL_TOKEN_FILE, forget_address, write_address
from keydesk_practice.control.context import Control
from keydesk_practice.control.faults import read_profile, use_faults
from keydesk_practice.errors import LedgerAway
from keydesk_practice.http.application import make_application, make_router
from keydesk_practice.http.public import PublicPaths
from keydesk_practice.http.responses import json_bytes
from keydesk_practice.ledger.postgres_tables import CONTROL_CHANNEL, TRANSACTIONS_CHANNEL
from keydesk_practice.options import Options
from keydesk_practice.pauses import exclude_long_lived
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

REQUEST_IDS = 10_000_000_000_000  # for each run of a node


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
    return 0


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
        PublicPaths(
            broker, application, origins=options.origins, logs_requests=options.log_requests
        ),
        anywhere=options.control_anywhere,
        operations=cluster.operations(),
    )
    forwarded = InnerApplication(
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
    server = Server(controlled, listener, lambda: print(line, flush=True), limits)  # noqa: T201

    def stop() -> None:
        broker.end_streams()
        node.watched.end_all()
        server.stop()

    node.commits.on_failure = stop
    stop_on_signals(stop)
    if options.parent_fd is not None:
        stop_with_parent(options.parent_fd, stop)
    notifications = Notifications(node.ledger.text, _hear(node, peers))
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


def _hear(node: Node, peers: Peers) -> Callable[[str, str], None]:
    """Return what is done on a notification of the database."""
    under_way: set[asyncio.Task[None]] = set()

    async def look(channel: str) -> None:
        try:
            if channel in {"", CONTROL_CHANNEL}:
                await node.follow_control()
            await node.refresh()
            peers.keep_only({one.address for one in node.owners.values() if one is not None})
        except LedgerAway as error:
            node.connection_lost(error)

    def hear(channel: str, payload: str) -> None:
        if node.away:
            return
        if channel == TRANSACTIONS_CHANNEL:
            account, _, newest = payload.partition(" ")
            try:
                node.watched.committed_elsewhere(account, int(newest))
            except LedgerAway as error:
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
