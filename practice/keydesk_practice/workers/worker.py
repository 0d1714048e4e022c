"""One worker: a broker with some of the accounts, on connections that the supervisor hands over."""

import asyncio
import contextlib
import json
import logging
import signal
import socket
import sys
from dataclasses import replace
from typing import Any

from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.startup import LocalBroker, open_broker
from keydesk_practice.cluster.forwarding import (
    OF_CONNECTION,
    forwarded_request,
    read_body,
    send_answer,
)
from keydesk_practice.cluster.internal import InternalApplication
from keydesk_practice.cluster.peers import PeerRequest, Peers
from keydesk_practice.connections import ConnectionLimits, raise_descriptor_limit
from keydesk_practice.control.application import answer_operation, is_loopback
from keydesk_practice.control.context import LocalControl
from keydesk_practice.control.operations import BASE
from keydesk_practice.errors import NotExecuted, OutcomeUnknown, PracticeError
from keydesk_practice.garbage_collection import exclude_long_lived, limit_pauses
from keydesk_practice.http.application import make_application, make_router
from keydesk_practice.http.middleware import HEALTH, TOKEN_FACT, PublicPaths
from keydesk_practice.http.responses import json_bytes
from keydesk_practice.ledger.placement import WORKERS_FACT, worker_folder, worker_of
from keydesk_practice.options import Options
from keydesk_practice.server import Listener, Server, listen_on_path
from keydesk_practice.workers.handover import Receiver
from keydesk_practice.workers.operations import WORKER_OPERATIONS
from keydesk_practice.workers.router import WorkerRouter
from keydesk_practice.workers.settings import SUPERVISOR, WorkerSettings, address, socket_path

READY = b"ready\n"
REQUEST_IDS = 10**17  # apart, of two workers
CONTROL_SECONDS = 600.0


def main(descriptor: int) -> int:
    """Serve until the supervisor closes the channel on a descriptor; return the exit code."""
    for number in (signal.SIGINT, signal.SIGHUP):  # the supervisor gets them, too, and decides
        signal.signal(number, signal.SIG_IGN)
    channel = socket.socket(fileno=descriptor)
    with channel.makefile(encoding="utf-8") as file:
        line = file.readline()
    if not line:
        return 0
    settings = WorkerSettings.from_json(line)
    level = logging.INFO if settings.options.log_requests else logging.WARNING
    logging.basicConfig(
        level=level,
        format=f"%(asctime)s %(levelname)s worker {settings.number + 1}: %(message)s",
        stream=sys.stderr,
    )
    limit_pauses()
    try:
        return asyncio.run(_run(channel, settings))
    except PracticeError as error:
        print(f"keydesk practice: worker {settings.number + 1}: {error}", file=sys.stderr)  # noqa: T201
        return 1


async def _run(channel: socket.socket, settings: WorkerSettings) -> int:
    options = replace(
        settings.options, data=worker_folder(settings.options.data, settings.number), paused=True
    )
    broker = open_broker(options, len(options.tokens), settings.belongs_here)
    try:
        broker.ledger.set_fact(WORKERS_FACT, str(settings.workers))
        broker.all_accounts = {}
        inner = listen_on_path(socket_path(settings.sockets, settings.number))
        try:
            await _serve(broker, inner, channel, settings, options)
        finally:
            inner.remove()
            with contextlib.suppress(OSError):  # others are in it
                settings.sockets.rmdir()
    finally:
        broker.close()
    return 1 if broker.failed else 0


