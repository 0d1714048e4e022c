"""Answers: JSON bodies with the headers that every one of them carries."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.turns import Turns
from keydesk_practice.engine.datetimes import in_unix_form

SMALLEST_ZIPPED = 1400  # below one network packet there is nothing to win
FASTEST = 1
GZIP_WINDOW = 31  # of zlib: the largest window, with the header and trailer of gzip
LARGEST_PIECE = 65_536  # characters that are joined, packed and sent in one turn of the loop
UNITS_OF_A_PIECE = 16


class EncodedList(list[str]):
    """A JSON array whose items are JSON texts already, their times in the form that the client asked for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route answers: the body's members, the status, headers of its own."""

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    always_zipped: bool = False


@dataclass(frozen=True, slots=True)
class Wishes:
    """How the client wants its answers, by the headers it sent."""

    unix_times: bool
    zipped: bool


def encode(body: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return compact JSON in ASCII: a lone surrogate in a comment is no way to break an answer."""
    return text_of(body).encode("ascii")


def text_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return compact JSON in ASCII, as text."""
    return json.dumps(value, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Response:
    """The ASGI response of an answer; a long body is sent piece by piece, as the client takes it."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    pieces: Sequence[bytes]
    turns: Turns

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send it."""
        head = {"type": "http.response.start", "status": self.status, "headers": self.headers}
        await send(head)
        last = len(self.pieces) - 1
        for number, piece in enumerate(self.pieces):
            if number:
                await self.turns.take(UNITS_OF_A_PIECE)
            more = number < last
            await send({"type": "http.response.body", "body": piece, "more_body": more})


async def response_of(answer: Answer, wishes: Wishes, turns: Turns) -> Response:
    """Return the response of an answer, in the date format and encoding that the client takes."""
    pieces = await _pieces(answer, wishes, turns)
    headers = {"content-type": "application/json", **answer.headers}
    if answer.always_zipped or (wishes.zipped and sum(map(len, pieces)) >= SMALLEST_ZIPPED):
        pieces = await _zipped(pieces, turns)
        headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
    headers["content-length"] = str(sum(map(len, pieces)))
    encoded = [
        (name.lower().encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()
    ]
    return Response(answer.status, encoded, pieces, turns)


async def _pieces(answer: Answer, wishes: Wishes, turns: Turns) -> list[bytes]:
    """Return the body as JSON, in pieces."""
    pieces, group, size = [], [], 0
    for text in _object_texts(answer.body, wishes.unix_times):
        group.append(text)
        size += len(text)
        if size >= LARGEST_PIECE:
            pieces.append("".join(group).encode("ascii"))
            group, size = [], 0
            await turns.take(UNITS_OF_A_PIECE)
    return [*pieces, "".join(group).encode("ascii")]


def _object_texts(body: Mapping[str, Any], unix_times: bool) -> Iterator[str]:
    opening = "{"
    for name, value in body.items():
        yield f'{opening}"{name}":'
        yield from _member_texts(name, value, unix_times)
        opening = ","
    yield "{}" if opening == "{" else "}"


def _member_texts(name: str, value: Any, unix_times: bool) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, EncodedList):
        yield "["
        for number, text in enumerate(value):
            yield f",{text}" if number else text
        yield "]"
    elif isinstance(value, dict) and any(isinstance(one, EncodedList) for one in value.values()):
        yield from _object_texts(value, unix_times)
    else:
        yield text_of(in_unix_form({name: value})[name] if unix_times else value)


async def _zipped(pieces: Sequence[bytes], turns: Turns) -> list[bytes]:
    packer = zlib.compressobj(FASTEST, zlib.DEFLATED, GZIP_WINDOW)
    packed = []
    for number, piece in enumerate(pieces):
        if number:
            await turns.take(UNITS_OF_A_PIECE)
        packed.append(packer.compress(piece))
    return [b"".join([*packed, packer.flush()])]
