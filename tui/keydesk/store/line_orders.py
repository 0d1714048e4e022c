"""Orders in plain words: what was placed, attached or refused."""

from typing import TypeAlias

from keydesk.store.reasons import in_words
from keydesk.store.rows import kind_of
from keydesk.text.format import units
from keydesk_client import models as m

EntryOrder: TypeAlias = (
    m.LimitOrderTransaction | m.StopOrderTransaction | m.MarketIfTouchedOrderTransaction
)
DependentOrder: TypeAlias = (
    m.TakeProfitOrderTransaction
    | m.StopLossOrderTransaction
    | m.GuaranteedStopLossOrderTransaction
    | m.TrailingStopLossOrderTransaction
)
Refusal: TypeAlias = (
    m.MarketOrderRejectTransaction
    | m.LimitOrderRejectTransaction
    | m.StopOrderRejectTransaction
    | m.MarketIfTouchedOrderRejectTransaction
    | m.TakeProfitOrderRejectTransaction
    | m.StopLossOrderRejectTransaction
    | m.GuaranteedStopLossOrderRejectTransaction
    | m.TrailingStopLossOrderRejectTransaction
)

PURPOSES = {
    "TRADE_CLOSE": "to close a trade",
    "POSITION_CLOSEOUT": "to close a position",
    "MARGIN_CLOSEOUT": "MARGIN CLOSEOUT",
    "DELAYED_TRADE_CLOSE": "to close a trade after the halt",
}
ORIGINS = {"ON_FILL": "", "REPLACEMENT": ", moved", "CLIENT_ORDER": ""}
NAMES = {
    "TAKE_PROFIT": "Target",
    "STOP_LOSS": "Stop",
    "GUARANTEED_STOP_LOSS": "Guaranteed stop",
    "TRAILING_STOP_LOSS": "Trailing stop",
    "LIMIT": "Limit",
    "STOP": "Stop",
    "MARKET_IF_TOUCHED": "If touched",
    "MARKET": "Market",
}


def name_of(type_: str) -> str:
    """An order's kind as a person would say it."""
    kind = kind_of(type_.removesuffix("_REJECT"))
    return NAMES.get(kind) or kind.replace("_", " ").capitalize()


def market_words(order: m.MarketOrderTransaction | m.FixedPriceOrderTransaction) -> str:
    """A market order, and what it was for when not the trader's own."""
    purpose = PURPOSES.get(order.reason)
    return f"{name_of(order.type)} {_side(order)}" + (f", {purpose}" if purpose else _guards(order))


def entry_words(order: EntryOrder) -> str:
    """An order that waits for its price."""
    only = " reduce-only" if order.position_fill == "REDUCE_ONLY" else ""
    again = f", was #{order.replaces_order_id}" if order.replaces_order_id else ""
    return f"{name_of(order.type)} {_side(order)} at {order.price}{only}{_guards(order)}{again}"


def dependent_words(order: DependentOrder) -> str:
    """An order that protects a trade."""
    if isinstance(order, m.TrailingStopLossOrderTransaction):
        where = f"{order.distance} behind"
    else:
        where = f"{order.price}"
    origin = ORIGINS.get(order.reason, f", {in_words(order.reason)}")
    return f"{name_of(order.type)} {where} for #{order.trade_id}{origin}"


def refused_words(refusal: Refusal) -> str:
    """An order that was not taken, and why."""
    size = ""
    if not isinstance(refusal, DependentRefusal):
        size = f" {_side(refusal)}" if refusal.units is not None else ""
    why = in_words(refusal.reject_reason)
    return f"{name_of(refusal.type)}{size} refused: {why} ({refusal.reject_reason})"


DependentRefusal = (
    m.TakeProfitOrderRejectTransaction
    | m.StopLossOrderRejectTransaction
    | m.GuaranteedStopLossOrderRejectTransaction
    | m.TrailingStopLossOrderRejectTransaction
)


def _side(
    order: m.MarketOrderTransaction
    | m.FixedPriceOrderTransaction
    | EntryOrder
    | m.MarketOrderRejectTransaction
    | m.LimitOrderRejectTransaction
    | m.StopOrderRejectTransaction
    | m.MarketIfTouchedOrderRejectTransaction,
) -> str:
    if order.units is None:
        return ""
    return f"{'buy' if order.units > 0 else 'sell'} {units(abs(order.units))}"


def _guards(order: m.MarketOrderTransaction | m.FixedPriceOrderTransaction | EntryOrder) -> str:
    """The stop and the target that come with the fill."""
    said = ""
    stop = order.stop_loss_on_fill or order.guaranteed_stop_loss_on_fill
    if stop is not None:
        said += f" SL {stop.price if stop.price is not None else f'{stop.distance} away'}"
    if order.trailing_stop_loss_on_fill is not None:
        said += f" trailing {order.trailing_stop_loss_on_fill.distance}"
    target = order.take_profit_on_fill
    if target is not None:
        said += f" TP {target.price if target.price is not None else f'{target.distance} away'}"
    return said
