"""Make trade and order rows of the store from wire records, and put the broker's reasons into words."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, TypeAlias

from keydesk.records import DependentOrder, OrderRow, TradeRow
from keydesk.store.store import LARGEST, amount, moment, number_of, optional_price, price
from keydesk.text.sanitize import clean
from keydesk_client.models import (
    ClientExtensions,
    DateTime,
    GuaranteedStopLossDetails,
    GuaranteedStopLossOrder,
    GuaranteedStopLossOrderTransaction,
    LimitOrder,
    LimitOrderTransaction,
    MarketIfTouchedOrder,
    MarketIfTouchedOrderTransaction,
    Order,
    StopLossDetails,
    StopLossOrder,
    StopLossOrderTransaction,
    StopOrder,
    StopOrderTransaction,
    TakeProfitDetails,
    TakeProfitOrder,
    TakeProfitOrderTransaction,
    TradeOpen,
    TradeSummary,
    TrailingStopLossOrder,
    TrailingStopLossOrderTransaction,
)

WORDS = {
    "CLIENT_REQUEST": "asked by you",
    "CLIENT_REQUEST_REPLACED": "replaced",
    "LINKED_TRADE_CLOSED": "its trade is closed",
    "TIME_IN_FORCE_EXPIRED": "its time is over",
    "MARKET_HALTED": "the market is halted",
    "INSUFFICIENT_MARGIN": "not enough margin",
    "INSUFFICIENT_LIQUIDITY": "not enough liquidity at the price",
    "BOUNDS_VIOLATION": "the price moved past the bound",
    "FIFO_VIOLATION": "an older or opposite trade has to be closed first",
    "TAKE_PROFIT_ON_FILL_LOSS": "the target is on the losing side",
    "LOSING_TAKE_PROFIT": "the target is on the losing side",
    "STOP_LOSS_ON_FILL_LOSS": "the stop is on the winning side",
    "STOP_LOSS_ON_FILL_REQUIRED": "this account wants a stop on every trade",
    "GUARANTEED_STOP_LOSS_ON_FILL_REQUIRED": "this account wants a guaranteed stop on every trade",
    "POSITION_SIZE_EXCEEDED": "the position would be too large",
    "OPEN_TRADES_ALLOWED_EXCEEDED": "too many open trades",
    "PENDING_ORDERS_ALLOWED_EXCEEDED": "too many pending orders",
    "POSITION_CLOSEOUT_FAILED": "there is nothing to reduce",
    "CLIENT_ORDER_ID_ALREADY_EXISTS": "a pending order has this id already",
    "CLIENT_TRADE_ID_ALREADY_EXISTS": "an open trade has this id already",
    "ORDER_DOESNT_EXIST": "there is no such order",
    "TRADE_DOESNT_EXIST": "there is no such trade",
    "CLOSEOUT_POSITION_DOESNT_EXIST": "there is no such position",
    "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE": "the trade is smaller than that",
    "INSTRUMENT_NOT_TRADEABLE": "this account may not trade it",
    "INSTRUMENT_PRICE_UNKNOWN": "there is no price",
    "UNITS_INVALID": "the units make no sense",
    "UNITS_PRECISION_EXCEEDED": "the units have too many decimals",
    "UNITS_LIMIT_EXCEEDED": "too many units for one order",
    "UNITS_MINIMUM_NOT_MET": "too few units",
    "UNITS_MIMIMUM_NOT_MET": "too few units",  # the service's own old spelling
    "PRICE_INVALID": "the price makes no sense",
    "PRICE_PRECISION_EXCEEDED": "the price has too many decimals",
    "PRICE_DISTANCE_MINIMUM_NOT_MET": "the distance is too small",
    "PRICE_DISTANCE_MAXIMUM_EXCEEDED": "the distance is too large",
    "TIME_IN_FORCE_INVALID": "this order cannot have that time in force",
    "TIME_IN_FORCE_GTD_TIMESTAMP_IN_PAST": "the expiry is in the past",
    "INTERNAL_SERVER_ERROR": "the service failed",
    "ACCOUNT_LOCKED": "the account is locked",
    "ACCOUNT_NOT_ACTIVE": "the account is not active",
    "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT": "that margin rate would close the positions out",
    "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL": "that margin rate would make a margin call",
}
FILLS = {
    "TAKE_PROFIT_ORDER": "target",
    "STOP_LOSS_ORDER": "stop hit",
    "GUARANTEED_STOP_LOSS_ORDER": "guaranteed stop hit",
    "TRAILING_STOP_LOSS_ORDER": "trailing stop hit",
    "LIMIT_ORDER": "limit order",
    "STOP_ORDER": "stop order",
    "MARKET_IF_TOUCHED_ORDER": "price touched",
    "MARKET_ORDER": "market order",
    "MARKET_ORDER_TRADE_CLOSE": "closed by you",
    "MARKET_ORDER_POSITION_CLOSEOUT": "position closed by you",
    "MARKET_ORDER_MARGIN_CLOSEOUT": "MARGIN CLOSEOUT",
    "MARKET_ORDER_DELAYED_TRADE_CLOSE": "closed after the halt",
}
Slot: TypeAlias = Literal["take_profit", "stop_loss", "trailing_stop", "guaranteed_stop"]
SLOTS: Mapping[str, Slot] = {
    "TAKE_PROFIT": "take_profit",
    "STOP_LOSS": "stop_loss",
    "TRAILING_STOP_LOSS": "trailing_stop",
    "GUARANTEED_STOP_LOSS": "guaranteed_stop",
}
"""The field of a trade row by the type of the dependent order."""
EntryOrder: TypeAlias = (
    LimitOrder
    | LimitOrderTransaction
    | StopOrder
    | StopOrderTransaction
    | MarketIfTouchedOrder
    | MarketIfTouchedOrderTransaction
)
PricedDependent: TypeAlias = (
    TakeProfitOrder
    | TakeProfitOrderTransaction
    | StopLossOrder
    | StopLossOrderTransaction
    | GuaranteedStopLossOrder
    | GuaranteedStopLossOrderTransaction
)
TrailingOrder: TypeAlias = TrailingStopLossOrder | TrailingStopLossOrderTransaction


def in_words(code: str) -> str:
    """Return a reason of the broker in words; an unknown one is spelt out."""
    return WORDS.get(code) or clean(code.replace("_", " ").lower())


def fill_in_words(code: str) -> str:
    """Return the reason of a fill in words."""
    return FILLS.get(code) or in_words(code)


def kind_of(type_: str) -> str:
    """Return an order's type, from an order or from the transaction that created it."""
    return type_.removesuffix("_ORDER")


