"""Read older candles: before those of a chart, or around a date."""

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.store.candles import Direction, loading_failed, take_older, take_past
from keydesk.store.state import CandleSeries, PastCandles, Topic
from keydesk_client.models import CandlestickResponse, DateTime, granularity_of

PAGE = 1000  # candles of a request


async def load_older(link: Link, series: CandleSeries) -> bool:
    """Load the candles before the oldest one of a series; return False if there was no answer."""
    series.wants_older = False  # moving on asks again
    if not series.candles:
        return True
    series.loading_history = True
    prices = series.prices
    try:
        answer = await _page(link, series, "older", series.candles[0].time_ns)
        if series.prices == prices:  # another chart of the series may have turned to bid or ask
            take_older(link.store, series, answer.candles)
    except FAILURES as error:
        await _failed(link, series, error)
        return False
    finally:
        series.loading_history = False
    return True


async def load_past(link: Link, series: CandleSeries, past: PastCandles) -> bool:
    """Load the candles that a window of the past lacks; return False if there was no answer."""
    wants, past.wants = past.wants, ""
    series.loading_history = True
    try:
        match wants:
            case "older":
                await _extend(link, series, past, "older", past.candles[0].time_ns)
            case "newer":
                await _extend(link, series, past, "newer", past.candles[-1].time_ns)
            case "date":
                await _extend(link, series, past, "older", past.date_ns)
                newest = past.candles[-1].time_ns if past.candles else past.date_ns
                await _extend(link, series, past, "newer", newest)
                past.is_loaded = True
            case "":
                pass
    except FAILURES as error:
        past.is_loaded = True
        await _failed(link, series, error)
        return False
    finally:
        series.loading_history = False
    link.store.mark(Topic.CANDLES, (series.instrument, series.granularity))
    return True


async def _extend(
    link: Link, series: CandleSeries, past: PastCandles, direction: Direction, edge_ns: int
) -> None:
    answer = await _page(link, series, direction, edge_ns)
    take_past(link.store, series, past, answer.candles, direction)


async def _page(
    link: Link, series: CandleSeries, direction: Direction, edge_ns: int
) -> CandlestickResponse:
    """Request the candles on one side of an instant; what is at the edge may come again."""
    edge = DateTime.from_ns(edge_ns)
    ask = link.client.candles.get
    name, prices = series.instrument, series.prices
    granularity = granularity_of(series.granularity)
    if direction == "older":
        return await link.ask(ask(name, granularity=granularity, price=prices, count=PAGE, to=edge))
    return await link.ask(ask(name, granularity=granularity, price=prices, count=PAGE, from_=edge))


async def _failed(link: Link, series: CandleSeries, error: Exception) -> None:
    """Show why, and wait: charts ask again as long as they lack candles."""
    link.count_unreadable(error)
    loading_failed(link.store, series, reason(error))
    await link.back_off(3)
