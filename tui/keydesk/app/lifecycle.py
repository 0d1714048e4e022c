"""End the desk by hand, on signals, on the loss of the terminal and on faults.

A plain terminal program dies at once on a hang-up and misses the answer of an order in flight. Signals therefore ask
the desk to end: it waits for commands in flight, then restores the terminal. `ForcedExit` ends the process after two
seconds in any case; open intents are in the journal and are resolved at the next start.
"""

from __future__ import annotations

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

from keydesk.terminal.reset import RESTORE, TERMINAL, pop_title, write_without_waiting

LEAVE_TIMEOUT = 6.0  # seconds that leaving by hand may take on a busy machine
LEAVE_SECONDS = 1.3  # what is left of two seconds is for noticing it, and for the broker's end
TERMINAL_CHECK_SECONDS = 0.1
HUNG_UP = 129
FAILED = 1
TRIES = 3
WAKE = signal.SIGUSR1  # has a handler here, so it interrupts a system call and ends nothing
OUTPUT = (1, 2)  # standard output and error
# Signals that do not end a process by default, cannot be caught, or report a fault inside the process.
IGNORED_SIGNALS = frozenset(
    getattr(signal, name)
    for name in (
        *("SIGKILL", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGCHLD", "SIGWINCH"),
        *("SIGURG", "SIGPIPE", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGSYS", "SIGTRAP"),
    )
)
CODES: dict[int, int] = {
    number: 128 + number for number in signal.valid_signals() if number not in IGNORED_SIGNALS
}
"""Exit codes of all signals whose default action silently ends the program."""


class ForcedExit:
    """A time limit for an orderly end: then restore the terminal, stop the broker and end the process."""

    def __init__(self, clean_up: Callable[[], None], words: Callable[[], str] = str) -> None:
        self._clean_up = clean_up
        self._words = words
        self._reason = ""
        self._terminal: list[Any] | None = None
        self._ending = threading.Lock()
        with suppress(termios.error):
            self._terminal = termios.tcgetattr(TERMINAL)

    @property
    def is_ending(self) -> bool:
        """Whether the process is being ended; the signals that it sends itself then do not ask it to leave."""
        return self._ending.locked()

    def arm(self, code: int, seconds: float = LEAVE_SECONDS, *, reason: str = "") -> None:
        """End the process with `code` after `seconds`; print `reason` if there are no last words."""
        self._reason = self._reason or reason
        timer = threading.Timer(seconds, self._end, (code,))
        timer.daemon = True
        timer.start()

    def _end(self, code: int) -> None:
        if not self._ending.acquire(blocking=False):
            return  # of two alarms the first one ends it
        try:
            self._restore_terminal()  # first: a broker that hangs must not keep it
            self._clean_up()
        finally:
            os._exit(code)

    def _restore_terminal(self) -> None:
        if self._terminal is None:
            return
        text = self._words() or self._reason
        last_line = f"keydesk: {text}\r\n".encode() if text else b""
        restore = RESTORE + pop_title(os.environ.get("TERM", "")) + last_line
        _discard_output()
        for _ in range(TRIES):
            _interrupt_writes()
            if write_without_waiting(restore):
                break
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(TERMINAL, termios.TCSANOW, self._terminal)


def _discard_output() -> None:
    """Redirect the writer thread's output to /dev/null: its frames must not follow the restore sequence."""
    with suppress(OSError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        for descriptor in OUTPUT:
            os.dup2(null_device, descriptor)


def _interrupt_writes() -> None:
    """Interrupt a thread that is blocked in a write to a full terminal; it holds the terminal's lock.

    Emptying the buffer does not wake it, a signal does; its next write goes to /dev/null.
    """
    if signal.getsignal(WAKE) is signal.SIG_DFL:  # no handler yet: the signal would end the process
        return
    for thread in threading.enumerate():
        if thread.ident is not None and thread is not threading.current_thread():
            with suppress(OSError, ValueError):
                signal.pthread_kill(thread.ident, WAKE)


def leave_on_signals(leave: Callable[[int], None], forced_exit: ForcedExit) -> None:
    """Call `leave(exit_code)` on signals that would end the program; end the process if that takes too long.

    The event loop's own handlers would wait for the loop, which may be stuck in a write to a terminal that nobody
    reads; handlers of `signal.signal` interrupt that write, so the time limit is armed whatever the loop does.
    """
    loop = asyncio.get_running_loop()

    def handle(number: int, _frame: object) -> None:
        if number == WAKE and forced_exit.is_ending:
            return
        _leave(CODES[number], leave, forced_exit, loop)

    for number in CODES:
        with suppress(OSError, ValueError):  # two of the C library's own cannot be taken
            signal.signal(number, handle)


def leave_without_terminal(leave: Callable[[int], None], forced_exit: ForcedExit) -> None:
    """Leave with exit code 129 once the terminal is gone; under nohup no signal reports that.

    The watch is a thread, because a loop that writes to a vanished terminal may be stuck in that. It looks ten times
    a second: a hang-up does not wake a poll that waits for no input.
    """
    loop = asyncio.get_running_loop()

    def watch() -> None:
        while not _terminal_is_gone():
            time.sleep(TERMINAL_CHECK_SECONDS)
        _leave(HUNG_UP, leave, forced_exit, loop)

    threading.Thread(target=watch, name="terminal", daemon=True).start()


def _terminal_is_gone() -> bool:
    poll = select.poll()
    poll.register(TERMINAL, 0)
    gone = select.POLLHUP | select.POLLERR | select.POLLNVAL
    return any(event & gone for _, event in poll.poll(0))


def end_with_threads(
    end: Callable[[BaseException], None], forced_exit: ForcedExit, reason: str
) -> None:
    """Call `end(error)` when a thread dies of an error: without its writer thread the desk would show stale data."""
    loop = asyncio.get_running_loop()

    def handle(died: threading.ExceptHookArgs) -> None:
        if died.exc_value is None or isinstance(died.exc_value, SystemExit):
            return
        if isinstance(died.exc_value, OSError) and _terminal_is_gone():
            return  # no fault: `leave_without_terminal` leaves
        forced_exit.arm(FAILED, reason=reason)
        with suppress(RuntimeError):  # a closed loop is leaving already
            loop.call_soon_threadsafe(end, died.exc_value)

    threading.excepthook = handle


def _leave(
    code: int,
    leave: Callable[[int], None],
    forced_exit: ForcedExit,
    loop: asyncio.AbstractEventLoop,
) -> None:
    forced_exit.arm(code)
    with suppress(RuntimeError):  # a closed loop is leaving already
        loop.call_soon_threadsafe(leave, code)
