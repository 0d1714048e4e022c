"""Where a crowd of traders has its orders and entered its positions, as weights over price buckets.

Nothing here is measured; it is what is commonly said of retail crowds (Osler, "Currency orders and exchange rate dynamics",
2003, found it in a bank's order book): limit orders heap at round prices and just inside recent extremes, stops just beyond
both; traders buy what has fallen and sell what has risen, and old entries stay where the price once was.
"""

from dataclasses import dataclass

import numpy as np

from keydesk_practice.market.reference import Floats, Integers

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
