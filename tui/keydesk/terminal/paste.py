"""Textual's key parser, with an end to every paste.

A bracketed paste (ESC[200~ to ESC[201~) without an end is closed after 500 ms or 64 KB: Textual's parser would add every
later key to the paste, the flatten key included.
"""

from collections.abc import Callable, Iterable, Iterator
from time import monotonic

from msgspec import Struct
from textual.message import Message

from keydesk.terminal._textual_private import awaits_input, end_of_wait, new_key_parser

START = "\x1b[200~"
END = "\x1b[201~"
MAX_SECONDS = 0.5  # seconds from the start of a paste
MAX_LENGTH = 64 * 1024  # characters


class OpenPaste(Struct):
    """Detects a paste that has been open for too long."""

    started: float | None = None
    length: int = 0
    tail: str = ""  # a marker may be cut in two by the reads

    def follow(self, data: str, now: float) -> None:
        """Update the state with the next characters."""
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
        """Return whether the paste must be closed now."""
        if self.started is None:
            return False
        return now - self.started >= MAX_SECONDS or self.length >= MAX_LENGTH

    def close(self) -> None:
        """Reset; the missing end was inserted."""
        self.started, self.length, self.tail = None, 0, ""


def _after_markers(text: str) -> str:
    last = max(text.rfind(START), text.rfind(END)) + len(START)
    return text[last:][-(len(START) - 1) :]


class PasteClosingParser:
    """Textual's parser, with an end to every paste."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._parser = new_key_parser()
        self._paste = OpenPaste()

    def feed(self, data: str) -> Iterator[Message]:
        """Return the messages of characters from the terminal."""
        self._paste.follow(data, self.clock())
        yield from self._parser.feed(data)
        yield from self._close_overdue()

    def tick(self) -> Iterator[Message]:
        """Return the messages that are due by now; to be called ten times a second."""
        yield from self._parser.tick()
        yield from self._close_overdue()

    @property
    def in_paste(self) -> bool:
        """Return whether the next characters belong to a paste."""
        return self._paste.started is not None

    @property
    def in_sequence(self) -> bool:
        """Return whether the last characters are the beginning of a key sequence."""
        return awaits_input(self._parser)

    def end_of_paste(self, text: str) -> int:
        """Return where the open paste ends in the next characters, or their length."""
        tail = self._paste.tail
        end = (tail + text).find(END)
        return len(text) if end < 0 else end + len(END) - len(tail)

    def end_sequence(self) -> Iterable[Message]:
        """Return the messages of a sequence that was begun and will not be completed."""
        return end_of_wait(self._parser)

    def _close_overdue(self) -> Iterator[Message]:
        if self._paste.overdue(self.clock()):
            self._paste.close()
            yield from self._parser.feed(END)
