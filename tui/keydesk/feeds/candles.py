"""Load the candles of charts: the newest ones, those before them, and those around a date. Prices and the account never wait for them."""

from collections.abc import Awaitable, Callable
from datetime import tzinfo
from functools import partial

from keydesk.feeds.account_feed import AccountFeed, reason
from keydesk.store.candles import (
    Direction,
    apply_candles,
    apply_older_candles,
    apply_past_candles,
    close_series,
    loading_failed,
    open_series,
    show_prices,
)
from keydesk.store.state import CandlePrices, CandleSeries, Notice, PastCandles, Topic
from keydesk.text.format import at, pair
from keydesk.text.sanitize import safe
from keydesk_client.following.feeds import FAILURES
from keydesk_client.models import CandlestickResponse, DateTime, granularity_of

COUNT = 400
OVERLAP = 3  # candles asked for again when one is complete: ours were made of the prices we saw
PAGE = 1000  # older candles of a request


async def update_chart(feed: AccountFeed, place: int = 1) -> None:
    """Load the candles of a chart while it is shown; place 1 is the desk's own."""
    await feed.instruments_known.wait()
    shown: CandleSeries | None = None
    with feed.store.subscribed(Topic.FOCUS, Topic.CANDLES) as changed:
        while True:
            changed.clear()
            shown = await load_candles(feed, shown, *feed.store.chart_at(place))
            if not _needs_candles(feed, shown, *feed.store.chart_at(place)):
                await changed.wait()


def _needs_candles(
    feed: AccountFeed, shown: CandleSeries | None, instrument: str, granularity: str
) -> bool:
    """Return whether `load_candles` has something to do."""
    if not instrument:
        return False
    if shown is None or not granularity:
        return shown is not None or bool(granularity)
    if _is_another(feed, shown, instrument, granularity):
        return True
    if shown.wants_reload or shown.rolled_over > 0 or shown.prices != feed.store.candle_prices:
        return True
    return shown.wants_older or (shown.past is not None and bool(shown.past.wants))


async def load_candles(
    feed: AccountFeed, shown: CandleSeries | None, instrument: str, granularity: str
) -> CandleSeries | None:
    """Load the candles of a chart's new series, or the missing ones of its present series; return the series shown."""
    store = feed.store
    if not instrument:
        return shown
    if not granularity:  # the chart was removed from the screen
        _close_series(feed, shown)
        return None
    if shown is None or _is_another(feed, shown, instrument, granularity):
        _close_series(feed, shown)
        shown = open_series(store, instrument, granularity)
        await load(feed, shown, COUNT)
    elif shown.wants_reload or shown.prices != store.candle_prices:
        await load(feed, shown, COUNT)
    elif shown.rolled_over:
        await load(feed, shown, OVERLAP + shown.rolled_over)
    elif shown.wants_older:
        await load_older(feed, shown)
    elif shown.past is not None and shown.past.wants:
        await load_past(feed, shown, shown.past)
    return shown


def _is_another(feed: AccountFeed, shown: CandleSeries, instrument: str, granularity: str) -> bool:
    """Return whether a chart needs another series: it shows something else, or the series was dropped."""
    key = instrument, granularity
    return (shown.instrument, shown.granularity) != key or feed.store.series.get(key) is not shown


def _close_series(feed: AccountFeed, series: CandleSeries | None) -> None:
    """Close a series that no chart shows."""
    if series is not None and not _on_a_chart(feed, series):
        close_series(feed.store, series.instrument, series.granularity)


def _on_a_chart(feed: AccountFeed, series: CandleSeries) -> bool:
    store = feed.store
    charts = (store.chart_at(place) for place in (1, *store.side_charts))
    return (series.instrument, series.granularity) in charts


async def load(feed: AccountFeed, series: CandleSeries, count: int) -> bool:
    """Load the newest candles of a series; return False if there was no answer."""
    rolled, series.wants_reload = series.rolled_over, False
    prices = feed.store.candle_prices
    try:
        answer = await feed.request(
            _asker(feed, prices)(
                series.instrument,
                granularity=granularity_of(series.granularity),
                price=prices[-1],
                count=count,
            )
        )
        if prices != series.prices:
            show_prices(series, prices)
        apply_candles(feed.store, series, answer.candles)
    except FAILURES as error:
        series.wants_reload = True
        await _failed(feed, series, error)
        return False
    series.rolled_over = max(0, series.rolled_over - rolled)
    return True


async def load_older(feed: AccountFeed, series: CandleSeries) -> bool:
    """Load the candles before the oldest one of a series; return False if there was no answer."""
    series.wants_older = False  # moving on asks again
    if not series.candles:
        return True
    series.loading_history = True
    prices = series.prices
    try:
        answer = await _page(feed, series, "older", series.candles[0].time_ns)
        if series.prices == prices:  # another chart of the series may have turned to bid or ask
            apply_older_candles(feed.store, series, answer.candles)
    except FAILURES as error:
        await _history_failed(feed, series, error)
        return False
    finally:
        series.loading_history = False
    series.history_error = ""
    return True


