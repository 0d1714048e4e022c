"""Whether an order fits its instrument: decimals and sizes, judged before it is sent and never rounded silently.

What no order can be, whatever the instrument: checked before anything is sent.

The service would reject the same, but a rejection costs a round trip, a transaction id and, in a fast market, the price.
What every order request has in common: it refuses the impossible before it is sent, naming the member.
Orders as a client asks for them, one class a kind.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self, TypeAlias, Unpack

from pydantic import ConfigDict, Field, model_validator

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.record import Record, Wire
from keydesk_client.models._core.scalars import DecimalNumber, PriceValue, decimal_text
from keydesk_client.models._core.validation import (
    RequestRecord,
    reject_unknown_members,
    validate_levels,
)
from keydesk_client.models._core.wire_names import enum_values, validate_choice
from keydesk_client.models.enumerations import OrderPositionFill, OrderTriggerCondition, TimeInForce
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
ENUMERATIONS: Final = {
    "position_fill": enum_values(OrderPositionFill),
    "trigger_condition": enum_values(OrderTriggerCondition),
}
NAME_MEMBERS: Final = ("instrument", "trade_id")


def validate_order(order: Record) -> None:
    """InvalidRequest, naming the member, when the order can not be right."""
    if isinstance(order, EntryTerms) and order.units == 0:
        raise InvalidRequest("units: 0 buys and sells nothing", field="units")
    _refuse_nameless(order)
    _refuse_other_words(order)
    _refuse_life(order, "", _lives(order))
    validate_levels(order, "", needs_one=isinstance(order, DependentTerms))
    for name, details in details_on_fill(order):
        reject_unknown_members(details, f"{name}.")
        _refuse_life(details, f"{name}.", RESTING)
        validate_levels(details, f"{name}.", needs_one=True)


def validate_edit(name: str, details: Details) -> None:
    """The same for a dependent order's edit, where what is left out stays as it is."""
    _refuse_edited_life(details, f"{name}.")
    validate_levels(details, f"{name}.", needs_one=False)


def details_on_fill(order: Record) -> Iterator[tuple[str, Details]]:
    """The dependent orders that an entry order brings along, by member name."""
    if isinstance(order, OnFillTerms):
        for name in ON_FILL:
            details = getattr(order, name)
            if details is not None:
                yield name, details


def _lives(order: Record) -> frozenset[str]:
    if isinstance(order, DependentTerms):
        return RESTING
    return IMMEDIATE | RESTING if isinstance(order, PendingTerms) else IMMEDIATE


def _refuse_edited_life(details: Details, prefix: str) -> None:
    """Only what was given: the live order has the rest, and it may be a GTD one."""
    if "time_in_force" not in details.model_fields_set:
        return
    life = details.time_in_force
    _refuse_other_life(life, prefix, RESTING)
    if life != "GTD" and details.gtd_time is not None:
        field = f"{prefix}gtd_time"
        raise InvalidRequest(f"{field}: {life} has none, only GTD", field=field)


def _refuse_life(holder: Record, prefix: str, allowed: frozenset[str]) -> None:
    life, until = getattr(holder, "time_in_force", None), getattr(holder, "gtd_time", None)
    _refuse_other_life(life, prefix, allowed)
    if (life == "GTD") != (until is not None):
        field = f"{prefix}gtd_time"
        raise InvalidRequest(f"{field}: GTD needs it, and nothing else has one", field=field)


def _refuse_other_life(life: str | None, prefix: str, allowed: frozenset[str]) -> None:
    if life not in allowed:
        field = f"{prefix}time_in_force"
        raise InvalidRequest(
            f"{field}: {life} is none of {', '.join(sorted(allowed))}", field=field
        )


def _refuse_other_words(order: Record) -> None:
    """Answers keep words that are new; an order with a word that there is not would be rejected."""
    for name, known in ENUMERATIONS.items():
        if name in type(order).model_fields:
            validate_choice(name, getattr(order, name), known)


def _refuse_nameless(order: Record) -> None:
    for name in NAME_MEMBERS:
        if name in type(order).model_fields:
            told = getattr(order, name)
            if not told or not told.isprintable() or told != told.strip():
                raise InvalidRequest(f"{name}: {told[:60]!r} names nothing", field=name)


def require_order_request(order: object) -> None:
    """InvalidRequest for what is no order request, where no type checker says so."""
    if not isinstance(order, OrderRequestBase):
        raise InvalidRequest(
            "order: give an order request, as in MarketOrderRequest(instrument='EUR_USD', units=100);"
            f" this is of type {type(order).__name__}",
            field="order",
        )


