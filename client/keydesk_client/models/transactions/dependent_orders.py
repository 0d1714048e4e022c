"""Orders that close one trade: created or refused."""

from typing import Literal

from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.reasons import (
    GuaranteedStopLossOrderReason,
    StopLossOrderReason,
    TakeProfitOrderReason,
    TrailingStopLossOrderReason,
)
from keydesk_client.models.scalars import DecimalNumber, PriceValue
from keydesk_client.models.terms import DependentTerms
from keydesk_client.models.transactions.base import (
    OnFillLink,
    OrderRejection,
    ReplacementLinks,
    TransactionIdentity,
)


class TakeProfitOrderTransaction(TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks):
    """Take-profit created."""

    type: Literal["TAKE_PROFIT_ORDER"] = "TAKE_PROFIT_ORDER"
    price: PriceValue
    """Trigger."""
    distance: DecimalNumber | None = None
    """When given that way, newer service."""
    reason: TakeProfitOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """Tags."""


class TakeProfitOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Take-profit refused."""

    type: Literal["TAKE_PROFIT_ORDER_REJECT"] = "TAKE_PROFIT_ORDER_REJECT"
    price: PriceValue | None = None
    """As asked."""
    distance: DecimalNumber | None = None
    """As asked."""
    reason: TakeProfitOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """As asked."""


class StopLossOrderTransaction(TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks):
    """Stop-loss created."""

    type: Literal["STOP_LOSS_ORDER"] = "STOP_LOSS_ORDER"
    price: PriceValue
    """Trigger."""
    distance: DecimalNumber | None = None
    """When given that way."""
    guaranteed: bool | None = None
    """Deprecated flag."""
    guaranteed_execution_premium: DecimalNumber | None = None
    """Deprecated companion."""
    reason: StopLossOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """Tags."""


class StopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Stop-loss refused."""

    type: Literal["STOP_LOSS_ORDER_REJECT"] = "STOP_LOSS_ORDER_REJECT"
    price: PriceValue | None = None
    """As asked."""
    distance: DecimalNumber | None = None
    """As asked."""
    guaranteed: bool | None = None
    """As asked."""
    reason: StopLossOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """As asked."""


class GuaranteedStopLossOrderTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks
):
    """Guaranteed stop created."""

    type: Literal["GUARANTEED_STOP_LOSS_ORDER"] = "GUARANTEED_STOP_LOSS_ORDER"
    price: PriceValue
    """Trigger."""
    distance: DecimalNumber | None = None
    """When given that way."""
    guaranteed_execution_premium: DecimalNumber
    """Price units per unit."""
    reason: GuaranteedStopLossOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """Tags."""


class GuaranteedStopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Guaranteed stop refused."""

    type: Literal["GUARANTEED_STOP_LOSS_ORDER_REJECT"] = "GUARANTEED_STOP_LOSS_ORDER_REJECT"
    price: PriceValue | None = None
    """As asked."""
    distance: DecimalNumber | None = None
    """As asked."""
    reason: GuaranteedStopLossOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """As asked."""


class TrailingStopLossOrderTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, ReplacementLinks
):
    """Trailing stop created."""

    type: Literal["TRAILING_STOP_LOSS_ORDER"] = "TRAILING_STOP_LOSS_ORDER"
    distance: DecimalNumber
    """Price units."""
    reason: TrailingStopLossOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """Tags."""


class TrailingStopLossOrderRejectTransaction(
    TransactionIdentity, DependentTerms, OnFillLink, OrderRejection
):
    """Trailing stop refused."""

    type: Literal["TRAILING_STOP_LOSS_ORDER_REJECT"] = "TRAILING_STOP_LOSS_ORDER_REJECT"
    distance: DecimalNumber | None = None
    """As asked."""
    reason: TrailingStopLossOrderReason
    """Origin."""
    client_extensions: ClientExtensions | None = None
    """As asked."""
