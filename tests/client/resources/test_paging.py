"""Lists over several pages: the next page is requested while the items of one are used."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence

import pytest

from keydesk_client import sync
from keydesk_client.errors import ConnectionLost
from keydesk_client.resources._paging import Paged
from support.candle_history import PAGE, START, CandleHistory


class Pages:
    """Three pages of two numbers; the third may fail."""

    def __init__(self, *, failing: bool = False) -> None:
        self.requested = 0
        self.closed = False
        self._failing = failing

    async def generate(self) -> AsyncGenerator[Sequence[int], None]:
        try:
            for page in range(3):
                self.requested += 1
                await asyncio.sleep(0)
                if self._failing and page == 2:
                    raise ConnectionLost("cut")
                yield (2 * page, 2 * page + 1)
        finally:
            self.closed = True


async def until_idle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_next_page_is_requested_while_one_is_used() -> None:
    pages = Pages()
    items = Paged(pages.generate())
    assert await anext(items) == 0
    await until_idle()
    assert pages.requested == 2
    assert [item async for item in items] == [1, 2, 3, 4, 5]
    assert pages.closed


async def test_the_failure_of_a_page_is_raised_after_the_items_before_it() -> None:
    items = Paged(Pages(failing=True).generate())
    assert [await anext(items) for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(ConnectionLost):
        await anext(items)


async def test_an_iteration_that_is_left_ends_its_request() -> None:
    pages = Pages()
    items = Paged(pages.generate())
    await anext(items)
    await items.aclose()
    await until_idle()
    assert pages.closed
    assert pages.requested <= 2
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_times_between_the_first_and_the_last_candle_are_not_parsed() -> None:
    history = CandleHistory(20)
    async with history.client() as client:
        candles = [
            each async for each in client.candles.iterate("EUR_USD", from_=START, granularity="M1")
        ]
    assert len(candles) == 20
    parsed = [number for number, each in enumerate(candles) if hasattr(each.time, "_ns")]
    assert parsed == [0, 19]


def test_a_page_comes_from_the_thread_of_the_client_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each hand-over between the threads takes 80 microseconds of CPU time."""
    with sync.Client(CandleHistory(2 * PAGE).client()) as client:
        handed_over: list[object] = []
        run = client.loop.run

        def counted(work: Coroutine[object, object, object]) -> object:
            handed_over.append(work)
            return run(work)

        monkeypatch.setattr(client.loop, "run", counted)
        count = sum(1 for _ in client.candles.iterate("EUR_USD", from_=START, granularity="M1"))
        assert (count, len(handed_over)) == (2 * PAGE, 3)
