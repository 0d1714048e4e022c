"""Transactions that end orders or relabel what lives: fills, cancels, client extensions."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from keydesk_practice.engine.requests import ClientExtensions
from keydesk_practice.engine.transactions.base import Transaction
from keydesk_practice.engine.transactions.funds import HomeConversionFactors
from keydesk_practice.engine.wire_form import Id, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class FullPriceBucket:
    """Liquidity at one price; text in a fill, unlike in pricing."""

    price: Decimal
    liquidity: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class FullPrice:
    """The price in force at a fill."""

    bids: tuple[FullPriceBucket, ...]
    asks: tuple[FullPriceBucket, ...]
    closeout_bid: Decimal
    closeout_ask: Decimal
    timestamp: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeOpened:
    """The trade that a fill opened."""

    trade_id: Id
    units: Decimal
    price: Decimal
    guaranteed_execution_fee: Decimal | None = None
    client_extensions: ClientExtensions | None = None
    half_spread_cost: Decimal
    initial_margin_required: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeReduced:
    """A trade that a fill reduced or closed; the units have the sign of the fill."""

    trade_id: Id
    client_trade_id: str | None = None
    units: Decimal
    price: Decimal
    realized_pl: Decimal
    financing: Decimal
    guaranteed_execution_fee: Decimal
    quote_guaranteed_execution_fee: Decimal
    half_spread_cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFilled(Transaction):
    """An order was filled."""

    type: ClassVar[str] = "ORDER_FILL"

    order_id: Id
    client_order_id: str | None = None
    instrument: str
    units: Decimal
    requested_units: Decimal
    gain_quote_home_conversion_factor: Decimal
    loss_quote_home_conversion_factor: Decimal
    home_conversion_factors: HomeConversionFactors
    price: Decimal
    full_vwap: Decimal
    full_price: FullPrice
    reason: str
    pl: Decimal
    quote_pl: Decimal
    financing: Decimal
    commission: Decimal
    guaranteed_execution_fee: Decimal
    quote_guaranteed_execution_fee: Decimal
    account_balance: Decimal
    trade_opened: TradeOpened | None = None
    trades_closed: tuple[TradeReduced, ...] | None = None
    trade_reduced: TradeReduced | None = None
    half_spread_cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCancelled(Transaction):
    """An order ended without a fill."""

    type: ClassVar[str] = "ORDER_CANCEL"

    order_id: Id
    client_order_id: str | None = None
    reason: str
    replaced_by_order_id: Id | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCancelRejected(Transaction):
    """A cancel was refused."""

    type: ClassVar[str] = "ORDER_CANCEL_REJECT"

    order_id: Id | None = None
    client_order_id: str | None = None
    reject_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderExtensionsModified(Transaction):
    """An order's labels changed."""

    type: ClassVar[str] = "ORDER_CLIENT_EXTENSIONS_MODIFY"

    order_id: Id
    client_order_id: str | None = None
    client_extensions_modify: ClientExtensions | None = None
    trade_client_extensions_modify: ClientExtensions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderExtensionsModifyRejected(Transaction):
    """A change of an order's labels was refused."""

    type: ClassVar[str] = "ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT"

    order_id: Id | None = None
    client_order_id: str | None = None
    client_extensions_modify: ClientExtensions | None = None
    trade_client_extensions_modify: ClientExtensions | None = None
    reject_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeExtensionsModified(Transaction):
    """A trade's labels changed."""

    type: ClassVar[str] = "TRADE_CLIENT_EXTENSIONS_MODIFY"

    trade_id: Id
    client_trade_id: str | None = None
    trade_client_extensions_modify: ClientExtensions


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeExtensionsModifyRejected(Transaction):
    """A change of a trade's labels was refused."""

    type: ClassVar[str] = "TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT"

    trade_id: Id | None = None
    client_trade_id: str | None = None
    trade_client_extensions_modify: ClientExtensions | None = None
    reject_reason: str
