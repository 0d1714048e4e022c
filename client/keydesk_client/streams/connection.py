"""A stream's connection that comes back: opened at a pace, watched for silence, reopened after a pause."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeAlias

from keydesk_client.errors import (
    Answered,
    ConnectionLost,
    KeydeskClientError,
    RateLimited,
    Refused,
    ServerFailed,
    TimedOut,
    Unreachable,
    UnreadableAnswer,
)
from keydesk_client.http.pace import ConnectPace, Turn
from keydesk_client.http.timing import Timing
from keydesk_client.streams.backoff import BackOff
from keydesk_client.streams.health import Lost, StreamHealth
from keydesk_client.streams.lines import LineSplitter
from keydesk_client.streams.settings import StreamSettings

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
