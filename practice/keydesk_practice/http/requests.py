"""One request as the routes see it: its token's owner, its account, its parameters and its body.

Reading a parameter or a member returns a value of the right type or refuses the request with the name of what is wrong.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request

from keydesk_practice.engine.datetimes import parse_time
from keydesk_practice.http.refusals import Refused, invalid

LARGEST_BODY = 256 * 1024  # far above any order; what is larger is refused unread


def path_parameter(request: Request, name: str) -> str:
    """Return a path parameter, percent-decoded: a client id may hold a slash."""
    return unquote(str(request.path_params[name]))


async def read_json_object(request: Request, *, may_be_missing: bool = False) -> dict[str, Any]:
    """Return the JSON object in the body of a request; refuses a missing, huge or malformed one."""
    raw = await _read_body(request)
    if not raw.strip():
        if may_be_missing:
            return {}
        raise Refused(400, "Missing JSON body")
    try:
        found = json.loads(raw, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, "Malformed JSON body") from None
    if not isinstance(found, dict):
        raise Refused(400, "The JSON body is not an object")
    return found


async def _read_body(request: Request) -> bytes:
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > LARGEST_BODY:
        raise _too_large()
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > LARGEST_BODY:
            raise _too_large()
    return bytes(pieces)


def _too_large() -> Refused:
    message = f"The request body is larger than {LARGEST_BODY} bytes"
    return Refused(400, message, headers={"Connection": "close"})


def _no_constant(name: str) -> None:
    raise ValueError(name)


@dataclass(frozen=True, slots=True)
class Query:
    """The query string of a request."""

    values: Mapping[str, str]

    def text(self, name: str) -> str | None:
        """Return a parameter as it came, None when it is absent or empty."""
        return self.values.get(name) or None

    def words(self, name: str) -> list[str] | None:
        """Return the parts of a comma-separated parameter, None when it is absent."""
        text = self.text(name)
        return None if text is None else [word.strip() for word in text.split(",") if word.strip()]

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number between two bounds."""
        text = self.text(name)
        if text is None:
            return default
        number = whole_number(text, name)
        if number > high:
            raise Refused(400, f"Maximum value for '{name}' exceeded")
        if number < low:
            raise invalid(name)
        return number

    def time(self, name: str) -> int | None:
        """Return a point in time, None when it is absent."""
        text = self.text(name)
        return None if text is None else read_time(text, name)

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean: `true` or `false` in any case."""
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in {"true", "false"}:
            raise invalid(name)
        return text.lower() == "true"

    def choice(self, name: str, default: str, allowed: frozenset[str]) -> str:
        """Return one of the allowed words."""
        text = self.text(name)
        if text is None:
            return default
        if text not in allowed:
            raise invalid(name)
        return text


def read_time(text: str, name: str) -> int:
    """Return the nanoseconds since 1970 of a text in either form."""
    try:
        return parse_time(text)
    except ValueError:
        raise invalid(name) from None


def whole_number(text: str, name: str) -> int:
    """Return the number of a text of ASCII digits, of a size that an id or a count can have."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 18:  # noqa: PLR2004
        raise invalid(name)
    return sign * int(digits)
