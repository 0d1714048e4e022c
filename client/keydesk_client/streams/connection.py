"""A stream that reconnects: the `async with` block and iterator that users see, over a connection that is kept open.

A task reads ahead of the iteration. The connection is opened at the pace of the client, watched for silence, and
reopened after a pause.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, Generic, Protocol, Self, TypeAlias, TypeVar

from keydesk_client.errors import (
    AnswerTooLarge,
    ConnectionLost,
    HttpStatusError,
    KeydeskClientError,
    RateLimited,
    Refused,
    ServerFailed,
    StreamNotOpen,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.backoff import Backoff
from keydesk_client.http.limits import ConnectRateLimiter, Permit
from keydesk_client.http.log import log_interruption, log_return
from keydesk_client.http.timing import Timing
from keydesk_client.models._core.json import TRANSACTION_LINE
from keydesk_client.streams.buffer import Buffer
from keydesk_client.streams.settings import Interruption, StreamHealth, StreamSettings

MAX_LINE_LENGTH: Final = TRANSACTION_LINE.size
MAX_RETRY_AFTER_S: Final = 300.0
RETRIABLE: Final = (
    Unreachable,
    ConnectionLost,
    TimedOut,
    UnreadableAnswer,
    RateLimited,
    ServerFailed,
)

OpenStream: TypeAlias = Callable[[], AbstractAsyncContextManager[AsyncIterator[bytes]]]
"""Opens the stream once; leaving the block closes it."""

T = TypeVar("T")
W = TypeVar("W")


class LineSplitter:
    """Split bytes into lines.

    Only a newline ends a line: a comment in a transaction may contain the line separators of Unicode.
    """

    __slots__ = ("_held", "_held_bytes", "_longest")

    def __init__(self, longest: int = MAX_LINE_LENGTH) -> None:
        self._longest = longest
        self._held: list[bytes] = []
        self._held_bytes = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that are complete now, without line ends and blank lines.

        Raises:
            AnswerTooLarge: a line has more bytes than the limit.
        """
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
            self._check_length(max(map(len, lines)))
        return [line for line in lines if line and not line.isspace()]

    def _hold(self, piece: bytes) -> None:
        self._held.append(piece)
        self._held_bytes += len(piece)
        self._check_length(self._held_bytes)

    def _check_length(self, length: int) -> None:
        if length > self._longest:
            raise AnswerTooLarge(f"a line of the stream is longer than {self._longest} bytes")


class Listener(Protocol):
    """Takes the lines of a connection."""

    async def prepare(self) -> None:
        """Called before each connection, to read what must be known before it is made."""

    async def connected(self, lost: Interruption | None) -> None:
        """Called when a connection was made; `lost` describes the one before it."""

    async def receive_lines(self, lines: list[bytes]) -> None:
        """Called with lines as they come; a KeydeskClientError ends the connection."""


