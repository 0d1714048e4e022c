"""A token that can be used without being shown: hidden from reprs, logs, tracebacks and echoed responses."""

import logging
import re
from collections.abc import Callable
from typing import Final, NoReturn, TypeVar, cast
from weakref import WeakSet

from keydesk_client.errors import AnswerTooLarge, InvalidSettings

E = TypeVar("E", bound=BaseException)

PLACEHOLDER: Final = "[token]"
MAX_ESCAPE_LENGTH: Final = len(r"\u0041")
MAX_ESCAPES: Final = 50_000
"""Each takes a microsecond of pure Python."""
ESCAPE: Final = re.compile(rb"\\(u00[0-9a-fA-F]{2}|.)", re.DOTALL)
SHORTEST_REDACTED: Final = 8
"""Shorter tokens exist in tests only, and occur in ordinary words."""


class Secret:
    """A token that `repr`, `vars`, pickling and tracebacks with locals do not show."""

    __slots__ = ("__weakref__", "bearer", "reveal")

    reveal: Callable[[], str]
    """Return the token; only for code that checks or stores it."""
    bearer: Callable[[], bytes]
    """Return the value of the Authorization header, whose repr is hidden in the HTTP library, too."""

    def __init__(self, text: str) -> None:
        self.reveal = lambda: text
        self.bearer = lambda: HiddenBytes(f"Bearer {text}", "ascii")

    def check(self) -> None:
        """Raise InvalidSettings for an invalid token; not in `__init__`, whose frame holds the text."""
        if not _is_one_word(self.reveal):
            raise InvalidSettings("invalid token: pass one word of printable ASCII characters")

    def redact(self, text: str) -> str:
        """Return received text without the token, which services and proxies are known to echo."""
        token = self.reveal()
        return text.replace(token, PLACEHOLDER) if len(token) >= SHORTEST_REDACTED else text

    def redact_body(self, body: bytes) -> bytes:
        """Return received JSON without the token, also where its characters are escaped."""
        token = self.reveal().encode()
        if len(token) < SHORTEST_REDACTED:
            return body
        if (b"\\u00" in body or b"\\/" in body) and token in _unescaped(body):
            if body.count(b"\\") > MAX_ESCAPES:
                raise AnswerTooLarge(f"the response has more than {MAX_ESCAPES:,} escapes")
            plain = ESCAPE.sub(_unescape, body)
            body = plain if token in plain else body
        return body.replace(token, PLACEHOLDER.encode()) if token in body else body

    def stream_redactor(self) -> "StreamRedactor":
        """Return what removes the token from the pieces of a stream."""
        return StreamRedactor(self)

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token cannot be pickled")


class HiddenBytes(bytes):
    """Bytes with a hidden repr: the HTTP library keeps a request and its headers while it reads the response."""

    def __repr__(self) -> str:
        return "b'…'"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a token cannot be pickled")


class StreamRedactor:
    """Removes the token from the pieces of a stream, also where it spans several.

    Complete lines are returned at once, since a token has no newline. Of an incomplete line, the length of a token with
    every character escaped is held back; a reader cannot use half a line anyway.
    """

    __slots__ = ("_is_short", "_longest", "_needle", "_secret", "held")

    def __init__(self, secret: Secret) -> None:
        self.held: bytes = b""
        """The end of an incomplete line."""
        self._secret = secret
        self._needle: bytes = HiddenBytes(secret.reveal(), "ascii")
        self._is_short = len(self._needle) < SHORTEST_REDACTED
        self._longest = MAX_ESCAPE_LENGTH * len(self._needle) - 1

    def feed(self, piece: bytes) -> bytes:
        """Return the bytes that are free of the token, of this piece and those held back before."""
        if self._is_short:
            return piece
        if self.held:
            piece = self.held + piece
        if self._needle in piece or b"\\" in piece:
            piece = self._secret.redact_body(piece)
        if piece.endswith(b"\n"):
            self.held = b""
            return piece
        cut = max(piece.rfind(b"\n") + 1, len(piece) - self._longest)
        self.held = piece[cut:]
        return piece[:cut]


class RedactingFilter(logging.Filter):
    """Removes tokens from a log of received data: some services echo the request headers."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: WeakSet[Secret] = WeakSet()

    def add(self, secret: Secret) -> None:
        """Remove this token, too, for as long as it is in use."""
        self._secrets.add(secret)

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record, without tokens."""
        message = redacted = record.getMessage()
        for secret in self._secrets:
            redacted = secret.redact(redacted)
        if redacted != message:
            record.msg, record.args = redacted, ()
        return True


def as_secret(token: "str | Secret") -> Secret:
    """Return the token as a Secret; overwrite the variable that held the text, which tracebacks can show."""
    return token if isinstance(token, Secret) else Secret(token)


def strip_traceback(error: E) -> E:
    """Return the same exception without traceback, cause and context, whose frames hold the token.

    Frames of the HTTP library hold the Authorization header as plain bytes, and a cancellation comes from the innermost
    one. It must be the same exception: a task that was cancelled, or a timeout, recognizes its own.
    """
    for member in _members(error):
        strip_traceback(member)
    error.__cause__ = error.__context__ = None
    error.__suppress_context__ = False  # the context that the caller adds may be shown
    return error.with_traceback(None)


def _unescaped(body: bytes) -> bytes:
    """Return the body with its escapes decoded, for a fast search; it is not valid JSON any more."""
    text = body.decode("raw_unicode_escape", "replace").replace("\\/", "/")
    return text.encode("latin-1", "replace")


def _unescape(match: re.Match[bytes]) -> bytes:
    """Return a printable ASCII character in place of its escape; leave every other escape as it is."""
    escape = match[1]
    if escape == b"/":
        return escape
    character = bytes.fromhex(escape[3:].decode()) if len(escape) > 1 else b""
    is_plain = b" " < character < b"\x7f" and character not in b'"\\'
    return character if is_plain else match[0]


def _is_one_word(reveal: Callable[[], object]) -> bool:
    """Return whether a token is valid; it is revealed in expressions only, never held in a local."""
    return isinstance(reveal(), str) and _is_word(cast("Callable[[], str]", reveal))


def _is_word(reveal: Callable[[], str]) -> bool:
    return bool(reveal()) and reveal().isascii() and reveal().isprintable() and " " not in reveal()


def _members(error: BaseException) -> tuple[BaseException, ...]:
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).exceptions
    return ()
