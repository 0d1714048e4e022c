"""How the desk ends when it is told to from outside: a signal, or a terminal that went away.

Measured: a plain terminal program dies at once on a hang-up and never hears the answer to an order that is in flight.
So signals only ask the desk to leave; it drains, writes its journal and restores the terminal. A last resort makes
sure that two seconds are enough, whatever hangs: the journal is already on disk, and the next start resolves it.
"""

import asyncio
import os
import select
import signal
import termios
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

LEAVE_SECONDS = 1.5  # what is left of two seconds is for the broker's end
TERMINAL_CHECK_SECONDS = 0.5
TERMINAL = 0  # standard input: the desk is not opened without a terminal there
# Normal screen, visible cursor, no bracketed paste, no mouse, no focus reports, plain colours.
RESTORE = b"\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1003l\x1b[?1004l\x1b[<u\x1b[0m\r\n"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


class LastResort:
    """Ends the process when leaving in good order takes too long; terminal and broker are put right first."""

    def __init__(self, clean_up: Callable[[], None]) -> None:
        self._clean_up = clean_up
        self._terminal: list[Any] | None = None
        with suppress(termios.error):
            self._terminal = termios.tcgetattr(TERMINAL)

    def arm(self, code: int, seconds: float = LEAVE_SECONDS) -> None:
        """End the process hard with `code` if it still runs after so long."""
        timer = threading.Timer(seconds, self._end, (code,))
        timer.daemon = True
        timer.start()

    def _end(self, code: int) -> None:
        try:
            self._clean_up()
            if self._terminal is not None:
                _write_without_waiting(RESTORE)
                termios.tcsetattr(TERMINAL, termios.TCSANOW, self._terminal)
        finally:
            os._exit(code)


def _write_without_waiting(data: bytes) -> None:
    """Write to the terminal what it takes at once: one that nobody reads any more may be full."""
    with suppress(OSError):
        terminal = os.open(os.ttyname(TERMINAL), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with suppress(BlockingIOError):
            os.write(terminal, data)


def leave_on_signals(leave: Callable[[int], None], last_resort: LastResort) -> None:
    """Call `leave(exit_code)` on SIGINT, SIGTERM and SIGHUP; end the process if that takes too long.

    The event loop's own handlers would wait for the loop, which may be stuck in a write to a terminal that nobody
    reads; Python's interrupt that wait, so the last resort is armed whatever the loop does.
    """
    loop = asyncio.get_running_loop()

    def told(number: int, _frame: object) -> None:
        _leave(CODES[signal.Signals(number)], leave, last_resort, loop)

    for number in CODES:
        signal.signal(number, told)


def leave_without_terminal(leave: Callable[[int], None], last_resort: LastResort) -> None:
    """Watch the terminal and leave with 129 once it is gone: nohup ignores the hang-up that would tell.

    The watch is a thread, because a loop that writes to a vanished terminal may be stuck in that.
    """
    loop = asyncio.get_running_loop()

    def watch() -> None:
        poll = select.poll()
        poll.register(TERMINAL, 0)
        gone = select.POLLHUP | select.POLLERR | select.POLLNVAL
        while not any(event & gone for _, event in poll.poll(0)):
            time.sleep(TERMINAL_CHECK_SECONDS)
        _leave(CODES[signal.SIGHUP], leave, last_resort, loop)

    threading.Thread(target=watch, name="terminal", daemon=True).start()


def _leave(
    code: int,
    leave: Callable[[int], None],
    last_resort: LastResort,
    loop: asyncio.AbstractEventLoop,
) -> None:
    last_resort.arm(code)
    with suppress(RuntimeError):  # a closed loop is leaving already
        loop.call_soon_threadsafe(leave, code)
