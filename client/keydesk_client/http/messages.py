"""What comes back, as plain values and without the token: a service, or something in between, may echo what it got.

A request and its answer as plain values: what goes over the wire, whatever carries it.
What leaves with a request: its headers, and the time that each phase of the call may take.
Read bodies of answers within bounds, compressed or not.
"""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias
from urllib.parse import urlencode

from keydesk_client._version import __version__
from keydesk_client.auth.secret import Secret
from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models._core.json import ERROR, LIST, too_large

Method = Literal["GET", "POST", "PUT", "PATCH"]


def _nothing() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the interface; `path` is percent-encoded already, `query` and `headers` are not."""

    method: Method
    path: str
    query: Mapping[str, str] = field(default_factory=_nothing)
    headers: Mapping[str, str] = field(default_factory=_nothing)
    body: bytes | None = None
    urgent: bool = False
    """Cancels and closes go before everything else that waits."""
    look_up: bool = False
    """Reads that tell what became of a lost answer go before other reads, on connections of their own."""

    @property
    def target(self) -> str:
        """Path and query as they stand in the request line."""
        return f"{self.path}?{urlencode(self.query, safe=',:')}" if self.query else self.path

    @property
    def is_read(self) -> bool:
        """Whether asking twice does no harm."""
        return self.method == "GET"


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers (names in lower case) and the whole body, decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def request_id(self) -> str:
        """The id that the service gave the request; empty when it gave none."""
        return self.headers.get("requestid", "")

    @property
    def succeeded(self) -> bool:
        return is_success(self.status)


def is_success(status: int) -> bool:
    """Whether a status means yes."""
    return 200 <= status < 300  # noqa: PLR2004 - the class of statuses


Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]

USER_AGENT: Final = (b"User-Agent", f"keydesk-client/{__version__}".encode())
JSON_BODY: Final = (b"Content-Type", b"application/json")
REST: Final[Headers] = (
    (b"Accept", b"application/json"),
    (b"Accept-Encoding", b"gzip"),
    USER_AGENT,
)
REST_HERE: Final[Headers] = (
    (b"Accept", b"application/json"),
    (b"Accept-Encoding", b"identity"),
    USER_AGENT,
)
STREAM: Final[Headers] = (
    (b"Accept", b"application/octet-stream"),
    (b"Accept-Encoding", b"identity"),  # a compressor would hold lines back
    USER_AGENT,
)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds that each phase of a call may take."""

    connect: float = 5.0
    write: float = 10.0
    read: float = 10.0
    pool: float = 10.0
    whole: float = 30.0
    """All phases of a call together."""
    opening: float = 60.0
    """Until a stream's first header; the service is known to take its time."""

    def phases(self, read: float | None) -> dict[str, float | None]:
        """The phases that the HTTP library watches; `read` is how long not a byte may come."""
        return {"connect": self.connect, "write": self.write, "read": read, "pool": self.pool}


STANDARD_TIMEOUTS: Final = Timeouts()


def headers_of(request: Request, token: Secret, accepted: Headers) -> list[tuple[bytes, bytes]]:
    """Every header of a request; UnicodeError when one of the caller's has no bytes."""
    sent = [(b"Authorization", token.bearer()), *accepted]
    if request.body is not None:
        sent.append(JSON_BODY)
    sent += [(name.encode(), value.encode()) for name, value in request.headers.items()]
    return sent


GZIP_WINDOW = 31


async def read_body(pieces: AsyncIterable[bytes], encoding: str, most: int = LIST.size) -> bytes:
    """The whole body, decompressed; UnreadableAnswer when it is too large or broken."""
    if encoding in {"", "identity"}:
        return await _plain(pieces, most)
    if encoding in {"gzip", "x-gzip"}:
        return await _unzipped(pieces, most)
    raise UnreadableAnswer(f"the answer is encoded as {encoding[:40]!r}, which was not asked for")


async def _plain(pieces: AsyncIterable[bytes], most: int) -> bytes:
    held: list[bytes] = []
    size = 0
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > most:
            raise too_large(most)
    return held[0] if len(held) == 1 else b"".join(held)


async def _unzipped(pieces: AsyncIterable[bytes], most: int) -> bytes:
    unzip = zlib.decompressobj(GZIP_WINDOW)
    held = bytearray()
    taken = 0
    with suppress(zlib.error):  # a broken one has no end
        async for piece in pieces:
            taken += len(piece)
            if taken > most:  # what decompresses to nothing has to end too
                raise too_large(most)
            if unzip.eof:
                continue  # it would be kept, and copied with every piece
            held += unzip.decompress(piece, most + 1 - len(held))
            if len(held) > most or unzip.unconsumed_tail:
                raise too_large(most)
    if not unzip.eof:
        raise UnreadableAnswer("the compressed answer is broken or ends half way")
    return bytes(held)


LONGEST_HEADER: Final = 8000


def read_headers(headers: Iterable[tuple[str, str]], token: Secret) -> dict[str, str]:
    """Headers by their names in lower case; apart from `read_answer`, whose errors show what it was given."""
    return {name.lower(): token.veiled(value)[:LONGEST_HEADER] for name, value in headers}


async def read_answer(
    status: int,
    headers: Mapping[str, str],
    pieces: AsyncIterable[bytes],
    token: Secret,
    most: int = LIST.size,
) -> Answer:
    """The whole answer; UnreadableAnswer when its body has more than `most` bytes, or is broken."""
    most = most if is_success(status) else ERROR.size
    body = await read_body(pieces, headers.get("content-encoding", "").lower(), most)
    return Answer(status, headers, token.veiled_body(body))


def is_compressed(encoding: str) -> bool:
    """Whether a stream's lines would be held back; who is told no more shows nobody what the service sent."""
    return encoding.lower() != "identity"


async def without_token(pieces: AsyncIterable[bytes], token: Secret) -> AsyncGenerator[bytes]:
    """A stream's bytes without the token, whole lines at once: of a line's beginning, its end waits for the rest."""
    veil = token.in_stream()
    async for piece in pieces:
        ready = veil.feed(piece)
        if ready:
            yield ready
    if veil.held:
        yield veil.held
