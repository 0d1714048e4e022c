"""Lists over several pages: items one by one, while the next page is being requested."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

PageGenerator: TypeAlias = AsyncGenerator[Sequence[T], None]


class Paged(Generic[T]):
    """The items of a list that comes in pages, as `iterate` returns it: `async for candle in client.candles.iterate(...)`.

    Nothing is requested before the first item is wanted. From then on the next page is requested while the items of one
    are used, so that an iteration that is left early may have requested one page more; `aclose` ends that request.
    `async for page in paged.pages` hands over whole pages, which costs less for each item. Use one or the other, once.
    An error ends the iteration: begin a new one after the last item.
    """

    def __init__(self, pages: PageGenerator[T]) -> None:
        self.pages: PageGenerator[T] = _prefetched(pages)
        """The pages, each a sequence of items, instead of single items."""
        self._items = _items_of(self.pages)

    def __aiter__(self) -> AsyncIterator[T]:
        """Return the iterator over the items."""
        return self._items

    def __anext__(self) -> Awaitable[T]:
        return self._items.__anext__()

    async def aclose(self) -> None:
        """End the iteration and the request for the next page."""
        await self._items.aclose()
        await self.pages.aclose()


async def _items_of(pages: PageGenerator[T]) -> AsyncGenerator[T, None]:
    try:
        async for page in pages:
            for item in page:
                yield item
    finally:
        await pages.aclose()


async def _prefetched(pages: PageGenerator[T]) -> PageGenerator[T]:
    """Yield each page while the next one is being requested."""
    upcoming = _request_next(pages)
    try:
        while (page := await upcoming) is not None:
            upcoming = _request_next(pages)
            yield page
    finally:
        upcoming.cancel()
        await asyncio.gather(upcoming, return_exceptions=True)
        await pages.aclose()


def _request_next(pages: PageGenerator[T]) -> "asyncio.Task[Sequence[T] | None]":
    """Request the next page in a task with the name of the present one, so that its requests are told apart by it."""
    present = asyncio.current_task()
    return asyncio.create_task(_next_page(pages), name=present.get_name() if present else None)


async def _next_page(pages: PageGenerator[T]) -> Sequence[T] | None:
    return await anext(pages, None)
