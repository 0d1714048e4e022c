"""Asynchronous methods that wait for their result: what `sync` is made of.

Each class here is a descriptor that takes a method with its parameters and gives one with the same parameters, so that
type checkers and editors see every name and type without anything being written again.
"""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from functools import update_wrapper
from types import MethodType, TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast

from keydesk_client.errors import ClientClosed, InvalidRequest
from keydesk_client.streams.buffer import StreamHealth

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")
Item_co = TypeVar("Item_co", covariant=True)


class Stream(Protocol[Item_co]):
    """An asynchronous stream."""

    @property
    def health(self) -> StreamHealth: ...
    async def __aenter__(self) -> object: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def __aiter__(self) -> AsyncIterator[Item_co]: ...
    async def __anext__(self) -> Item_co: ...


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="keydesk-client", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[object, object, R]) -> R:
        """The result of the work; an interrupt ends the work, too."""
        self._refuse_to_hang(work)
        result = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return result.result()
        except BaseException:
            result.cancel()
            raise

    @property
    def is_over(self) -> bool:
        """Whether nothing is done there any more: closed, in a forked process, or while Python shuts down.

        Python stops every other thread before it clears what a script left behind, so that waiting then has no end.
        """
        return self._loop.is_closed() or sys.is_finalizing() or not self._thread.is_alive()

    def let_go(self, items: AsyncIterator[object]) -> None:
        """Close what nobody reads any more, without waiting: a generator may be cleared in any thread, at any time."""
        if self.is_over or not isinstance(items, AsyncGenerator):
            return
        closing = _closed(cast("AsyncGenerator[object, None]", items))
        try:
            asyncio.run_coroutine_threadsafe(closing, self._loop)
        except RuntimeError:  # the loop was closed this very moment
            closing.close()

    def close(self) -> None:
        """End what still runs there, and the thread."""
        self.run(_end_all_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _refuse_to_hang(self, work: Coroutine[object, object, object]) -> None:
        if self.is_over:
            work.close()
            raise ClientClosed(
                "the client is closed, or its process is: a forked one needs its own"
            )
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidRequest(
                "a callback runs in the client's own thread, where it can not wait for the client:"
                " hand over what it hears to a thread of yours"
            )


async def _end_all_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Waiting(Generic[A]):
    """An area whose calls wait."""

    def __init__(self, area: A, loop: Loop) -> None:
        self.area: A = area
        self.loop: Loop = loop

    def __repr__(self) -> str:
        return repr(self.area)


class Called(Generic[A, P, R]):
    """A call that waits for its answer."""

    def __init__(self, method: Callable[Concatenate[A, P], Coroutine[Any, Any, R]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, waiting: Waiting[A], owner: object = None) -> Callable[P, R]:
        def call(*args: P.args, **options: P.kwargs) -> R:
            return waiting.loop.run(self._method(waiting.area, *args, **options))

        _show_as(call, self._method, waiting)
        return call


class CalledThere(Generic[A, P, R]):
    """A call of something that is no coroutine, in the thread where the client lives."""

    def __init__(self, method: Callable[Concatenate[A, P], R]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, waiting: Waiting[A], owner: object = None) -> Callable[P, R]:
        async def called(*args: P.args, **options: P.kwargs) -> R:
            return self._method(waiting.area, *args, **options)

        def call(*args: P.args, **options: P.kwargs) -> R:
            return waiting.loop.run(called(*args, **options))

        _show_as(call, self._method, waiting)
        return call


class Iterated(Generic[A, P, R]):
    """An iterator that waits for each item."""

    def __init__(self, method: Callable[Concatenate[A, P], AsyncIterator[R]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, waiting: Waiting[A], owner: object = None) -> Callable[P, Iterator[R]]:
        def iterate(*args: P.args, **options: P.kwargs) -> Iterator[R]:
            items = self._method(waiting.area, *args, **options)
            try:
                while True:
                    yield waiting.loop.run(_next(items))
            except StopAsyncIteration:
                return
            finally:
                waiting.loop.let_go(items)

        _show_as(iterate, self._method, waiting)
        return iterate


class Streamed(Generic[A, P, R]):
    """A stream that is entered with `with` and iterated with `for`."""

    def __init__(self, method: Callable[Concatenate[A, P], Stream[R]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, waiting: Waiting[A], owner: object = None) -> Callable[P, "WaitingStream[R]"]:
        def stream(*args: P.args, **options: P.kwargs) -> WaitingStream[R]:
            return WaitingStream(self._method(waiting.area, *args, **options), waiting.loop)

        _show_as(stream, self._method, waiting)
        return stream


class WaitingStream(Generic[R]):
    """Items of a stream, each waited for; leaving the block closes it."""

    def __init__(self, stream: Stream[R], loop: Loop) -> None:
        self._stream, self._loop = stream, loop

    @property
    def health(self) -> StreamHealth:
        """How the stream is doing."""
        return self._stream.health

    def __enter__(self) -> Self:
        self._loop.run(_enter(self._stream))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._loop.is_over:
            self._loop.run(_leave(self._stream, kind, error, traceback))

    def __iter__(self) -> Self:
        aiter(self._stream)  # refuses a stream that was not entered, or was left
        return self

    def __next__(self) -> R:
        try:
            return self._loop.run(_next(self._stream))
        except StopAsyncIteration:
            raise StopIteration from None


def _show_as(
    shown: Callable[..., object], method: Callable[..., object], waiting: Waiting[A] | None
) -> None:
    """Name, parameters and words of the method, for help() and for the question mark of a notebook."""
    of_area = method if waiting is None else MethodType(method, waiting.area)
    update_wrapper(shown, of_area)


async def _enter(stream: Stream[object]) -> None:
    await stream.__aenter__()


async def _leave(
    stream: Stream[object],
    kind: type[BaseException] | None,
    error: BaseException | None,
    traceback: TracebackType | None,
) -> None:
    await stream.__aexit__(kind, error, traceback)


async def _next(items: AsyncIterator[R]) -> R:
    return await anext(items)


async def _closed(items: AsyncGenerator[object, None]) -> None:
    with suppress(RuntimeError):  # an interrupted call is still ending it
        await items.aclose()