class OrderRequestBase(RequestRecord):
    """An order as a client asks for it; InvalidRequest when it can not be right.

    It stands last among the bases of a request: pydantic lets the last one decide what is forbidden.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", loc_by_alias=False, strict=False
    )

    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""

    def to_wire(self) -> Wire:
        """The JSON object to send: every member that has a value, standards included."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @model_validator(mode="after")
    def _refuse_impossible(self) -> Self:
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


class TakeProfitOrderRequest(DependentTerms, OrderRequestBase):
    """Body of a stand-alone take-profit."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[DependentLevelMembers]) -> None: ...

    type: Literal["TAKE_PROFIT"] = "TAKE_PROFIT"
    price: PriceValue | None = None
    """Trigger; give it unless distance is used."""
    distance: DecimalNumber | None = None
    """Instead of a price; not every service takes it."""


class StopLossOrderRequest(DependentTerms, OrderRequestBase):
    """Body of a stand-alone stop-loss."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[DependentStopLossMembers]) -> None: ...

    type: Literal["STOP_LOSS"] = "STOP_LOSS"
    price: PriceValue | None = None
    """Exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units from the current price: ask for a long trade, bid for a short one."""
    guaranteed: bool | None = None
    """Deprecated; default true only when the account requires it."""


class GuaranteedStopLossOrderRequest(DependentTerms, OrderRequestBase):
    """Body of a stand-alone guaranteed stop."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[DependentLevelMembers]) -> None: ...

    type: Literal["GUARANTEED_STOP_LOSS"] = "GUARANTEED_STOP_LOSS"
    price: PriceValue | None = None
    """Exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units from the current price: ask for a long trade, bid for a short one."""


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
"""Any order that can be asked for."""


def validate_for_instrument(order: OrderRequest, instrument: Instrument) -> None:
    """InvalidRequest, naming the member, when the order does not fit the instrument."""
    if isinstance(order, EntryTerms):
        if order.instrument != instrument.name:
            raise InvalidRequest(
                f"instrument: {order.instrument} was checked against {instrument.name}",
                field="instrument",
            )
        _refuse_unfit_units(order.units, instrument)
    _refuse_unfit_levels(order, "", instrument)
    for name, details in details_on_fill(order):
        _refuse_unfit_levels(details, f"{name}.", instrument)


def validate_details_for_instrument(name: str, details: Details, instrument: Instrument) -> None:
    """The same for a dependent order of a trade."""
    _refuse_unfit_levels(details, f"{name}.", instrument)


def validate_close_units(field: str, units: Decimal, instrument: Instrument) -> None:
    """InvalidRequest for a size to close that has too many decimals; how much of it there is, is no reason to stay in."""
    _refuse_excess(field, units, instrument)


def decimal_places(value: Decimal) -> int:
    """Decimals that matter: trailing zeros do not."""
    return len(decimal_text(value).partition(".")[2].rstrip("0"))


def _refuse_unfit_units(units: Decimal, instrument: Instrument) -> None:
    _refuse_excess("units", units, instrument)
    size = abs(units)
    if size < instrument.minimum_trade_size:
        said = f"{units:f} is below the smallest trade, {instrument.minimum_trade_size:f}"
    elif size > instrument.maximum_order_units:
        said = f"{units:f} is above the largest order, {instrument.maximum_order_units:f}"
    else:
        return
    raise InvalidRequest(f"units: {said}", field="units")


def _refuse_excess(field: str, units: Decimal, instrument: Instrument) -> None:
    if decimal_places(units) > instrument.trade_units_precision:
        raise InvalidRequest(
            f"{field}: {units:f} has more than {instrument.trade_units_precision} decimals",
            field=field,
        )


def _refuse_unfit_levels(holder: Record, prefix: str, instrument: Instrument) -> None:
    for name in ("price", "price_bound", "distance"):
        level = getattr(holder, name, None)
        if level is not None and decimal_places(level) > instrument.display_precision:
            field = prefix + name
            raise InvalidRequest(
                f"{field}: {level:f} has more than {instrument.display_precision} decimals",
                field=field,
            )
    if isinstance(holder, TrailingStopLossDetails | TrailingStopLossOrderRequest):
        _refuse_unfit_trail(holder.distance, prefix, instrument)


def _refuse_unfit_trail(distance: Decimal, prefix: str, instrument: Instrument) -> None:
    least, most = (
        instrument.minimum_trailing_stop_distance,
        instrument.maximum_trailing_stop_distance,
    )
    if not least <= distance <= most:
        raise InvalidRequest(
            f"{prefix}distance: {distance:f} is not within {least:f} to {most:f}",
            field=f"{prefix}distance",
        )
