"""Order book and position book: how the orders and positions of a simulated crowd lie over the prices.

A snapshot is taken every twenty minutes on the hour. It shows shares of all orders (or positions) by price bucket, not
executable depth. Snapshots depend on seed, instrument and time alone; they follow the price, while heaps at round prices
and old entries stay where they are.

Where a crowd of traders has its orders and entered its positions, as weights over price buckets.

Nothing here is measured; it is what is commonly said of retail crowds (Osler, "Currency orders and exchange rate dynamics",
2003, found it in a bank's order book): limit orders heap at round prices and just inside recent extremes, stops just beyond
both; traders buy what has fallen and sell what has risen, and old entries stay where the price once was.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np

from keydesk_practice.engine.quotes import Specification
from keydesk_practice.market.bars import Component
from keydesk_practice.market.candles import Cut, Range
from keydesk_practice.market.hours import SECOND
from keydesk_practice.market.market import PracticeMarket
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Purpose, Recent

_TENS, _FIFTIES, _HUNDREDS = 0.4, 1.6, 2.4  # extra weight at multiples of so many pips
_NEAR, _FAR = 0.006, 0.025  # how fast interest fades with distance, as shares of the price
_FAR_WEIGHT = 0.25
_EXTREME_WIDTH = 2.5  # buckets around a recent high or low
_EXTREME_WEIGHT = 3.0
_CONTRARIAN = 1.2


@dataclass(frozen=True, slots=True)
class Scene:
    """What the crowd sees: buckets, the price, and the prices of the past weeks, oldest first."""

    lows: Floats  # low edge of each bucket
    pips: Integers  # the same as whole pips
    width: float
    price: float
    past: Floats
    highs: tuple[float, ...]  # recent highs and lows: of a day, a week, the weeks
    troughs: tuple[float, ...]
    taste: Floats  # of each bucket, around one: some prices are simply liked


def order_weights(scene: Scene) -> tuple[Floats, Floats]:
    """Return the weight of buy and of sell orders in each bucket."""
    above = scene.lows > scene.price
    near = _interest(scene) * _roundness(scene.pips) * scene.taste
    beyond_highs = _around(scene, scene.highs, 1.0)
    inside_highs = _around(scene, scene.highs, -1.0)
    beyond_lows = _around(scene, scene.troughs, -1.0)
    inside_lows = _around(scene, scene.troughs, 1.0)
    stops = near * (1.0 + np.where(above, beyond_highs, beyond_lows))
    limits = near * (1.0 + np.where(above, inside_highs, inside_lows))
    return np.where(above, stops, limits), np.where(above, limits, stops)


def position_weights(scene: Scene) -> tuple[Floats, Floats]:
    """Return the weight of long and of short positions by the bucket in which they were entered."""
    fresh = np.exp(np.linspace(-3.0, 0.0, len(scene.past)))
    edges = np.append(scene.lows, scene.lows[-1] + scene.width)
    entered = np.histogram(scene.past, edges, weights=fresh)[0]
    entered = np.convolve(entered, [0.25, 0.5, 0.25], mode="same") * scene.taste
    entered = entered * (1.0 + 0.3 * (_roundness(scene.pips) - 1.0))
    scale = float(np.std(np.log(scene.past))) or 1e-4
    cheap = np.log(float(np.mean(scene.past)) / (scene.lows + scene.width / 2)) / scale
    long_share = 1.0 / (1.0 + np.exp(-_CONTRARIAN * cheap))
    return entered * long_share, entered * (1.0 - long_share)


def _interest(scene: Scene) -> Floats:
    away = np.abs((scene.lows + scene.width / 2) / scene.price - 1.0)
    return np.asarray(np.exp(-away / _NEAR) + _FAR_WEIGHT * np.exp(-away / _FAR))


def _roundness(pips: Integers) -> Floats:
    return np.asarray(
        1.0 + _TENS * (pips % 10 == 0) + _FIFTIES * (pips % 50 == 0) + _HUNDREDS * (pips % 100 == 0)
    )


def _around(scene: Scene, levels: tuple[float, ...], side: float) -> Floats:
    """A heap some buckets to one side of each level."""
    heap = np.zeros(len(scene.lows))
    for level in levels:
        distance = ((scene.lows + scene.width / 2) - level) / scene.width * side
        heap += np.where(distance >= 0, _EXTREME_WEIGHT * np.exp(-distance / _EXTREME_WIDTH), 0.0)
    return heap


SNAPSHOT_EVERY = 1200 * SECOND
BOOK_INSTRUMENTS = (
    "AUD_JPY", "AUD_USD", "EUR_AUD", "EUR_CHF", "EUR_GBP", "EUR_JPY", "EUR_USD", "GBP_CHF",
    "GBP_JPY", "GBP_USD", "NZD_USD", "USD_CAD", "USD_CHF", "USD_JPY",
)  # fmt: skip  # only much-traded instruments have books

_BUCKET_PIPS = 5
_REACH = 300  # buckets on each side of the price
_TASTES = 8192
_CROWD = 30_000
_WEEKS = 20 * 24  # hours of past prices
_SPANS = (24, 5 * 24, _WEEKS)  # hours back for recent extremes
_PERCENT = Decimal("0.0001")
_KEPT = 32

Weights = Callable[[Scene], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True)
class Bucket:
    """The share of all orders or positions between a price and the next bucket's."""

    price: Decimal
    long_percent: Decimal
    short_percent: Decimal


