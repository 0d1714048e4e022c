"""Orders as the service reports them, one class a kind."""

from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    ClientID,
    DateTime,
    DecimalNumber,
    OrderID,
    PriceValue,
    TradeID,
    TransactionID,
)
from keydesk_client.models._core.wire_names import unknown_type
from keydesk_client.models.enumerations import OrderState, TimeInForce
from keydesk_client.models.order_terms import (
    ClientExtensions,
    DependentTerms,
    EntryTerms,
    MarketPurpose,
    OnFillTerms,
    PendingTerms,
)


class OrderIdentity(Record):
    """Members of every order."""

    converts_on_demand: ClassVar[bool] = True

    id: OrderID
    """Equals the id of the transaction that created it."""
    create_time: DateTime
    """Creation time."""
    state: OrderState
    """Lifecycle state."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class OrderEnd(Record):
    """Members of an order that was filled or cancelled."""

    filling_transaction_id: TransactionID | None = None
    """ORDER_FILL id, FILLED only."""
    filled_time: DateTime | None = None
    """FILLED only."""
    trade_opened_id: TradeID | None = None
    """FILLED and a trade was opened."""
    trade_reduced_id: TradeID | None = None
    """FILLED and a trade shrank without closing."""
    trade_closed_ids: tuple[TradeID, ...] | None = None
    """FILLED and trades were closed."""
    cancelling_transaction_id: TransactionID | None = None
    """ORDER_CANCEL id, CANCELLED only."""
    cancelled_time: DateTime | None = None
    """CANCELLED only."""


class ReplacementChain(Record):
    """Ids of the orders before and after a replacement."""

    replaces_order_id: OrderID | None = None
    """The order that this one replaced."""
    replaced_by_order_id: OrderID | None = None
    """The order that replaced this one."""


class MarketOrder(OrderIdentity, EntryTerms, MarketPurpose, OnFillTerms, OrderEnd):
    """Fills at once or is cancelled."""

    type: Literal["MARKET"] = "MARKET"
    time_in_force: TimeInForce = "FOK"
    """FOK or IOC."""
    price_bound: PriceValue | None = None
    """Worst price accepted."""


class LimitOrder(OrderIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderEnd, ReplacementChain):
    """Rests until price or better."""

    type: Literal["LIMIT"] = "LIMIT"


class StopOrder(OrderIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderEnd, ReplacementChain):
    """Rests until price or worse."""

    type: Literal["STOP"] = "STOP"
    price_bound: PriceValue | None = None
    """Worst price accepted after the trigger."""


class MarketIfTouchedOrder(
    OrderIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderEnd, ReplacementChain
):
    """Rests until the price is touched from the starting side."""

    type: Literal["MARKET_IF_TOUCHED"] = "MARKET_IF_TOUCHED"
    price_bound: PriceValue | None = None
    """Worst price accepted after the trigger."""
    initial_market_price: PriceValue | None = None
    """Market price at creation, fixes the side it must be crossed from."""


class TakeProfitOrder(OrderIdentity, DependentTerms, OrderEnd, ReplacementChain):
    """Closes its trade at price or better."""

    type: Literal["TAKE_PROFIT"] = "TAKE_PROFIT"
    price: PriceValue
    """The price that triggers it."""
    distance: DecimalNumber | None = None
    """The requested distance, if the order was requested by distance."""


class StopLossOrder(OrderIdentity, DependentTerms, OrderEnd, ReplacementChain):
    """Closes its trade at price or worse."""

    type: Literal["STOP_LOSS"] = "STOP_LOSS"
    price: PriceValue
    """Trigger; computed by the service if requested by distance."""
    distance: DecimalNumber | None = None
    """The requested distance, if the order was requested by distance."""
    guaranteed: bool | None = None
    """Whether the stop is guaranteed; deprecated in favour of GuaranteedStopLossOrder."""
    guaranteed_execution_premium: DecimalNumber | None = None
    """Cost of the guarantee in price units; sent with the deprecated flag."""


class GuaranteedStopLossOrder(OrderIdentity, DependentTerms, OrderEnd, ReplacementChain):
    """Closes its trade exactly at price."""

    type: Literal["GUARANTEED_STOP_LOSS"] = "GUARANTEED_STOP_LOSS"
    price: PriceValue
    """Trigger and fill price."""
    distance: DecimalNumber | None = None
    """The requested distance, if the order was requested by distance."""
    guaranteed_execution_premium: DecimalNumber
    """Price units per unit, charged when it fills."""


class TrailingStopLossOrder(OrderIdentity, DependentTerms, OrderEnd, ReplacementChain):
    """Stop that follows the market."""

    type: Literal["TRAILING_STOP_LOSS"] = "TRAILING_STOP_LOSS"
    distance: DecimalNumber
    """In price units."""
    trailing_stop_value: PriceValue | None = None
    """Current trigger, pending only."""


class FixedPriceOrder(OrderIdentity, EntryTerms, OnFillTerms, OrderEnd):
    """Created by the service only."""

    type: Literal["FIXED_PRICE"] = "FIXED_PRICE"
    price: PriceValue
    """Fill price."""
    trade_state: str
    """State the resulting trade takes."""


class OrderIdentifier(Record):
    """An order by its id, its client id, or both."""

    order_id: OrderID | None = None
    """Order id."""
    client_order_id: ClientID | None = None
    """Client id."""


KnownOrder: TypeAlias = (
    MarketOrder
    | LimitOrder
    | StopOrder
    | MarketIfTouchedOrder
    | TakeProfitOrder
    | StopLossOrder
    | GuaranteedStopLossOrder
    | TrailingStopLossOrder
    | FixedPriceOrder
)


class UnknownOrder(OrderIdentity):
    """An order of a type that this version of the library does not know; its other members are in `unknown`."""

    type: Annotated[str, unknown_type(KnownOrder)]
    """The type as sent by the service."""


Order: TypeAlias = Annotated[
    Annotated[KnownOrder, Field(discriminator="type")] | UnknownOrder,
    Field(union_mode="left_to_right"),
]
"""Any order; match on the class."""
