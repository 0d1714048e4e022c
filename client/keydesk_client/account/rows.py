"""Make trades and orders of an account from records of the wire."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from keydesk_client.account.records import DependentOrder, DependentType, OpenTrade, PendingOrder
from keydesk_client.account.values import (
    MAX_VALUE,
    READ_ERRORS,
    amount,
    checked_time_ns,
    number_of,
    optional_price,
    price,
)
from keydesk_client.arithmetic.constants import ZERO
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
    OrderFillTransaction,
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
    UnknownOrder,
)
from keydesk_client.models._core.record import Record

Printable: TypeAlias = Callable[[str], str]
"""Returns text of the service as it is kept."""
DEPENDENT_TYPES: Mapping[str, DependentType] = {
    "TAKE_PROFIT": "take_profit",
    "STOP_LOSS": "stop_loss",
    "TRAILING_STOP_LOSS": "trailing_stop",
    "GUARANTEED_STOP_LOSS": "guaranteed_stop",
}
"""The field of a trade row by the type of the dependent order."""
MEMBERS: Mapping[DependentType, str] = {
    "take_profit": "take_profit_order_id",
    "stop_loss": "stop_loss_order_id",
    "trailing_stop": "trailing_stop_loss_order_id",
    "guaranteed_stop": "guaranteed_stop_loss_order_id",
}
"""The member of a trade's record that names the order of each field."""
NO_TRADES: Mapping[str, OpenTrade] = MappingProxyType({})
MAX_WORD = 24  # characters of a member
V = TypeVar("V")
R = TypeVar("R")
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


def kind_of(type_: str) -> str:
    """Return an order's type, from an order or from the transaction that created it."""
    return type_.removesuffix("_ORDER")


def order_row(
    order: Order, trades: Mapping[str, OpenTrade], printable: Printable
) -> PendingOrder | None:
    """Return the row of a pending order; None for one that never rests. Raise ValueError for one of an unknown type."""
    match order:
        case LimitOrder() | StopOrder() | MarketIfTouchedOrder():
            return entry_row(order, order.create_time, printable)
        case TakeProfitOrder() | StopLossOrder() | GuaranteedStopLossOrder():
            return dependent_row(order, order.create_time, trades, printable)
        case TrailingStopLossOrder():
            row = trailing_row(order, order.create_time, trades, printable)
            row.price = optional_price(order.trailing_stop_value)
            return row
        case UnknownOrder():
            raise ValueError(f"an order of the unknown type {order.type[:MAX_WORD]!r}")
        case _:
            return None


def entry_row(order: EntryOrder, created: DateTime, printable: Printable) -> PendingOrder:
    """Return the row of an entry order."""
    number_of(order.id)
    up = 1 if amount(order.units) > 0 else -1  # the direction of profit
    stop = order.stop_loss_on_fill or order.guaranteed_stop_loss_on_fill
    trailing = order.trailing_stop_loss_on_fill
    return PendingOrder(
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
        tag=tag_of(order.client_extensions, printable),
        comment=comment_of(order.client_extensions, printable),
        trigger=order.trigger_condition,
    )


def dependent_row(
    order: PricedDependent,
    created: DateTime,
    trades: Mapping[str, OpenTrade],
    printable: Printable,
) -> PendingOrder:
    """Return the row of a take-profit or stop at a price."""
    row = _row_of_dependent(order, created, trades, printable)
    row.price, row.distance = optional_price(order.price), optional_price(order.distance)
    premium = getattr(order, "guaranteed_execution_premium", None)
    row.premium = Decimal(0) if premium is None else amount(premium)
    return row


def trailing_row(
    order: TrailingOrder, created: DateTime, trades: Mapping[str, OpenTrade], printable: Printable
) -> PendingOrder:
    """Return the row of a trailing stop; its price is known once the broker sends it."""
    row = _row_of_dependent(order, created, trades, printable)
    row.distance = price(order.distance)
    return row


def _row_of_dependent(
    order: PricedDependent | TrailingOrder,
    created: DateTime,
    trades: Mapping[str, OpenTrade],
    printable: Printable,
) -> PendingOrder:
    number_of(order.id)
    trade = trades.get(order.trade_id)
    return PendingOrder(
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
        on_fill=getattr(order, "reason", None) == "ON_FILL",
        tag=tag_of(order.client_extensions, printable),
        comment=comment_of(order.client_extensions, printable),
        trigger=order.trigger_condition,
    )


