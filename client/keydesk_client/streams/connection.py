"""What both streams are: an `async with` block around an iterator, with one task that reads ahead.

Bytes into lines. Only a newline ends a line: a comment in a transaction may hold Unicode's other separators.
Pauses before a stream reconnects: exponential backoff with full jitter.
A stream's connection that comes back: opened at a pace, watched for silence, reopened after a pause.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, Generic, Protocol, Self, TypeAlias, TypeVar

from keydesk_client.errors import (
    Answered,
    AnswerTooLarge,
    ConnectionLost,
    KeydeskClientError,
    RateLimited,
    Refused,
    ServerFailed,
    StreamNotOpen,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.pacing import ConnectPace, Timing, Turn
from keydesk_client.models._core.json import TRANSACTION_LINE
from keydesk_client.streams.buffer import Buffer, Lost, StreamHealth, StreamSettings

LONGEST_LINE: Final = TRANSACTION_LINE.size


class LineSplitter:
    """Takes bytes as they come, gives the lines that are complete."""

    __slots__ = ("_held", "_held_bytes", "_longest")

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._held: list[bytes] = []
        self._held_bytes = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """Complete lines without their ends, blank ones left out; AnswerTooLarge when one grows out of bounds."""
        if b"\n" not in piece:
            self._hold(piece)
            return []
        if self._held:
            piece = b"".join((*self._held, piece))
            self._held, self._held_bytes = [], 0
        *lines, rest = piece.split(b"\n")
        if rest:
            self._hold(rest)
        if len(piece) > self._longest:
            self._refuse_long(max(map(len, lines)))
        return [line for line in lines if line and not line.isspace()]

    def _hold(self, piece: bytes) -> None:
        self._held.append(piece)
        self._held_bytes += len(piece)
        self._refuse_long(self._held_bytes)

    def _refuse_long(self, length: int) -> None:
        if length > self._longest:
            raise AnswerTooLarge(f"a line of the stream is longer than {self._longest} bytes")


MOST_DOUBLINGS: Final = 16
LONGEST_RETRY_AFTER_S: Final = 300.0


class BackOff:
    """Pauses before reconnecting: full jitter under a ceiling that doubles, short again after a healthy time."""

    def __init__(self, settings: StreamSettings, timing: Timing) -> None:
        self._settings, self._timing = settings, timing
        self._failures = 0

    def pause(self, lasted_s: float, asked_s: float | None = None) -> float:
        """Seconds to wait after a connection that lasted so long; a Retry-After is heeded, within bounds."""
        if lasted_s >= self._settings.healthy_s:
            self._failures = 0
        doubled = self._settings.first_pause_s * 2.0 ** min(self._failures, MOST_DOUBLINGS)
        ceiling = min(self._settings.longest_pause_s, doubled)
        self._failures += 1
        heeded = min(asked_s or 0.0, LONGEST_RETRY_AFTER_S)
        return max(heeded, ceiling * self._timing.chance())


Opening: TypeAlias = Callable[[], AbstractAsyncContextManager[AsyncIterator[bytes]]]
"""Opens the stream once; leaving it closes it."""


class Listener(Protocol):
    """Who takes what a connection brings."""

    async def prepare(self) -> None:
        """Called before each connection: what must be known before it is made."""

    async def connected(self, lost: Lost | None) -> None:
        """A connection was made; `lost` tells of the one before it."""

    async def take(self, lines: list[bytes]) -> None:
        """Lines as they came; KeydeskClientError when they show that the connection is no good."""


class Connection:
    """Keeps a stream open for ever; `run` returns only by an error that reconnecting can not mend."""

    def __init__(
        self, opening: Opening, pace: ConnectPace, settings: StreamSettings, timing: Timing
    ) -> None:
        self.health: StreamHealth = StreamHealth()
        self._opening, self._pace = opening, pace
        self._settings, self._timing = settings, timing
        self._back_off = BackOff(settings, timing)
        self._listening_since: float | None = None

    async def run(self, listener: Listener) -> None:
        """Connect, hand lines to the listener, and connect again."""
        health = self.health
        while True:
            trouble, lasted = await self._attempt(listener)
            health.connected, health.trouble = False, trouble
            if not _passes(trouble):
                raise trouble
            asked = trouble.retry_after if isinstance(trouble, Answered) else None
            await self._timing.sleep(self._back_off.pause(lasted, asked))

    async def _attempt(self, listener: Listener) -> tuple[KeydeskClientError, float]:
        """Prepare, connect, and read; returns why it ended, and how long the connection lasted."""
        try:
            await listener.prepare()
        except KeydeskClientError as error:
            return error, 0.0
        turn = await self._pace.turn()
        self.health.attempts += 1
        began = self._timing.clock()
        trouble = await self._once(listener, turn)
        return trouble, self._timing.clock() - began

    async def _once(self, listener: Listener, turn: Turn) -> KeydeskClientError:
        """One connection, from opening to its end; returns why it ended."""
        try:
            async with self._opening() as pieces:
                turn.over()
                await self._opened(listener)
                await self._watched(self._read(pieces, listener))
        except KeydeskClientError as error:
            turn.over()
            return error
        return ConnectionLost("the service closed the stream")

    async def _opened(self, listener: Listener) -> None:
        health = self.health
        health.connected = True
        health.connects += 1
        heard, health.heard_at = health.heard_at, self._timing.clock()
        if heard is None or health.trouble is None:
            await listener.connected(None)
        else:
            await listener.connected(Lost(health.trouble, health.heard_at - heard))

    async def _read(self, pieces: AsyncIterator[bytes], listener: Listener) -> None:
        health, clock, feed = self.health, self._timing.clock, LineSplitter().feed
        self._listening_since = clock()
        async for piece in pieces:
            lines = feed(piece)
            if not lines:
                continue  # half a line is no sign of life
            health.lines += len(lines)
            health.heard_at = clock()
            self._listening_since = None
            await listener.take(lines)
            self._listening_since = clock()

    async def _watched(self, reading: Awaitable[None]) -> None:
        """Read until the end, or until nothing came for too long."""
        reader = asyncio.ensure_future(reading)
        watch = asyncio.ensure_future(self._silence())
        try:
            await asyncio.wait({reader, watch}, return_when=asyncio.FIRST_COMPLETED)
            if reader.done():
                return reader.result()
        finally:
            reader.cancel()
            watch.cancel()
            await asyncio.gather(reader, watch, return_exceptions=True)
        raise TimedOut(
            f"no line, not even a heartbeat, for {self._settings.stall_s:g} s", phase="silence"
        )

    async def _silence(self) -> None:
        """Returns once nothing was heard for the stall time; a busy listener is not the service's silence."""
        stall = self._settings.stall_s
        while True:
            since = self._listening_since
            silent = 0.0 if since is None else self._timing.clock() - since
            if silent >= stall:
                return
            await self._timing.sleep(stall - silent)


