"""A clock that moves only when a test moves it, with the appointments that were made by it."""

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(order=True)
class Appointment:
    """Something to call at a time."""

    when: float
    place: int
    callback: Callable[[], object] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


@dataclass
class FakeTimers:
    """Stands in for the clock of an event loop; `sleep` stands in for asyncio's and makes no one wait."""

    now: float = 1000.0
    appointments: list[Appointment] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, callback: Callable[[], object], /) -> Appointment:
        made = Appointment(when, len(self.appointments), callback)
        heapq.heappush(self.appointments, made)
        return made

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    async def run_until(self, done: Callable[[], bool]) -> None:
        """Let everything run, and move on to the next appointment whenever nothing can."""
        while not done():
            for _ in range(20):
                await asyncio.sleep(0)
            if self.appointments and not done():
                due = heapq.heappop(self.appointments)
                self.now = max(self.now, due.when)
                if not due.cancelled:
                    due.callback()
