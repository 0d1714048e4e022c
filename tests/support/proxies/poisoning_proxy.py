"""A proxy before a broker that puts hostile text into the members of its answers and of its streams' lines.

    with poisoning_proxy(practice, Poison(seed=1)) as proxy:
        proxy.poison.active = True
        ... a program reaches the broker by proxy.url ...

What names a thing (instrument, trade, order) gets the same hostile name everywhere, and requests are put back into the
broker's own names, so that the broker goes on to work behind it. Numbers and times stay unless `numbers` is set: a test of
text is no test of records that cannot be read.
"""

import asyncio
import json
import random
import re
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote, unquote_plus

import httpx

from support.broker import NO_TLS, PracticeServer
from support.data.hostile_text import FRAGMENTS, hostile_text
from support.proxies.proxy_door import proxy_door

NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
ACCOUNT: Final = re.compile(r"[0-9]+(-[0-9]+){3}")
TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T.*")
TYPES: Final = frozenset({"type", "state"})
NAMES: Final = frozenset({"instrument", "name"})
IDS: Final = frozenset({"tradeID", "orderID", "clientOrderID", "clientTradeID"})
HOPS: Final = frozenset({"host", "connection", "content-length", "transfer-encoding"})
SKIPPED: Final = frozenset(
    {"content-length", "transfer-encoding", "content-encoding", "connection"}
)
UNREADABLE_NUMBERS: Final = ("NaN", "Infinity", "-Infinity", "1e999999999", "", "1.2.3", "x")
START_SECONDS: Final = 10.0
REFUSAL: Final = 400


@dataclass
class Poison:
    """What becomes hostile, how often, and what was said so far."""

    seed: int = 0
    active: bool = False
    often: float = 0.6  # of texts that name nothing
    types: float = 0.0  # of the words that say what kind of record it is
    type_members: frozenset[str] = TYPES
    names: float = 0.0  # of instruments, currencies
    ids: bool = False  # of trades and orders
    accounts: bool = False  # ids of accounts
    numbers: float = 0.0  # of numbers that name nothing: not readable any more
    refuses: float = 0.0  # of requests that would change something
    spares: str = "\0"  # texts that begin so stay: the ids that the desk gave its orders
    said: "Counter[str]" = field(default_factory=Counter)
    given: dict[str, str] = field(default_factory=dict)  # broker's own name -> hostile name

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self._first = list(FRAGMENTS)
        self.rng.shuffle(self._first)

    @property
    def count(self) -> int:
        """How many hostile values were said."""
        return self.said.total()

    def answer(self, value: object, member: str = "") -> object:
        """Return a JSON value, its texts hostile."""
        match value:
            case dict():
                return {key: self.answer(each, key) for key, each in value.items()}
            case list():
                return [self.answer(each, member) for each in value]
            case str():
                return self._text(value, member)
            case _:
                return value

    def request(self, text: str) -> str:
        """Return a request's text with the broker's own names."""
        for own, hostile in list(self.given.items()):
            text = text.replace(hostile, own)
        return text

    def _text(self, text: str, member: str) -> str:
        if text in self.given:
            hostile = self.given[text]
            return self._note(member, hostile) if hostile != text else text
        is_kept = TIME.fullmatch(text) or member in {"lastTransactionID", "pages"}
        is_kept = is_kept or text.startswith(self.spares)
        if is_kept or (ACCOUNT.fullmatch(text) and not self.accounts):
            return text
        if member in NAMES or "urrency" in member:
            return self._named(text, member, self.names)
        if NUMBER.fullmatch(text):
            return self._number(text, member)
        share = self.types if member in self.type_members else self.often
        return self._note(member, self._hostile()) if self.rng.random() < share else text

    def _number(self, text: str, member: str) -> str:
        if self.ids and member in IDS:
            return self._named(text, member, 1.0)
        names_something = member.lower().endswith(("id", "ids"))
        if names_something or self.rng.random() >= self.numbers:
            return text
        return self._note(member, self.rng.choice(UNREADABLE_NUMBERS))

    def _named(self, text: str, member: str, share: float) -> str:
        if self.rng.random() >= share:
            self.given[text] = text  # decided once
            return text
        self.given[text] = f"{text}{self._hostile()[:200]}"
        return self._note(member, self.given[text])

    def _hostile(self) -> str:
        return self._first.pop() if self._first else hostile_text(self.rng)

    def _note(self, member: str, text: str) -> str:
        self.said[member] += 1
        return text


