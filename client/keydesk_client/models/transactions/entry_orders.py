"""Orders that may open a trade: created or refused."""

from typing import Literal

from keydesk_client.models._core.scalars import DecimalNumber, InstrumentName, PriceValue
from keydesk_client.models.enumerations import OrderPositionFill, TimeInForce
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.reject_reasons import (
    FixedPriceOrderReason,
    LimitOrderReason,
    MarketIfTouchedOrderReason,
    MarketOrderReason,
    StopOrderReason,
    TransactionRejectReason,
)
from keydesk_client.models.terms import EntryTerms, MarketPurpose, OnFillTerms, PendingTerms
from keydesk_client.models.transactions.base import (
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