def order_row(order: Order, trades: Mapping[str, TradeRow]) -> OrderRow | None:
    """Return the row of a pending order; None for one that never rests or is unknown."""
    match order:
        case LimitOrder() | StopOrder() | MarketIfTouchedOrder():
            return entry_row(order, order.create_time)
        case TakeProfitOrder() | StopLossOrder() | GuaranteedStopLossOrder():
            return dependent_row(order, order.create_time, trades)
        case TrailingStopLossOrder():
            row = trailing_row(order, order.create_time, trades)
            row.price = optional_price(order.trailing_stop_value)
            return row
        case _:
            return None


def entry_row(order: EntryOrder, created: DateTime) -> OrderRow:
    """Return the row of an entry order."""
    number_of(order.id)
    up = 1 if amount(order.units) > 0 else -1  # the way the trade wins
    stop = order.stop_loss_on_fill or order.guaranteed_stop_loss_on_fill
    trailing = order.trailing_stop_loss_on_fill
    return OrderRow(
        id=order.id,
        type=kind_of(order.type),
        instrument=order.instrument,
        units=order.units,
        price=price(order.price),
        distance=None,
        time_in_force=order.time_in_force,
        gtd_ns=_ns(order.gtd_time),
        trade_id=None,
        stop_loss=_level(stop, order, -up),
        take_profit=_level(order.take_profit_on_fill, order, up),
        client_id=_client_id(order.client_extensions),
        create_time_ns=created.ns,
        reduces=order.position_fill == "REDUCE_ONLY",
        trail=trailing.distance if trailing is not None else None,
    )


