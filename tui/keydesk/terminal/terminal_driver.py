"""Textual's terminal driver with an input that no byte can end.

Textual decodes strictly: one byte that is no UTF-8 ended its input thread, and the desk with it. The loop below reads
the same descriptor through `TerminalInput`, which drops what it cannot read and says so.
"""

import os
import selectors

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from keydesk.terminal.reset import NO_MOUSE, POP_TITLE, PUSH_TITLE, has_title
from keydesk.terminal.terminal_input import TerminalInput
from keydesk.text.sanitize import clean

CHUNK = 4096  # bytes
TICK = 0.1  # seconds


class TerminalDriver(LinuxDriver):
    """Reads keys and names the window; overrides nothing but public methods of Textual's driver."""

    terminal_input: TerminalInput | None = None
    _title_pushed = False
    _in_application_mode = False

    def start_application_mode(self) -> None:
        """Take the terminal: without another program's mouse mode, its own title kept for later."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._writer_thread is None:  # stopped in the background: it did not start
            return
        self._in_application_mode = True
        if not self._mouse:
            self.write(NO_MOUSE)
        if title := getattr(self._app, "window_title", ""):
            self.show_title(title)

    def stop_application_mode(self) -> None:
        """Give the terminal and its title back."""
        self._in_application_mode = False
        if self._title_pushed:
            self._title_pushed = False
            self.write(POP_TITLE)
        super().stop_application_mode()

    def resume_application_mode(self) -> None:
        """Go on after SIGCONT.

        After a SIGSTOP the driver was never suspended: a second start would leave two threads that read the keys.
        """
        if self._in_application_mode:
            self._loop.call_soon_threadsafe(self._start_again)
        else:
            super().resume_application_mode()

    def _start_again(self) -> None:
        """Take the terminal again, in a callback of the event loop: a shell may have changed its modes and its screen."""
        if self._in_application_mode:
            self.suspend_application_mode()
            self.start_application_mode()
            self.send_message(self.SignalResume())

    def show_title(self, words: str) -> None:
        """Set the window's title, where the terminal has one."""
        if not has_title(os.environ.get("TERM", "")):
            return
        if not self._title_pushed:
            self._title_pushed = True
            self.write(PUSH_TITLE)
        self.write(f"\x1b]2;{clean(words)}\x07")

    def run_input_thread(self) -> None:
        """Read until the driver stops, or the terminal is gone (`lifecycle` watches for that and leaves)."""
        self.terminal_input = terminal_input = TerminalInput()
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
        """Pass a message to the app; a terminal that another program left in mouse mode has no say."""
        if isinstance(message, events.MouseEvent) and not self._mouse:
            return
        super().process_message(message)
