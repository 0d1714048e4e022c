"""Answers of the REST operations."""

from typing import ClassVar

from pydantic import ConfigDict

from keydesk_client.models._core.record import VALUES_SELDOM_RECUR, Response
from keydesk_client.models._core.scalars import DateTime, TransactionID
from keydesk_client.models.accounts import (
    Account,
    AccountChanges,
    AccountChangesState,
    AccountProperties,
    AccountSummary,
)
from keydesk_client.models.enumerations import TransactionFilter
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.orders import Order
from keydesk_client.models.pricing import (
    CandlestickResponse,
    ClientPrice,
    HomeConversions,
    OrderBook,
    PositionBook,
    conversion_of,
)
from keydesk_client.models.trades import Position, Trade
from keydesk_client.models.transactions.account import ClientConfigureTransaction
from keydesk_client.models.transactions.base import (
    OrderClientExtensionsModifyTransaction,
    TradeClientExtensionsModifyTransaction,
)
from keydesk_client.models.transactions.fills import OrderCancelTransaction, OrderFillTransaction
from keydesk_client.models.transactions.orders import (
    GuaranteedStopLossOrderTransaction,
    MarketOrderTransaction,
    StopLossOrderTransaction,
    TakeProfitOrderTransaction,
    TrailingStopLossOrderTransaction,
)
from keydesk_client.models.transactions.unions import (
    OrderCreateTransaction,
    OrderRejectTransaction,
    Transaction,
)


class AccountsResponse(Response):
    """The accounts that the token may use."""

    accounts: tuple[AccountProperties, ...]


class AccountResponse(Response):
    """An account in full."""

    account: Account
    last_transaction_id: TransactionID


class AccountSummaryResponse(Response):
    """An account without its orders, trades and positions."""

    account: AccountSummary
    last_transaction_id: TransactionID


class InstrumentsResponse(Response):
    """Instruments that an account may trade."""

    instruments: tuple[Instrument, ...]
    last_transaction_id: TransactionID


class ConfigureAccountResponse(Response):
    """The settings of an account were changed."""

    client_configure_transaction: ClientConfigureTransaction
    last_transaction_id: TransactionID


class AccountChangesResponse(Response):
    """Changes of an account since a transaction, and its current state."""

    changes: AccountChanges
    state: AccountChangesState
    last_transaction_id: TransactionID


class OrderBookResponse(Response):
    """A snapshot of the order book."""

    model_config: ClassVar[ConfigDict] = VALUES_SELDOM_RECUR

    order_book: OrderBook


class PositionBookResponse(Response):
    """A snapshot of the position book."""

    model_config: ClassVar[ConfigDict] = VALUES_SELDOM_RECUR

    position_book: PositionBook


class LatestCandlesResponse(Response):
    """The last complete and the forming candle of each specification."""

    model_config: ClassVar[ConfigDict] = VALUES_SELDOM_RECUR

    latest_candles: tuple[CandlestickResponse, ...]


class OrderCreateResponse(Response):
    """An order was accepted: it is pending, was filled, or was cancelled at once."""

    order_create_transaction: OrderCreateTransaction
    order_fill_transaction: OrderFillTransaction | None = None
    order_cancel_transaction: OrderCancelTransaction | None = None
    order_reissue_transaction: OrderCreateTransaction | None = None
    order_reissue_reject_transaction: OrderRejectTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class OrdersResponse(Response):
    """A list of orders, newest first."""

    orders: tuple[Order, ...]
    last_transaction_id: TransactionID


class OrderResponse(Response):
    """One order."""

    order: Order
    last_transaction_id: TransactionID


class OrderReplaceResponse(Response):
    """An order was cancelled and replaced by another."""

    order_cancel_transaction: OrderCancelTransaction | None = None
    order_create_transaction: OrderCreateTransaction
    order_fill_transaction: OrderFillTransaction | None = None
    order_reissue_transaction: OrderCreateTransaction | None = None
    order_reissue_reject_transaction: OrderRejectTransaction | None = None
    replacing_order_cancel_transaction: OrderCancelTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class OrderCancelResponse(Response):
    """An order was cancelled."""

    order_cancel_transaction: OrderCancelTransaction
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class OrderClientExtensionsResponse(Response):
    """An order's client extensions were changed."""

    order_client_extensions_modify_transaction: OrderClientExtensionsModifyTransaction
    last_transaction_id: TransactionID
    related_transaction_ids: tuple[TransactionID, ...]


