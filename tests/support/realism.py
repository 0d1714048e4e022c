"""Figures of the practice market's prices over years: volatility, foreseeability, tails, clustering and seasons.

They are computed from the hourly prices of all pairs, which are differences of the currencies' log rates at full hours.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from keydesk_practice.market.hours import cell_at, cells_in, first_cell, market_day_of, weekday
from keydesk_practice.market.instruments import CURRENCIES, LISTINGS, financing_rates
from keydesk_practice.market.paths import PROGRESS_STEP, CurrencyPaths, scaled_profile
from keydesk_practice.market.practice_market import PracticeMarket
from keydesk_practice.market.reference import ReferenceRates
from support.strategies import Floats, HourlyPrices

NANOSECONDS = 1_000_000_000
_CELLS_AN_HOUR = 720


@dataclass(frozen=True, slots=True, eq=False)
class HourlyRates:
    """The log rates of all currencies against the euro, the euro's own last, at full hours and at fixings."""

    market: PracticeMarket
    cells: NDArray[np.int64]  # of the full hours
    logs: Floats  # [hour, column]
    days: NDArray[np.int64]  # calendar days
    fixings: Floats  # [day, column] at the fixing instant


def hourly_rates(
    market: PracticeMarket, first: str, last: str, currencies: Collection[str] = CURRENCIES
) -> HourlyRates:
    """Return the rates of all hours of the market days from one calendar day up to another; others than asked for are zero."""
    market.at(_nanoseconds(last))  # lays the days up to then
    columns = [i for i, name in enumerate(market.rates.currencies) if name in currencies]
    begin, end = (market_day_of(cell_at(_nanoseconds(day))) for day in (first, last))
    cells, logs, fixings = [], [], []
    for day in range(begin, end):
        start, stop = first_cell(day), first_cell(day + 1)
        hours = np.arange(-(-start // _CELLS_AN_HOUR), -(-stop // _CELLS_AN_HOUR)) * _CELLS_AN_HOUR
        at = np.concatenate([[0], hours - start])
        values = np.zeros((len(at), len(market.rates.currencies) + 1))
        values[:, columns] = _values_at(market, day, at, columns)
        cells.append(hours)
        logs.append(values[1:])
        fixings.append(values[0])
    days = np.arange(begin, end, dtype=np.int64)
    return HourlyRates(market, np.concatenate(cells), np.concatenate(logs), days, np.array(fixings))


def _values_at(
    market: PracticeMarket, day: int, at: NDArray[np.int64], columns: list[int]
) -> Floats:
    """Return the log rates of currencies at grid points of a day, [point, column].

    The sums of a day's streams between the points, times the weights: the same numbers as those of the curves, since all of
    them are whole, in a sixth of the time. Days with jumps and known events take the curves.
    """
    paths, fixings = market._pairs.paths, market._pairs.fixings
    if market._pairs.has_shocks(day) or not isinstance(paths, CurrencyPaths):
        return np.stack([paths.curve(day, column).points[at] for column in columns], axis=1)
    interval, profile = fixings.interval(day), scaled_profile(weekday(day), cells_in(day))
    count = int(np.flatnonzero(np.abs(interval.weights[columns]).sum(axis=0)).max()) + 1
    streams = paths.streams(day).first(count)
    edges = [*at.tolist(), len(profile.root)]
    parts = [np.add.reduceat(steps * profile.root, edges[:-1]) for steps in streams]
    sums = np.cumsum(np.array(parts), axis=1)
    walks = interval.weights[columns, :count].astype(np.float64) @ sums  # exact, being whole
    place = day - interval.first_day
    start, end = interval.logs[place : place + 2, columns]
    before = np.concatenate([np.zeros((len(columns), 1)), walks[:, :-1]], axis=1)
    rest = (end - start - walks[:, -1]) * PROGRESS_STEP
    return np.asarray((start[:, None] + before + profile.progress[at] * rest[:, None]).T)


def drawn_rates(rates: ReferenceRates, seed: int) -> ReferenceRates:
    """Return rates whose moves are the published ones with a sign drawn for each day: sizes stay, all memory goes."""
    signs = np.where(np.random.default_rng(seed).random(len(rates.days) - 1) < 0.5, -1.0, 1.0)
    moves = np.diff(rates.logs, axis=0) * signs[:, None]
    begins = np.isfinite(rates.logs).argmax(axis=0)
    logs = np.full_like(rates.logs, np.nan)
    for column, begin in enumerate(begins):
        steps = np.concatenate([[rates.logs[begin, column]], moves[begin:, column]])
        logs[begin:, column] = np.cumsum(steps)
    return ReferenceRates(rates.days, rates.currencies, logs, published=False)


def pair_prices(rates: HourlyRates, name: str) -> HourlyPrices:
    """Return the hourly prices and costs of a pair."""
    base, quote = name.split("_")
    columns = {one: i for i, one in enumerate((*rates.market.rates.currencies, "EUR"))}
    b, q = columns[base], columns[quote]
    day_of = np.searchsorted(_first_cells(rates), rates.cells, side="right") - 1
    fixings = rates.fixings[:, q] - rates.fixings[:, b]
    long_rate, short_rate = (float(one) for one in financing_rates(base, quote))
    return HourlyPrices(
        rates.logs[:, q] - rates.logs[:, b],
        (rates.cells // _CELLS_AN_HOUR).astype(np.int64),
        fixings[day_of],
        half_spreads(rates)[:, [listing.name for listing in LISTINGS].index(name)],
        long_rate,
        short_rate,
    )


@lru_cache(maxsize=2)
def half_spreads(rates: HourlyRates) -> Floats:
    """Return half the spread at each hour as a fraction of the price, without the noise of the spread, [hour, pair]."""
    pairs = rates.market._pairs
    parts = []
    for day, start in zip(rates.days, _first_cells(rates), strict=True):
        session = pairs.sessions.on(int(day)).spread
        first = int(-start % _CELLS_AN_HOUR)
        hours = session[first : len(session) - 1 : _CELLS_AN_HOUR]
        parts.append(hours[:, None] * (pairs.volatility.over(int(day))[0] * pairs.typical))
    return np.concatenate(parts)


def published_ratio(rates: HourlyRates, prices: HourlyPrices, name: str) -> float:
    """Return the volatility of hourly moves over that of the moves between published fixings."""
    published = np.isin(rates.days, rates.market.rates.days)
    daily = np.diff(_pair_fixings(rates, name)[published])
    return float(np.sqrt((np.diff(prices.logs) ** 2).sum() / (daily**2).sum()))


def deviation_t(prices: HourlyPrices) -> float:
    """Return t of the regression of the next hour's move on the deviation from the last fixing."""
    deviation = (prices.logs - prices.last_fixing)[:-1]
    moved = np.diff(prices.logs)
    weighted = deviation * moved
    return float(weighted.sum() / np.sqrt((weighted**2).sum()))


def seasons(prices: HourlyPrices) -> list[float]:
    """Return the size of moves of working days by hour of the day, relative to their mean."""
    moves = np.abs(np.diff(prices.logs))
    hours = prices.hours[:-1]
    working = (hours // 24 + 3) % 7 < 5
    sizes = [float(moves[working & (hours % 24 == hour)].mean()) for hour in range(24)]
    return [one / (sum(sizes) / 24) for one in sizes]


def kurtosis(values: Floats) -> float:
    """Return the kurtosis: 3 for a normal distribution."""
    centred = values - values.mean()
    return float((centred**4).mean() / (centred**2).mean() ** 2)


def autocorrelation(values: Floats, lag: int) -> float:
    """Return the correlation of values with those `lag` steps earlier."""
    centred = values - values.mean()
    return float((centred[lag:] * centred[:-lag]).mean() / (centred**2).mean())


def _pair_fixings(rates: HourlyRates, name: str) -> Floats:
    base, quote = name.split("_")
    columns = {one: i for i, one in enumerate((*rates.market.rates.currencies, "EUR"))}
    return np.asarray(rates.fixings[:, columns[quote]] - rates.fixings[:, columns[base]])


def _first_cells(rates: HourlyRates) -> Floats:
    return np.array([first_cell(int(day)) for day in rates.days])


def _nanoseconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC, hour=18).timestamp()) * NANOSECONDS