async def _serve(
    broker: LocalBroker,
    inner: Listener,
    channel: socket.socket,
    settings: WorkerSettings,
    options: Options,
) -> None:
    peers, secret = Peers(), settings.secret.encode()
    router = WorkerRouter(
        make_router(broker),
        settings.belongs_here,
        lambda account: address(settings.sockets, worker_of(account, settings.workers)),
        peers,
        secret,
    )
    assert broker.all_accounts is not None  # noqa: S101 - set by `_run`
    router.accounts = broker.all_accounts
    application = make_application(
        broker,
        options.tokens,
        options.rate_limit,
        trusts_proxy=options.trust_proxy,
        router=router,
    )
    application.id_offset = settings.number * REQUEST_IDS
    application.restart_request_ids(broker.now())
    for fact, digest in broker.ledger.facts(TOKEN_FACT).items():
        application.authenticator.add(bytes.fromhex(digest), int(fact.removeprefix(TOKEN_FACT)))
    supervisor = _Supervisor(peers, address(settings.sockets, SUPERVISOR))
    public = PublicPaths(
        broker,
        application,
        mount=(f"{BASE}/", supervisor.forward),
        origins=options.origins,
        logs_requests=options.log_requests,
        health=supervisor.health,
    )
    limits = ConnectionLimits(most=raise_descriptor_limit())
    started = asyncio.Event()
    exclude_long_lived()
    server = Server(public, None, started.set, limits)

    def stop() -> None:
        broker.end_streams()
        server.stop()

    control = LocalControl(broker, options, application, stop)
    forwarded = InternalApplication(
        broker.budget,
        router,
        _InnerControl(control),
        secret,
        application.faults,
        trusts_proxy=options.trust_proxy,
    )
    inner_server = Server(forwarded, inner, lambda: None, ConnectionLimits())
    broker.commits.on_failure = stop
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop)
    adopting: set[asyncio.Task[None]] = set()

    def adopt(connection: socket.socket) -> None:
        task = loop.create_task(server.adopt(connection))
        adopting.add(task)
        task.add_done_callback(adopting.discard)

    serving = asyncio.create_task(server.serve_listener(), name="clients")
    serving_inner = asyncio.create_task(inner_server.serve_listener(), name="inner")
    await started.wait()
    receiver = Receiver(channel, adopt, stop)
    ticking = asyncio.create_task(broker.run(), name="market")
    ticking.add_done_callback(lambda _: stop())
    channel.send(READY)
    try:
        await serving
    finally:
        receiver.close()
        if (
            receiver.is_ended
        ):  # the last worker removes the folder, for the supervisor may have been killed
            socket_path(settings.sockets, SUPERVISOR).unlink(missing_ok=True)
        inner_server.stop()
        await serving_inner
        peers.close()
        if not ticking.cancel():
            ticking.result()


class _InnerControl:
    """Control operations that the supervisor asks for."""

    def __init__(self, control: LocalControl) -> None:
        self._control = control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await answer_operation(self._control, WORKER_OPERATIONS, scope, receive)
        text = json_bytes(body)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(text)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": text})


class _Supervisor:
    """A worker's client of the supervisor, for the health of all workers and for control requests."""

    def __init__(self, peers: Peers, address_: str) -> None:
        self._peers = peers
        self._address = address_

    async def health(self) -> tuple[int, dict[str, Any]]:
        """Return status and body of the health of all workers."""
        request = PeerRequest("GET", HEALTH.encode(), (), b"")
        try:
            answer = await self._peers.send(self._address, request, (), CONTROL_SECONDS)
        except (NotExecuted, OutcomeUnknown) as error:
            return 503, {"status": "failed", "reason": str(error)}
        return answer.status, dict(json.loads(answer.body))

    async def forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the supervisor answer a control request."""
        request = forwarded_request(scope, await read_body(receive))
        headers = [(name, value) for name, value in scope["headers"] if name not in OF_CONNECTION]
        client = scope.get("client")
        if client and client[0] and not is_loopback(str(client[0])):
            headers.append((b"x-forwarded-for", str(client[0]).encode()))
        try:
            answer = await self._peers.send(
                self._address, replace(request, headers=headers), (), CONTROL_SECONDS
            )
        except (NotExecuted, OutcomeUnknown):
            await send({"type": "http.response.start", "status": 503, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await send_answer(answer, send)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
