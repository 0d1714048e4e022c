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
from functools import cache
from statistics import NormalDist
from typing import Generic, TypeVar

import numpy as np
from numpy.random import Philox

from keydesk_practice.market.reference import Floats, SmallFloats

_QUANTILES = 4096
STEP_DEVIATION = 42.5**0.5  # of the difference from the mean of two numbers from 0 to 15
_LOW, _LOW_BITS = np.uint8(15), np.uint8(4)
_WORD = (1 << 64) - 1
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
        return Streams(self._generator(purpose, "", number), count)

    def _words(
        self, purpose: Purpose, name: str, number: int, count: int
    ) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        return _raw(self._generator(purpose, name, number), count)

    def _generator(self, purpose: Purpose, name: str, number: int) -> Philox:
        key = purpose << 56 | int.from_bytes(name.encode()[:3], "big") << 32 | number & 0xFFFFFFFF
        return Philox(key=np.array([self.seed, key], dtype=np.uint64))


class Streams:
    """Independent sequences of steps by place: whole numbers from -15 to 15 with the standard deviation `STEP_DEVIATION`."""

    def __init__(self, generator: Philox, count: int) -> None:
        self._generator, self._count = generator, count
        self._drawn: list[SmallFloats] = []

    def __getitem__(self, place: int) -> SmallFloats:
        """Return the steps of a stream; those before it are drawn, too."""
        while len(self._drawn) <= place:
            drawn = _raw(self._generator, -(-self._count // 8)).view(np.uint8)[: self._count]
            steps = ((drawn & _LOW) + (drawn >> _LOW_BITS)).astype(np.float32)
            steps -= _LOW
            self._drawn.append(steps)
        return self._drawn[place]


def _raw(generator: Philox, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.asarray(generator.random_raw(count), dtype="<u8").view(np.uint64)


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
        value = self._compute(key)
        self._cache[key] = value
        if len(self._cache) > self._size:
            self._cache.popitem(last=False)
        return value


@cache
def _normal_table() -> Floats:
    return _quantiles(_QUANTILES)


def _quantiles(count: int) -> Floats:
    normal = NormalDist()
    half = np.array([normal.inv_cdf((i + 0.5) / count) for i in range(count // 2)])
    table = np.concatenate([half, -half[::-1]])
    return np.asarray(table / table.std(), dtype=np.float64)  # variance exactly 1
