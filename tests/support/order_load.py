"""Orders and listeners for a broker under load, in a process of their own: `python order_load.py`, settings as JSON.

Bare sockets and requests built beforehand: what asks must cost far less than what answers. With a rate, an order's time
runs from the moment when it was due, so that a broker that falls behind cannot hide it.
"""

import asyncio
import itertools
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

ORDER_ID = re.compile(rb'"orderID":"(\d+)"')
FILL = b'"type":"ORDER_FILL"'
Connection = TypeVar("Connection", bound=asyncio.Protocol)
WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Load:
    """What to ask of the broker on a unix socket's path or a TCP port: each desk is a token and an account."""

    socket: str | int
    desks: list[tuple[str, str]]
    orders: int
    connections: int = 16
    rate: float = 0.0  # orders a second; 0: each connection sends as soon as it has its answer
    listeners: int = 0  # dealt to the desks in turn


@dataclass(frozen=True, slots=True)
class Found:
    """What came of it, in seconds; times ascend."""

    passed: float
    answered: list[float]
    heard: list[float]
    processor: float
    silence: float = 0.0  # the longest time in which a listener heard nothing


class Trader(asyncio.Protocol):
    """A keep-alive connection that sends one order at a time."""

    def __init__(self, token: str, account: str) -> None:
        self.account = account
        self._requests = itertools.cycle([_order(token, account, units) for units in (100, -100)])
        self._buffer = b""
        self._answered: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to the broker."""
        assert isinstance(transport, asyncio.WriteTransport)
        self.transport = transport

    async def order(self) -> tuple[str, bytes]:
        """Send an order and return the account and the order's id once it is filled."""
        self._answered = asyncio.get_running_loop().create_future()
        self.transport.write(next(self._requests))
        found = ORDER_ID.search(await self._answered)
        assert found is not None
        return self.account, found[1]

    def data_received(self, data: bytes) -> None:
        """Take a piece of an answer."""
        self._buffer += data
        head, gap, body = self._buffer.partition(b"\r\n\r\n")
        if not gap:
            return
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        if len(body) >= length and self._answered is not None:
            assert b" 201 " in head, self._buffer
            self._buffer = body[length:]
            self._answered.set_result(body)


class Listener(asyncio.Protocol):
    """A transaction stream; every fill is told at once."""

    def __init__(self, account: str, hear: Callable[[tuple[str, bytes]], None]) -> None:
        self.account = account
        self._hear = hear
        self._buffer = b""
        self._since = time.perf_counter()
        self.silence = 0.0
        self.open = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Take a piece of the stream."""
        now = time.perf_counter()
        self.silence, self._since = max(self.silence, now - self._since), now
        if not self.open.done() and b"HEARTBEAT" in data:
            self.open.set_result(None)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            if FILL in line and (found := ORDER_ID.search(line)):
                self._hear((self.account, found[1]))


def _order(token: str, account: str, units: int) -> bytes:
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": str(units)}
    body = json.dumps({"order": order}).encode()
    return (
        f"POST /v3/accounts/{account}/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


async def run(load: Load) -> Found:
    """Listen, send every order, and wait until everybody has heard of them."""
    heard: list[tuple[tuple[str, bytes], float]] = []
    listeners = await _open_listeners(load, lambda key: heard.append((key, time.perf_counter())))
    ears = Counter(one.account for one in listeners)
    traders = [await _open_trader(load, number) for number in range(load.connections)]
    sent: dict[tuple[str, bytes], float] = {}
    answered: list[float] = []
    dues, began = _dues(load), time.perf_counter()

    async def send(trader: Trader) -> None:
        for due in dues:
            await asyncio.sleep(due - time.perf_counter())
            since = due if load.rate else time.perf_counter()
            sent[await trader.order()] = since
            answered.append(time.perf_counter() - since)

    await asyncio.gather(*map(send, traders))
    passed = time.perf_counter() - began
    async with asyncio.timeout(WAIT_SECONDS):
        while len(heard) < sum(ears[account] for account, _ in sent):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    late = sorted(moment - sent[key] for key, moment in heard)
    silence = max((one.silence for one in listeners), default=0.0)
    return Found(passed, sorted(answered), late, time.process_time(), silence)


def _dues(load: Load) -> Iterator[float]:
    """Yield when each order is due; the traders take from it in turn."""
    begin = time.perf_counter()
    for number in range(load.orders):
        yield begin + number / load.rate if load.rate else 0.0


async def _open_trader(load: Load, number: int) -> Trader:
    desk = load.desks[number % len(load.desks)]
    _, trader = await _connected(load, lambda: Trader(*desk))
    return trader


async def _connected(
    load: Load, make: Callable[[], Connection]
) -> tuple[asyncio.WriteTransport, Connection]:
    loop = asyncio.get_running_loop()
    if isinstance(load.socket, int):
        return await loop.create_connection(make, "127.0.0.1", load.socket)
    return await loop.create_unix_connection(make, load.socket)


async def _open_listeners(load: Load, hear: Callable[[tuple[str, bytes]], None]) -> list[Listener]:
    """Open the streams."""
    listeners = []
    for number in range(load.listeners):
        token, account = load.desks[number % len(load.desks)]
        transport, listener = await _connected(load, partial(Listener, account, hear))
        path = f"/v3/accounts/{account}/transactions/stream"
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
        transport.write(head.encode())
        await listener.open
        listeners.append(listener)
    return listeners


async def run_apart(load: Load) -> Found:
    """Run it in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        __file__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate(json.dumps(asdict(load)).encode())
    assert process.returncode == 0
    return Found(**json.loads(said))


def main() -> None:
    """Read the settings, run, and print what was found."""
    settings: dict[str, Any] = json.loads(sys.stdin.read())
    load = Load(**settings)
    json.dump(asdict(asyncio.run(run(load))), sys.stdout)


if __name__ == "__main__":
    main()
