"""Fills, cancels and rejected cancels of orders."""

from typing import Literal

from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import (
    AccountUnits,
    ClientID,
    DecimalNumber,
    InstrumentName,
    OrderID,
    PriceValue,
    TradeID,
)
from keydesk_client.models.order_terms import ClientExtensions
from keydesk_client.models.pricing import ClientPrice
from keydesk_client.models.reject_reasons import (
    OrderCancelReason,
    OrderFillReason,
    TransactionRejectReason,
)
from keydesk_client.models.transactions.base import HomeConversionFactors, TransactionIdentity


class OrderCancelTransaction(TransactionIdentity):
    """An order was cancelled, or ended without a fill."""

    type: Literal["ORDER_CANCEL"] = "ORDER_CANCEL"
    order_id: OrderID
    """The order."""
    client_order_id: ClientID | None = None
    """Its client id."""
    reason: OrderCancelReason
    """Reason of the cancel."""
    replaced_by_order_id: OrderID | None = None
    """Only for CLIENT_REQUEST_REPLACED."""


class OrderCancelRejectTransaction(TransactionIdentity):
    """Cancel rejected."""

    type: Literal["ORDER_CANCEL_REJECT"] = "ORDER_CANCEL_REJECT"
    order_id: OrderID | None = None
    """Requested order."""
    client_order_id: ClientID | None = None
    """Requested client id."""
    reject_reason: TransactionRejectReason
    """Reason of the rejection."""


class ConversionCosts(Record):
    """Costs of converting to home currency; not every service sends them."""

    pl_home_conversion_cost: DecimalNumber | None = None
    """Conversion cost of the P/L."""
    base_financing_home_conversion_cost: DecimalNumber | None = None
    """Conversion cost of base financing."""
    guaranteed_execution_fee_home_conversion_cost: DecimalNumber | None = None
    """Conversion cost of the guaranteed fee."""
    home_conversion_cost: DecimalNumber | None = None
    """Sum of the three."""


class TradeOpen(Record):
    """Trade opened by a fill."""

    trade_id: TradeID
    """New trade."""
    units: DecimalNumber
    """Signed: positive is long, negative is short."""
    price: PriceValue
    """Open price."""
    guaranteed_execution_fee: AccountUnits | None = None
    """Fee booked at open."""
    quote_guaranteed_execution_fee: DecimalNumber | None = None
    """Same in quote currency."""
    client_extensions: ClientExtensions | None = None
    """Client extensions of the trade."""
    half_spread_cost: AccountUnits | None = None
    """Half spread times units in home currency."""
    initial_margin_required: AccountUnits | None = None
    """Plain margin."""


class TradeReduce(ConversionCosts):
    """Trade reduced or closed by a fill."""

    trade_id: TradeID
    """The trade."""
    client_trade_id: ClientID | None = None
    """Its client id, when it has one."""
    units: DecimalNumber
    """Signed as the fill: negative if a long trade is reduced."""
    price: PriceValue
    """Close price, clamped by a guaranteed stop."""
    realized_pl: AccountUnits
    """In home currency."""
    financing: AccountUnits
    """Settled with this part."""
    base_financing: DecimalNumber | None = None
    """In base currency."""
    quote_financing: DecimalNumber | None = None
    """In quote currency."""
    financing_rate: DecimalNumber | None = None
    """Effective rate."""
    guaranteed_execution_fee: AccountUnits | None = None
    """Guaranteed-stop fee of this part."""
    quote_guaranteed_execution_fee: DecimalNumber | None = None
    """Same in quote currency."""
    half_spread_cost: AccountUnits | None = None
    """Half spread times units in home currency."""


class OrderFillTransaction(TransactionIdentity, ConversionCosts):
    """An order filled."""

    type: Literal["ORDER_FILL"] = "ORDER_FILL"
    order_id: OrderID
    """Order filled."""
    client_order_id: ClientID | None = None
    """Its client id."""
    instrument: InstrumentName
    """As in EUR_USD."""
    units: DecimalNumber
    """Signed units filled."""
    requested_units: DecimalNumber | None = None
    """Signed units requested; sent since 2018."""
    gain_quote_home_conversion_factor: DecimalNumber | None = None
    """Deprecated by homeConversionFactors."""
    loss_quote_home_conversion_factor: DecimalNumber | None = None
    """Deprecated by homeConversionFactors."""
    home_conversion_factors: HomeConversionFactors | None = None
    """Factors in force."""
    price: PriceValue | None = None
    """Average price; deprecated by the service for full_vwap."""
    full_vwap: PriceValue | None = None
    """Average before guaranteed clamping."""
    full_price: ClientPrice | None = None
    """Price in force; carries timestamp, no instrument or time."""
    reason: OrderFillReason
    """Reason of the fill."""
    pl: AccountUnits
    """P/L realized by this fill, in home currency."""
    quote_pl: DecimalNumber | None = None
    """Same in quote currency."""
    financing: AccountUnits
    """Financing settled by this fill."""
    base_financing: DecimalNumber | None = None
    """In base currency."""
    quote_financing: DecimalNumber | None = None
    """In quote currency."""
    commission: AccountUnits
    """Positive; lowers the balance."""
    guaranteed_execution_fee: AccountUnits | None = None
    """Guaranteed-stop fees of this fill."""
    quote_guaranteed_execution_fee: DecimalNumber | None = None
    """Same in quote currency."""
    account_balance: AccountUnits
    """Account balance after the transaction."""
    trade_opened: TradeOpen | None = None
    """At most one."""
    trades_closed: tuple[TradeReduce, ...] | None = None
    """Absent when none."""
    trade_reduced: TradeReduce | None = None
    """At most one."""
    half_spread_cost: AccountUnits | None = None
    """Sum over the trades of the fill."""
