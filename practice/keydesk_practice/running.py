"""One run of the broker: open the ledger, listen, say where, and leave cleanly when told to."""

import asyncio
import json
import os
import signal
from collections.abc import Callable

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.opening import open_broker
from keydesk_practice.connections import ConnectionLimits, raise_descriptor_limit
from keydesk_practice.http.application import make_application
from keydesk_practice.listening import Listener, listen_on_path, listen_on_port
from keydesk_practice.options import Options
from keydesk_practice.server import Server
from keydesk_practice.tokens import own_token


async def run_broker(options: Options) -> int:
    """Serve until a signal, the end of the parent, or a ledger that cannot be written; returns the exit code."""
    tokens = options.tokens or (own_token(options.data),)
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

    broker.commits.when_failed = stop
    _stop_on_signals(stop)
    if options.parent_fd is not None:
        _stop_with_parent(options.parent_fd, stop)
    ticking = asyncio.create_task(broker.run(), name="market")
    ticking.add_done_callback(lambda _: stop())  # a market that stands still serves nobody
    try:
        await server.run_here()
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
