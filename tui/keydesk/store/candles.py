"""Candle series: loaded from the broker, the last candle moved by prices, the next begun at the end of a period.

Periods up to an hour have a fixed length. From two hours to a day they are counted from 17:00 New York, so the last
one of a day is shorter or longer when the clocks change; weeks begin on Friday 17:00 New York, months on the first day
at that hour.

A series holds the newest candles and as many older ones as fit. A chart that goes farther back gets a window of its own:
it grows at the end where candles are wanted and loses as many at the other, so memory is bounded however far one goes.
"""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from keydesk.calc.market.granularity import SECONDS
from keydesk.calc.market.trading_day import NEW_YORK, next_day_start
from keydesk.store.state import Candle, CandlePrices, CandleSeries, PastCandles, Topic
from keydesk.store.store import CLOCK_LAG_NS, Store
from keydesk.values import Day
from keydesk_client.account.values import LAST_NS, checked_time_ns, price, readable
from keydesk_client.arithmetic.constants import DAY, HOUR, SECOND
from keydesk_client.models import Candlestick

LENGTHS = {name: length * SECOND for name, length in SECONDS.items() if length * SECOND <= HOUR}
ALIGNED_TO_THE_DAY = {
    name: length * SECOND
    for name, length in SECONDS.items()
    if name.startswith("H") and name != "H1"
}
MAX_CANDLES = 5000
MAX_SKIPPED_NS = 10 * DAY  # from a candle's end to the next price
MAX_VOLUME = 10**12
WINDOW = 6000  # candles of a window
OVERLAP = 3000  # of the series' oldest, with which a window begins
Direction = Literal["older", "newer"]


def period_end(start_ns: int, granularity: str) -> int | None:
    """Return the end of the period that begins at this instant, None for an unknown granularity."""
    if granularity in LENGTHS:
        return start_ns + LENGTHS[granularity]
    if granularity == "D":
        return next_day_start(start_ns)
    if granularity == "W":
        return _new_york(start_ns, timedelta(days=7))
    if granularity == "M":
        return _next_month(start_ns)
    hours = ALIGNED_TO_THE_DAY.get(granularity)
    return None if hours is None else min(start_ns + hours, next_day_start(start_ns))


def period_holding(start_ns: int, time_ns: int, granularity: str) -> int:
    """Return the start of the period that holds an instant, counted from the start of an earlier one."""
    length = LENGTHS.get(granularity)
    if length is not None:
        return start_ns + (time_ns - start_ns) // length * length
    end = period_end(start_ns, granularity)
    while end is not None and end <= time_ns:
        start_ns, end = end, period_end(end, granularity)
    return start_ns


