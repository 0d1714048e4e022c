"""What the resources share: the default account, checked parameters and request bodies."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Final, Generic, Literal, TypeAlias, TypeVar, cast
from urllib.parse import quote

from keydesk_client.errors import HttpStatusError, InvalidRequest
from keydesk_client.http.caller import Caller
from keydesk_client.http.messages import Method, Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import JsonValue
from keydesk_client.models._core.record import Response, Wire, require_record, revalidated
from keydesk_client.models._core.scalars import (
    DateTime,
    Number,
    TimeOrDate,
    decimal_of,
    decimal_text,
)
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import ClientExtensions
from keydesk_client.models.requests import validate_close_units
from keydesk_client.resources._defaults import Defaults, TimeFormat
from keydesk_client.resources.answers import Comparison, is_answer

CloseUnits: TypeAlias = Literal["ALL"] | Number
SideUnits: TypeAlias = Literal["ALL", "NONE"] | Number

BASE_PATH: Final = "/v3"
MAX_ID: Final = 10**20
"""No transaction id is that large."""

JOINED: Final = str.maketrans("/- ", "___")
PAIR: Final = re.compile(r"[A-Z0-9]{2,}_[A-Z]{3}")
CODE_LENGTH: Final = 3
"""Letters of the code of a currency."""

_encode_json = json.JSONEncoder(separators=(",", ":")).encode


R_co = TypeVar("R_co", bound=Response, covariant=True)


@dataclass(frozen=True, slots=True)
class WriteRequest(Generic[R_co]):
    """A request that changes an account, checked and built but not sent."""

    caller: Caller
    request: Request
    reader: Reader[R_co]
    account_id: str
    target: str
    """The order, trade or instrument that it changes; empty for a new order and for the account itself."""
    body: Wire
    """The JSON object that is sent; of an order, what stands inside `order`. Empty when there is none."""
    names: Comparison
    """Tells the transactions of its answer from those of other requests."""

    async def send(self) -> R_co:
        """Send exactly this, once; raise UnreadableAnswer for the answer to another request."""
        return await self.caller.call(self.request, self.reader, self._is_answered_by)

    def _is_answered_by(self, answer: Response | HttpStatusError) -> bool:
        return is_answer(answer, self.account_id, partial(self.names, self.target, self.body))


class Resource:
    """One resource of the interface."""

    def __init__(self, caller: Caller, defaults: Defaults) -> None:
        self._caller = caller
        self._defaults = defaults

    def __repr__(self) -> str:
        calls = (name for name in dir(type(self)) if not name.startswith("_"))
        return f"<{type(self).__name__}: {', '.join(calls)}>"

    def _account(self, account_id: str | None, *rest: tuple[str, str | Instrument] | str) -> str:
        """Return a path below the account; InvalidRequest when neither the call nor the client names one."""
        return path("accounts", ("account_id", self._account_id(account_id)), *rest)

    def _account_id(self, account_id: str | None) -> str:
        chosen = account_id or self._defaults.account_id
        if not chosen:
            raise InvalidRequest(
                "account_id: missing: pass it to the call, or to the client: Client(account_id=...)",
                field="account_id",
            )
        return chosen

    def _headers(self, client_request_id: str | None = None) -> Mapping[str, str]:
        headers: dict[str, str] = {}
        if self._defaults.datetime_format != "RFC3339":
            headers["Accept-Datetime-Format"] = self._defaults.datetime_format
        if client_request_id is not None:
            headers["ClientRequestID"] = header_text("client_request_id", client_request_id)
        return headers

    def _write(
        self,
        method: Method,
        where: tuple[tuple[str, str | Instrument] | str, ...],
        reader: Reader[R_co],
        body: Wire,
        names: Comparison,
        *,
        account_id: str | None,
        member: str | None = None,
        client_request_id: str | None = None,
        urgent: bool = False,
    ) -> WriteRequest[R_co]:
        """Return the request that sends `body`, inside `member` if one is named; an empty body is not sent.

        `where` is the path below the account; a pair in it names the target.
        """
        content = json_body(body if member is None else {member: body}) if body else None
        headers = self._headers(client_request_id)
        request = Request(method, self._account(account_id, *where), {}, headers, content, urgent)
        [target] = [each[1] for each in where if isinstance(each, tuple)] or [""]
        return WriteRequest(
            self._caller,
            request,
            reader,
            self._account_id(account_id),
            name_of(target),
            body,
            names,
        )

    def _moment(self, field: str, value: TimeOrDate) -> str:
        return time_text(field, value, self._defaults.datetime_format)

    def _in_time_form(self, members: Wire) -> Wire:
        """Return the members with expiry times in the form that the headers announce."""
        is_unix = self._defaults.datetime_format == "UNIX"
        return _with_unix_times(members) if is_unix else members


def refuse_unknown(options: Iterable[str], known: frozenset[str]) -> None:
    """Raise InvalidRequest for an unknown option, which would otherwise be ignored."""
    for name in options:
        if name not in known:
            choices = ", ".join(sorted(known))
            raise InvalidRequest(f"{name}: unknown option: use one of {choices}", field=name)


def trade_close(units: CloseUnits, instrument: Instrument | None) -> Wire:
    """Return the body that closes a trade or a part of it."""
    if isinstance(units, str) and units == "ALL":
        return {"units": units}
    return {"units": _size("units", units, instrument)}


def position_close(
    long_units: SideUnits | None,
    short_units: SideUnits | None,
    long_client_extensions: ClientExtensions | None,
    short_client_extensions: ClientExtensions | None,
    instrument: Instrument | str,
) -> Wire:
    """Return the body that closes one side of a position or both."""
    known = instrument if isinstance(instrument, Instrument) else None
    members = _side("long", long_units, long_client_extensions, known)
    members |= _side("short", short_units, short_client_extensions, known)
    if all(members.get(side, "NONE") == "NONE" for side in ("longUnits", "shortUnits")):
        raise InvalidRequest(
            "long_units: no side to close: pass long_units, short_units or both", field="long_units"
        )
    return members


def sent_extensions(field: str, extensions: ClientExtensions) -> Wire:
    """Return client extensions as they are sent; InvalidRequest if a copy of them is invalid."""
    require_record(field, extensions, ClientExtensions)
    return revalidated(extensions, f"{field}.").to_wire()


def name_of(instrument: Instrument | str) -> str:
    """Return the name of an instrument that is passed as a record or by name."""
    return instrument.name if isinstance(instrument, Instrument) else instrument


def unknown_instrument(field: str, name: str, names: Iterable[str]) -> InvalidRequest:
    """Return the error for an instrument that the account lacks; it names close ones: EUR_USD for eurusd and EUR_UDS."""
    near = get_close_matches(_as_name(name), names, n=3)
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    return InvalidRequest(
        f"{field}: the account has no instrument {name[:40]!r}{hint}", field=field
    )


def require_instrument_name(
    field: str, instrument: str | Instrument, known: Collection[str] = ()
) -> None:
    """Raise InvalidRequest for another spelling of a name, which it suggests, or a name that is not among known ones.

    EURUSD, EUR/USD and eur_usd are refused for EUR_USD; of other text the service decides.
    """
    if not isinstance(instrument, str):
        return
    name = instrument
    if known and name not in known:
        raise unknown_instrument(field, name, known)
    likely = _as_name(name)
    if name != likely and PAIR.fullmatch(likely):
        raise InvalidRequest(
            f"{field}: there is no instrument {name[:40]!r}: did you mean {likely[:40]}?",
            field=field,
        )


def _as_name(text: str) -> str:
    """Return text as the name of an instrument is written: upper case, currencies joined by an underscore."""
    name = text.upper().translate(JOINED)
    is_pair = len(name) == 2 * CODE_LENGTH and name.isalpha()
    return f"{name[:CODE_LENGTH]}_{name[CODE_LENGTH:]}" if is_pair else name


def json_body(members: Wire) -> bytes:
    """Return a request body."""
    return _encode_json(members).encode()


def path(*segments: tuple[str, str | Instrument] | str) -> str:
    """Return the path of `segments`; a pair is a parameter's name and its value, which is checked and quoted."""
    return BASE_PATH + "".join(
        f"/{part}" if isinstance(part, str) else f"/{quoted(*part)}" for part in segments
    )


