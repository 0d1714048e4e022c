"""How the desk ends when it is told to from outside: a signal, or a terminal that went away.

Measured: a plain terminal program dies at once on a hang-up and never hears the answer to an order that is in flight.
So signals only ask the desk to leave; it drains, writes its journal and restores the terminal. A watchdog thread makes
sure that two seconds are enough, whatever hangs: the journal is already on disk, and the next start resolves it.
"""

import asyncio
import os
import select
import signal
import sys
import threading
from collections.abc import Callable

LEAVE_SECONDS = 1.9
TERMINAL_CHECK_SECONDS = 0.5
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


def leave_on_signals(leave: Callable[[int], None]) -> None:
    """Call `leave(exit_code)` on SIGINT, SIGTERM and SIGHUP; end the process if that takes too long."""
    loop = asyncio.get_running_loop()

    def told(number: signal.Signals) -> None:
        start_watchdog(CODES[number])
        leave(CODES[number])

    for number in CODES:
        loop.add_signal_handler(number, told, number)


async def leave_without_terminal(leave: Callable[[int], None]) -> None:
    """Watch the terminal and call `leave(129)` once it is gone (a hang-up may be ignored by nohup)."""
    poll = select.poll()
    poll.register(sys.__stdin__.fileno() if sys.__stdin__ else 0, 0)
    while True:
        await asyncio.sleep(TERMINAL_CHECK_SECONDS)
        if any(
            event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0)
        ):
            start_watchdog(CODES[signal.SIGHUP])
            leave(CODES[signal.SIGHUP])
            return


def start_watchdog(code: int) -> None:
    """End the process hard with `code` if it still runs after two seconds."""
    timer = threading.Timer(LEAVE_SECONDS, os._exit, (code,))
    timer.daemon = True
    timer.start()
