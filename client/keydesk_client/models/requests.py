"""Order requests, one class a kind, and their validation before anything is sent.

The service would reject the same orders, but a rejection costs a round trip, a transaction id and, in a fast market,
the price. `validate_order` finds what no instrument allows; `validate_for_instrument` checks decimals and sizes
against an instrument's terms. Nothing is rounded.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self, TypeAlias, Unpack

from pydantic import ConfigDict, Field, model_validator

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.record import (
    Record,
    RequestRecord,
    Wire,
    reject_unknown_members,
    validate_choice,
    validate_levels,
)
from keydesk_client.models._core.scalars import DecimalNumber, PriceValue, decimal_text
from keydesk_client.models._core.wire_names import enum_values
from keydesk_client.models.enumerations import TimeInForce
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import (
    ClientExtensions,
    DependentTerms,
    EntryTerms,
    GuaranteedStopLossDetails,
    OnFillTerms,
    PendingTerms,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)

if TYPE_CHECKING:
    from keydesk_client.models.order_terms import (
        DependentLevelMembers,
        DependentStopLossMembers,
        DependentTrailingMembers,
        LimitMembers,
        MarketMembers,
        OrderChanges,
        StopMembers,
    )


Details = TakeProfitDetails | StopLossDetails | GuaranteedStopLossDetails | TrailingStopLossDetails

ON_FILL: Final = (
    "take_profit_on_fill",
    "stop_loss_on_fill",
    "guaranteed_stop_loss_on_fill",
    "trailing_stop_loss_on_fill",
)
IMMEDIATE: Final = frozenset({"FOK", "IOC"})
RESTING: Final = frozenset({"GTC", "GTD", "GFD"})
NAME_MEMBERS: Final = ("instrument", "trade_id")


def validate_order(order: Record) -> None:
    """Raise InvalidRequest, which names the member, if the order is invalid for every instrument."""
    if isinstance(order, EntryTerms) and order.units == 0:
        raise InvalidRequest("units: must not be 0", field="units")
    _validate_names(order)
    _validate_enumerations(order)
    _validate_lifetime(order, "", _allowed_lifetimes(order))
    validate_levels(order, "", needs_one=isinstance(order, DependentTerms))
    for name, details in details_on_fill(order):
        reject_unknown_members(details, f"{name}.")
        _validate_lifetime(details, f"{name}.", RESTING)
        validate_levels(details, f"{name}.", needs_one=True)


def validate_edit(name: str, details: Details) -> None:
    """Raise InvalidRequest if the edit of a dependent order is invalid; members left out stay as they are."""
    _validate_edited_lifetime(details, f"{name}.")
    validate_levels(details, f"{name}.", needs_one=False)


def details_on_fill(order: Record) -> Iterator[tuple[str, Details]]:
    """Return the dependent orders that an entry order creates when it fills, by member name."""
    if isinstance(order, OnFillTerms):
        for name in ON_FILL:
            details = getattr(order, name)
            if details is not None:
                yield name, details


def _allowed_lifetimes(order: Record) -> frozenset[str]:
    if isinstance(order, DependentTerms):
        return RESTING
    return IMMEDIATE | RESTING if isinstance(order, PendingTerms) else IMMEDIATE


def _validate_edited_lifetime(details: Details, prefix: str) -> None:
    """Check given members only: the live order has the others, and its time in force may be GTD."""
    if "time_in_force" not in details.model_fields_set:
        return
    time_in_force = details.time_in_force
    _validate_time_in_force(time_in_force, prefix, RESTING)
    if time_in_force != "GTD" and details.gtd_time is not None:
        field = f"{prefix}gtd_time"
        raise InvalidRequest(
            f"{field}: must be left out: {time_in_force} orders do not expire at a time",
            field=field,
        )


def _validate_lifetime(holder: Record, prefix: str, allowed: frozenset[str]) -> None:
    members = vars(holder)
    time_in_force, gtd_time = members.get("time_in_force"), members.get("gtd_time")
    _validate_time_in_force(time_in_force, prefix, allowed)
    if (time_in_force == "GTD") != (gtd_time is not None):
        field = f"{prefix}gtd_time"
        message = (
            "required by GTD"
            if gtd_time is None
            else f"must be left out with {time_in_force}, or use GTD"
        )
        raise InvalidRequest(f"{field}: {message}", field=field)


def _validate_time_in_force(
    time_in_force: str | None, prefix: str, allowed: frozenset[str]
) -> None:
    if time_in_force not in allowed:
        field = f"{prefix}time_in_force"
        raise InvalidRequest(
            f"{field}: invalid value {time_in_force!r}: use one of {', '.join(sorted(allowed))}",
            field=field,
        )


def _validate_enumerations(order: Record) -> None:
    members = vars(order)
    for name, choices in _choices_of(type(order)):
        if members.get(name) is not None:
            validate_choice(name, members[name], choices)


@cache
def _choices_of(kind: type[Record]) -> Sequence[tuple[str, tuple[str, ...]]]:
    """Return each enumerated member and its values; type and time in force are checked elsewhere."""
    named = ((name, enum_values(field.annotation)) for name, field in kind.model_fields.items())
    others = {"type", "time_in_force"}
    return [(name, choices) for name, choices in named if choices and name not in others]


def _validate_names(order: Record) -> None:
    members = vars(order)
    for name in NAME_MEMBERS:
        if name in members:
            value = members[name]
            if not value or not value.isprintable() or value != value.strip():
                raise InvalidRequest(f"{name}: {value[:60]!r} is not a valid name", field=name)


def require_order_request(order: object) -> None:
    """Raise InvalidRequest unless `order` is an order request, for callers without a type checker."""
    if not isinstance(order, OrderRequestBase):
        raise InvalidRequest(
            "order: give an order request, as in MarketOrderRequest(instrument='EUR_USD', units=100);"
            f" this is of type {type(order).__name__}",
            field="order",
        )


class OrderRequestBase(RequestRecord):
    """Base of the order requests; raises InvalidRequest for an invalid order.

    It comes last among the bases of a request: pydantic takes the configuration of the last one.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", loc_by_alias=False, strict=False
    )

    if TYPE_CHECKING:

        def with_(self, **changes: Unpack[OrderChanges]) -> Self: ...

    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""

    def to_wire(self) -> Wire:
        """Return the JSON object to send: every member that has a value, defaults included."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @model_validator(mode="after")
    def _validate_order(self) -> Self:
        validate_order(self)
        return self


class MarketOrderRequest(EntryTerms, OnFillTerms, OrderRequestBase):
    """Body of a market order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[MarketMembers]) -> None: ...

    type: Literal["MARKET"] = "MARKET"
    time_in_force: TimeInForce = "FOK"
    """FOK or IOC."""
    price_bound: PriceValue | None = None
    """Worst price accepted."""


