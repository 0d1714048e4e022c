"""Transactions that create or reject orders."""

from typing import Literal

from keydesk_client.models._core.scalars import DecimalNumber, InstrumentName, PriceValue
from keydesk_client.models.enumerations import TimeInForce
from keydesk_client.models.order_terms import (
    ClientExtensions,
    DependentTerms,
    EntryTerms,
    MarketPurpose,
    OnFillTerms,
    OptionalEntryTerms,
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
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class MarketOrderRejectTransaction(
    TransactionIdentity, OptionalEntryTerms, MarketPurpose, OnFillTerms
):
    """Market order rejected."""

    type: Literal["MARKET_ORDER_REJECT"] = "MARKET_ORDER_REJECT"
    instrument: InstrumentName | None = None
    """Absent if a trade close named no open trade."""
    units: DecimalNumber | None = None
    """Absent if the close had no size."""
    time_in_force: TimeInForce = "FOK"
    """As requested."""
    price_bound: PriceValue | None = None
    """As requested."""
    reason: MarketOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""
    reject_reason: TransactionRejectReason
    """Reason of the rejection."""


class FixedPriceOrderTransaction(TransactionIdentity, EntryTerms, OnFillTerms):
    """Fixed-price order created by the service."""

    type: Literal["FIXED_PRICE_ORDER"] = "FIXED_PRICE_ORDER"
    price: PriceValue
    """Fill price."""
    trade_state: str
    """State the resulting trade takes."""
    reason: FixedPriceOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class LimitOrderTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, ReplacementLinks
):
    """Limit order created."""

    type: Literal["LIMIT_ORDER"] = "LIMIT_ORDER"
    reason: LimitOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class LimitOrderRejectTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderRejection
):
    """Limit order rejected."""

    type: Literal["LIMIT_ORDER_REJECT"] = "LIMIT_ORDER_REJECT"
    reason: LimitOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""


class StopOrderTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, ReplacementLinks
):
    """Stop order created."""

    type: Literal["STOP_ORDER"] = "STOP_ORDER"
    price_bound: PriceValue | None = None
    """Worst price accepted."""
    reason: StopOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class StopOrderRejectTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderRejection
):
    """Stop order rejected."""

    type: Literal["STOP_ORDER_REJECT"] = "STOP_ORDER_REJECT"
    price_bound: PriceValue | None = None
    """As requested."""
    reason: StopOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""


class MarketIfTouchedOrderTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, ReplacementLinks
):
    """Market-if-touched order created."""

    type: Literal["MARKET_IF_TOUCHED_ORDER"] = "MARKET_IF_TOUCHED_ORDER"
    price_bound: PriceValue | None = None
    """Worst price accepted."""
    reason: MarketIfTouchedOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class MarketIfTouchedOrderRejectTransaction(
    TransactionIdentity, EntryTerms, PendingTerms, OnFillTerms, OrderRejection
):
    """Market-if-touched order rejected."""

    type: Literal["MARKET_IF_TOUCHED_ORDER_REJECT"] = "MARKET_IF_TOUCHED_ORDER_REJECT"
    price_bound: PriceValue | None = None
    """As requested."""
    reason: MarketIfTouchedOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""


class TakeProfitOrderTransaction(TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks):
    """Take-profit created."""

    type: Literal["TAKE_PROFIT_ORDER"] = "TAKE_PROFIT_ORDER"
    price: PriceValue
    """The price that triggers it."""
    distance: DecimalNumber | None = None
    """The requested distance, if the order was requested by distance."""
    reason: TakeProfitOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class TakeProfitOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Take-profit rejected."""

    type: Literal["TAKE_PROFIT_ORDER_REJECT"] = "TAKE_PROFIT_ORDER_REJECT"
    price: PriceValue | None = None
    """As requested."""
    distance: DecimalNumber | None = None
    """As requested."""
    reason: TakeProfitOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""


class StopLossOrderTransaction(TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks):
    """Stop-loss created."""

    type: Literal["STOP_LOSS_ORDER"] = "STOP_LOSS_ORDER"
    price: PriceValue
    """The price that triggers it."""
    distance: DecimalNumber | None = None
    """The requested distance, if the order was requested by distance."""
    guaranteed: bool | None = None
    """Whether the stop is guaranteed; deprecated in favour of GUARANTEED_STOP_LOSS_ORDER."""
    guaranteed_execution_premium: DecimalNumber | None = None
    """Cost of the guarantee in price units; sent with the deprecated flag."""
    reason: StopLossOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class StopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Stop-loss rejected."""

    type: Literal["STOP_LOSS_ORDER_REJECT"] = "STOP_LOSS_ORDER_REJECT"
    price: PriceValue | None = None
    """As requested."""
    distance: DecimalNumber | None = None
    """As requested."""
    guaranteed: bool | None = None
    """As requested."""
    reason: StopLossOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""


class GuaranteedStopLossOrderTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks
):
    """Guaranteed stop created."""

    type: Literal["GUARANTEED_STOP_LOSS_ORDER"] = "GUARANTEED_STOP_LOSS_ORDER"
    price: PriceValue
    """The price that triggers it."""
    distance: DecimalNumber | None = None
    """The requested distance, if the order was requested by distance."""
    guaranteed_execution_premium: DecimalNumber
    """Price units per unit."""
    reason: GuaranteedStopLossOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class GuaranteedStopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Guaranteed stop rejected."""

    type: Literal["GUARANTEED_STOP_LOSS_ORDER_REJECT"] = "GUARANTEED_STOP_LOSS_ORDER_REJECT"
    price: PriceValue | None = None
    """As requested."""
    distance: DecimalNumber | None = None
    """As requested."""
    reason: GuaranteedStopLossOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""


class TrailingStopLossOrderTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks
):
    """Trailing stop created."""

    type: Literal["TRAILING_STOP_LOSS_ORDER"] = "TRAILING_STOP_LOSS_ORDER"
    distance: DecimalNumber
    """In price units."""
    reason: TrailingStopLossOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """Id, tag and comment of the order."""


class TrailingStopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Trailing stop rejected."""

    type: Literal["TRAILING_STOP_LOSS_ORDER_REJECT"] = "TRAILING_STOP_LOSS_ORDER_REJECT"
    distance: DecimalNumber | None = None
    """As requested."""
    reason: TrailingStopLossOrderReason
    """Origin: the client, a replacement, a fill or a close."""
    client_extensions: ClientExtensions | None = None
    """As requested."""