def dependent_row(
    order: PricedDependent, created: DateTime, trades: Mapping[str, TradeRow]
) -> OrderRow:
    """Return the row of a take-profit or stop at a price."""
    row = _row_of_dependent(order, created, trades)
    row.price, row.distance = optional_price(order.price), optional_price(order.distance)
    return row


def trailing_row(
    order: TrailingOrder, created: DateTime, trades: Mapping[str, TradeRow]
) -> OrderRow:
    """Return the row of a trailing stop; its price is known once the broker sends it."""
    row = _row_of_dependent(order, created, trades)
    row.distance = price(order.distance)
    return row


def _row_of_dependent(
    order: PricedDependent | TrailingOrder, created: DateTime, trades: Mapping[str, TradeRow]
) -> OrderRow:
    number_of(order.id)
    trade = trades.get(order.trade_id)
    return OrderRow(
        id=order.id,
        type=kind_of(order.type),
        instrument="" if trade is None else trade.instrument,
        units=None,
        price=None,
        distance=None,
        time_in_force=order.time_in_force,
        gtd_ns=_ns(order.gtd_time),
        trade_id=order.trade_id,
        stop_loss=None,
        take_profit=None,
        client_id=_client_id(order.client_extensions),
        create_time_ns=created.ns,
    )


def trade_row(trade: TradeSummary) -> TradeRow:
    """Return the row of an open trade without its dependent orders."""
    number_of(trade.id)
    return TradeRow(
        id=trade.id,
        instrument=trade.instrument,
        units=amount(trade.current_units),
        initial_units=amount(trade.initial_units),
        price=price(trade.price),
        open_time_ns=moment(trade.open_time),
        realized_pl=amount(trade.realized_pl),
        financing=amount(trade.financing),
        initial_margin=amount(trade.initial_margin_required),
        tag=tag_of(trade.client_extensions),
        unrealized_pl=_amount_or_none(trade, "unrealized_pl"),
        margin_used=_amount_or_none(trade, "margin_used"),
    )


def _amount_or_none(trade: TradeSummary, member: str) -> Decimal | None:
    """Return an amount that the next price restores; None if it cannot be read."""
    value: Decimal | None = getattr(trade, member, None)
    return None if value is None or abs(value) >= LARGEST else value


def opened_row(opened: TradeOpen, instrument: str, time_ns: int) -> TradeRow:
    """Return the row of a trade that a fill opened."""
    return TradeRow(
        id=str(number_of(opened.trade_id)),
        instrument=instrument,
        units=amount(opened.units),
        initial_units=opened.units,
        price=price(opened.price),
        open_time_ns=time_ns,
        realized_pl=Decimal(0),
        financing=Decimal(0),
        initial_margin=opened.initial_margin_required or Decimal(0),
        tag=tag_of(opened.client_extensions),
    )


def attach(trade: TradeRow, order: OrderRow) -> None:
    """Attach a dependent order to its trade."""
    slot = SLOTS.get(order.type)
    if slot is not None:
        setattr(trade, slot, DependentOrder(order.id, order.price, order.distance))


def detach(trade: TradeRow, order_id: str) -> None:
    """Detach a dependent order from its trade."""
    for slot in SLOTS.values():
        standing: DependentOrder | None = getattr(trade, slot)
        if standing is not None and standing.order_id == order_id:
            setattr(trade, slot, None)


def tag_of(extensions: ClientExtensions | None) -> str:
    """Return the trader's tag of a trade as printable text."""
    return clean(extensions.tag or "") if extensions is not None else ""


def _client_id(extensions: ClientExtensions | None) -> str | None:
    return extensions.id if extensions is not None else None


def _ns(moment: DateTime | None) -> int | None:
    return None if moment is None else moment.ns


def _level(
    details: StopLossDetails | GuaranteedStopLossDetails | TakeProfitDetails | None,
    order: EntryOrder,
    way: int,
) -> Decimal | None:
    """Return the price of an order on fill: as given, or at its distance from the entry."""
    if details is None or details.price is not None:
        return None if details is None else details.price
    if details.distance is None:
        return None
    return order.price + way * details.distance
