"""Order books and position books of a simulated crowd of traders.

A snapshot is taken every twenty minutes on the hour. It shows the share of all orders (or positions) in each price bucket, not
executable depth. Snapshots depend on seed, instrument and time alone.

The weights are plausible, not measured; they follow the literature on retail traders (Osler, "Currency orders and exchange rate
dynamics", 2003, found it in a bank's order book): limit orders gather at round prices and just inside recent extremes, stops
just beyond both; traders buy what has fallen and sell what has risen, and old entries stay where the price once was.
"""

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
from msgspec import Struct

from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.market.practice_market import PracticeMarket
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Lru, Purpose

SNAPSHOT_EVERY = 1200 * SECOND

BOOK_INSTRUMENTS = (
    "AUD_JPY", "AUD_USD", "EUR_AUD", "EUR_CHF", "EUR_GBP", "EUR_JPY", "EUR_USD", "GBP_CHF",
    "GBP_JPY", "GBP_USD", "NZD_USD", "USD_CAD", "USD_CHF", "USD_JPY",
)  # fmt: skip  # only heavily traded instruments have books

_TENS, _FIFTIES, _HUNDREDS = 0.4, 1.6, 2.4  # extra weight at multiples of so many pips
_NEAR, _FAR = 0.006, 0.025  # decay of interest with distance, as shares of the price
_FAR_WEIGHT = 0.25
_EXTREME_WIDTH = 2.5  # buckets around a recent high or low
_EXTREME_WEIGHT = 3.0
_CONTRARIAN = 1.2
_BUCKET_PIPS = 5
_REACH = 300  # buckets on each side of the price
_PREFERENCES = 8192
_CROWD_SIZE = 30_000
_PAST_HOURS = 20 * 24
_SPANS = (24, 5 * 24, _PAST_HOURS)  # hours back for recent extremes
_PERCENT = Decimal("0.0001")
_CACHED_SNAPSHOTS = 32


class CrowdInputs(Struct, frozen=True):
    """The inputs of the weights: buckets, the price, and the prices of the past weeks, oldest first."""

    lows: Floats  # low edge of each bucket
    pips: Integers  # the same as whole pips
    width: float
    price: float
    past: Floats  # hourly closes
    recent_highs: tuple[float, ...]  # of a day, a week and all past weeks
    recent_lows: tuple[float, ...]
    preference: Floats  # a random factor of each bucket, around one


Weights = Callable[[CrowdInputs], tuple[Floats, Floats]]


class Bucket(Struct, frozen=True):
    """The share of all orders or positions between a price and the next bucket's."""

    price: Decimal
    long_percent: Decimal
    short_percent: Decimal


class Book(Struct, frozen=True):
    """One snapshot."""

    instrument: str
    time: int  # nanoseconds since 1970 UTC
    price: Decimal
    bucket_width: Decimal
    buckets: tuple[Bucket, ...]  # ascending, none empty; all shares sum to 100


