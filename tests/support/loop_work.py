"""How much one turn of the event loop does, as counts that no machine's speed changes.

async with measured_turns(connection) as work:
    ... ask for something ...
work.calls, work.steps    # Python function calls, and SQLite's virtual machine steps, in the longest turn
"""

import asyncio
import contextlib
import sqlite3
import sys
from collections.abc import AsyncIterator
from types import FrameType
from typing import Any

STEPS_A_COUNT = 100


class TurnWork:
    """The most that one turn did."""

    def __init__(self) -> None:
        self.calls = self.steps = self.turns = 0
        self._calls = self._steps = 0
        self._running = True

    def note_call(self, _frame: FrameType, event: str, _argument: Any) -> None:  # noqa: ANN401 - of `sys.setprofile`
        """Count a call of a Python or a C function."""
        if event in {"call", "c_call"}:
            self._calls += 1

    def note_steps(self) -> int:
        """Count what SQLite did."""
        self._steps += STEPS_A_COUNT
        return 0

    def next_turn(self) -> None:
        """Close the account of a turn and open that of the next."""
        self.calls, self.steps = max(self.calls, self._calls), max(self.steps, self._steps)
        self._calls = self._steps = 0
        self.turns += 1
        if self._running:
            asyncio.get_running_loop().call_soon(self.next_turn)

    def stop(self) -> None:
        """Count no more."""
        self._running = False


@contextlib.asynccontextmanager
async def measured_turns(connection: sqlite3.Connection) -> AsyncIterator[TurnWork]:
    """Measure the turns of the running loop within the block."""
    work = TurnWork()
    asyncio.get_running_loop().call_soon(work.next_turn)
    await asyncio.sleep(0)
    connection.set_progress_handler(work.note_steps, STEPS_A_COUNT)
    sys.setprofile(work.note_call)
    try:
        yield work
    finally:
        sys.setprofile(None)
        connection.set_progress_handler(None, STEPS_A_COUNT)
        work.stop()
        work.next_turn()
