"""What a close sends, and what an edit of a trade's orders sends: the call and the order journal write the same.

What the areas of a client share: the caller, the default account, the form of times.
Options of a call, by name.
The times inside a body, in the form that the call's header announces.
Lists that come newest first and in pages: orders and trades.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, Protocol, TypeAlias, TypedDict, TypeVar

from keydesk_client.errors import InvalidRequest, UnreadableAnswer
from keydesk_client.http.caller import Caller
from keydesk_client.http.endpoint import (
    TimeForm,
    header_text,
    listed,
    moment,
    number,
    numeric_id,
    path,
    plain_text,
    whole,
)
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import JsonValue
from keydesk_client.models._core.record import Response, Wire
from keydesk_client.models._core.scalars import DateTime, Number, TimeInput, decimal_of
from keydesk_client.models._core.wire_names import validate_choice
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import ClientExtensions
from keydesk_client.models.requests import validate_close_units


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a call uses when it is not told otherwise."""

    account_id: str | None = None
    datetime_format: TimeForm = "RFC3339"


R_co = TypeVar("R_co", bound=Response, covariant=True)


@dataclass(frozen=True, slots=True)
class WriteRequest(Generic[R_co]):
    """A request that changes an account, checked and built but not sent: `Client.send` sends exactly this."""

    request: Request
    reader: Reader[R_co]
    body: Wire
    """The JSON object that is sent; of an order, what stands inside `order`. Empty when there is none."""


class Area:
    """One resource of the interface."""

    def __init__(self, caller: Caller, defaults: Defaults) -> None:
        self._caller = caller
        self._defaults = defaults

    def __repr__(self) -> str:
        calls = (name for name in dir(type(self)) if not name.startswith("_"))
        return f"<{type(self).__name__}: {', '.join(calls)}>"

    def _account(self, account_id: str | None, *rest: tuple[str, str] | str) -> str:
        chosen = account_id or self._defaults.account_id
        if not chosen:
            raise InvalidRequest(
                "account_id: name one in the call, or give the client one: Client(account_id=...)",
                field="account_id",
            )
        return path("accounts", ("account_id", chosen), *rest)

    def _headers(self, client_request_id: str | None = None) -> Mapping[str, str]:
        headers: dict[str, str] = {}
        if self._defaults.datetime_format != "RFC3339":
            headers["Accept-Datetime-Format"] = self._defaults.datetime_format
        if client_request_id is not None:
            headers["ClientRequestID"] = header_text("client_request_id", client_request_id)
        return headers

    def _moment(self, field: str, value: TimeInput) -> str:
        return moment(field, value, self._defaults.datetime_format)


def refuse_unknown(options: Iterable[str], known: frozenset[str]) -> None:
    """InvalidRequest for an option that there is not: misspelt, it would be left out without a word."""
    for name in options:
        if name not in known:
            there_are = ", ".join(sorted(known))
            raise InvalidRequest(f"{name}: no such option, there are {there_are}", field=name)


def in_form(members: Wire, form: TimeForm) -> Wire:
    """The body with its expiry times in seconds since 1970 when that is the form; else as it is."""
    if form != "UNIX":
        return members
    return {name: _in_unix(name, value) for name, value in members.items()}


def _in_unix(name: str, value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return in_form(value, "UNIX")
    return DateTime(value).unix_text if name == "gtdTime" and isinstance(value, str) else value


MOST_LISTED: Final = 500


class ListOptions(TypedDict, total=False):
    """Which orders or trades; what is left out is left to the service."""

    ids: Iterable[str | int]
    """Only these; of any state only together with `state="ALL"`."""
    instrument: str
    """Only of this one, as in EUR_USD."""
    count: int
    """At most 500; 50 unless said."""
    before_id: str | int
    """The highest id to return."""


class Identified(Protocol):
    """A record with a numeric id."""

    @property
    def id(self) -> str: ...


def list_query(options: ListOptions, state: str | None, states: tuple[str, ...]) -> dict[str, str]:
    """The query that asks for a list."""
    refuse_unknown(options, ListOptions.__optional_keys__)
    query: dict[str, str] = {}
    if "ids" in options:
        query["ids"] = listed("ids", options["ids"])
    if state is not None:
        query["state"] = validate_choice("state", state, states)
    if "instrument" in options:
        query["instrument"] = plain_text("instrument", options["instrument"])
    if "count" in options:
        query["count"] = whole("count", options["count"], 1, MOST_LISTED)
    if "before_id" in options:
        query["beforeID"] = numeric_id("before_id", options["before_id"])
    return query


def next_before(
    answer: Response, items: Sequence[Identified], asked: int, options: ListOptions
) -> str | None:
    """Where the next page begins; None after the last one.

    The service says so by its Link header. Without one, a full page means that more may follow. The ids decide in
    both cases, never the address: a token goes only where the client was told to send it.

    Raises:
        UnreadableAnswer: the page goes back to ids that an earlier one had; following such pages would never end.
    """
    if items and "before_id" in options:
        highest = max(int(item.id) for item in items)
        if highest > int(options["before_id"]):
            raise UnreadableAnswer(
                f"a page lists id {highest}, although none above {options['before_id']} was asked for"
            )
    if not items or ("next" not in answer.links and len(items) < asked):
        return None
    lowest = min(int(item.id) for item in items)
    return str(lowest - 1) if lowest > 1 else None


CloseUnits: TypeAlias = Literal["ALL"] | Number
SideUnits: TypeAlias = Literal["ALL", "NONE"] | Number


def trade_close(units: CloseUnits, instrument: Instrument | None) -> Wire:
    """The body that closes a trade or a part of it."""
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
    """The body that closes one side of a position or both."""
    known = instrument if isinstance(instrument, Instrument) else None
    members = _side("long", long_units, long_client_extensions, known)
    members |= _side("short", short_units, short_client_extensions, known)
    if all(members.get(side, "NONE") == "NONE" for side in ("longUnits", "shortUnits")):
        raise InvalidRequest("long_units: give a side to close", field="long_units")
    return members


def name_of(instrument: Instrument | str) -> str:
    """The instrument's name."""
    return instrument.name if isinstance(instrument, Instrument) else instrument


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
        members[f"{side}ClientExtensions"] = extensions.to_wire()
    return members


def _size(field: str, units: Number, instrument: Instrument | None) -> str:
    asked = number(field, units, above_zero=True)
    if instrument is not None:
        validate_close_units(field, decimal_of(asked), instrument)
    return asked
