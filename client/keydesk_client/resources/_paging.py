"""Lists: their options, and those over several pages: items one by one, while the next page is being requested."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterable, Sequence
from typing import Final, Generic, Protocol, TypeAlias, TypedDict, TypeVar

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models._core.record import Response, validate_choice
from keydesk_client.models.instruments import Instrument
from keydesk_client.resources._base import (
    join_names,
    name_of,
    numeric_id,
    plain_text,
    refuse_unknown,
    whole,
)

T = TypeVar("T")

MAX_LISTED: Final = 500

PageGenerator: TypeAlias = AsyncGenerator[Sequence[T], None]


class ListOptions(TypedDict, total=False):
    """Options of a list of orders or trades; the service decides on those left out."""

    ids: Iterable[str | int]
    """Only these; in any state only together with `state="ALL"`."""
    instrument: str | Instrument
    """Only those of this instrument, such as EUR_USD."""
    count: int
    """At most 500; 50 by default."""
    before_id: str | int
    """The highest id to return."""


class Identified(Protocol):
    """A record with a numeric id."""

    @property
    def id(self) -> str: ...


def list_query(options: ListOptions, state: str | None, states: tuple[str, ...]) -> dict[str, str]:
    """Return the options of a list as a query; raise InvalidRequest for one that the interface does not have."""
    refuse_unknown(options, ListOptions.__optional_keys__)
    query: dict[str, str] = {}
    if "ids" in options:
        query["ids"] = join_names("ids", options["ids"])
    if state is not None:
        query["state"] = validate_choice("state", state, states)
    if "instrument" in options:
        query["instrument"] = plain_text("instrument", name_of(options["instrument"]))
    if "count" in options:
        query["count"] = whole("count", options["count"], 1, MAX_LISTED)
    if "before_id" in options:
        query["beforeID"] = numeric_id("before_id", options["before_id"])
    return query


def next_before(
    response: Response, items: Sequence[Identified], count: int, options: ListOptions
) -> str | None:
    """Return the `before_id` of the next page, or None after the last one.

    The service announces a next page in its Link header. Without one, a page of `count` items may have a next page. Only
    ids are used in both cases, never the URL: a token is only sent to the host that the client was given.

    Raises:
        UnreadableAnswer: the page returns to ids of an earlier one; following such pages would never end.
    """
    if items and "before_id" in options:
        highest = max(int(item.id) for item in items)
        if highest > int(options["before_id"]):
            raise UnreadableAnswer(
                f"a page lists id {highest}, although {options['before_id']} was the highest requested"
            )
    if not items or ("next" not in response.links and len(items) < count):
        return None
    lowest = min(int(item.id) for item in items)
    return str(lowest - 1) if lowest > 1 else None


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