PASSING = (Unreachable, ConnectionLost, TimedOut, UnreadableAnswer, RateLimited, ServerFailed)


def _passes(trouble: KeydeskClientError) -> bool:
    """Whether another connection may fare better: a refusal stays one, unless something in between spoke it."""
    if isinstance(trouble, Refused) and not trouble.explained:
        return True
    return isinstance(trouble, PASSING)


T = TypeVar("T")
W = TypeVar("W")


class Stream(ABC, Generic[T, W]):
    """Items as they come; leaving the block closes the connection and ends the iteration."""

    def __init__(self, connection: Connection, buffer: Buffer[W], *, area: str, name: str) -> None:
        self._connection, self._buffer = connection, buffer
        self._area, self._name = area, name
        self._task: asyncio.Task[None] | None = None
        self._left = False

    @property
    def health(self) -> StreamHealth:
        """How the stream is doing."""
        return self._connection.health

    async def _entered(self, reading: asyncio.Task[None]) -> None:
        """Wait until the stream may count as entered, or can not go on."""

    async def prepare(self) -> None:
        """Called before each connection."""

    @abstractmethod
    async def connected(self, lost: Lost | None) -> None:
        """A connection was made; `lost` tells of the one before it."""

    @abstractmethod
    async def take(self, lines: list[bytes]) -> None:
        """Read lines into the buffer."""

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise StreamNotOpen(f"a stream is entered once: make another, {self._how_to}")
        self._task = asyncio.create_task(self._read(), name=f"keydesk-client: {self._name}")
        try:
            await self._entered(self._task)
        except asyncio.CancelledError:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.health.connected = False
        self._left = True
        self._buffer.end(StopAsyncIteration())

    def __aiter__(self) -> Self:
        if self._left:
            raise StreamNotOpen(f"the stream was left: make another, {self._how_to}")
        self._refuse_unentered()
        return self

    @abstractmethod
    async def __anext__(self) -> T:
        """The next item, made of what waits."""

    @property
    def _how_to(self) -> str:
        return (
            f"`async with client.{self._area}.stream(...) as {self._name}:`"
            " (`with`, if the client is a sync.Client)"
        )

    def _refuse_unentered(self) -> None:
        """Nothing would ever come."""
        if self._task is None:
            raise StreamNotOpen(f"enter the stream first: {self._how_to}")

    async def _read(self) -> None:
        try:
            await self._connection.run(self)
        except Exception as error:  # noqa: BLE001 - the edge of a task: it is raised where somebody iterates
            self._buffer.end(error)