@dataclass
class PoisoningProxy:
    """The proxy, once it listens."""

    broker: PracticeServer
    poison: Poison
    url: str = ""
    faults: list[str] = field(default_factory=list)
    _refused: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with suppress(OSError, asyncio.IncompleteReadError, httpx.HTTPError):
            await self._serve(reader, writer)
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                first, *lines = head.strip().split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, target, _ = first.split(" ", 2)
                await self._pass_on(method, target, headers, body, writer)
        except asyncio.CancelledError:
            writer.transport.abort()  # what is unsent would keep it open beyond its loop

    async def _pass_on(
        self,
        method: str,
        target: str,
        headers: dict[str, str],
        body: bytes,
        writer: asyncio.StreamWriter,
    ) -> None:
        poison = self.poison
        path, _, query = target.partition("?")
        own = quote(poison.request(unquote(path)), safe="/%")
        asked = quote(poison.request(unquote_plus(query)), safe="=&,:")
        if poison.active and method != "GET" and poison.rng.random() < poison.refuses:
            await self._refuse(writer)
            return
        async with (
            self._client() as client,
            client.stream(
                method,
                f"{own}?{asked}" if asked else own,
                headers={key: value for key, value in headers.items() if key not in HOPS},
                content=poison.request(body.decode()).encode(),
            ) as answer,
        ):
            kept = [f"{k}: {v}" for k, v in answer.headers.items() if k not in SKIPPED]
            start = f"HTTP/1.1 {answer.status_code} {answer.reason_phrase}"
            if path.endswith("/stream"):
                writer.write(_head(start, kept, "Transfer-Encoding: chunked"))
                async for line in self._lines(answer):
                    writer.write(b"%x\r\n%b\r\n" % (len(line), line))
                    await writer.drain()
                writer.write(b"0\r\n\r\n")
            else:
                content = self._poisoned(await answer.aread())
                writer.write(_head(start, kept, f"Content-Length: {len(content)}") + content)
            await writer.drain()

    async def _refuse(self, writer: asyncio.StreamWriter) -> None:
        """Refuse a request in hostile words."""
        refusal = {"errorMessage": "no", "errorCode": "CODE", "rejectReason": "WHY"}
        content = self._poisoned(json.dumps(refusal).encode())
        start = f"HTTP/1.1 {REFUSAL} Bad Request"
        self._refused += 1
        kept = ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        kept.append(f"RequestID: {9_000_000 + self._refused}")
        writer.write(_head(start, kept) + content)
        await writer.drain()

    def _client(self) -> httpx.AsyncClient:
        path = self.broker.rest_url.removeprefix("http+unix://")
        transport = httpx.AsyncHTTPTransport(verify=NO_TLS, uds=path)
        endless = httpx.Timeout(None)  # a stream may be silent
        return httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=endless)

    async def _lines(self, answer: httpx.Response) -> AsyncIterator[bytes]:
        async for line in answer.aiter_lines():
            yield self._poisoned(line.encode()) + b"\n"

    def _poisoned(self, content: bytes) -> bytes:
        if not self.poison.active or not content.strip():
            return content
        try:
            whole = self.poison.answer(json.loads(content))
            try:
                return json.dumps(whole, ensure_ascii=self.poison.rng.random() < 0.5).encode()
            except UnicodeEncodeError:  # half a surrogate can only be sent escaped
                return json.dumps(whole).encode()
        except Exception as error:  # a fault here must not pass for one of the program's
            self.faults.append(repr(error))
            raise


def _head(start: str, *more: "str | list[str]") -> bytes:
    lines = [start]
    for each in more:
        lines += [each] if isinstance(each, str) else each
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


@contextmanager
def poisoning_proxy(broker: PracticeServer, poison: Poison) -> Iterator[PoisoningProxy]:
    """A proxy for the length of the block, in a thread of its own: who drives a terminal waits in calls that block."""
    proxy = PoisoningProxy(broker, poison)
    loop = asyncio.new_event_loop()
    listening = threading.Event()

    over = asyncio.Event()

    async def run() -> None:
        async with proxy_door(proxy.serve) as proxy.url:
            listening.set()
            await over.wait()
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    assert listening.wait(START_SECONDS)
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(START_SECONDS)
        loop.close()
