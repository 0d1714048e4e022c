"""Exceptions that leave the door alone: beneath it, frames of the HTTP library hold the token's header as plain bytes.

A cancellation comes from the innermost frame, and whoever logs a traceback with its locals would log the token: the
parser copies a header that does not show itself into bytes that do.

A token that can be used and not be seen.
"""

import logging
import re
from collections.abc import Callable
from typing import Final, NoReturn, TypeVar, cast
from weakref import WeakSet

from keydesk_client.errors import AnswerTooLarge, InvalidSettings

VEIL: Final = "[token]"
LONGEST_ESCAPE: Final = len(r"\u0041")
MOST_ESCAPES: Final = 50_000
SHORTEST_VEILED: Final = 8
"""What is shorter is no token but a test's, and stands in many a word."""


class Secret:
    """Holds a token where `repr`, `vars`, pickling and tracebacks with locals do not find it."""

    __slots__ = ("__weakref__", "bearer", "reveal")

    reveal: Callable[[], str]
    """Call it where the token is checked or kept, nowhere else."""
    bearer: Callable[[], bytes]
    """The value of the header; it does not show itself where the HTTP library keeps it."""

    def __init__(self, text: str) -> None:
        self.reveal = lambda: text
        self.bearer = lambda: Unseen(f"Bearer {text}", "ascii")

    def check(self) -> None:
        """InvalidSettings when this can not be a token; apart from `__init__`, whose frame still sees the text."""
        if not _is_one_word(self.reveal):
            raise InvalidSettings("a token is one word of printable ASCII characters")

    def veiled(self, text: str) -> str:
        """Text of somebody else, without the token: services and proxies are known to send back what they got."""
        token = self.reveal()
        return text.replace(token, VEIL) if len(token) >= SHORTEST_VEILED else text

    def veiled_body(self, body: bytes) -> bytes:
        """JSON of somebody else without the token, however its characters are written."""
        token = self.reveal().encode()
        if len(token) < SHORTEST_VEILED:
            return body
        if (b"\\u00" in body or b"\\/" in body) and token in _unescaped(body):
            if body.count(b"\\") > MOST_ESCAPES:  # each takes a microsecond of pure Python
                raise AnswerTooLarge(f"the answer has more than {MOST_ESCAPES:,} escapes")
            plain = _escape.sub(_plain, body)
            body = plain if token in plain else body
        return body.replace(token, VEIL.encode()) if token in body else body

    def in_stream(self) -> "StreamVeil":
        """What takes it out of bytes that come by the piece."""
        return StreamVeil(self)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled")


class Unseen(bytes):
    """Bytes that do not show themselves: a request is kept, with its headers, as long as its answer is read."""

    def __repr__(self) -> str:
        return "b'…'"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token is not pickled")


class StreamVeil:
    """Takes the token out of a stream's pieces, also where it lies across their borders.

    A token has no newline, so that whole lines leave at once. Of the line that has just begun, as much is held back as
    a token takes with each of its characters escaped: nobody can read half a line.
    """

    __slots__ = ("_is_short", "_longest", "_needle", "_secret", "held")

    def __init__(self, secret: Secret) -> None:
        self.held: bytes = b""
        """What waits for the rest of its line."""
        self._secret = secret
        self._needle: bytes = Unseen(secret.reveal(), "ascii")
        self._is_short = len(self._needle) < SHORTEST_VEILED
        self._longest = LONGEST_ESCAPE * len(self._needle) - 1

    def feed(self, piece: bytes) -> bytes:
        """What may be read by now."""
        if self._is_short:
            return piece
        if self.held:
            piece = self.held + piece
        if self._needle in piece or b"\\" in piece:
            piece = self._secret.veiled_body(piece)
        if piece.endswith(b"\n"):
            self.held = b""
            return piece
        cut = max(piece.rfind(b"\n") + 1, len(piece) - self._longest)
        self.held = piece[cut:]
        return piece[:cut]


class LogVeil(logging.Filter):
    """Keeps tokens out of a log that tells what a service sent: some send back the headers that they got."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: WeakSet[Secret] = WeakSet()

    def add(self, secret: Secret) -> None:
        """Look for this one too, as long as it is in use."""
        self._secrets.add(secret)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let it through, without tokens."""
        told = veiled = record.getMessage()
        for secret in self._secrets:
            veiled = secret.veiled(veiled)
        if veiled != told:
            record.msg, record.args = veiled, ()
        return True


def hidden(token: "str | Secret") -> Secret:
    """The token as a Secret. Overwrite the variable it came from: tracebacks can show locals."""
    return token if isinstance(token, Secret) else Secret(token)


_escape = re.compile(rb"\\(u00[0-9a-fA-F]{2}|.)", re.DOTALL)


def _unescaped(body: bytes) -> bytes:
    """The body with its escapes undone, at the speed of C: good for a search only."""
    text = body.decode("raw_unicode_escape", "replace").replace("\\/", "/")
    return text.encode("latin-1", "replace")


def _plain(found: re.Match[bytes]) -> bytes:
    """A character that needs no escape, plain; any other as it is written."""
    written = found[1]
    character = (
        written
        if written == b"/"
        else bytes.fromhex(written[3:].decode())
        if len(written) > 1
        else b""
    )
    return (
        character
        if character.isascii() and b" " < character < b"\x7f" and character not in b'"\\'
        else found[0]
    )


def _is_one_word(reveal: Callable[[], str]) -> bool:
    if not _is_text(reveal):
        return False
    return bool(reveal()) and reveal().isascii() and reveal().isprintable() and " " not in reveal()


def _is_text(reveal: Callable[[], object]) -> bool:
    """Also where no type checker says so."""
    return isinstance(reveal(), str)


E = TypeVar("E", bound=BaseException)


def without_frames(error: E) -> E:
    """The same exception, with its arguments, but without the frames it came through and the errors on its way.

    The same one, and not another like it: who cancelled a task, or set it a time, knows the exception again.
    """
    for member in _members(error):
        without_frames(member)
    error.__cause__ = error.__context__ = None
    error.__suppress_context__ = False  # what the caller was handling may be told
    return error.with_traceback(None)


def _members(error: BaseException) -> tuple[BaseException, ...]:
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).exceptions
    return ()