def quoted(field: str, value: object) -> str:
    """Return a value as one path segment, quoted: the client id `@a/../../accounts` must not be another path."""
    if isinstance(value, Instrument):
        value = value.name
    if not isinstance(value, str):
        raise InvalidRequest(
            f"{field}: invalid type {type(value).__name__}: pass text, as in '{str(value)[:60]}'",
            field=field,
        )
    if value in {"", ".", "..", "@"} or not value.isprintable():
        raise InvalidRequest(f"{field}: {value[:60]!r} is not a valid identifier", field=field)
    return quote(value, safe="@")


def numeric_id(field: str, value: object) -> str:
    """Return a transaction id as text."""
    if _is_id(value) or (isinstance(value, str) and value.isascii() and value.isdecimal()):
        return str(value)
    shown = "so large a number" if isinstance(value, int) and value > 0 else repr(value)[:60]
    raise InvalidRequest(f"{field}: {shown} is not a transaction id", field=field)


def join_names(field: str, values: Iterable[object] | str) -> str:
    """Return a comma-separated list of names, of instruments by their names, or of ids as text or numbers."""
    items = [values] if isinstance(values, str | Instrument) else _items(values)
    items = [each.name if isinstance(each, Instrument) else each for each in items]
    if not items or any(not _is_name(item) for item in items):
        raise InvalidRequest(f"{field}: pass at least one name, without commas", field=field)
    return ",".join(str(item) for item in items)


