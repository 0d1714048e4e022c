"""A paste that never ends must not eat the keyboard: it is closed after 500 ms or 64 KB.

A terminal brackets a paste by ESC[200~ and ESC[201~. When the end never comes, Textual's parser keeps every
later key for the paste, the flatten key included. This module is the only one that touches that
parser (private to Textual): it puts the missing end into the stream.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic

from textual import _xterm_parser
from textual.message import Message

START = "\x1b[200~"
END = "\x1b[201~"
LONGEST = 0.5  # seconds from the start of a paste
LARGEST = 64 * 1024  # characters


@dataclass(slots=True)
class OpenPaste:
    """Follows the characters of the terminal and knows whether a paste has been open for too long."""

    started: float | None = None
    length: int = 0
    tail: str = ""  # a marker may be cut in two by the reads

    def follow(self, data: str, now: float) -> None:
        """Take the next characters in."""
        text = self.tail + data
        start, end = text.rfind(START), text.rfind(END)
        if start > end:
            self.started, self.length = now, len(text) - start - len(START)
        elif end >= 0:
            self.started, self.length = None, 0
        elif self.started is not None:
            self.length += len(data)
        self.tail = text[-(len(START) - 1) :] if max(start, end) < 0 else _after_markers(text)

    def overdue(self, now: float) -> bool:
        """Whether it is time to close the paste."""
        if self.started is None:
            return False
        return now - self.started >= LONGEST or self.length >= LARGEST

    def close(self) -> None:
        """Forget the paste; its end was put in by hand."""
        self.started, self.length, self.tail = None, 0, ""


def _after_markers(text: str) -> str:
    last = max(text.rfind(START), text.rfind(END)) + len(START)
    return text[last:][-(len(START) - 1) :]


class PasteClosingParser(_xterm_parser.XTermParser):
    """Textual's parser, with an end to every paste."""

    clock: Callable[[], float] = staticmethod(monotonic)

    def feed(self, data: str) -> Iterable[Message]:
        """Parse characters from the terminal."""
        self._paste().follow(data, self.clock())
        yield from super().feed(data)
        yield from self._closed()

    def tick(self) -> Iterable[Message]:
        """Called ten times a second by the driver, keys or not."""
        yield from super().tick()
        yield from self._closed()

    @property
    def in_paste(self) -> bool:
        """Whether the next characters belong to a paste."""
        return self._paste().started is not None

    @property
    def in_sequence(self) -> bool:
        """Whether the parser has not found out yet what the last characters mean."""
        return self._awaiting.timeout is not None

    def end_of_paste(self, text: str) -> int:
        """Return where the open paste ends in the next characters, or their length."""
        tail = self._paste().tail
        end = (tail + text).find(END)
        return len(text) if end < 0 else end + len(END) - len(tail)

    def end_sequence(self) -> Iterable[Message]:
        """Take what was begun for what it is; nothing more of it will come."""
        if self.in_sequence:
            self._timeout_time = 0.0
        yield from super().tick()

    def _closed(self) -> Iterable[Message]:
        if self._paste().overdue(self.clock()):
            self._paste().close()
            yield from super().feed(END)

    def _paste(self) -> OpenPaste:
        if not hasattr(self, "open_paste"):
            self.open_paste = OpenPaste()
        return self.open_paste
