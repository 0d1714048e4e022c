"""Candles of the past: older ones in front of a chart's own, and windows farther back that a chart moves through.

A series holds the newest candles and as many older ones as fit. A chart that goes farther back gets a window of its own:
it grows at the end where candles are wanted and loses as many at the other, so memory is bounded however far one goes.
"""

from collections.abc import Iterable
from typing import Literal

from keydesk.store.candles import MOST_CANDLES, candles_of
from keydesk.store.state import CandleSeries, PastCandles, Topic
from keydesk.store.store import Store
from keydesk_client.models import Candlestick

WINDOW = 6000  # candles of a window
OVERLAP = 3000  # of the series' oldest, with which a window begins
Direction = Literal["older", "newer"]


def want_history(store: Store, instrument: str, granularity: str, direction: Direction) -> None:
    """Request candles beyond one end of a chart, if there may be any."""
    series = store.series.get((instrument, granularity))
    if series is None or not series.candles or series.loading_history:
        return
    if series.past is None and direction == "older" and len(series.candles) >= MOST_CANDLES:
        series.past = PastCandles(series.candles[:OVERLAP], begins=series.begins)
    past = series.past
    if past is None:
        series.wants_older = direction == "older" and not series.begins
    elif direction == "newer" or not past.begins:
        past.wants = direction
    store.mark(Topic.CANDLES)


def want_date(store: Store, instrument: str, granularity: str, date_ns: int) -> None:
    """Request a window around a date in place of the last one."""
    series = store.series.get((instrument, granularity))
    if series is not None:
        series.past = PastCandles(wants="date", date_ns=date_ns)
        store.mark(Topic.CANDLES)


def take_older(store: Store, series: CandleSeries, loaded: Iterable[Candlestick]) -> None:
    """Insert candles before the oldest one of a series; an answer without any marks the beginning of history."""
    made = candles_of(store, loaded)
    older = [
        each for each in made if not series.candles or each.time_ns < series.candles[0].time_ns
    ]
    room = MOST_CANDLES - len(series.candles)
    series.candles[:0] = older[-room:] if room > 0 else []
    series.wants_older, series.begins = False, not older
    store.mark(Topic.CANDLES, (series.instrument, series.granularity))


def take_past(
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
        past.begins = not older
        del held[WINDOW:]
    else:
        held += [each for each in made if not held or each.time_ns > held[-1].time_ns]
        if len(held) > WINDOW:
            del held[:-WINDOW]
            past.begins = False
    store.mark(Topic.CANDLES, (series.instrument, series.granularity))
