"""Orders that close one trade: created or refused."""

from typing import Literal

from keydesk_client.models._core.scalars import DecimalNumber, PriceValue
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.reject_reasons import (
    GuaranteedStopLossOrderReason,
    StopLossOrderReason,
    TakeProfitOrderReason,
    TrailingStopLossOrderReason,
)
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
