"""The last resort ends the process with the exit code that it was armed with."""

import sys

import pytest

from support.terminal import Terminal

pytestmark = pytest.mark.e2e

# Its clean-up lets the event loop turn, as stopping a broker does, and ends as the event loop was asked to.
PROGRAM = """
import asyncio, os
from keydesk.app.lifecycle import FAILED, LastResort, leave_on_signals

async def main():
    asked, loop = [], asyncio.get_running_loop()

    async def turn():
        for _ in range(10):
            await asyncio.sleep(0)

    def clean_up():
        asyncio.run_coroutine_threadsafe(turn(), loop).result()
        if asked:
            os._exit(asked[0])

    last_resort = LastResort(clean_up)
    leave_on_signals(asked.append, last_resort)
    last_resort.arm(FAILED, 0.0)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_its_wake_up_signal_asks_nobody_to_leave_with_another_exit_code() -> None:
    with Terminal([sys.executable, "-c", PROGRAM], (80, 24), {}) as terminal:
        assert terminal.wait_for_exit() == 1
