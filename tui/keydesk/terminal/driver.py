"""Textual's Linux driver with a tolerant input thread, and flow control of the output.

Textual decodes input strictly: one byte that is not UTF-8 ended its input thread. The loop here reads the same
descriptor through `TerminalInput`, which drops what it cannot decode and reports it.

A write to a terminal over SSH returns long before its bytes arrive: up to 20 kB wait in the pseudo-terminal and far more
in sshd and the network. So a request that nearly every terminal answers is sent with the output; its reply shows that
everything before it was drawn. The bytes in flight are limited by a window: what the line carried in a sixth of a second
when a reply took long, a little more each time when it did not.

The request is DA1; a terminal that answers only DSR 5 is sent that. (Replies to DSR 6, the cursor position, look like
Shift-F3.) A terminal that answers neither is never waited for; what it has drawn cannot be known, because TIOCOUTQ of a
Linux pseudo-terminal is always 0 and sshd reads ahead. Over SSH its output is limited to a budget of bytes per second,
on this machine only once writes had to wait.
"""

import asyncio
import os
import selectors
import signal
from collections.abc import Callable
from threading import Event
from time import monotonic
from types import FrameType
from typing import Any

from msgspec import Struct
from textual import events
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from keydesk.terminal._textual_private import is_started
from keydesk.terminal.input import TerminalInput
from keydesk.terminal.reset import CLICKS, NO_MOUSE, POP_TITLE, PUSH_TITLE, has_title
from keydesk.text.sanitize import clean

CHUNK = 4096  # bytes
TICK = 0.1  # seconds


class TerminalDriver(LinuxDriver):
    """Reads keys and names the window; overrides nothing but public methods of Textual's driver."""

    terminal_input: TerminalInput | None = None
    continued_at = float("-inf")  # monotonic seconds of the last SIGCONT
    _title_pushed = False
    _in_application_mode = False
    _starts_again = False

    def __init__(
        self,
        app: App[Any],
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=False, size=size)
        self._owner = app
        self._takes_mouse = mouse
        self._event_loop = asyncio.get_running_loop()
        self._input_ended = Event()
        self._input_ended.set()

    def start_application_mode(self) -> None:
        """Take the terminal: without another program's mouse mode, its own title kept for later."""
        self._input_ended.clear()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if not is_started(self):  # the process was stopped in the background meanwhile
            self._input_ended.set()
            return
        self._in_application_mode = True
        self.defer_resizes()
        self.take_mouse(on=self._takes_mouse)
        if title := getattr(self._owner, "window_title", ""):
            self.show_title(title)

    def take_mouse(self, *, on: bool) -> None:
        """Ask the terminal for clicks and the wheel, or for no mouse at all; a motion would be a report for each cell."""
        self._takes_mouse = on
        self.write(NO_MOUSE + (CLICKS if on else ""))

    def defer_resizes(self) -> None:
        """Handle SIGWINCH in callbacks of the event loop, one after the other.

        A handler that another SIGWINCH interrupts has read the former size, and would report it after the newer one: the desk
        would stay at a size that the terminal no longer has.
        """
        report = signal.getsignal(signal.SIGWINCH)
        if not callable(report):
            return

        def defer(number: int, frame: FrameType | None) -> None:
            del frame
            self._event_loop.call_soon_threadsafe(report, number, None)

        signal.signal(signal.SIGWINCH, defer)
        defer(signal.SIGWINCH, None)  # the size may have changed since it was read first

    def stop_application_mode(self) -> None:
        """Give the terminal and its title back."""
        self._in_application_mode = False
        if self._takes_mouse:
            self.write(NO_MOUSE)
        if self._title_pushed:
            self._title_pushed = False
            self.write(POP_TITLE)
        super().stop_application_mode()

    def resume_application_mode(self) -> None:
        """Go on after SIGCONT.

        After a SIGSTOP the driver was never suspended: a second start would leave two threads that read the keys.
        """
        self.continued_at = monotonic()
        if self._in_application_mode:
            self._event_loop.call_soon_threadsafe(self._start_again)
        else:
            super().resume_application_mode()

    def _start_again(self) -> None:
        """Take the terminal again, in a callback of the event loop: a shell may have changed its modes and its screen."""
        if self._in_application_mode:
            self._starts_again = True
            self.suspend_application_mode()
            self._starts_again = False
            self.start_application_mode()
            self.send_message(self.SignalResume())

    def disable_input(self) -> None:
        """End the thread that reads the keys; unless another one begins at once, keys that wait unread are dropped."""
        if not self._starts_again:
            super().disable_input()
            self.terminal_input = None
            return
        self.exit_event.set()
        self._input_ended.wait()
        self.exit_event.clear()

    def show_title(self, text: str) -> None:
        """Set the window's title, where the terminal has one."""
        if not has_title(os.environ.get("TERM", "")):
            return
        if not self._title_pushed:
            self._title_pushed = True
            self.write(PUSH_TITLE)
        self.write(f"\x1b]2;{clean(text)}\x07")

    def run_input_thread(self) -> None:
        """Read until the driver stops, or the terminal is gone (`lifecycle` watches for that and leaves)."""
        try:
            self._read_keys()
        finally:
            self._input_ended.set()

    def _read_keys(self) -> None:
        self.terminal_input = terminal_input = self.terminal_input or TerminalInput()
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(TICK):
                    data = self._read()
                    if not data:
                        return
                    for message in terminal_input.feed(data):
                        self.process_message(message)
                for message in terminal_input.tick():
                    self.process_message(message)

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, CHUNK)
        except OSError:  # EIO: the terminal hung up
            return b""

    def process_message(self, message: Message) -> None:
        """Pass a message to the app; drop mouse events of a mouse mode that another program left on."""
        if isinstance(message, events.MouseEvent) and not self._takes_mouse:
            return
        super().process_message(message)