class PositionsResponse(Response):
    """A list of positions."""

    positions: tuple[Position, ...]
    last_transaction_id: TransactionID


class PositionResponse(Response):
    """One position."""

    position: Position
    last_transaction_id: TransactionID


class PositionCloseResponse(Response):
    """One or both sides of a position were closed."""

    long_order_create_transaction: MarketOrderTransaction | None = None
    long_order_fill_transaction: OrderFillTransaction | None = None
    long_order_cancel_transaction: OrderCancelTransaction | None = None
    short_order_create_transaction: MarketOrderTransaction | None = None
    short_order_fill_transaction: OrderFillTransaction | None = None
    short_order_cancel_transaction: OrderCancelTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class PricingResponse(Response):
    """Current prices."""

    model_config: ClassVar[ConfigDict] = VALUES_SELDOM_RECUR

    prices: tuple[ClientPrice, ...]
    """One for each instrument that was asked for; with `since`, those that changed."""
    home_conversions: tuple[HomeConversions, ...] | None = None
    """If they were asked for with include_home_conversions: see `home_conversion`."""
    time: DateTime
    """When the prices were read; pass it as `since` to poll."""

    def home_conversion(self, currency: str) -> HomeConversions:
        """Return the factors from this currency to home currency; raise MissingMember if they were not sent."""
        remedy = "call pricing.get with include_home_conversions=True"
        return conversion_of(self.home_conversions, currency, "PricingResponse", remedy)


class TradesResponse(Response):
    """A list of trades, newest first."""

    trades: tuple[Trade, ...]
    last_transaction_id: TransactionID


class TradeResponse(Response):
    """One trade."""

    trade: Trade
    last_transaction_id: TransactionID


class TradeCloseResponse(Response):
    """A trade was closed in full or in part, or its closing order was cancelled at once."""

    order_create_transaction: MarketOrderTransaction | None = None
    order_fill_transaction: OrderFillTransaction | None = None
    order_cancel_transaction: OrderCancelTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class TradeClientExtensionsResponse(Response):
    """A trade's client extensions were changed."""

    trade_client_extensions_modify_transaction: TradeClientExtensionsModifyTransaction
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class TradeDependentOrdersResponse(Response):
    """A trade's dependent orders were created, changed or cancelled."""

    take_profit_order_cancel_transaction: OrderCancelTransaction | None = None
    take_profit_order_transaction: TakeProfitOrderTransaction | None = None
    take_profit_order_fill_transaction: OrderFillTransaction | None = None
    take_profit_order_created_cancel_transaction: OrderCancelTransaction | None = None
    stop_loss_order_cancel_transaction: OrderCancelTransaction | None = None
    stop_loss_order_transaction: StopLossOrderTransaction | None = None
    stop_loss_order_fill_transaction: OrderFillTransaction | None = None
    stop_loss_order_created_cancel_transaction: OrderCancelTransaction | None = None
    trailing_stop_loss_order_cancel_transaction: OrderCancelTransaction | None = None
    trailing_stop_loss_order_transaction: TrailingStopLossOrderTransaction | None = None
    guaranteed_stop_loss_order_cancel_transaction: OrderCancelTransaction | None = None
    guaranteed_stop_loss_order_transaction: GuaranteedStopLossOrderTransaction | None = None
    related_transaction_ids: tuple[TransactionID, ...]
    last_transaction_id: TransactionID


class TransactionPageIndex(Response):
    """Pages of the transactions of a time range."""

    from_: DateTime
    """Effective start."""
    to: DateTime
    """Effective end."""
    page_size: int
    """Effective page size."""
    type: tuple[TransactionFilter, ...] | None = None
    """Requested filter, absent if there was none."""
    count: int
    """Transactions over all pages."""
    pages: tuple[str, ...]
    """Absolute URLs of the pages, with the filter."""
    last_transaction_id: TransactionID
    """Newest transaction."""


class TransactionResponse(Response):
    """One transaction."""

    transaction: Transaction
    last_transaction_id: TransactionID


class TransactionsResponse(Response):
    """Transactions in ascending order."""

    transactions: tuple[Transaction, ...]
    last_transaction_id: TransactionID