class LimitOrderRequest(EntryTerms, PendingTerms, OnFillTerms, OrderRequestBase):
    """Body of a limit order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[LimitMembers]) -> None: ...

    type: Literal["LIMIT"] = "LIMIT"


class StopOrderRequest(EntryTerms, PendingTerms, OnFillTerms, OrderRequestBase):
    """Body of a stop order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[StopMembers]) -> None: ...

    type: Literal["STOP"] = "STOP"
    price_bound: PriceValue | None = None
    """Worst price accepted after the trigger."""


class MarketIfTouchedOrderRequest(EntryTerms, PendingTerms, OnFillTerms, OrderRequestBase):
    """Body of a market-if-touched order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[StopMembers]) -> None: ...

    type: Literal["MARKET_IF_TOUCHED"] = "MARKET_IF_TOUCHED"
    price_bound: PriceValue | None = None
    """Worst price accepted after the trigger."""


class DependentLevel(DependentTerms):
    """Price or distance of a take-profit or stop-loss order of a trade."""

    price: PriceValue | None = None
    """Exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units from the current price: ask for a long trade, bid for a short one."""


class TakeProfitOrderRequest(DependentLevel, OrderRequestBase):
    """Body of a stand-alone take-profit; not every service accepts a distance instead of a price."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[DependentLevelMembers]) -> None: ...

    type: Literal["TAKE_PROFIT"] = "TAKE_PROFIT"