def time_text(field: str, value: TimeOrDate, form: TimeFormat = "RFC3339") -> str:
    """Return a time as text in the given form."""
    try:
        time = DateTime.of(value)
    except (ValueError, TypeError) as error:
        raise InvalidRequest(f"{field}: {error}", field=field) from None
    if form == "UNIX":
        return time.unix_text
    return time.text if time.text.endswith("Z") else DateTime.from_ns(time.ns).text


def number(field: str, value: Number, *, above_zero: bool = False) -> str:
    """Return an exact number as decimal text."""
    try:
        decimal = decimal_of(value)
    except ValueError as error:
        raise InvalidRequest(f"{field}: {error}", field=field) from None
    if above_zero and decimal <= 0:
        raise InvalidRequest(f"{field}: {decimal_text(decimal)} is not above 0", field=field)
    return decimal_text(decimal)


def whole(field: str, value: object, least: int, most: int) -> str:
    """Return a whole number within the bounds of the service as text."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidRequest(
            f"{field}: {value!r} is not a whole number from {least} to {most}", field=field
        )
    return str(value)


def yes_or_no(*, value: bool) -> str:
    """Return a boolean as it stands in a query."""
    return "true" if value else "false"


def plain_text(field: str, value: object) -> str:
    """Return text unchanged; raise InvalidRequest for anything else."""
    if not isinstance(value, str):
        raise InvalidRequest(
            f"{field}: invalid type {type(value).__name__}: pass text", field=field
        )
    return value


def header_text(field: str, value: str) -> str:
    """Return text that may stand in a header."""
    if not value or not value.isascii() or not value.isprintable():
        raise InvalidRequest(f"{field}: pass printable ASCII", field=field)
    return value


def _items(values: object) -> list[object]:
    return list(cast("Iterable[object]", values)) if isinstance(values, Iterable) else []


def _is_name(item: object) -> bool:
    if isinstance(item, str):
        return bool(item) and item.isprintable() and "," not in item
    return _is_id(item)


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_ID


def _with_unix_times(members: Wire) -> Wire:
    """Return the body with its expiry times in seconds since 1970."""
    return {name: _with_unix_time(name, value) for name, value in members.items()}


def _with_unix_time(name: str, value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _with_unix_times(value)
    return DateTime(value).unix_text if name == "gtdTime" and isinstance(value, str) else value


def _side(
    side: str,
    units: SideUnits | None,
    extensions: ClientExtensions | None,
    instrument: Instrument | None,
) -> Wire:
    members: Wire = {}
    if isinstance(units, str) and units in {"ALL", "NONE"}:
        members[f"{side}Units"] = units
    elif units is not None:
        members[f"{side}Units"] = _size(f"{side}_units", units, instrument)
    if extensions is not None:
        members[f"{side}ClientExtensions"] = sent_extensions(
            f"{side}_client_extensions", extensions
        )
    return members


def _size(field: str, units: Number, instrument: Instrument | None) -> str:
    text = number(field, units, above_zero=True)
    if instrument is not None:
        validate_close_units(field, decimal_of(text), instrument)
    return text
