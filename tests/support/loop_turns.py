"""The turns of the event loop: how much CPU time of its thread each takes."""

import asyncio
from selectors import BaseSelector, SelectorKey
from time import thread_time
from typing import Any, Self


class LoopTurns:
    """Measures every turn of the event loop while it is entered: from the end of its waiting to the beginning of the next."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        loop: Any = asyncio.get_running_loop()
        self._selector: BaseSelector = loop._selector  # the loop has no public hook for its turns
        self._wait = self._selector.select
        self._began = thread_time()

    @property
    def longest_ms(self) -> float:
        """The CPU milliseconds of the longest turn."""
        return max(self.seconds, default=0.0) * 1000

    def __enter__(self) -> Self:
        self._began = thread_time()
        self._selector.select = self._counted  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.select = self._wait  # type: ignore[method-assign]

    def _counted(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        self.seconds.append(thread_time() - self._began)
        ready: list[tuple[SelectorKey, int]] = self._wait(timeout)
        self._began = thread_time()
        return ready
