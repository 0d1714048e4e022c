"""Random numbers as a pure function of what they are for, and a cache of the results of pure functions.

`Rng` is a counter-based generator: Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11) gives the same
numbers for the same key without any state, so the path of a currency on a day in 2009 can be drawn without drawing any other
day. Normal variates are looked up in a table of 4,096 quantiles by 12 raw bits each: five times faster than numpy's exact
method, independent of the numpy version (which promises only the raw bits), and after a few steps of a sum as good. The steps
of a path, of which there are many, take 8 bits each: the sum of two uniform numbers, after a few steps as good as well. They are
whole numbers, so that sums of them are exact.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from enum import IntEnum
from functools import cache, partial
from statistics import NormalDist
from typing import Generic, TypeVar

import numpy as np
from numpy.random import Philox

from keydesk_practice.market.reference import Floats, SmallFloats, SmallIntegers

_QUANTILES = 4096
STEP_DEVIATION = 42.5**0.5  # of the difference from the mean of two numbers from 0 to 15
_LOW, _LOW_BITS = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(4)  # of each byte of a word
# Added to a byte from 0 to 30, then exclusive or: the byte less 15, with its sign.
_LESS_MEAN, _SIGN = np.uint64(0x7171717171717171), np.uint64(0x8080808080808080)
_WORD = (1 << 64) - 1
Words = np.ndarray[tuple[int], np.dtype[np.uint64]]
DrawWords = Callable[[int, int], Words]  # by how many, and how many go before
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Purpose(IntEnum):
    """The purpose of random numbers: each has its own sequence."""

    PATH = 1
    FIXING = 2
    FUTURE = 3
    JUMP = 4
    SPREAD = 5
    BOOK = 6
    AFTERSHOCK = 7
    SIZE = 8


class Rng:
    """Random numbers that depend only on seed, purpose, a name (a currency) and a number (a day)."""

    def __init__(self, seed: int) -> None:
        self.seed = seed & _WORD
        # One generator for all keys: to make one takes ten times as long as to give it a key.
        self._generator = Philox(key=0)
        self._state = self._generator.state

    def normals(self, purpose: Purpose, name: str, number: int, count: int) -> Floats:
        """Return `count` standard normal variates; a smaller count gives the beginning of the same sequence."""
        words = self._words(purpose, name, number, -(-count // 4))
        return _normal_table().take(words.view(np.uint16)[:count] >> 4)

    def uniforms(self, purpose: Purpose, name: str, number: int, count: int) -> Floats:
        """Return `count` numbers in [0, 1)."""
        words = self._words(purpose, name, number, count)
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def streams(self, purpose: Purpose, number: int, count: int) -> "Streams":
        """Return streams of `count` steps each, drawn as they are asked for."""
        return Streams(partial(self._words, purpose, "", number), count)

    def _words(self, purpose: Purpose, name: str, number: int, count: int, start: int = 0) -> Words:
        """Return the words from `start` on of the sequence of a purpose, a name and a number."""
        key = purpose << 56 | int.from_bytes(name.encode()[:3], "big") << 32 | number & 0xFFFFFFFF
        self._state["state"]["key"][:] = self.seed, key
        self._generator.state = self._state
        if start:
            self._generator.random_raw(start, output=False)
        return np.asarray(self._generator.random_raw(count), dtype="<u8").view(np.uint64)


class Streams:
    """Independent sequences of steps by place: whole numbers from -15 to 15 with the standard deviation `STEP_DEVIATION`."""

    def __init__(self, words: DrawWords, count: int) -> None:
        self._words, self._count = words, count
        self._drawn: SmallIntegers = np.empty((0, count), dtype=np.int8)

    def first(self, places: int) -> SmallIntegers:
        """Return the steps of the first so many streams, [stream, step]."""
        drawn = len(self._drawn)
        if places > drawn:
            # As many again as there are, so that they grow a few times only.
            more = self._draw(drawn, max(places - drawn, drawn))
            self._drawn = np.concatenate([self._drawn, more]) if drawn else more
        return self._drawn[:places]

    def weighted_sum(self, weights: SmallFloats) -> SmallFloats:
        """Return the sum of the streams, each times its weight; weights that are whole numbers give an exact sum."""
        used = weights.nonzero()[0]
        places = int(used[-1]) + 1 if used.size else 0
        steps = self.first(places)
        # Bytes become floats within the sum, a few at a time, which takes half the time.
        return np.asarray(
            np.einsum("k,kn->n", weights[:places], steps, dtype=np.float32, casting="unsafe")
        )

    def _draw(self, first: int, places: int) -> SmallIntegers:
        of_one = -(-self._count // 8)
        words = self._words(places * of_one, first * of_one)
        steps = words >> _LOW_BITS
        steps &= _LOW
        words &= _LOW
        steps += words
        steps += _LESS_MEAN
        steps ^= _SIGN
        return steps.view(np.int8).reshape(places, -1)[:, : self._count]


class Lru(Generic[Key, Value]):
    """Cache up to `size` results of a pure function of one key, dropping the least recently used."""

    def __init__(self, size: int, compute: Callable[[Key], Value]) -> None:
        self._size = size
        self._compute = compute
        self._cache: OrderedDict[Key, Value] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        """Return whether the result for `key` is cached."""
        return key in self._cache

    def __call__(self, key: Key) -> Value:
        """Return the result for `key`, from the cache if it is there."""
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        value = self._cache[key] = self._compute(key)
        if len(self._cache) > self._size:
            self._cache.popitem(last=False)
        return value

    def once(self, key: Key) -> Value:
        """Return the result for `key` without keeping it, for callers that use each of many keys once."""
        return self._cache[key] if key in self._cache else self._compute(key)


@cache
def _normal_table() -> Floats:
    return _quantiles(_QUANTILES)


def _quantiles(count: int) -> Floats:
    normal = NormalDist()
    half = np.array([normal.inv_cdf((i + 0.5) / count) for i in range(count // 2)])
    table = np.concatenate([half, -half[::-1]])
    return np.asarray(table / table.std(), dtype=np.float64)  # variance exactly 1
