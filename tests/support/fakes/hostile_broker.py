"""A broker on a real socket that says, of one operation, everything that a member must not be; then all is well again.

    broker = HostileBroker()
    broker.hostile["/pricing"].extend(mutations(good_body))     # each is said once, in the place of the good answer
    async with hostile_desk(broker) as link: ...                 # every feed of the desk, its pauses cut short

The variants are made of what `tests/wire/v20.yaml` says that an answer holds: every member of every record in it is left
out, and replaced by each of HOSTILE_VALUES.
"""

import asyncio
import contextlib
import json
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any, NoReturn

import httpx

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.session import run
from keydesk.store.store import Store
from keydesk_client.client import Client
from keydesk_client.http.limits import Limiter
from keydesk_client.http.retry import Retries
from keydesk_client.http.timing import Timing
from keydesk_client.streams.settings import StreamSettings
from support.data.account_history import open_trade, price
from support.data.hostile_answers import whole_request
from support.data.wire_samples import Samples
from support.fakes.scripted_broker import ScriptedBroker
from support.fakes.scripted_stream import transaction_members
from support.fakes.talking_server import talking_server

HOSTILE_VALUES: tuple[Any, ...] = (
    None,
    "NaN",
    float("nan"),
    float("inf"),
    float("-inf"),
    "Infinity",
    "1e999999999",
    "9" * 64,
    "-" + "9" * 60,
    10**40,
    -(10**9),
    10**9,
    1.5,
    "0",
    "-1",
    "",
    "x" * 300,
    "\x1b]0;title\x07",
    "2099-12-31T23:59:59.999999999Z",
    "0001-01-01T00:00:00.000000000Z",
    "2026-02-30T00:00:00.000000000Z",
    True,
    [],
    [[]],
    {},
    {"type": "NEW"},
    "EUR_USD",
    "99999999999999999999",
)
LEFT_OUT = object()
NEXT_ID = "the next id"
"""In a line of the transaction stream: its number in the broker's order."""
TIME = "2026-03-02T10:00:00.000000000Z"
STREAMS = ("/pricing/stream", "/transactions/stream")
CHUNK = "{:x}\r\n"


class OneOfEach(Random):
    """Chance whose lists have one element."""

    def randint(self, a: int, b: int) -> int:
        return 1 if (a, b) == (0, 3) else super().randint(a, b)


def sample(operation: str, seed: int = 1) -> Any:  # noqa: ANN401 - a body of any shape
    """A good answer as the wire description has it, no list of it empty."""
    return Samples(OneOfEach(seed)).answer(operation)


def record(kind: str, seed: int = 1) -> Any:  # noqa: ANN401 - same
    """A record of the wire description."""
    return Samples(OneOfEach(seed)).of(kind)


def mutations(body: Any, every: int = 1, start: int = 0) -> Iterator[bytes]:  # noqa: ANN401 - same
    """The body with one member at a time left out or replaced; of all variants each `every`th."""
    number = start
    for path in paths_of(body):
        for value in (LEFT_OUT, *HOSTILE_VALUES):
            number += 1
            if number % every == 0:
                yield json.dumps(changed_at(body, path, value)).encode()


def broken(body: Any) -> Iterator[bytes]:  # noqa: ANN401 - same
    """Answers that are no such JSON at all."""
    whole = json.dumps(body).encode()
    yield from (
        b"",
        b"null",
        b"[]",
        b"{}",
        b'"text"',
        b"[[" * 500,
        whole[:-9],
        b"<html>",
        b"\xff\xfe",
    )