ATTRIBUTES = "\x1b[c"  # DA1, primary device attributes
STATUS = "\x1b[5n"  # DSR 5, device status
REQUEST_EVERY = 2_000  # bytes
MAX_WINDOW, FIRST_WINDOW, SMALLEST_WINDOW = 16_000, 8_000, 2_500  # bytes
LONG_WAIT, SHORT_WAIT = 0.16, 0.08  # seconds more than the quickest reply took
GROWTH = 1_000  # bytes
IDLE = 2.0  # seconds after which a few bytes justify a request: its reply is a quick one
MAX_ROUND = 0.6  # seconds, a satellite's: what is more was spent waiting, also by the quickest
NO_ANSWER = 5.0  # seconds after which the terminal counts as one that does not answer
BUDGET, BUDGET_AT_ONCE = 10_000, 6_000  # bytes a second, bytes
PSEUDO_TERMINAL = 20_000  # bytes that Linux takes before a write waits
FULL_AFTER = 0.2  # seconds in which writes were waiting at every look


class OutputFlow(Struct):
    """Follows what was sent and what was answered."""

    clock: Callable[[], float]
    remote: bool = False  # over SSH: a write does not wait when the line is full
    window: int = FIRST_WINDOW
    answers: bool = False  # the terminal has answered, and did so in time since
    asks: bool = True  # it is not known to be one that does not answer
    _request: str = ATTRIBUTES + STATUS  # what the terminal answers; both until that is known
    _sent: int = 0  # bytes in all
    _drawn: int = 0  # bytes that answers have confirmed
    _requested: int = 0  # bytes that were sent before the last request
    _requested_at: float | None = None  # None: no answer is awaited
    _answered_at: float = float("-inf")
    _quickest: float = MAX_ROUND
    _waiting_since: float | None = None  # None: no write is waiting
    _was_full: bool = False  # the pseudo-terminal was, of a terminal that does not answer
    _budget: float = BUDGET_AT_ONCE  # bytes that may be sent now; negative after a large update
    _budget_at: float = float("-inf")

    @property
    def is_open(self) -> bool:
        """Return whether more may be sent now."""
        if self._requested_at is not None and self.clock() - self._requested_at > NO_ANSWER:
            self.asks, self.answers = self.answers, False  # one answer may be lost, not the first
            self._requested_at, self._drawn = None, self._sent
            self._request = ATTRIBUTES + STATUS  # another terminal may have taken this one's place
        if self.answers:
            return self._sent - self._drawn < self.window
        return self._budget_now() > 0 or not self._is_limited

    @property
    def is_known(self) -> bool:
        """Return whether the terminal is known to answer, or not to."""
        return self.answers or not self.asks

    def sending(self, size: int) -> str:
        """Count an update that is being sent; returns the request to send after it, or nothing."""
        self._sent += size
        self._budget = self._budget_now() - size if self._is_limited else BUDGET_AT_ONCE
        if not self.asks or self._requested_at is not None:
            return ""
        idle = self.clock() - self._answered_at > IDLE
        due = idle or self._sent - max(self._requested, self._drawn) >= REQUEST_EVERY
        return self._ask() if due else ""

    def answered(self, *, status: bool = False) -> str:
        """Take an answer (to DSR: `status`); returns the next request, where more is under way, or nothing."""
        self.asks = True
        if self._request not in (ATTRIBUTES, STATUS):
            self._request = STATUS if status else ATTRIBUTES
        if self._requested_at is None or status != (self._request == STATUS):
            return ""
        self._answered_at = self.clock()
        wait = self._answered_at - self._requested_at
        self._quickest = min(self._quickest, wait)
        under_way = self._requested - self._drawn
        if wait - self._quickest > LONG_WAIT:
            carried = int(under_way / wait * LONG_WAIT)
            self.window = max(SMALLEST_WINDOW, min(self.window, carried))
        elif wait - self._quickest < SHORT_WAIT and 2 * under_way > self.window:
            self.window = min(MAX_WINDOW, self.window + GROWTH)
        self.answers, self._drawn, self._requested_at = True, self._requested, None
        return self._ask() if self._sent > self._drawn else ""

    def queued(self, writes: int) -> None:
        """Take note of how many writes the terminal has not taken yet."""
        now = self.clock()
        if not writes:
            self._waiting_since = None
        elif self._waiting_since is None:
            self._waiting_since = now
        elif now - self._waiting_since > FULL_AFTER and not self.answers:
            self._was_full = True
            self._budget, self._budget_at = -float(PSEUDO_TERMINAL), now

    @property
    def _is_limited(self) -> bool:
        return not self.answers and (self.remote or self._was_full)

    def _budget_now(self) -> float:
        """Return how many bytes the budget has, refilled by the time that has passed."""
        now = self.clock()
        if now > self._budget_at:
            refilled = self._budget + (now - self._budget_at) * BUDGET
            self._budget, self._budget_at = min(BUDGET_AT_ONCE, refilled), now
        return self._budget

    def _ask(self) -> str:
        self._requested, self._requested_at = self._sent, self.clock()
        return self._request
