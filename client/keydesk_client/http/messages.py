"""Requests and responses as plain values, and how headers and bodies are written and read."""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from http import HTTPStatus
from typing import Final, Literal, Protocol, TypeAlias
from urllib.parse import urlencode

from keydesk_client._version import __version__
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models._core.json import LIST, too_large

Method: TypeAlias = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]

USER_AGENT: Final = (b"User-Agent", f"keydesk-client/{__version__}".encode())
JSON_BODY: Final = (b"Content-Type", b"application/json")
REST: Final[Headers] = (
    (b"Accept", b"application/json"),
    (b"Accept-Encoding", b"gzip"),
    USER_AGENT,
)
REST_UNCOMPRESSED: Final[Headers] = (
    (b"Accept", b"application/json"),
    (b"Accept-Encoding", b"identity"),
    USER_AGENT,
)
STREAM: Final[Headers] = (
    (b"Accept", b"application/octet-stream"),
    (b"Accept-Encoding", b"identity"),  # a compressor would delay lines
    USER_AGENT,
)
GZIP_WINDOW: Final = 31
SLICE: Final = 16 * 1024
"""Compressed bytes that are read before other tasks run: a block that holds nothing takes 15 of them and 4 µs."""
OUTPUT_SLICE: Final = 256 * 1024
"""Bytes that they become before other tasks run: a bomb grows a thousand times."""
MAX_HEADER_LENGTH: Final = 8000


def _nothing() -> dict[str, str]:
    return {}


class RequestKind(IntEnum):
    """The class of a request, by which the admission queue orders it."""

    URGENT = 0
    """An exit: a cancel or a close."""
    LOOK_UP = 1
    """A read that tells what became of a request whose response was lost."""
    WRITE = 2
    READ = 3


class Connection(Protocol):
    """A connection of a transport."""

    async def aclose(self) -> None:
        """Close it."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the REST host; `path` is percent-encoded, `query` and `headers` are not."""

    method: Method
    path: str
    query: Mapping[str, str] = field(default_factory=_nothing)
    headers: Mapping[str, str] = field(default_factory=_nothing)
    body: bytes | None = None
    urgent: bool = False
    """Cancels and closes are admitted first."""
    look_up: bool = False
    """Reads about a lost response are admitted before other reads, on connections of their own."""

    @property
    def target(self) -> str:
        """The path and the query, as they stand in the request line."""
        return f"{self.path}?{urlencode(self.query, safe=',:')}" if self.query else self.path

    @property
    def is_read(self) -> bool:
        """Whether the request may be repeated."""
        return self.method == "GET"

    @property
    def kind(self) -> RequestKind:
        """How the admission queue treats the request."""
        if self.urgent:
            return RequestKind.URGENT
        if not self.is_read:
            return RequestKind.WRITE
        return RequestKind.LOOK_UP if self.look_up else RequestKind.READ


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Status, headers (names in lower case) and the whole body, decompressed; without the token."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    connection: Connection | None = field(default=None, repr=False, compare=False)
    """The connection that brought it, where the transport names it."""

    @property
    def request_id(self) -> str:
        """The service's id of the request; empty when it sent none."""
        return self.headers.get("requestid", "")

    @property
    def is_success(self) -> bool:
        """Whether the status is one of 200 to 299."""
        return is_success(self.status)


def is_success(status: int) -> bool:
    """Return whether a status is one of 200 to 299."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def request_headers(
    request: Request, token: Secret, accepted: Headers
) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request but those of its host and length; raise UnicodeError for one that cannot be encoded."""
    headers = [(b"Authorization", token.bearer()), *accepted]
    if request.body is not None:
        headers.append(JSON_BODY)
    return headers + [(name.encode(), value.encode()) for name, value in request.headers.items()]


def header_texts(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return response headers by their names in lower case; the values of a name that comes again stand together."""
    texts: dict[str, list[str]] = {}
    for name, value in headers:
        texts.setdefault(name.decode("latin-1").lower(), []).append(_text(value))
    return {name: ", ".join(values) for name, values in texts.items()}


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def read_headers(headers: Mapping[str, str], token: Secret) -> dict[str, str]:
    """Return response headers, cut to a bound and without the token."""
    return {name: token.redact(value)[:MAX_HEADER_LENGTH] for name, value in headers.items()}


async def read_body(
    pieces: AsyncIterable[bytes], encoding: str, max_bytes: int = LIST.size
) -> bytes:
    """Return the whole body, decompressed.

    Raises:
        AnswerTooLarge: it has more than `max_bytes`.
        UnreadableAnswer: its encoding was not asked for, or its compression is broken.
    """
    if encoding in {"", "identity"}:
        return await _read_plain(pieces, max_bytes)
    if encoding in {"gzip", "x-gzip"}:
        return await _read_gzip(pieces, max_bytes)
    raise UnreadableAnswer(f"the response is encoded as {encoding[:40]!r}, which was not asked for")


async def _read_plain(pieces: AsyncIterable[bytes], max_bytes: int) -> bytes:
    held: list[bytes] = []
    size = 0
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise too_large(max_bytes)
    return held[0] if len(held) == 1 else b"".join(held)


async def _read_gzip(pieces: AsyncIterable[bytes], max_bytes: int) -> bytes:
    decompressor = zlib.decompressobj(GZIP_WINDOW)
    held = bytearray()
    received = 0
    with suppress(zlib.error):  # a broken body does not reach its end
        async for piece in pieces:
            received += len(piece)
            if received > max_bytes:  # also of a body that decompresses to nothing
                raise too_large(max_bytes)
            if decompressor.eof:
                continue  # the decompressor would keep the rest, and copy it with each piece
            for start in range(0, len(piece), SLICE):
                held += decompressor.decompress(piece[start : start + SLICE], OUTPUT_SLICE)
                while decompressor.unconsumed_tail and len(held) <= max_bytes:
                    await asyncio.sleep(0)
                    held += decompressor.decompress(decompressor.unconsumed_tail, OUTPUT_SLICE)
                if len(piece) > SLICE:
                    await asyncio.sleep(0)
            if len(held) > max_bytes:
                raise too_large(max_bytes)
    if not decompressor.eof:
        raise UnreadableAnswer("the compressed response is broken or incomplete")
    return bytes(held)


async def without_token(pieces: AsyncIterable[bytes], token: Secret) -> AsyncGenerator[bytes]:
    """Yield the bytes of a stream without the token: whole lines at once, part of a line once it is complete."""
    redactor = token.stream_redactor()
    async for piece in pieces:
        ready = redactor.feed(piece)
        if ready:
            yield ready
    if redactor.held:
        yield redactor.held
