"""Simple strategies on hourly prices, their costs and their Sharpe ratios: what a fair market must not reward.

A strategy is a function of past hourly log prices that returns a position between -1 and 1 for the hour to come. Profits are
log returns, less half the spread for each change of position, less the financing of what is held.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
HOURS_A_YEAR = 24 * 365.25
_DAY, _WEEK = 24, 168


@dataclass(frozen=True, slots=True)
class HourlyPrices:
    """One pair, hour by hour."""

    logs: Floats  # at the start of each hour
    hours: NDArray[np.int64]  # hours since 1970 UTC
    last_fixing: Floats  # log price at the last fixing before each hour
    half_spread: Floats  # as a fraction of the price
    long_rate: float  # financing a year of a long position, as a fraction
    short_rate: float


Strategy = Callable[[HourlyPrices], Floats]


def profits(prices: HourlyPrices, position: Floats) -> Floats:
    """Return the log return of each hour, costs included."""
    held = position[:-1]
    moved = np.diff(prices.logs)
    traded = np.abs(np.diff(held, prepend=0.0))
    rate = np.where(held > 0, prices.long_rate, prices.short_rate)
    financing = np.abs(held) * rate / HOURS_A_YEAR
    return np.asarray(held * moved - traded * prices.half_spread[:-1] + financing)


def sharpe(returns: Floats) -> float:
    """Return the annual Sharpe ratio of hourly returns, from daily sums; 0 without any trade."""
    days = returns[: len(returns) // _DAY * _DAY].reshape(-1, _DAY).sum(axis=1)
    deviation = float(days.std())
    return float(days.mean()) / deviation * float(np.sqrt(365.25)) if deviation else 0.0


def _mean(values: Floats, window: int) -> Floats:
    """Return the mean of the last `window` values up to each; of fewer at the beginning."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - window, 0)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts))


def _distance(prices: HourlyPrices, window: int) -> Floats:
    """Return the distance from the moving average in standard deviations."""
    logs = prices.logs - prices.logs[0]
    mean = _mean(logs, window)
    variance = np.maximum(_mean(logs * logs, window) - mean * mean, 1e-16)
    return np.asarray((logs - mean) / np.sqrt(variance))


def _lagged(logs: Floats, hours: int) -> Floats:
    return np.concatenate([np.zeros(hours), logs[hours:] - logs[:-hours]])


def fade(prices: HourlyPrices, window: int, threshold: float) -> Floats:
    """Sell what is far above its moving average, buy what is far below."""
    distance = _distance(prices, window)
    return np.where(np.abs(distance) > threshold, -np.sign(distance), 0.0)


def follow(prices: HourlyPrices, window: int, threshold: float) -> Floats:
    """Buy what is far above its moving average, sell what is far below."""
    return -fade(prices, window, threshold)


def momentum(prices: HourlyPrices, hours: int) -> Floats:
    """Hold the direction of the last hours."""
    return np.sign(_lagged(prices.logs, hours))


def reversal(prices: HourlyPrices, hours: int) -> Floats:
    """Hold against the direction of the last hours."""
    return -momentum(prices, hours)


def moving_averages(prices: HourlyPrices, fast: int, slow: int) -> Floats:
    """Hold the side of the faster of two moving averages."""
    logs = prices.logs - prices.logs[0]
    return np.sign(_mean(logs, fast) - _mean(logs, slow))


def _rolling(extreme: np.ufunc, values: Floats, window: int) -> Floats:
    """Return the extreme of each window of values, by doubling the width."""
    found, width = values, 1
    while 2 * width <= window:
        found, width = extreme(found[:-width], found[width:]), 2 * width
    rest = window - width
    return np.asarray(extreme(found[: len(found) - rest], found[rest:]))


def breakout(prices: HourlyPrices, hours: int) -> Floats:
    """Turn to the side on which the range of the last hours was left, and stay there."""
    high, low = (_rolling(extreme, prices.logs[:-1], hours) for extreme in (np.maximum, np.minimum))
    after = prices.logs[hours:]
    signal = np.concatenate([np.zeros(hours), (after > high) * 1.0 - (after < low)])
    last = np.maximum.accumulate(np.where(signal != 0, np.arange(len(signal)), 0))
    return np.asarray(signal[last])


