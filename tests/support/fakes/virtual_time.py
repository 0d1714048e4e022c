"""An event loop whose clock jumps: waiting takes no time, and every run is the same.

def test_something() -> None:
    run(body())          # inside: asyncio.sleep(30) returns at once, loop.time() is 30 later
"""

import asyncio
import random
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from keydesk_client.http.timing import Timing

T = TypeVar("T")


class _Jump(selectors.DefaultSelector):
    """Instead of waiting for a socket, the clock jumps to the next appointment."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise AssertionError("everything waits, and nothing will ever happen")
        self.now += max(timeout, 1e-6)
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """A loop without sockets and without waiting."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        return self._jump.now


def run(body: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, its waits skipped."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(body)


def virtual_timing(seed: int = 1) -> Timing:
    """The clock of the running loop, and dice that fall the same way each time."""
    loop = asyncio.get_running_loop()
    return Timing(
        clock=loop.time,
        wall_ns=lambda: int(loop.time() * 1e9),
        sleep=asyncio.sleep,
        rng=random.Random(seed).random,
    )
