"""What a request carries: the parameters of its query, its JSON body, and the address that its client used.

A parameter or member of the wrong type raises a 400 `HttpError` with its name, of a member with the path in the body. Numbers
in a body may come as text or as JSON numbers, times in either format.
"""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import Struct
from starlette.datastructures import URL, Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from keydesk_practice.engine.wire_form import parse_time
from keydesk_practice.http.error_responses import HttpError, invalid_value, missing_value

MAX_BODY_BYTES = 256 * 1024  # far larger than any order; a larger body is refused before it is read
MAX_DIGITS = 18  # of an id or a count
MAX_NUMBER_CHARACTERS = 40
MAX_TEXT_CHARACTERS = 8192
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_SCHEMES = frozenset({"http", "https"})


class Query(Struct, frozen=True):
    """The query string of a request; each method returns a parameter as its type or raises a 400 `HttpError`."""

    values: Mapping[str, str]

    def text(self, name: str) -> str | None:
        """Return a parameter as sent, None when it is absent or empty."""
        return self.values.get(name) or None

    def words(self, name: str) -> list[str] | None:
        """Return the parts of a comma-separated parameter, at least one, None when it is absent."""
        text = self.text(name)
        if text is None:
            return None
        words = [word.strip() for word in text.split(",") if word.strip()]
        if not words:
            raise invalid_value(name)
        return words

    def id(self, name: str) -> int | None:
        """Return the id of an order, a trade or a transaction, None when it is absent."""
        text = self.text(name)
        return None if text is None else read_id(text, name)

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""
        text = self.text(name)
        if text is None:
            return default
        number = whole_number(text, name)
        if number > high:
            raise HttpError(400, f"Maximum value for '{name}' exceeded")
        if number < low:
            raise invalid_value(name)
        return number

    def time(self, name: str) -> int | None:
        """Return a time in nanoseconds since 1970, None when it is absent."""
        text = self.text(name)
        return None if text is None else read_time(text, name)

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean: `true` or `false` in any case."""
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in {"true", "false"}:
            raise invalid_value(name)
        return text.lower() == "true"

    def choice(self, name: str, default: str, allowed: frozenset[str]) -> str:
        """Return one of the allowed words."""
        text = self.text(name)
        if text is None:
            return default
        if text not in allowed:
            raise invalid_value(name)
        return text


class JsonReader(Struct, frozen=True):
    """A JSON object and its path in the body; each method returns one member as its type, None for null or absent."""

    values: Mapping[str, Any]
    path: str = ""

    def name(self, member: str) -> str:
        """Return the full path of a member, for error messages."""
        return f"{self.path}.{member}" if self.path else member

    def has(self, member: str) -> bool:
        """Return whether a member is present, null included."""
        return member in self.values

    def text(self, member: str) -> str | None:
        """Return a string."""
        value = self.values.get(member)
        if value is not None and (not isinstance(value, str) or len(value) > MAX_TEXT_CHARACTERS):
            raise invalid_value(self.name(member))
        return value

    def word(self, member: str, allowed: frozenset[str]) -> str | None:
        """Return one of the allowed words."""
        value = self.text(member)
        if value is not None and value not in allowed:
            raise invalid_value(self.name(member))
        return value

    def decimal(self, member: str) -> Decimal | None:
        """Return a number, exactly as sent."""
        value = self.values.get(member)
        return None if value is None else decimal_of(value, self.name(member))

    def time(self, member: str) -> int | None:
        """Return a time in nanoseconds since 1970."""
        value = self.values.get(member)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise invalid_value(self.name(member))
        return read_time(str(value), self.name(member))

    def flag(self, member: str) -> bool | None:
        """Return a boolean."""
        value = self.values.get(member)
        if value is not None and not isinstance(value, bool):
            raise invalid_value(self.name(member))
        return value

    def object(self, member: str) -> "JsonReader | None":
        """Return an inner object."""
        value = self.values.get(member)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise invalid_value(self.name(member))
        return JsonReader(value, self.name(member))

    def required(self, member: str) -> "JsonReader":
        """Return an inner object; raise a 400 `HttpError` when it is missing."""
        inner = self.object(member)
        if inner is None:
            raise missing_value(self.name(member))
        return inner


def decimal_of(value: object, name: str) -> Decimal:
    """Return the number of a JSON string or number, without exponent, of at most `MAX_NUMBER_CHARACTERS`."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise invalid_value(name)
    text = format(value, "f") if isinstance(value, Decimal) else _number_text(value)
    if len(text) > MAX_NUMBER_CHARACTERS or not _DECIMAL.fullmatch(text):
        raise invalid_value(name)
    return Decimal(text)


