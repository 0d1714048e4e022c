"""A bounded memory of what was computed lately; the least recently used goes first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """Remember up to `size` results of a pure function of one key."""

    def __init__(self, size: int, compute: Callable[[Key], Value]) -> None:
        self._size = size
        self._compute = compute
        self._kept: OrderedDict[Key, Value] = OrderedDict()

    def __call__(self, key: Key) -> Value:
        """Return the result for `key`, from memory if it is there."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = self._compute(key)
        self._kept[key] = value
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)
        return value