class Connection:
    """A connection that is reopened after each loss, for as long as its stream is not left."""

    def __init__(
        self,
        open_stream: OpenStream,
        rate_limiter: ConnectRateLimiter,
        settings: StreamSettings,
        timing: Timing,
        name: str,
    ) -> None:
        self.health: StreamHealth = StreamHealth()
        self._name = name
        self._interrupted_at: float | None = None
        self._open_stream, self._rate_limiter = open_stream, rate_limiter
        self._settings, self._timing = settings, timing
        self._backoff = Backoff(settings.first_backoff_s, settings.max_backoff_s)
        self._failures = 0
        self._listening_since: float | None = None
        self._was_woken = False

    async def run(self, listener: Listener) -> None:
        """Connect, hand lines to the listener and connect again; raise an error that reconnecting cannot fix."""
        health = self.health
        while True:
            failure, lasted_s = await self._attempt(listener)
            health.connected, health.last_error = False, failure
            if not is_retriable(failure):
                raise failure
            if self._interrupted_at is None:
                self._interrupted_at = self._timing.clock()
                log_interruption(self._name, failure)
            await self._wait(self._pause_after(failure, lasted_s), failure)

    async def _wait(self, pause_s: float, failure: KeydeskClientError) -> None:
        """Wait before the next attempt; end the wait early when the service answers a request.

        Of two pauses in a row only one is ended by an answer: a service that answers requests and refuses streams is
        asked at most twice as often. A pause that the service asked for is not ended.
        """
        if self._was_woken or (isinstance(failure, HttpStatusError) and failure.retry_after):
            self._was_woken = False
            return await self._timing.sleep(pause_s)
        sleeping = asyncio.ensure_future(self._timing.sleep(pause_s))
        answer = self._rate_limiter.next_answer()
        try:
            await asyncio.wait({sleeping, answer}, return_when=asyncio.FIRST_COMPLETED)
            self._was_woken = not sleeping.done()
        finally:
            answer.cancel()
            sleeping.cancel()
            await asyncio.gather(sleeping, return_exceptions=True)

    def _pause_after(self, error: KeydeskClientError, lasted_s: float) -> float:
        """Return the seconds to wait after a connection that lasted so long: short again after a healthy one."""
        if lasted_s >= self._settings.healthy_s:
            self._failures = 0
        retry_after = error.retry_after if isinstance(error, HttpStatusError) else None
        at_least = min(retry_after or 0.0, MAX_RETRY_AFTER_S)
        pause = self._backoff.pause(self._failures, self._timing.rng, at_least_s=at_least)
        self._failures += 1
        return pause

    async def _attempt(self, listener: Listener) -> tuple[KeydeskClientError, float]:
        """Prepare, connect and read; return why the connection ended, and how many seconds it lasted."""
        try:
            await listener.prepare()
        except KeydeskClientError as error:
            return error, 0.0
        turn = await self._rate_limiter.turn()
        self.health.attempts += 1
        began = self._timing.clock()
        failure = await self._connect_once(listener, turn)
        return failure, self._timing.clock() - began

    async def _connect_once(self, listener: Listener, turn: Permit) -> KeydeskClientError:
        try:
            async with self._open_stream() as pieces:
                turn.over()
                await self._note_connected(listener)
                await self._until_silent(self._read(pieces, listener))
        except KeydeskClientError as error:
            turn.over()
            return error
        return ConnectionLost("the service closed the stream")

    async def _note_connected(self, listener: Listener) -> None:
        health = self.health
        health.connected = True
        health.connects += 1
        heard_at, health.heard_at = health.heard_at, self._timing.clock()
        if self._interrupted_at is not None:
            log_return(self._name, health.heard_at - self._interrupted_at)
            self._interrupted_at = None
        if heard_at is None or health.last_error is None:
            await listener.connected(None)
        else:
            await listener.connected(Interruption(health.last_error, health.heard_at - heard_at))

    async def _read(self, pieces: AsyncIterator[bytes], listener: Listener) -> None:
        health, clock, feed = self.health, self._timing.clock, LineSplitter().feed
        self._listening_since = clock()
        async for piece in pieces:
            lines = feed(piece)
            if not lines:
                continue  # an incomplete line does not show that the stream is alive
            health.lines += len(lines)
            health.heard_at = clock()
            self._listening_since = None
            await listener.receive_lines(lines)
            self._listening_since = clock()

    async def _until_silent(self, reading: Awaitable[None]) -> None:
        """Read until the stream ends; raise TimedOut when no line came for the stall time."""
        reader = asyncio.ensure_future(reading)
        watch = asyncio.ensure_future(self._wait_for_silence())
        try:
            await asyncio.wait({reader, watch}, return_when=asyncio.FIRST_COMPLETED)
            if reader.done():
                return reader.result()
        finally:
            reader.cancel()
            watch.cancel()
            await asyncio.gather(reader, watch, return_exceptions=True)
        raise TimedOut(
            f"no line and no heartbeat for {self._settings.stall_s:g} s", phase="silence"
        )

    async def _wait_for_silence(self) -> None:
        """Return once no line came for the stall time; the time that the listener takes does not count."""
        stall = self._settings.stall_s
        while True:
            since = self._listening_since
            silent = 0.0 if since is None else self._timing.clock() - since
            if silent >= stall:
                return
            await self._timing.sleep(stall - silent)


class Stream(ABC, Generic[T, W]):
    """An asynchronous iterator of items; leaving its `async with` block closes the connection and ends the iteration.

    `T` is what the iterator returns, `W` what waits for it in the buffer.
    """

    def __init__(self, connection: Connection, buffer: Buffer[W], *, area: str, name: str) -> None:
        self._connection, self._buffer = connection, buffer
        self._area, self._name = area, name
        self._task: asyncio.Task[None] | None = None
        self._left = False

    @property
    def health(self) -> StreamHealth:
        """Counts and state of the connection."""
        return self._connection.health

    async def _wait_until_entered(self, reading: asyncio.Task[None]) -> None:
        """Wait until the stream counts as entered, or until the reading task has ended."""

    async def prepare(self) -> None:
        """See `Listener`."""

    @abstractmethod
    async def connected(self, lost: Interruption | None) -> None:
        """See `Listener`."""

    @abstractmethod
    async def receive_lines(self, lines: list[bytes]) -> None:
        """Put the items of lines into the buffer."""

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise StreamNotOpen(f"a stream can be entered once: open another, {self._usage}")
        self._task = asyncio.create_task(self._read(), name=f"keydesk-client: {self._name}")
        try:
            await self._wait_until_entered(self._task)
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
            raise StreamNotOpen(f"the stream was left: open another, {self._usage}")
        self._check_entered()
        return self

    @abstractmethod
    async def __anext__(self) -> T:
        """Return the next item of the buffer."""

    @property
    def _usage(self) -> str:
        return (
            f"`async with client.{self._area}.stream(...) as {self._name}:`"
            " (`with`, if the client is a sync.Client)"
        )

    def _check_entered(self) -> None:
        """Raise StreamNotOpen before the stream is entered: no item would ever come."""
        if self._task is None:
            raise StreamNotOpen(f"enter the stream first: {self._usage}")

    async def _read(self) -> None:
        try:
            await self._connection.run(self)
        except Exception as error:  # noqa: BLE001 - the edge of a task: the iteration raises it
            self._buffer.end(error)


def is_retriable(error: KeydeskClientError) -> bool:
    """Whether another connection may succeed: a refusal is final, unless a proxy sent it, without an explanation."""
    if isinstance(error, Refused) and not error.explained:
        return True
    return isinstance(error, RETRIABLE)