class StopLossOrderRequest(DependentLevel, OrderRequestBase):
    """Body of a stand-alone stop-loss."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[DependentStopLossMembers]) -> None: ...

    type: Literal["STOP_LOSS"] = "STOP_LOSS"
    guaranteed: bool | None = None
    """Deprecated; default true only when the account requires it."""


class GuaranteedStopLossOrderRequest(DependentLevel, OrderRequestBase):
    """Body of a stand-alone guaranteed stop."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[DependentLevelMembers]) -> None: ...

    type: Literal["GUARANTEED_STOP_LOSS"] = "GUARANTEED_STOP_LOSS"


class TrailingStopLossOrderRequest(DependentTerms, OrderRequestBase):
    """Body of a stand-alone trailing stop."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[DependentTrailingMembers]) -> None: ...

    type: Literal["TRAILING_STOP_LOSS"] = "TRAILING_STOP_LOSS"
    distance: DecimalNumber
    """In price units, not pips: 0.0015 is 15 pips of EUR_USD."""


OrderRequest: TypeAlias = Annotated[
    MarketOrderRequest
    | LimitOrderRequest
    | StopOrderRequest
    | MarketIfTouchedOrderRequest
    | TakeProfitOrderRequest
    | StopLossOrderRequest
    | GuaranteedStopLossOrderRequest
    | TrailingStopLossOrderRequest,
    Field(discriminator="type"),
]
"""Any order request."""


def validate_for_instrument(order: OrderRequest, instrument: Instrument) -> None:
    """Raise InvalidRequest, which names the member, if the order breaks the instrument's terms."""
    if isinstance(order, EntryTerms):
        if order.instrument != instrument.name:
            raise InvalidRequest(
                f"instrument: the order is for {order.instrument}, not for {instrument.name}",
                field="instrument",
            )
        _validate_units(order.units, instrument)
    _validate_level_decimals(order, "", instrument)
    for name, details in details_on_fill(order):
        _validate_level_decimals(details, f"{name}.", instrument)


def validate_details_for_instrument(name: str, details: Details, instrument: Instrument) -> None:
    """Raise InvalidRequest if a dependent order of a trade breaks the instrument's terms."""
    _validate_level_decimals(details, f"{name}.", instrument)


def validate_close_units(field: str, units: Decimal, instrument: Instrument) -> None:
    """Raise InvalidRequest if a size to close has too many decimals; size limits do not hold for exits."""
    _validate_unit_decimals(field, units, instrument)


def decimal_places(value: Decimal) -> int:
    """Return the number of decimals without trailing zeros."""
    return len(decimal_text(value).partition(".")[2].rstrip("0"))


def _validate_units(units: Decimal, instrument: Instrument) -> None:
    _validate_unit_decimals("units", units, instrument)
    size = abs(units)
    if size < instrument.minimum_trade_size:
        message = f"{units:f} is below the minimum trade size, {instrument.minimum_trade_size:f}"
    elif size > instrument.maximum_order_units:
        message = f"{units:f} is above the maximum order size, {instrument.maximum_order_units:f}"
    else:
        return
    raise InvalidRequest(f"units: {message}", field="units")


def _validate_unit_decimals(field: str, units: Decimal, instrument: Instrument) -> None:
    if decimal_places(units) > instrument.trade_units_precision:
        raise InvalidRequest(
            f"{field}: {units:f} has more than the {instrument.trade_units_precision} decimals of {instrument.name}",
            field=field,
        )


def _validate_level_decimals(holder: Record, prefix: str, instrument: Instrument) -> None:
    for name in ("price", "price_bound", "distance"):
        level = getattr(holder, name, None)
        if level is not None and decimal_places(level) > instrument.display_precision:
            field = prefix + name
            raise InvalidRequest(
                f"{field}: {level:f} has more than the {instrument.display_precision} decimals of {instrument.name}",
                field=field,
            )
    if isinstance(holder, TrailingStopLossDetails | TrailingStopLossOrderRequest):
        _validate_trailing_distance(holder.distance, prefix, instrument)


def _validate_trailing_distance(distance: Decimal, prefix: str, instrument: Instrument) -> None:
    least, most = (
        instrument.minimum_trailing_stop_distance,
        instrument.maximum_trailing_stop_distance,
    )
    if not least <= distance <= most:
        raise InvalidRequest(
            f"{prefix}distance: {distance:f} is not between {least:f} and {most:f}",
            field=f"{prefix}distance",
        )
