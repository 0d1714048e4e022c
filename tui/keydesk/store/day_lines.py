"""Apply the candles of the watchlist's figures: the line of the day and the average true range. Loaded with the models."""

from collections.abc import Iterable
from math import isfinite

from keydesk.calc.market import day_shape
from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.market.indicators import compute
from keydesk.calc.market.trading_day import day_start
from keydesk.records import DayLine
from keydesk.store.candles import candle_of
from keydesk.store.state import Candle, Topic
from keydesk.store.store import Store
from keydesk_client.account.values import readable
from keydesk_client.models import Candlestick

ATR = IndicatorSpec("atr", (14,))


def take_daily_range(store: Store, instrument: str, loaded: Iterable[Candlestick]) -> None:
    """Store the average true range of the complete daily candles."""
    complete = [each for each in _candles(store, loaded) if each.complete]
    values = compute(ATR, complete).lines[0].values
    store.daily_ranges[instrument] = values[-1] if values and isfinite(values[-1]) else None
    store.mark(Topic.DAY_LINES, instrument)


def take_day_line(store: Store, instrument: str, loaded: Iterable[Candlestick]) -> None:
    """Store the line of the day that the newest candles belong to."""
    candles = _candles(store, loaded)
    start = day_start(store.clock_ns or (candles[-1].time_ns if candles else 0))
    path = day_shape.path_of(((each.time_ns, each.close) for each in candles), start)
    store.day_lines[instrument] = DayLine(start, path)
    store.mark(Topic.DAY_LINES, instrument)


def _candles(store: Store, loaded: Iterable[Candlestick]) -> list[Candle]:
    made = (each for each in readable(store, candle_of, loaded) if each is not None)
    return sorted(made, key=lambda each: each.time_ns)