def _new_york(start_ns: int, later: timedelta) -> int:
    wall = (
        datetime.fromtimestamp(start_ns // SECOND, NEW_YORK) + later
    )  # wall time: 17:00 stays 17:00
    return int(wall.timestamp()) * SECOND


def _next_month(start_ns: int) -> int:
    """Return the first of the month or the day before it, whichever the broker counts months from."""
    wall = datetime.fromtimestamp(start_ns // SECOND, NEW_YORK)
    first = (wall + timedelta(hours=7)).replace(day=1, hour=wall.hour)
    next_first = (first + timedelta(days=32)).replace(day=1)
    return int((next_first + (wall - first)).timestamp()) * SECOND


def open_series(store: Store, instrument: str, granularity: str) -> CandleSeries:
    """Return a series, created if needed; from now on prices move its last candle."""
    key = (instrument, granularity)
    series = store.series.get(key)
    if series is None:
        series = store.series[key] = CandleSeries(instrument, granularity)
    live = store.charted.get(instrument, ())
    if series not in live:
        store.charted[instrument] = (*live, series)
    store.mark(Topic.CANDLES, key)
    return series


def close_series(store: Store, instrument: str, granularity: str) -> None:
    """Remove a series that no chart shows."""
    series = store.series.pop((instrument, granularity), None)
    live = tuple(each for each in store.charted.get(instrument, ()) if each is not series)
    if live:
        store.charted[instrument] = live
    else:
        store.charted.pop(instrument, None)


def show_prices(series: CandleSeries, prices: CandlePrices) -> None:
    """Empty a series for candles of other prices."""
    series.candles.clear()
    series.prices, series.past, series.reaches_start, series.rolled_over = prices, None, False, 0
    series.wants_older = False


def apply_candles(store: Store, series: CandleSeries, loaded: Iterable[Candlestick]) -> None:
    """Replace own candles by those of the broker, from its first one on."""
    fresh = candles_of(store, loaded)
    if fresh:
        keep = bisect_left(series.candles, fresh[0].time_ns, key=lambda each: each.time_ns)
        newest = store.clock_ns or LAST_NS  # a candle begun by a wrong clock time is dropped
        newer = [
            each for each in series.candles[keep:] if fresh[-1].time_ns < each.time_ns <= newest
        ]
        series.candles[keep:] = fresh + newer
        del series.candles[:-MAX_CANDLES]
    series.loading = False
    series.error = ""
    store.mark(Topic.CANDLES, (series.instrument, series.granularity))


def invalidate_candles(store: Store) -> None:
    """Request all candles again: prices were missed."""
    for series in store.series.values():
        series.wants_reload = True
    store.mark(Topic.CANDLES)


def loading_failed(store: Store, series: CandleSeries, text: str) -> None:
    """Keep the candles and show why newer ones are missing."""
    series.loading = False
    series.error = text
    store.mark(Topic.CANDLES, (series.instrument, series.granularity))


def move_last(series: CandleSeries, mid: float, time_ns: int) -> bool:
    """Move the last candle by a price, or begin the next; return whether anything changed."""
    if not series.candles:
        return False
    last = series.candles[-1]
    end = period_end(last.time_ns, series.granularity)
    if end is None or time_ns < last.time_ns:
        if time_ns < last.time_ns - CLOCK_LAG_NS:  # a wrong clock time had begun that candle
            series.candles.pop()
            series.wants_reload = True
        return False
    if (
        time_ns - end > MAX_SKIPPED_NS
    ):  # no prices for so long: the candles are read from the service
        series.wants_reload = True
        return False
    if time_ns < end:
        series.candles[-1] = _with_price(last, mid)
        return True
    if not last.complete:
        series.candles[-1] = _as_complete(last)
    start = period_holding(end, time_ns, series.granularity)
    series.candles.append(Candle(start, mid, mid, mid, mid, False, 1))
    del series.candles[:-MAX_CANDLES]
    series.rolled_over += 1
    return True


def candles_of(store: Store, loaded: Iterable[Candlestick]) -> list[Candle]:
    """Return the readable candles in ascending order, one per time."""
    made = (each for each in readable(store, candle_of, loaded) if each is not None)
    return sorted({each.time_ns: each for each in made}.values(), key=lambda each: each.time_ns)


def candle_of(loaded: Candlestick) -> Candle | None:
    """Return a candle for drawing from the prices that it has, mid before bid before ask; None without any."""
    data = loaded.mid or loaded.bid or loaded.ask
    if data is None:
        return None
    first, high, low, last = (float(price(each)) for each in (data.o, data.h, data.l, data.c))
    return Candle(
        checked_time_ns(loaded.time),
        first,
        high,
        low,
        last,
        loaded.complete,
        min(max(0, loaded.volume), MAX_VOLUME),
    )


def apply_day(store: Store, instrument: str, previous: Candlestick, today: Candlestick) -> None:
    """Store the trading day of an instrument: previous close, high and low."""
    if previous.mid is None or today.mid is None:
        return
    close, high, low = (price(each) for each in (previous.mid.c, today.mid.h, today.mid.l))
    previous_high, previous_low = price(previous.mid.h), price(previous.mid.l)
    quote = store.quotes.get(instrument)
    if quote is not None:
        mid: Decimal = (quote.bid + quote.ask) / 2
        high, low = max(high, mid), min(low, mid)
    store.days[instrument] = Day(close, high, low, previous_high, previous_low)
    store.mark(Topic.PRICES, instrument)


def begin_day(store: Store) -> None:
    """Begin a new trading day: previous close, high and low are the current price."""
    for instrument, ended in store.days.items():
        quote = store.quotes.get(instrument)
        if quote is not None:
            mid = (quote.bid + quote.ask) / 2
            store.days[instrument] = Day(mid, mid, mid, ended.high, ended.low)
            store.mark(Topic.PRICES, instrument)


def _with_price(last: Candle, mid: float) -> Candle:
    return Candle(
        last.time_ns,
        last.open,
        max(last.high, mid),
        min(last.low, mid),
        mid,
        False,
        last.volume + 1,
    )


def _as_complete(last: Candle) -> Candle:
    return Candle(last.time_ns, last.open, last.high, last.low, last.close, True, last.volume)


def want_history(
    store: Store,
    instrument: str,
    granularity: str,
    direction: Direction,
    *,
    of_series: bool = False,
) -> None:
    """Request candles beyond one end of a chart, if there may be any.

    Args:
        store: The store with the series of the chart.
        instrument: Its instrument.
        granularity: The length of its candles.
        direction: At which end.
        of_series: Whether the candles in sight are those of the series, not of its window of the past.
    """
    series = store.series.get((instrument, granularity))
    if series is None or not series.candles or series.loading_history:
        return
    past = series.past
    if past is not None and past.wants == "date":
        return  # the window that comes has other ends
    if past is not None and not past.candles:
        past = None  # the broker had none at the date: there is nothing to extend
    is_full = len(series.candles) >= MAX_CANDLES
    if of_series and not (is_full and series.goes_on_in_past):
        past = None  # a window of other years, or one that is not needed yet
    if past is None and direction == "older" and is_full:
        past = PastCandles(series.candles[:OVERLAP], reaches_start=series.reaches_start)
        series.past = past
    if past is None:
        series.wants_older = direction == "older" and not series.reaches_start
    elif direction == "newer" or not past.reaches_start:
        past.wants = direction
    store.mark(Topic.CANDLES)


def want_date(store: Store, instrument: str, granularity: str, date_ns: int) -> None:
    """Request a window around a date in place of the last one, whose candles stay until the new ones have come."""
    series = store.series.get((instrument, granularity))
    if series is None:
        return
    last = series.past or PastCandles()
    series.past = PastCandles(
        last.candles, "date", date_ns, reaches_start=last.reaches_start, is_of_last_date=True
    )
    store.mark(Topic.CANDLES)


def apply_older_candles(store: Store, series: CandleSeries, loaded: Iterable[Candlestick]) -> None:
    """Insert candles before the oldest one of a series; an answer without any marks the beginning of history."""
    made = candles_of(store, loaded)
    older = [
        each for each in made if not series.candles or each.time_ns < series.candles[0].time_ns
    ]
    room = MAX_CANDLES - len(series.candles)
    series.candles[:0] = older[-room:] if room > 0 else []
    series.wants_older, series.reaches_start = False, not older
    store.mark(Topic.CANDLES, (series.instrument, series.granularity))


def apply_past_candles(
    store: Store,
    series: CandleSeries,
    past: PastCandles,
    loaded: Iterable[Candlestick],
    direction: Direction,
) -> None:
    """Add candles at one end of a window; it loses those beyond its size at the other end."""
    made, held = candles_of(store, loaded), past.candles
    if direction == "older":
        older = [each for each in made if not held or each.time_ns < held[0].time_ns]
        held[:0] = older
        past.reaches_start = not older
        del held[WINDOW:]
    else:
        held += [each for each in made if not held or each.time_ns > held[-1].time_ns]
        if len(held) > WINDOW:
            del held[:-WINDOW]
            past.reaches_start = False
    store.mark(Topic.CANDLES, (series.instrument, series.granularity))
