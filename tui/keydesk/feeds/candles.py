"""The candles of what the charts show: loaded when it turns, and again when a period ends or a gap was."""

from collections.abc import Callable

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.store.candles import (
    close_series,
    loading_failed,
    open_series,
    take_candles,
    take_older,
)
from keydesk.store.state import CandleSeries
from keydesk_client.models import DateTime

COUNT = 400
CANDLES_LOOK_EVERY = 0.1
OVERLAP = 3  # candles asked for again when one is complete: ours were made of the prices we saw


async def keep_chart(link: Link) -> None:
    """Follow the store's focus and granularity."""
    await _follow(link, lambda: link.store.granularity)


async def keep_linked_chart(link: Link) -> None:
    """Follow the focus at the longer granularity of the second chart, where one is shown."""
    await _follow(link, lambda: link.store.linked_granularity)


async def _follow(link: Link, granularity: Callable[[], str]) -> None:
    await link.listed.wait()
    shown: CandleSeries | None = None
    while True:
        shown = await load_candles(link, shown, granularity())
        await link.pause(CANDLES_LOOK_EVERY)


async def load_candles(
    link: Link, shown: CandleSeries | None, granularity: str
) -> CandleSeries | None:
    """Load what a chart turned to, or what its newest candles lack; returns what it shows now."""
    store = link.store
    if not store.focus:
        return shown
    if not granularity:  # the chart went from the screen
        _leave(link, shown)
        return None
    if shown is None or (shown.instrument, shown.granularity) != (store.focus, granularity):
        _leave(link, shown)
        shown = open_series(store, store.focus, granularity)
        await load(link, shown, COUNT)
    elif shown.wants_reload:
        await load(link, shown, COUNT)
    elif shown.rolled_over:
        await load(link, shown, OVERLAP + shown.rolled_over)
    elif shown.wants_older:
        await load_older(link, shown)
    return shown


def _leave(link: Link, series: CandleSeries | None) -> None:
    """No tick moves a series any more that no chart shows."""
    if series is not None and not _on_a_chart(link, series):
        close_series(link.store, series.instrument, series.granularity)


def _on_a_chart(link: Link, series: CandleSeries) -> bool:
    store = link.store
    charts = (store.granularity, store.linked_granularity)
    return series.instrument == store.focus and series.granularity in charts


async def load(link: Link, series: CandleSeries, count: int) -> bool:
    """Ask for the newest candles of a series; False when there was no answer."""
    rolled, series.wants_reload = series.rolled_over, False
    try:
        answer = await link.ask(
            link.client.candles.get(
                series.instrument, granularity=series.granularity, price="M", count=count
            )
        )
        take_candles(link.store, series, answer.candles)
    except FAILURES as error:
        _candles_failed(link, series, error)
        series.wants_reload = True
        await link.back_off(3)
        return False
    series.rolled_over = max(0, series.rolled_over - rolled)
    return True


async def load_older(link: Link, series: CandleSeries) -> bool:
    """Ask for the candles before the oldest one of a series; False when there was no answer."""
    series.wants_older = False  # scrolling on asks again
    try:
        answer = await link.ask(
            link.client.candles.get(
                series.instrument,
                granularity=series.granularity,
                price="M",
                count=COUNT,
                to=DateTime.from_ns(series.candles[0].time_ns),
            )
        )
        take_older(link.store, series, answer.candles)
    except FAILURES as error:
        _candles_failed(link, series, error)
        return False
    return True


def _candles_failed(link: Link, series: CandleSeries, error: Exception) -> None:
    link.count_unreadable(error)
    loading_failed(link.store, series, reason(error))
