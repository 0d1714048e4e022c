"""What comes back, as plain values and without the token: a service, or something in between, may echo what it got."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping
from typing import Final

from keydesk_client.auth.secret import Secret
from keydesk_client.http.bodies import read_body
from keydesk_client.http.exchange import Answer, is_success
from keydesk_client.models._core.body_limits import ERROR, LIST

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
