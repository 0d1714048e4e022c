"""Random numbers as a pure function of what they are for, and a cache of the results of pure functions.

`Rng` is a counter-based generator: Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11) gives the same
numbers for the same key without any state, so the path of a currency on a day in 2009 can be drawn without drawing any other
day. Normal variates are looked up in a table of 4,096 quantiles by 12 raw bits each: five times faster than numpy's exact
method, independent of the numpy version (which promises only the raw bits), and after a few steps of a sum as good.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from enum import IntEnum
from functools import cache
from statistics import NormalDist
from typing import Generic, TypeVar

import numpy as np
from numpy.random import Philox

from keydesk_practice.market.reference import Floats

_QUANTILES = 4096
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

    def _words(
        self, purpose: Purpose, name: str, number: int, count: int
    ) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        key = purpose << 56 | int.from_bytes(name.encode()[:3], "big") << 32 | number & 0xFFFFFFFF
        generator = Philox(key=np.array([self.seed, key], dtype=np.uint64))
        return np.asarray(generator.random_raw(count), dtype="<u8").view(np.uint64)


class Lru(Generic[Key, Value]):
    """Cache up to `size` results of a pure function of one key, dropping the least recently used."""

    def __init__(self, size: int, compute: Callable[[Key], Value]) -> None:
        self._size = size
        self._compute = compute
        self._cache: OrderedDict[Key, Value] = OrderedDict()

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
    normal = NormalDist()
    half = np.array([normal.inv_cdf((i + 0.5) / _QUANTILES) for i in range(_QUANTILES // 2)])
    table = np.concatenate([half, -half[::-1]])
    return np.asarray(table / table.std(), dtype=np.float64)  # variance exactly 1