def trade_row(
    trade: TradeSummary, printable: Printable, known: Mapping[str, OpenTrade] = NO_TRADES
) -> OpenTrade:
    """Return the row of an open trade without its dependent orders.

    A member that cannot be read is as in the row that is known; without one, or if it can have changed since, it is named
    in `unread`. Without id, instrument, units or price there is no row: raise what reading them raised.
    """
    number_of(trade.id)
    before = known.get(trade.id)
    unread: set[str] = set()

    def read(
        member: str, check: Callable[[V], R], usual: R | None, *, can_change: bool = False
    ) -> R:
        try:
            return check(getattr(trade, member))
        except READ_ERRORS:
            if usual is None:
                raise
            if before is None or can_change:
                unread.add(member)
            return usual

    def once(member: str, check: Callable[[V], R], attribute: str, usual: R | None = None) -> R:
        held: R | None = getattr(before, attribute, usual)
        return read(member, check, held)

    units = read("current_units", amount, None if before is None else before.units, can_change=True)
    row = OpenTrade(
        id=trade.id,
        instrument=once("instrument", str, "instrument"),
        units=units,
        initial_units=once("initial_units", amount, "initial_units", units),
        price=once("price", price, "price"),
        open_time_ns=once("open_time", checked_time_ns, "open_time_ns", 0),
        realized_pl=read(
            "realized_pl", amount, getattr(before, "realized_pl", ZERO), can_change=True
        ),
        financing=read("financing", amount, getattr(before, "financing", ZERO), can_change=True),
        initial_margin=once("initial_margin_required", amount, "initial_margin", ZERO),
        unrealized_pl=_amount_or_none(trade, "unrealized_pl"),
        margin_used=_amount_or_none(trade, "margin_used"),
    )
    with suppress(*READ_ERRORS):
        row.tag = tag_of(trade.client_extensions, printable)
        row.comment = comment_of(trade.client_extensions, printable)
        row.client_id = _client_id(trade.client_extensions)
    row.unread = frozenset(unread)
    return row


def words_of(record: Record, printable: Printable) -> str:
    """Return what can be read of a trade or an order that has no row: its id, type, instrument, units and price."""
    members = ("id", "type", "instrument", "current_units", "units", "price")
    found = (getattr(record, member, None) for member in members)
    words = " ".join(str(each)[:MAX_WORD] for each in found if each is not None)
    return printable(words)


def _amount_or_none(trade: TradeSummary, member: str) -> Decimal | None:
    """Return an amount that the next price restores; None if it cannot be read."""
    value: Decimal | None = getattr(trade, member, None)
    return None if value is None or abs(value) >= MAX_VALUE else value


def opened_row(opened: TradeOpen, instrument: str, time_ns: int, printable: Printable) -> OpenTrade:
    """Return the row of a trade that a fill opened."""
    return OpenTrade(
        id=str(number_of(opened.trade_id)),
        instrument=instrument,
        units=amount(opened.units),
        initial_units=opened.units,
        price=price(opened.price),
        open_time_ns=time_ns,
        realized_pl=Decimal(0),
        financing=Decimal(0),
        initial_margin=opened.initial_margin_required or Decimal(0),
        margin_used=opened.initial_margin_required,
        tag=tag_of(opened.client_extensions, printable),
        comment=comment_of(opened.client_extensions, printable),
        client_id=_client_id(opened.client_extensions),
    )


def note_opening_price(trade: OpenTrade, fill: OrderFillTransaction) -> None:
    """Keep the closing price and the loss factor of the fill that opened a trade, by which its initial risk is counted."""
    with suppress(*READ_ERRORS):  # the fill counts without the price beside it
        price_then = fill.full_price
        levels = (
            () if price_then is None else price_then.bids if trade.units > 0 else price_then.asks
        )
        trade.opened_closing = price(levels[0].price) if levels else None
    factors = fill.home_conversion_factors
    factor = fill.loss_quote_home_conversion_factor
    if factors is not None and factors.loss_quote_home is not None:
        factor = factors.loss_quote_home.factor
    trade.opened_loss_factor = optional_price(factor)


def attach(trade: OpenTrade, order: PendingOrder) -> None:
    """Attach a dependent order to its trade."""
    dependent_type = DEPENDENT_TYPES.get(order.type)
    if dependent_type is not None:
        setattr(trade, dependent_type, DependentOrder(order.id, order.price, order.distance))


def attach_named(trade: OpenTrade, record: TradeSummary) -> None:
    """Attach the orders that a trade's record names and that have no row: they stand, at a price that is not known."""
    unread = set(trade.unread)
    for dependent_type, member in MEMBERS.items():
        if getattr(trade, dependent_type) is not None:
            continue
        try:
            order_id: str | None = getattr(record, member)
        except READ_ERRORS:
            unread.add(member)
        else:
            setattr(
                trade, dependent_type, None if order_id is None else DependentOrder(order_id, None)
            )
    trade.unread = frozenset(unread)


def detach(trade: OpenTrade, order_id: str) -> None:
    """Detach a dependent order from its trade."""
    for dependent_type in DEPENDENT_TYPES.values():
        standing: DependentOrder | None = getattr(trade, dependent_type)
        if standing is not None and standing.order_id == order_id:
            setattr(trade, dependent_type, None)


def tag_of(extensions: ClientExtensions | None, printable: Printable) -> str:
    """Return the tag of a trade or order, empty if it has none."""
    return printable(extensions.tag or "") if extensions is not None else ""


def comment_of(extensions: ClientExtensions | None, printable: Printable) -> str:
    """Return the comment of a trade or order, empty if it has none."""
    return printable(extensions.comment or "") if extensions is not None else ""


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
