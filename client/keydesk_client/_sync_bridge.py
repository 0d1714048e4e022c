"""Descriptors that turn asynchronous methods into synchronous ones, used by `sync`.

Each takes a method and returns one with the same parameters, so that type checkers and editors see every name and type
without a second definition.
"""

import asyncio
import inspect
import re
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import update_wrapper
from types import MethodType, TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, cast

from keydesk_client.errors import ClientClosed, InvalidRequest, TimedOut
from keydesk_client.resources._paging import Paged
from keydesk_client.resources.resource_client import ResourceClient
from keydesk_client.streams.settings import StreamHealth

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")
Item_co = TypeVar("Item_co", covariant=True)


class Stream(Protocol[Item_co]):
    """The interface of an asynchronous stream."""

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


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="keydesk-client", daemon=True
        )
        self._thread.start()
        self._begun: set[AsyncIterator[object]] = set()

    def run(self, work: Coroutine[object, object, R]) -> R:
        """Run a coroutine and return its result; an interrupt cancels it."""
        self._check_usable(work)
        result = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return result.result()
        except BaseException:
            result.cancel()
            raise

    @property
    def has_ended(self) -> bool:
        """Whether the thread has ended: after `close`, in a forked process, or while Python shuts down.

        Python stops every other thread before it clears the objects that a script left open: waiting then would not end.
        """
        return self._loop.is_closed() or sys.is_finalizing() or not self._thread.is_alive()

    def hold(self, items: AsyncIterator[object]) -> None:
        """Keep an iterator until `close_later`: garbage collection would close it as well, at the same time."""
        self._begun.add(items)

    def close_later(self, items: AsyncIterator[object]) -> None:
        """Close an abandoned iterator without waiting: a generator may be cleared in any thread, at any time."""
        self._begun.discard(items)
        if self.has_ended or not isinstance(items, AsyncGenerator):
            return
        closing = _closed(cast("AsyncGenerator[object, None]", items))
        try:
            asyncio.run_coroutine_threadsafe(closing, self._loop)
        except RuntimeError:  # the loop was closed meanwhile
            closing.close()

    def close(self) -> None:
        """Cancel the remaining tasks and end the thread."""
        self.run(_cancel_other_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _check_usable(self, work: Coroutine[object, object, object]) -> None:
        if self.has_ended:
            work.close()
            raise ClientClosed("the client is closed, or was opened before a fork: open a new one")
        if threading.current_thread() is self._thread:
            work.close()
            raise InvalidRequest(
                "a callback cannot call the client, in whose thread it runs:"
                " pass its arguments to another thread"
            )


async def _cancel_other_tasks() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Calls:
    """How calls are made: in which thread, and for how long."""

    thread: LoopThread
    timeout: float | None = None
    """Seconds that each may take; None for no limit."""

    def run(self, work: Coroutine[object, object, R]) -> R:
        """Run a coroutine and return its result; raise TimedOut after the time limit."""
        if self.timeout is None:
            return self.thread.run(work)
        return self.thread.run(limited(work, self.timeout))


class SyncClient(Protocol):
    """What a sender needs of a synchronous client."""

    @property
    def asynchronous(self) -> ResourceClient: ...
    @property
    def calls(self) -> Calls: ...


class SyncResource(Generic[A]):
    """A resource with synchronous methods."""

    def __init__(self, resource: A, calls: Calls) -> None:
        self.resource: A = resource
        self.calls: Calls = calls

    def __repr__(self) -> str:
        return repr(self.resource)


class SyncMethod(Generic[A, P, R]):
    """A coroutine method, called synchronously."""

    def __init__(self, method: Callable[Concatenate[A, P], Coroutine[Any, Any, R]]) -> None:
        self._method = method
        self.__doc__ = sync_text(method.__doc__)

    def __get__(self, instance: SyncResource[A], owner: object = None) -> Callable[P, R]:
        def call(*args: P.args, **options: P.kwargs) -> R:
            return instance.calls.run(self._method(instance.resource, *args, **options))

        _copy_signature(call, self._method, instance)
        return call


class ThreadMethod(Generic[A, P, R]):
    """An ordinary method, called in the thread of the client."""

    def __init__(self, method: Callable[Concatenate[A, P], R]) -> None:
        self._method = method
        self.__doc__ = sync_text(method.__doc__)

    def __get__(self, instance: SyncResource[A], owner: object = None) -> Callable[P, R]:
        async def called(*args: P.args, **options: P.kwargs) -> R:
            return self._method(instance.resource, *args, **options)

        def call(*args: P.args, **options: P.kwargs) -> R:
            return instance.calls.run(called(*args, **options))

        _copy_signature(call, self._method, instance)
        return call


class SyncIterator(Generic[A, P, R]):
    """An asynchronous iterator method, as an ordinary iterator: each page comes from the thread of the client at once."""

    def __init__(self, method: Callable[Concatenate[A, P], Paged[R]]) -> None:
        self._method = method
        self.__doc__ = sync_text(method.__doc__)

    def __get__(self, instance: SyncResource[A], owner: object = None) -> Callable[P, Iterator[R]]:
        def iterate(*args: P.args, **options: P.kwargs) -> Iterator[R]:
            pages = self._method(instance.resource, *args, **options).pages
            instance.calls.thread.hold(pages)
            try:
                while True:
                    yield from instance.calls.run(_next(pages))
            except StopAsyncIteration:
                return
            finally:
                instance.calls.thread.close_later(pages)

        _copy_signature(iterate, self._method, instance, returns="Iterator")
        return iterate


class SyncStreamMethod(Generic[A, P, R]):
    """A stream method whose result is entered with `with` and iterated with `for`."""

    def __init__(self, method: Callable[Concatenate[A, P], Stream[R]]) -> None:
        self._method = method
        self.__doc__ = sync_text(method.__doc__)

    def __get__(
        self, instance: SyncResource[A], owner: object = None
    ) -> Callable[P, "SyncStream[R]"]:
        def stream(*args: P.args, **options: P.kwargs) -> SyncStream[R]:
            return SyncStream(self._method(instance.resource, *args, **options), instance.calls)

        _copy_signature(stream, self._method, instance, returns="SyncStream")
        return stream


class SyncStream(Generic[R]):
    """A stream, iterated synchronously; leaving the block closes it."""

    def __init__(self, stream: Stream[R], calls: Calls) -> None:
        self._stream, self._calls = stream, calls
        self._loop = calls.thread

    @property
    def health(self) -> StreamHealth:
        """Counters and state of the stream."""
        return self._stream.health

    def __enter__(self) -> Self:
        self._calls.run(_enter(self._stream))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the stream and end its iteration; may be called from another thread, and more than once."""
        if not self._loop.has_ended:
            self._loop.run(_leave(self._stream))

    def next(self, timeout: float | None = None) -> R:
        """Return the next item, also after an earlier call that timed out: none is lost.

        Raises:
            TimedOut: none came within `timeout` seconds.
            StopIteration: the stream was closed.
        """
        item = _next(self._stream)
        try:
            return self._loop.run(item if timeout is None else limited(item, timeout, sent=False))
        except StopAsyncIteration:
            raise StopIteration from None

    def __iter__(self) -> Self:
        aiter(self._stream)  # raises unless the stream is open
        return self

    def __next__(self) -> R:
        return self.next()


def sync_text(doc: str | None) -> str | None:
    """Return the docstring of an asynchronous method as it reads without async: `async with` is `with`."""
    return None if doc is None else re.sub(r"\b(?:async|await) ", "", doc)


def _copy_signature(
    wrapper: Callable[..., object],
    method: Callable[..., object],
    instance: SyncResource[A] | None,
    *,
    returns: str | None = None,
) -> None:
    """Copy name, signature and docstring of the method, for help() and notebooks.

    With `returns`, this replaces the name of the type that is returned, which is an asynchronous one.
    """
    bound = method if instance is None else MethodType(method, instance.resource)
    update_wrapper(wrapper, bound)
    wrapper.__doc__ = sync_text(method.__doc__)
    if returns is not None:
        signature = inspect.signature(bound)
        of = re.search(r"\[.*\]", str(signature.return_annotation))
        signature = signature.replace(return_annotation=returns + (of[0] if of else ""))
        cast("Any", wrapper).__signature__ = signature


async def limited(work: Coroutine[object, object, R], limit_s: float, *, sent: bool = True) -> R:
    """Return the result of a coroutine; cancel it and raise TimedOut after `limit_s` seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            return await work
    raise TimedOut(f"the call took longer than {limit_s:g} s", phase="call", sent=sent)


async def _enter(stream: Stream[object]) -> None:
    await stream.__aenter__()


async def _leave(stream: Stream[object]) -> None:
    await stream.__aexit__(None, None, None)


async def _next(items: AsyncIterator[R]) -> R:
    return await anext(items)


async def _closed(items: AsyncGenerator[object, None]) -> None:
    with suppress(RuntimeError):  # an interrupted call is still closing it
        await items.aclose()
