"""Bytes into lines. Only a newline ends a line: a comment in a transaction may hold Unicode's other separators."""

from typing import Final

from keydesk_client.errors import AnswerTooLarge
from keydesk_client.models._core.body_limits import TRANSACTION_LINE

LONGEST_LINE: Final = TRANSACTION_LINE.size


class LineSplitter:
    """Takes bytes as they come, gives the lines that are complete."""

    __slots__ = ("_held", "_held_bytes", "_longest")

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._held: list[bytes] = []
        self._held_bytes = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """Complete lines without their ends, blank ones left out; AnswerTooLarge when one grows out of bounds."""
        if b"\n" not in piece:
            self._hold(piece)
            return []
        if self._held:
            piece = b"".join((*self._held, piece))
            self._held, self._held_bytes = [], 0
        *lines, rest = piece.split(b"\n")
        if rest:
            self._hold(rest)
        if len(piece) > self._longest:
            self._refuse_long(max(map(len, lines)))
        return [line for line in lines if line and not line.isspace()]

    def _hold(self, piece: bytes) -> None:
        self._held.append(piece)
        self._held_bytes += len(piece)
        self._refuse_long(self._held_bytes)

    def _refuse_long(self, length: int) -> None:
        if length > self._longest:
            raise AnswerTooLarge(f"a line of the stream is longer than {self._longest} bytes")
