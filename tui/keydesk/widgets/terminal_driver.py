"""Textual's terminal driver with an input that no byte can end.

Textual decodes strictly: one byte that is no UTF-8 ended its input thread, and the desk with it. The loop below reads
the same descriptor through `TerminalInput`, which drops what it cannot read and says so.
"""

import os
import selectors

from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from keydesk.keys.terminal_input import TerminalInput

CHUNK = 4096  # bytes
TICK = 0.1  # seconds


class TerminalDriver(LinuxDriver):
    """Reads keys; overrides nothing but public methods of Textual's driver."""

    def run_input_thread(self) -> None:
        """Read until the driver stops, or the terminal is gone (`lifecycle` watches for that and leaves)."""
        expected = bool(getattr(self._app, "replies_expected", False))
        terminal_input = TerminalInput(replies_expected=expected)
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
