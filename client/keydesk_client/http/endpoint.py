"""Paths and query values, quoted so that no id can mean another resource.

`@a/../../accounts` is a client id; sent unquoted it would be another path.

Where a token may be sent: https anywhere, plain http only to this machine.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal, TypeAlias, cast
from urllib.parse import SplitResult, quote, urlsplit

from keydesk_client.errors import InvalidRequest, InvalidSettings
from keydesk_client.models._core.scalars import (
    DateTime,
    Number,
    TimeInput,
    decimal_of,
    decimal_text,
)

UNIX_SCHEME = "http+unix"


@dataclass(frozen=True, slots=True)
class Address:
    """The base of a host's paths, and the unix socket that leads to it, if one does."""

    base: str
    socket_path: str | None = None

    @property
    def encrypted(self) -> bool:
        return self.base.startswith("https:")

    @property
    def is_here(self) -> bool:
        """Whether the host is this machine, where compression costs more than it saves."""
        return not self.encrypted


def address_of(url: str, name: str = "the address") -> Address:
    """The address a URL names; InvalidSettings, saying which by its name, when a token must not travel there."""
    parts = _split(url, name)
    if parts.scheme == UNIX_SCHEME:
        return _socket_address(parts, name)
    if not parts.hostname or parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidSettings(
            f"{name}: no host's address: write https:// and the host, as in https://api.example.com"
        )
    base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)):
        return Address(base)
    raise InvalidSettings(
        f"{name}: {base}: a token travels by https://, or by http:// on this machine, only"
    )


def is_loopback(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str, name: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises when it is no number
    except ValueError:
        pass  # it names the part that is wrong, and that may be a password
    else:
        return parts
    raise InvalidSettings(f"{name}: can not be read as one: its host or port is none")


def _socket_address(parts: SplitResult, name: str) -> Address:
    if parts.netloc or not parts.path.startswith("/"):
        raise InvalidSettings(f"{name}: a unix socket is written http+unix:///absolute/path")
    return Address("http://localhost", socket_path=parts.path)


TimeForm: TypeAlias = Literal["RFC3339", "UNIX"]

BASE = "/v3"
MOST_ID: Final = 10**20
"""No id is that long."""


def path(*segments: tuple[str, str] | str) -> str:
    """The path of segments; a pair is the name of a parameter and its value, which is checked and quoted."""
    return BASE + "".join(
        f"/{part}" if isinstance(part, str) else f"/{quoted(*part)}" for part in segments
    )


def quoted(field: str, value: object) -> str:
    """A value as one path segment; only text is one, also where no type checker says so."""
    if not isinstance(value, str):
        raise InvalidRequest(
            f"{field}: give text, as in '{str(value)[:60]}'; this is of type {type(value).__name__}",
            field=field,
        )
    if value in {"", ".", "..", "@"} or not value.isprintable():
        raise InvalidRequest(f"{field}: {str(value)[:60]!r} names nothing", field=field)
    return quote(value, safe="@")


def numeric_id(field: str, value: object) -> str:
    """A transaction id that is a range's bound."""
    if _is_id(value) or (isinstance(value, str) and value.isascii() and value.isdecimal()):
        return str(value)
    shown = "so long a number" if isinstance(value, int) and value > 0 else repr(value)[:60]
    raise InvalidRequest(f"{field}: {shown} is no transaction id", field=field)


def listed(field: str, values: Iterable[object] | str) -> str:
    """A comma-separated list of names, or of ids as text or numbers."""
    items = [values] if isinstance(values, str) else _items(values)
    if not items or any(not _is_name(item) for item in items):
        raise InvalidRequest(f"{field}: needs names without commas, and at least one", field=field)
    return ",".join(str(item) for item in items)


def _items(values: object) -> list[object]:
    return list(cast("Iterable[object]", values)) if isinstance(values, Iterable) else []


def _is_name(item: object) -> bool:
    if isinstance(item, str):
        return bool(item) and item.isprintable() and "," not in item
    return _is_id(item)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_ID


def moment(field: str, value: TimeInput, form: TimeForm = "RFC3339") -> str:
    """A time as the service is asked to read it."""
    try:
        held = DateTime.of(value)
    except (ValueError, TypeError) as error:
        raise InvalidRequest(f"{field}: {error}", field=field) from None
    if form == "UNIX":
        return held.unix_text
    return held.text if held.text.endswith("Z") else DateTime.from_ns(held.ns).text


def number(field: str, value: Number, *, above_zero: bool = False) -> str:
    """An exact number as decimal text."""
    try:
        held = decimal_of(value)
    except ValueError as error:
        raise InvalidRequest(f"{field}: {error}", field=field) from None
    if above_zero and held <= 0:
        raise InvalidRequest(f"{field}: must be above 0", field=field)
    return decimal_text(held)


def whole(field: str, value: object, least: int, most: int) -> str:
    """A whole number within the service's bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidRequest(f"{field}: {value!r} is not within {least} to {most}", field=field)
    return str(value)


def yes_or_no(*, value: bool) -> str:
    """A boolean of a query."""
    return "true" if value else "false"


def plain_text(field: str, value: object) -> str:
    """Text that a query or a body takes as it is; only text is."""
    if not isinstance(value, str):
        raise InvalidRequest(
            f"{field}: give text; this is of type {type(value).__name__}", field=field
        )
    return value


def header_text(field: str, value: str) -> str:
    """A value that may stand in a header."""
    if not value or not value.isascii() or not value.isprintable():
        raise InvalidRequest(f"{field}: needs printable ASCII", field=field)
    return value