def paths_of(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - same
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for name, inner in items:
        yield (*above, name)
        yield from paths_of(inner, (*above, name))


def changed_at(body: Any, path: tuple[Any, ...], value: Any) -> Any:  # noqa: ANN401 - same
    copied = json.loads(json.dumps(body))
    place = copied
    for name in path[:-1]:
        place = place[name]
    if value is LEFT_OUT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return copied


def candle(minute: int) -> dict[str, Any]:
    """A candle of five minutes."""
    prices = {"o": "1.08500", "h": "1.08520", "l": "1.08480", "c": "1.08510"}
    at = f"2026-03-02T09:{minute:02}:00.000000000Z"
    return {"time": at, "volume": 7, "complete": True, "mid": prices}


def candles(instrument: str = "EUR_USD", granularity: str = "M5") -> dict[str, Any]:
    """An answer with candles."""
    made = [candle(minute) for minute in range(0, 60, 5)]
    return {"instrument": instrument, "granularity": granularity, "candles": made}


def book(name: str) -> dict[str, Any]:
    """An answer with a book."""
    buckets = [
        {"price": f"1.08{step:03}", "longCountPercent": "0.5", "shortCountPercent": "0.4"}
        for step in range(400, 600, 50)
    ]
    held = {"instrument": "EUR_USD", "time": TIME, "price": "1.08500", "bucketWidth": "0.00050"}
    return {name: held | {"buckets": buckets}}


def prices() -> dict[str, Any]:
    """An answer with prices and conversions."""
    factors = {"accountGain": "0.0065", "accountLoss": "0.0067", "positionValue": "0.0066"}
    quoted = [price("EUR_USD", "1.08490", "1.08500", TIME).to_wire()]
    return {
        "prices": quoted,
        "homeConversions": [{"currency": "JPY"} | factors],
        "time": TIME,
    }


GOOD: dict[str, Any] = {
    "/candles/latest": {"latestCandles": [candles(granularity="D")]},
    "/candles": candles(),
    "/orderBook": book("orderBook"),
    "/positionBook": book("positionBook"),
    "/pricing": prices(),
}
ORDERS = [
    {"id": "5", "type": "STOP_LOSS", "tradeID": "4", "price": "1.08000"},
    {"id": "6", "type": "TRAILING_STOP_LOSS", "tradeID": "4", "distance": "0.0050"},
    {"id": "7", "type": "LIMIT", "instrument": "EUR_USD", "units": "100", "price": "1.07000"},
]
ORDER = {
    "createTime": TIME,
    "state": "PENDING",
    "timeInForce": "GTC",
    "triggerCondition": "DEFAULT",
    "positionFill": "DEFAULT",
}
LAST = 9


def scripted() -> ScriptedBroker:
    """The good answers: one trade with two stops, an order at rest."""
    broker = ScriptedBroker(last_id=LAST, answers=dict(GOOD))
    orders = [each | ORDER for each in ORDERS]
    broker.members = {"trades": [open_trade(4)], "orders": orders}
    now = {"id": "4", "unrealizedPL": "1.0000", "marginUsed": "100.0000"}
    broker.now = {"trades": [now], "orders": [{"id": "6", "trailingStopValue": "1.08100"}]}
    return broker


@dataclass
class HostileBroker:
    """Good answers, with bad ones in their place as long as there are any."""

    good: ScriptedBroker = field(default_factory=scripted)
    hostile: dict[str, deque[bytes]] = field(default_factory=lambda: defaultdict(deque))
    """By the ending of the path: what is said instead, each once; of streams the lines that come first."""

    @property
    def is_hostile(self) -> bool:
        return any(self.hostile.values())

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer on one connection."""
        while True:
            head = await whole_request(reader)
            target = head.split(b" ", 2)[1].decode()
            path = target.partition("?")[0]
            if path.endswith(STREAMS):
                await self._stream(path, writer)
            status, body = self._answer(path, target)
            writer.write(
                b"HTTP/1.1 %d OK\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body
            )
            await writer.drain()

    def _answer(self, path: str, target: str) -> tuple[int, bytes]:
        for ending, waiting in self.hostile.items():
            if path.endswith(ending) and waiting:
                return 200, waiting.popleft()
        query = httpx.URL("http://r.test" + target).params
        if path.endswith("/changes") and int(query["sinceTransactionID"]) > self.good.last_id:
            return 416, b'{"errorMessage":"no such transaction"}'
        if path.endswith("/idrange") and int(query["from"]) > self.good.last_id:
            return 404, b'{"errorMessage":"no such transaction"}'
        if path.endswith("/sinceid"):
            return 200, self._history(int(query["id"]) + 1, self.good.last_id)
        if path.endswith("/idrange"):
            return 200, self._history(int(query["from"]), int(query["to"]))
        response = self.good.answer(httpx.Request("GET", "http://r.test" + target))
        return response.status_code, response.content

    def _history(self, first: int, last: int) -> bytes:
        """Transactions that change nothing, in the place of those that the stream told."""
        ids = range(first, min(last, self.good.last_id) + 1)
        found = [transaction_members(each, "MARGIN_CALL_EXIT") for each in ids]
        told = {"transactions": found, "lastTransactionID": str(self.good.last_id)}
        return json.dumps(told).encode()

    async def _stream(self, path: str, writer: asyncio.StreamWriter) -> NoReturn:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        ending = next(each for each in STREAMS if path.endswith(each))
        while True:
            waiting = self.hostile[ending]
            line = self._numbered(waiting.popleft()) if waiting else self._good_line(ending)
            writer.write(CHUNK.format(len(line) + 1).encode() + line + b"\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.001)

    def _numbered(self, line: bytes) -> bytes:
        if NEXT_ID.encode() in line:
            self.good.last_id += 1
        return line.replace(NEXT_ID.encode(), str(self.good.last_id).encode())

    def _good_line(self, ending: str) -> bytes:
        if ending == "/transactions/stream":
            beat = {"type": "HEARTBEAT", "time": TIME, "lastTransactionID": str(self.good.last_id)}
            return json.dumps(beat).encode()
        return json.dumps(price("EUR_USD", "1.08490", "1.08500", TIME).to_wire()).encode()


HASTE = StreamSettings(stall_s=inf, first_backoff_s=0.01, max_backoff_s=0.02)
"""Streams are opened again at once; a clock that a test puts forward makes none silent."""


@dataclass
class Clock:
    """The machine's clock, which a test puts forward."""

    ahead: float = 0.0

    def now(self) -> float:
        return time.monotonic() + self.ahead


async def _short_pause(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.002))


@asynccontextmanager
async def hostile_desk(broker: HostileBroker, clock: Clock) -> AsyncIterator[AccountFeed]:
    """Every feed of a desk on this broker; a session that ends by itself fails the test."""
    async with (
        talking_server(broker.serve) as url,
        Client(
            token="t",
            rest_url=url,
            stream_url=url,
            account_id="101-001-1-001",
            limiter=Limiter(rate=100_000),
            retries=Retries(max_retries=0),
        ) as client,
    ):
        feed = AccountFeed(
            client=client,
            store=Store(),
            check_every_s=0.002,
            timing=Timing(clock=clock.now, sleep=_short_pause),
        )
        feed.follower.stream_settings = HASTE
        session = asyncio.create_task(run(feed))
        try:
            yield feed
            assert not session.done(), session
        finally:
            session.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await session