class Books:
    """Snapshots of both books, computed on demand and cached."""

    def __init__(self, market: PracticeMarket) -> None:
        self._market, self._rng = market, market.rng
        self._inputs = Lru(_CACHED_SNAPSHOTS, self._inputs_at)

    def order_book(self, instrument: str, time: int) -> Book | None:
        """Return the order book as of a snapshot's time; None if there is no such snapshot."""
        return self._book(instrument, time, order_weights)

    def position_book(self, instrument: str, time: int) -> Book | None:
        """Return the position book as of a snapshot's time; None if there is no such snapshot."""
        return self._book(instrument, time, position_weights)

    def _book(self, instrument: str, time: int, weights: Weights) -> Book | None:
        specification = self._market.at(time).specification(instrument)
        if instrument not in BOOK_INSTRUMENTS or time % SNAPSHOT_EVERY or specification is None:
            return None
        inputs = self._inputs((instrument, time))
        if not len(inputs.past):
            return None
        longs, shorts = (
            _counts(side, inputs, self._jitter(time)) for side in _shares(weights, inputs)
        )
        price = Decimal(inputs.price).quantize(specification.price_step, ROUND_HALF_EVEN)
        width = specification.pip * _BUCKET_PIPS
        buckets = _buckets(inputs, longs, shorts, specification)
        return Book(instrument, time, price, width, buckets)

    def _inputs_at(self, key: tuple[str, int]) -> CrowdInputs:
        instrument, time = key
        specification = self._market.specifications[instrument]
        price = float(self._market.at(time).quote(instrument).mid)
        width = float(specification.pip) * _BUCKET_PIPS
        middle = int(price / width)
        places = np.arange(max(middle - _REACH, 1), middle + _REACH + 1)
        hours = self._market.candles(instrument, CandleSpec("H1"), Range(count=_PAST_HOURS), time)
        mids = [candle.prices[Component.MID] for candle in hours]
        return CrowdInputs(
            lows=np.asarray(places * width, dtype=np.float64),
            pips=places * _BUCKET_PIPS,
            width=width,
            price=price,
            past=np.array([float(one.c) for one in mids]),
            recent_highs=tuple(
                max((float(one.h) for one in mids[-span:]), default=price) for span in _SPANS
            ),
            recent_lows=tuple(
                min((float(one.l) for one in mids[-span:]), default=price) for span in _SPANS
            ),
            preference=self._preference(instrument)[places % _PREFERENCES],
        )

    def _preference(self, instrument: str) -> Floats:
        """Return the constant random preference of each bucket of an instrument."""
        number = BOOK_INSTRUMENTS.index(instrument)
        drawn = self._rng.uniforms(Purpose.BOOK, "", number, _PREFERENCES)
        return np.asarray(0.5 + drawn)

    def _jitter(self, time: int) -> Floats:
        """Return the random factors of one snapshot, around one."""
        drawn = self._rng.uniforms(Purpose.BOOK, "now", time // SNAPSHOT_EVERY, 2 * _REACH + 1)
        return np.asarray(0.95 + 0.1 * drawn)


def latest_snapshot(now: int) -> int:
    """Return the time of the newest snapshot."""
    return now // SNAPSHOT_EVERY * SNAPSHOT_EVERY


def order_weights(inputs: CrowdInputs) -> tuple[Floats, Floats]:
    """Return the weight of buy and of sell orders in each bucket."""
    above = inputs.lows > inputs.price
    near = _interest(inputs) * _roundness(inputs.pips) * inputs.preference
    beyond_highs = _around(inputs, inputs.recent_highs, 1.0)
    inside_highs = _around(inputs, inputs.recent_highs, -1.0)
    beyond_lows = _around(inputs, inputs.recent_lows, -1.0)
    inside_lows = _around(inputs, inputs.recent_lows, 1.0)
    stops = near * (1.0 + np.where(above, beyond_highs, beyond_lows))
    limits = near * (1.0 + np.where(above, inside_highs, inside_lows))
    return np.where(above, stops, limits), np.where(above, limits, stops)


def position_weights(inputs: CrowdInputs) -> tuple[Floats, Floats]:
    """Return the weight of long and of short positions by the bucket in which they were entered."""
    recency = np.exp(np.linspace(-3.0, 0.0, len(inputs.past)))
    edges = np.append(inputs.lows, inputs.lows[-1] + inputs.width)
    entered = np.histogram(inputs.past, edges, weights=recency)[0]
    entered = np.convolve(entered, [0.25, 0.5, 0.25], mode="same") * inputs.preference
    entered = entered * (1.0 + 0.3 * (_roundness(inputs.pips) - 1.0))
    scale = float(np.std(np.log(inputs.past))) or 1e-4
    cweight = np.log(float(np.mean(inputs.past)) / (inputs.lows + inputs.width / 2)) / scale
    long_share = 1.0 / (1.0 + np.exp(-_CONTRARIAN * cweight))
    return entered * long_share, entered * (1.0 - long_share)


def _interest(inputs: CrowdInputs) -> Floats:
    distance = np.abs((inputs.lows + inputs.width / 2) / inputs.price - 1.0)
    return np.asarray(np.exp(-distance / _NEAR) + _FAR_WEIGHT * np.exp(-distance / _FAR))


def _roundness(pips: Integers) -> Floats:
    return np.asarray(
        1.0 + _TENS * (pips % 10 == 0) + _FIFTIES * (pips % 50 == 0) + _HUNDREDS * (pips % 100 == 0)
    )


def _around(inputs: CrowdInputs, levels: tuple[float, ...], side: float) -> Floats:
    """Return extra weight that decays from each level to one side (1: above, -1: below)."""
    weight = np.zeros(len(inputs.lows))
    for level in levels:
        distance = ((inputs.lows + inputs.width / 2) - level) / inputs.width * side
        weight += np.where(distance >= 0, _EXTREME_WEIGHT * np.exp(-distance / _EXTREME_WIDTH), 0.0)
    return weight


def _shares(weights: Weights, inputs: CrowdInputs) -> tuple[Floats, Floats]:
    longs, shorts = weights(inputs)
    total = float(longs.sum() + shorts.sum())
    return longs / total, shorts / total


def _counts(shares: Floats, inputs: CrowdInputs, jitter: Floats) -> Integers:
    return np.rint(shares * jitter[: len(inputs.lows)] * _CROWD_SIZE).astype(np.int64)


def _buckets(
    inputs: CrowdInputs, longs: Integers, shorts: Integers, specification: Specification
) -> tuple[Bucket, ...]:
    """Return the shares as percentages with four decimals; the largest is corrected so that all sum to 100."""
    total = int(longs.sum() + shorts.sum())
    both = np.concatenate([longs, shorts])
    percents = [(Decimal(count) * 100 / total).quantize(_PERCENT) for count in both.tolist()]
    percents[int(both.argmax())] += 100 - sum(percents)
    rows = zip(inputs.pips.tolist(), percents, percents[len(longs) :], strict=False)
    return tuple(
        Bucket(Decimal(pips).scaleb(specification.pip_location), long, short)
        for pips, long, short in rows
        if long or short
    )
