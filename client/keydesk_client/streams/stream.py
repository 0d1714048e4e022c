"""What both streams are: an `async with` block around an iterator, with one task that reads ahead."""

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Generic, Self, TypeVar

from keydesk_client.errors import StreamNotOpen
from keydesk_client.streams.buffer import Buffer
from keydesk_client.streams.connection import Connection
from keydesk_client.streams.health import Lost, StreamHealth

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
