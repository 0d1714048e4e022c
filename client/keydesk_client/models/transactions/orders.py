"""Orders that close one trade: created or refused.

Orders that may open a trade: created or refused.
"""

from typing import Literal

from keydesk_client.models._core.scalars import DecimalNumber, InstrumentName, PriceValue
from keydesk_client.models.enumerations import OrderPositionFill, TimeInForce
from keydesk_client.models.order_terms import (
    ClientExtensions,
    DependentTerms,
    EntryTerms,
    MarketPurpose,
    OnFillTerms,
    PendingTerms,
)
from keydesk_client.models.reject_reasons import (
    FixedPriceOrderReason,
    GuaranteedStopLossOrderReason,
    LimitOrderReason,
    MarketIfTouchedOrderReason,
    MarketOrderReason,
    StopLossOrderReason,
    StopOrderReason,
    TakeProfitOrderReason,
    TrailingStopLossOrderReason,
    TransactionRejectReason,
)
from keydesk_client.models.transactions.base import (
    OnFillLink,
    OrderRejection,
    ReplacementLinks,
    TransactionIdentity,
)


class MarketOrderTransaction(TransactionIdentity, EntryTerms, MarketPurpose, OnFillTerms):
    """Market order created."""

    type: Literal["MARKET_ORDER"] = "MARKET_ORDER"
    time_in_force: TimeInForce = "FOK"
    """FOK or IOC."""
    price_bound: PriceValue | None = None
    """Worst price accepted."""
    reason: MarketOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class MarketOrderRejectTransaction(TransactionIdentity, MarketPurpose, OnFillTerms):
    """Market order refused."""

    type: Literal["MARKET_ORDER_REJECT"] = "MARKET_ORDER_REJECT"
    instrument: InstrumentName | None = None
    """Missing when a trade close named no live trade."""
    units: DecimalNumber | None = None
    """Missing when the close had nothing to size."""
    time_in_force: TimeInForce = "FOK"
    """As it was asked for."""
    price_bound: PriceValue | None = None
    """As it was asked for."""
    position_fill: OrderPositionFill = "DEFAULT"
    """As it was asked for."""
    reason: MarketOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""
    reject_reason: TransactionRejectReason
    """Why it was refused."""


class FixedPriceOrderTransaction(TransactionIdentity, EntryTerms, OnFillTerms):
    """Service-made fixed price order."""

    type: Literal["FIXED_PRICE_ORDER"] = "FIXED_PRICE_ORDER"
    price: PriceValue
    """Fill price."""
    trade_state: str
    """State the resulting trade takes."""
    reason: FixedPriceOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class LimitOrderTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, ReplacementLinks
):
    """Limit order created."""

    type: Literal["LIMIT_ORDER"] = "LIMIT_ORDER"
    reason: LimitOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class LimitOrderRejectTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderRejection
):
    """Limit order refused."""

    type: Literal["LIMIT_ORDER_REJECT"] = "LIMIT_ORDER_REJECT"
    reason: LimitOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""


class StopOrderTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, ReplacementLinks
):
    """Stop order created."""

    type: Literal["STOP_ORDER"] = "STOP_ORDER"
    price_bound: PriceValue | None = None
    """Worst price accepted."""
    reason: StopOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class StopOrderRejectTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderRejection
):
    """Stop order refused."""

    type: Literal["STOP_ORDER_REJECT"] = "STOP_ORDER_REJECT"
    price_bound: PriceValue | None = None
    """As it was asked for."""
    reason: StopOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""


class MarketIfTouchedOrderTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, ReplacementLinks
):
    """Market-if-touched order created."""

    type: Literal["MARKET_IF_TOUCHED_ORDER"] = "MARKET_IF_TOUCHED_ORDER"
    price_bound: PriceValue | None = None
    """Worst price accepted."""
    reason: MarketIfTouchedOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class MarketIfTouchedOrderRejectTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderRejection
):
    """Market-if-touched order refused."""

    type: Literal["MARKET_IF_TOUCHED_ORDER_REJECT"] = "MARKET_IF_TOUCHED_ORDER_REJECT"
    price_bound: PriceValue | None = None
    """As it was asked for."""
    reason: MarketIfTouchedOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""


class TakeProfitOrderTransaction(TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks):
    """Take-profit created."""

    type: Literal["TAKE_PROFIT_ORDER"] = "TAKE_PROFIT_ORDER"
    price: PriceValue
    """The price that triggers it."""
    distance: DecimalNumber | None = None
    """As it was asked for, when it was asked for by distance."""
    reason: TakeProfitOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class TakeProfitOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Take-profit refused."""

    type: Literal["TAKE_PROFIT_ORDER_REJECT"] = "TAKE_PROFIT_ORDER_REJECT"
    price: PriceValue | None = None
    """As it was asked for."""
    distance: DecimalNumber | None = None
    """As it was asked for."""
    reason: TakeProfitOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""


class StopLossOrderTransaction(TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks):
    """Stop-loss created."""

    type: Literal["STOP_LOSS_ORDER"] = "STOP_LOSS_ORDER"
    price: PriceValue
    """The price that triggers it."""
    distance: DecimalNumber | None = None
    """As it was asked for, when it was asked for by distance."""
    guaranteed: bool | None = None
    """Whether it is guaranteed; deprecated by the service for an order type of its own."""
    guaranteed_execution_premium: DecimalNumber | None = None
    """What the guarantee costs, in price units; goes with the deprecated flag."""
    reason: StopLossOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class StopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Stop-loss refused."""

    type: Literal["STOP_LOSS_ORDER_REJECT"] = "STOP_LOSS_ORDER_REJECT"
    price: PriceValue | None = None
    """As it was asked for."""
    distance: DecimalNumber | None = None
    """As it was asked for."""
    guaranteed: bool | None = None
    """As it was asked for."""
    reason: StopLossOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""


class GuaranteedStopLossOrderTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks
):
    """Guaranteed stop created."""

    type: Literal["GUARANTEED_STOP_LOSS_ORDER"] = "GUARANTEED_STOP_LOSS_ORDER"
    price: PriceValue
    """The price that triggers it."""
    distance: DecimalNumber | None = None
    """As it was asked for, when it was asked for by distance."""
    guaranteed_execution_premium: DecimalNumber
    """Price units per unit."""
    reason: GuaranteedStopLossOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class GuaranteedStopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Guaranteed stop refused."""

    type: Literal["GUARANTEED_STOP_LOSS_ORDER_REJECT"] = "GUARANTEED_STOP_LOSS_ORDER_REJECT"
    price: PriceValue | None = None
    """As it was asked for."""
    distance: DecimalNumber | None = None
    """As it was asked for."""
    reason: GuaranteedStopLossOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""


class TrailingStopLossOrderTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks
):
    """Trailing stop created."""

    type: Literal["TRAILING_STOP_LOSS_ORDER"] = "TRAILING_STOP_LOSS_ORDER"
    distance: DecimalNumber
    """In price units."""
    reason: TrailingStopLossOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment."""


class TrailingStopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Trailing stop refused."""

    type: Literal["TRAILING_STOP_LOSS_ORDER_REJECT"] = "TRAILING_STOP_LOSS_ORDER_REJECT"
    distance: DecimalNumber | None = None
    """As it was asked for."""
    reason: TrailingStopLossOrderReason
    """What made it: the client, a replacement, a fill, a close."""
    client_extensions: ClientExtensions | None = None
    """As it was asked for."""
