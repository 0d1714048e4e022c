"""Orders as a client asks for them, one class a kind."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, Unpack

from pydantic import Field

from keydesk_client.models._core.scalars import DecimalNumber, PriceValue
from keydesk_client.models.enumerations import TimeInForce
from keydesk_client.models.requested import RequestedOrder
from keydesk_client.models.terms import DependentTerms, EntryTerms, OnFillTerms, PendingTerms

if TYPE_CHECKING:  # a request is made from more than it holds
    from keydesk_client.models.request_members import (
        LimitMembers,
        MarketMembers,
        OfTradeLevelMembers,
        OfTradeStopLossMembers,
        OfTradeTrailingMembers,
        StopMembers,
    )


class MarketOrderRequest(EntryTerms, OnFillTerms, RequestedOrder):
    """Body of a market order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[MarketMembers]) -> None: ...

    type: Literal["MARKET"] = "MARKET"
    time_in_force: TimeInForce = "FOK"
    """FOK or IOC."""
    price_bound: PriceValue | None = None
    """Worst price accepted."""


class LimitOrderRequest(EntryTerms, PendingTerms, OnFillTerms, RequestedOrder):
    """Body of a limit order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[LimitMembers]) -> None: ...

    type: Literal["LIMIT"] = "LIMIT"


class StopOrderRequest(EntryTerms, PendingTerms, OnFillTerms, RequestedOrder):
    """Body of a stop order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[StopMembers]) -> None: ...

    type: Literal["STOP"] = "STOP"
    price_bound: PriceValue | None = None
    """Worst price accepted after the trigger."""


class MarketIfTouchedOrderRequest(EntryTerms, PendingTerms, OnFillTerms, RequestedOrder):
    """Body of a market-if-touched order."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[StopMembers]) -> None: ...

    type: Literal["MARKET_IF_TOUCHED"] = "MARKET_IF_TOUCHED"
    price_bound: PriceValue | None = None
    """Worst price accepted after the trigger."""


class TakeProfitOrderRequest(DependentTerms, RequestedOrder):
    """Body of a stand-alone take-profit."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[OfTradeLevelMembers]) -> None: ...

    type: Literal["TAKE_PROFIT"] = "TAKE_PROFIT"
    price: PriceValue | None = None
    """Trigger; give it unless distance is used."""
    distance: DecimalNumber | None = None
    """Instead of a price; not every service takes it."""


class StopLossOrderRequest(DependentTerms, RequestedOrder):
    """Body of a stand-alone stop-loss."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[OfTradeStopLossMembers]) -> None: ...

    type: Literal["STOP_LOSS"] = "STOP_LOSS"
    price: PriceValue | None = None
    """Exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units from the current price: ask for a long trade, bid for a short one."""
    guaranteed: bool | None = None
    """Deprecated; default true only when the account requires it."""


class GuaranteedStopLossOrderRequest(DependentTerms, RequestedOrder):
    """Body of a stand-alone guaranteed stop."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[OfTradeLevelMembers]) -> None: ...

    type: Literal["GUARANTEED_STOP_LOSS"] = "GUARANTEED_STOP_LOSS"
    price: PriceValue | None = None
    """Exactly one of price and distance."""
    distance: DecimalNumber | None = None
    """In price units from the current price: ask for a long trade, bid for a short one."""


class TrailingStopLossOrderRequest(DependentTerms, RequestedOrder):
    """Body of a stand-alone trailing stop."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[OfTradeTrailingMembers]) -> None: ...

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