@dataclass(frozen=True, slots=True)
class Book:
    """One snapshot."""

    instrument: str
    time: int  # nanoseconds since 1970 UTC
    price: Decimal
    bucket_width: Decimal
    buckets: tuple[Bucket, ...]  # ascending, none empty; all shares sum to 100


class Books:
    """Snapshots of both books, worked out when asked for."""

    def __init__(self, market: PracticeMarket) -> None:
        self._market, self._chance = market, market.chance
        self._scene = Recent(_KEPT, self._scene_of)

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
        scene = self._scene((instrument, time))
        if not len(scene.past):
            return None
        longs, shorts = (
            _counts(side, scene, self._jitter(time)) for side in _shares(weights, scene)
        )
        price = Decimal(scene.price).quantize(specification.price_step, ROUND_HALF_EVEN)
        width = specification.pip * _BUCKET_PIPS
        buckets = _buckets(scene, longs, shorts, specification)
        return Book(instrument, time, price, width, buckets)

    def _scene_of(self, key: tuple[str, int]) -> Scene:
        instrument, time = key
        specification = self._market.specifications[instrument]
        price = float(self._market.at(time).quote(instrument).mid)
        width = float(specification.pip) * _BUCKET_PIPS
        middle = int(price / width)
        places = np.arange(max(middle - _REACH, 1), middle + _REACH + 1)
        hours = self._market.candles(instrument, Cut("H1"), Range(count=_WEEKS), time)
        mids = [candle.prices[Component.MID] for candle in hours]
        return Scene(
            lows=np.asarray(places * width, dtype=np.float64),
            pips=places * _BUCKET_PIPS,
            width=width,
            price=price,
            past=np.array([float(one.c) for one in mids]),
            highs=tuple(
                max((float(one.h) for one in mids[-span:]), default=price) for span in _SPANS
            ),
            troughs=tuple(
                min((float(one.l) for one in mids[-span:]), default=price) for span in _SPANS
            ),
            taste=self._taste(instrument)[places % _TASTES],
        )

    def _taste(self, instrument: str) -> Floats:
        """What the crowd thinks of each price of an instrument, for ever."""
        number = BOOK_INSTRUMENTS.index(instrument)
        drawn = self._chance.uniforms(Purpose.BOOK, "", number, _TASTES)
        return np.asarray(0.5 + drawn)

    def _jitter(self, time: int) -> Floats:
        """What comes and goes between one snapshot and the next."""
        drawn = self._chance.uniforms(Purpose.BOOK, "now", time // SNAPSHOT_EVERY, 2 * _REACH + 1)
        return np.asarray(0.95 + 0.1 * drawn)


def latest_snapshot(now: int) -> int:
    """Return the time of the newest snapshot."""
    return now // SNAPSHOT_EVERY * SNAPSHOT_EVERY


def _shares(weights: Weights, scene: Scene) -> tuple[Floats, Floats]:
    longs, shorts = weights(scene)
    total = float(longs.sum() + shorts.sum())
    return longs / total, shorts / total


def _counts(shares: Floats, scene: Scene, jitter: Floats) -> Integers:
    return np.rint(shares * jitter[: len(scene.lows)] * _CROWD).astype(np.int64)


def _buckets(
    scene: Scene, longs: Integers, shorts: Integers, specification: Specification
) -> tuple[Bucket, ...]:
    """Shares with four decimals; the largest takes up what rounding left over, so that all sum to 100."""
    total = int(longs.sum() + shorts.sum())
    both = np.concatenate([longs, shorts])
    percents = [(Decimal(count) * 100 / total).quantize(_PERCENT) for count in both.tolist()]
    percents[int(both.argmax())] += 100 - sum(percents)
    rows = zip(scene.pips.tolist(), percents, percents[len(longs) :], strict=False)
    return tuple(
        Bucket(Decimal(pips).scaleb(specification.pip_location), long, short)
        for pips, long, short in rows
        if long or short
    )