def _number_text(value: str | int) -> str:
    if isinstance(value, str):
        return value
    return str(value) if value.bit_length() < 4 * MAX_NUMBER_CHARACTERS else ""


def header_of(scope: Scope, name: bytes) -> bytes | None:
    """Return the first header of a name in lower case, None when there is none."""
    return next((value for key, value in scope["headers"] if key == name), None)


def public_url(scope: Scope, *, trusts_proxy: bool) -> str:
    """Return scheme and host as the client knows them, without a trailing slash, also behind a proxy that is trusted.

    A proxy states them in `Forwarded` (RFC 7239) or in `X-Forwarded-Proto` and `X-Forwarded-Host`. The first element is the
    one of the proxy that the client talked to. Values that cannot be a scheme or a host are ignored.
    """
    own = _own_url(scope["scheme"], header_of(scope, b"host"), scope.get("server"))
    if not trusts_proxy:
        return own
    scheme, _, host = own.partition("://")
    proto, forwarded_host = _forwarded(Headers(scope=scope))
    if proto not in _SCHEMES:
        proto = scheme
    return f"{proto}://{forwarded_host if _HOST.fullmatch(forwarded_host) else host}"


@lru_cache(maxsize=256)  # clients use few addresses, and each order's answer has a link
def _own_url(scheme: str, host: bytes | None, server: tuple[str, int | None] | None) -> str:
    named = [] if host is None else [(b"host", host)]
    place = {"scheme": scheme, "server": server, "path": "/", "headers": named}
    return str(URL(scope=place)).rstrip("/")


def _forwarded(headers: Mapping[str, str]) -> tuple[str, str]:
    """Return the scheme and host that a proxy stated, empty where it stated none."""
    standard = _parameters(headers.get("forwarded", ""))
    proto = standard.get("proto") or _first(headers.get("x-forwarded-proto", ""))
    host = standard.get("host") or _first(headers.get("x-forwarded-host", ""))
    return proto.lower(), host


def _parameters(forwarded: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in _first(forwarded).split(";"))
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def _first(values: str) -> str:
    return values.partition(",")[0].strip()


def read_time(text: str, name: str) -> int:
    """Return the nanoseconds since 1970 of a time in either format; raise a 400 `HttpError` for anything else."""
    try:
        return parse_time(text)
    except ValueError:
        raise invalid_value(name) from None


def whole_number(text: str, name: str) -> int:
    """Return the integer of ASCII digits, at most `MAX_DIGITS`; raise a 400 `HttpError` for anything else."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not digits.isascii() or not digits.isdecimal() or len(digits) > MAX_DIGITS:
        raise invalid_value(name)
    return sign * int(digits)


def read_id(text: str, name: str) -> int:
    """Return the id of an order, a trade or a transaction; raise a 400 `HttpError` for anything else."""
    number = whole_number(text, name)
    if number < 0:
        raise invalid_value(name)
    return number


async def read_json_object(
    scope: Scope, receive: Receive, *, optional: bool = False
) -> dict[str, Any]:
    """Return the JSON object in the body of a request, an empty one for an optional body that is missing.

    Raises:
        HttpError: 400 for a missing, too large or malformed body.
    """
    raw = await _read_body(scope, receive)
    if not raw.strip():
        if optional:
            return {}
        raise HttpError(400, "Missing JSON body")
    try:
        body = _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError):
        raise HttpError(400, "Malformed JSON body") from None
    if not isinstance(body, dict):
        raise HttpError(400, "The JSON body is not an object")
    return body


async def _read_body(scope: Scope, receive: Receive) -> bytes:
    announced = header_of(scope, b"content-length")
    if announced is not None and (not announced.isdigit() or int(announced) > MAX_BODY_BYTES):
        raise _body_too_large()
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY_BYTES:
            raise _body_too_large()
    return body


def _body_too_large() -> HttpError:
    message = f"The request body is larger than {MAX_BODY_BYTES} bytes"
    return HttpError(400, message, headers={"Connection": "close"})


def _reject_constant(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_reject_constant)
