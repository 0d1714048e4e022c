"""Answers: JSON bodies with the headers that every one of them carries."""

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from keydesk_practice.datetimes import in_unix_form

SMALLEST_ZIPPED = 1400  # below one network packet there is nothing to win
FASTEST = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route answers: the body's members, the status, headers of its own.

    `texts` are members that are arrays of JSON texts from the ledger, put into the body as they are.
    """

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    always_zipped: bool = False

    def encoded(self, unix_times: bool) -> bytes:
        """Return the body as JSON, its times in the form asked for."""
        if unix_times:
            read = {
                name: [json.loads(text) for text in texts] for name, texts in self.texts.items()
            }
            return encode(in_unix_form({**read, **self.body}))
        arrays = [f'"{name}":[{",".join(texts)}]' for name, texts in self.texts.items()]
        rest = encode(self.body)
        if not arrays:
            return rest
        return b"{" + ",".join(arrays).encode("ascii") + (b"," if self.body else b"") + rest[1:]


@dataclass(frozen=True, slots=True)
class Wishes:
    """How the client wants its answers, by the headers it sent."""

    unix_times: bool
    zipped: bool


def encode(body: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return compact JSON in ASCII: a lone surrogate in a comment is no way to break an answer."""
    return json.dumps(body, separators=(",", ":")).encode("ascii")


def response_of(answer: Answer, wishes: Wishes) -> Response:
    """Return the response of an answer, in the date format and encoding that the client takes."""
    raw = answer.encoded(wishes.unix_times)
    headers = {"Content-Type": "application/json", **answer.headers}
    if answer.always_zipped or (wishes.zipped and len(raw) >= SMALLEST_ZIPPED):
        raw = gzip.compress(raw, FASTEST)
        headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
    return Response(raw, answer.status, headers)