def fade_breakout(prices: HourlyPrices, hours: int) -> Floats:
    """Turn against the side on which the range was left."""
    return -breakout(prices, hours)


def shock(prices: HourlyPrices, side: float) -> Floats:
    """Follow (1) or fade (-1) an hour of more than three usual sizes, for six hours."""
    moved = _lagged(prices.logs, 1)
    usual = np.sqrt(_mean(moved * moved, 20 * _DAY))
    signal = np.where(np.abs(moved) > 3 * usual, np.sign(moved), 0.0)
    return np.asarray(side * np.sign(np.round(_mean(signal, 6) * 6)))


def from_fixing(prices: HourlyPrices, side: float) -> Floats:
    """Hold away from (1) or back to (-1) the last fixing."""
    return np.asarray(side * np.sign(prices.logs - prices.last_fixing))


def _by_slot(prices: HourlyPrices, slots: NDArray[np.int64], count: int) -> Floats:
    """Hold the direction that the slot of the week or day had on average over the past."""
    moved = np.diff(prices.logs, append=prices.logs[-1])
    position = np.zeros(len(moved))
    for slot in range(count):
        here = np.flatnonzero(slots == slot)
        earlier = np.concatenate([[0.0], np.cumsum(moved[here])[:-1]])
        position[here[60:]] = np.sign(earlier[60:])
    return position


def hour_of_day(prices: HourlyPrices) -> Floats:
    """Hold in each hour of the day the direction that it had on average so far."""
    return _by_slot(prices, prices.hours % _DAY, _DAY)


def hour_of_week(prices: HourlyPrices) -> Floats:
    """Hold in each hour of the week the direction that it had on average so far."""
    return _by_slot(prices, prices.hours % _WEEK, _WEEK)


def day_of_week(prices: HourlyPrices) -> Floats:
    """Hold on each day of the week the direction that it had on average so far."""
    return _by_slot(prices, prices.hours // _DAY % 7, 7)


def before_fixing(prices: HourlyPrices, side: float) -> Floats:
    """Follow (1) or fade (-1) the move since the last fixing, in the three hours before the next."""
    late = np.isin(prices.hours % _DAY, (10, 11, 12))
    return np.where(late, from_fixing(prices, side), 0.0)


STRATEGIES: Mapping[str, Strategy] = {
    **{f"fade 1.5 sd of {n} h": partial(fade, window=n, threshold=1.5) for n in (12, 24, 120)},
    **{f"fade 2.5 sd of {n} h": partial(fade, window=n, threshold=2.5) for n in (24, 120)},
    "follow 2 sd of 24 h": partial(follow, window=24, threshold=2.0),
    "follow 2 sd of 120 h": partial(follow, window=120, threshold=2.0),
    **{f"momentum of {n} h": partial(momentum, hours=n) for n in (1, 6, 24, 120)},
    **{f"reversal of {n} h": partial(reversal, hours=n) for n in (1, 6, 24, 120)},
    **{
        f"moving averages {a}/{b} h": partial(moving_averages, fast=a, slow=b)
        for a, b in ((6, 24), (12, 48), (24, 120))
    },
    **{f"breakout of {n} h": partial(breakout, hours=n) for n in (24, 120)},
    "against breakout of 24 h": partial(fade_breakout, hours=24),
    "follow shocks": partial(shock, side=1.0),
    "fade shocks": partial(shock, side=-1.0),
    "away from the last fixing": partial(from_fixing, side=1.0),
    "back to the last fixing": partial(from_fixing, side=-1.0),
    "hour of day": hour_of_day,
    "hour of week": hour_of_week,
    "day of week": day_of_week,
    "with the move before a fixing": partial(before_fixing, side=1.0),
    "against the move before a fixing": partial(before_fixing, side=-1.0),
}

SLOW_STRATEGIES: Mapping[str, Strategy] = {
    "fade 1.5 sd of 480 h": partial(fade, window=480, threshold=1.5),
    "momentum of 480 h": partial(momentum, hours=480),
    "moving averages 120/480 h": partial(moving_averages, fast=120, slow=480),
    "breakout of 480 h": partial(breakout, hours=480),
}