async def load_past(feed: AccountFeed, series: CandleSeries, past: PastCandles) -> bool:
    """Load the candles that a window of the past lacks; return False if there was no answer."""
    wants, past.wants = past.wants, ""
    series.loading_history = True
    try:
        match wants:
            case "older" if past.candles:
                await _extend(feed, series, past, "older", past.candles[0].time_ns)
            case "newer" if past.candles:
                await _extend(feed, series, past, "newer", past.candles[-1].time_ns)
            case "date":
                await _load_date(feed, series, past)
            case _:
                pass
    except FAILURES as error:
        past.is_loaded = True
        if wants == "date":
            _say_date_failed(feed, series, past, error)
        await _history_failed(feed, series, error)
        return False
    finally:
        series.loading_history = False
    series.history_error = ""
    feed.store.mark(Topic.CANDLES, (series.instrument, series.granularity))
    return True


async def _load_date(feed: AccountFeed, series: CandleSeries, past: PastCandles) -> None:
    """Load a window around its date; without any candles there, the last window stays."""
    window = PastCandles(date_ns=past.date_ns)
    await _extend(feed, series, window, "older", window.date_ns)
    newest = window.candles[-1].time_ns if window.candles else window.date_ns
    await _extend(feed, series, window, "newer", newest)
    if window.candles:
        past.candles, past.reaches_start = window.candles, window.reaches_start
        past.is_of_last_date = False
    past.is_loaded = True
    if series.past is past and (text := _missing_text(series, window, feed.store.zone)):
        feed.store.add_notice(Notice("warn", safe(text), feed.store.clock_ns))


def _missing_text(series: CandleSeries, window: PastCandles, zone: tzinfo) -> str:
    """Return that the broker has no candles at the date of a window, "" if it has."""
    name = f"{pair(series.instrument)} {series.granularity}"
    if not window.candles:
        return f"No candles of {name} at {_day(window.date_ns, zone)}: the chart stays where it is"
    first_ns = window.candles[0].time_ns
    if not window.reaches_start or first_ns <= window.date_ns:
        return ""
    return f"No candles of {name} before {_day(first_ns, zone)}: the chart shows the first ones"


def _day(time_ns: int, zone: tzinfo) -> str:
    day = at(time_ns, zone)
    return f"{day.day} {day:%b %Y}"


async def _extend(
    feed: AccountFeed, series: CandleSeries, past: PastCandles, direction: Direction, edge_ns: int
) -> None:
    answer = await _page(feed, series, direction, edge_ns)
    apply_past_candles(feed.store, series, past, answer.candles, direction)


def _asker(
    feed: AccountFeed, prices: CandlePrices
) -> Callable[..., Awaitable[CandlestickResponse]]:
    """Return the call that reads candles: those of a size are the account's."""
    candles, size = feed.client.candles, feed.store.candle_units
    if prices in {"SB", "SA"} and size is not None:
        return partial(candles.get_for_account, units=size)
    return candles.get


async def _page(
    feed: AccountFeed, series: CandleSeries, direction: Direction, edge_ns: int
) -> CandlestickResponse:
    """Request the candles on one side of an instant; what is at the edge may come again."""
    edge = DateTime.from_ns(edge_ns)
    ask = _asker(feed, series.prices)
    name, prices = series.instrument, series.prices[-1]
    granularity = granularity_of(series.granularity)
    if direction == "older":
        return await feed.request(
            ask(name, granularity=granularity, price=prices, count=PAGE, to=edge)
        )
    return await feed.request(
        ask(name, granularity=granularity, price=prices, count=PAGE, from_=edge)
    )


def _say_date_failed(
    feed: AccountFeed, series: CandleSeries, past: PastCandles, error: Exception
) -> None:
    """Say that the chart does not go to a date; it may be one that shows the newest candles, which are not old."""
    where = (
        f"{pair(series.instrument)} {series.granularity} at {_day(past.date_ns, feed.store.zone)}"
    )
    text = f"Candles of {where} could not be loaded: {reason(error)}"
    feed.store.add_notice(Notice("warn", safe(text), feed.store.clock_ns))


async def _failed(feed: AccountFeed, series: CandleSeries, error: Exception) -> None:
    """Show why, and wait: charts ask again as long as they lack candles."""
    feed.count_unreadable(error)
    loading_failed(feed.store, series, reason(error))
    await feed.backoff(3)


async def _history_failed(feed: AccountFeed, series: CandleSeries, error: Exception) -> None:
    """Keep why, and wait; the newest candles are not concerned."""
    feed.count_unreadable(error)
    series.history_error = reason(error)
    feed.store.mark(Topic.CANDLES, (series.instrument, series.granularity))
    await feed.backoff(3)
