"""What a request carries: the parameters of its query, its JSON body, and the address that its client used."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from starlette.datastructures import URL, Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from keydesk_practice.engine.wire_form import parse_time
from keydesk_practice.http.errors import HttpError, invalid_value

MAX_BODY_BYTES = 256 * 1024  # far larger than any order; a larger body is refused before it is read
MAX_DIGITS = 18  # of an id or a count
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_SCHEMES = frozenset({"http", "https"})


@dataclass(frozen=True, slots=True)
class Query:
    """The query string of a request; each method returns a parameter as its type or raises a 400 `HttpError`."""

    values: Mapping[str, str]

    def text(self, name: str) -> str | None:
        """Return a parameter as sent, None when it is absent or empty."""
        return self.values.get(name) or None

    def words(self, name: str) -> list[str] | None:
        """Return the parts of a comma-separated parameter, None when it is absent."""
        text = self.text(name)
        return None if text is None else [word.strip() for word in text.split(",") if word.strip()]

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
