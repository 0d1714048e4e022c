"""From a decision to what the interface takes: an order request, or the edit of a trade's dependent orders."""

from decimal import Decimal
from typing import TypeAlias

from keydesk.desk.draft import Kind
from keydesk.desk.instructions import Change, Left, MoveEntry, OpenOrder, Reverse
from keydesk.store.state import OrderRow
from keydesk_client.models import (
    DateTime,
    LimitOrderRequest,
    MarketIfTouchedOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    StopLossDetails,
    StopOrderRequest,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.enumerations import TimeInForce
from keydesk_client.unset import UNSET, Unset

HOUR_NS = 3_600_000_000_000
PendingKind: TypeAlias = (
    type[LimitOrderRequest] | type[StopOrderRequest] | type[MarketIfTouchedOrderRequest]
)
KINDS: dict[Kind, PendingKind] = {
    "LIMIT": LimitOrderRequest,
    "STOP": StopOrderRequest,
    "MARKET_IF_TOUCHED": MarketIfTouchedOrderRequest,
}
HOURS = {"GTD 1h": 1, "GTD 4h": 4, "GTD 24h": 24}


def order_request(order: OpenOrder, now_ns: int) -> OrderRequest:
    """Return the request of a ticket.

    Args:
        order: What the trader confirmed.
        now_ns: The broker's time, from which a duration becomes an expiry.
    """
    time_in_force, gtd_time = expiry(order.expiry, now_ns)
    stop, target, trail = _on_fill(order)
    if order.kind == "MARKET":
        return MarketOrderRequest(
            instrument=order.instrument,
            units=order.units,
            time_in_force=time_in_force,
            price_bound=order.bound,
            stop_loss_on_fill=stop,
            take_profit_on_fill=target,
            trailing_stop_loss_on_fill=trail,
        )
    if order.price is None:
        raise ValueError("a pending order has a price")
    kind = KINDS[order.kind]
    return kind(
        instrument=order.instrument,
        units=order.units,
        price=order.price,
        time_in_force=time_in_force,
        gtd_time=gtd_time,
        stop_loss_on_fill=stop,
        take_profit_on_fill=target,
        trailing_stop_loss_on_fill=trail,
    )


def reversal_request(reverse: Reverse) -> MarketOrderRequest:
    """Return the one order that turns a position: it reduces first, and opens with what is left."""
    return MarketOrderRequest(
        instrument=reverse.instrument,
        units=reverse.units,
        time_in_force="FOK",
        price_bound=reverse.bound,
        position_fill="REDUCE_FIRST",
        stop_loss_on_fill=None if reverse.stop is None else StopLossDetails(price=reverse.stop),
        take_profit_on_fill=None
        if reverse.target is None
        else TakeProfitDetails(price=reverse.target),
    )


def moved_order(move: MoveEntry, order: OrderRow) -> OpenOrder:
    """Return the order that takes the place of a moved one."""
    kind: Kind = "LIMIT"
    for each in KINDS:
        if each == order.type:
            kind = each
    return OpenOrder(
        instrument=move.instrument,
        kind=kind,
        units=order.units or Decimal(0),
        price=move.price,
        stop=move.stop,
        target=move.target,
        expiry=order.time_in_force,
    )


def expiry(words: str, now_ns: int) -> tuple[TimeInForce, DateTime | None]:
    """Return the time in force, and the instant where it has one."""
    hours = HOURS.get(words)
    if hours is None:
        return words, None
    return "GTD", DateTime.from_ns(now_ns + hours * HOUR_NS)


def stop_edit(change: Change) -> StopLossDetails | Unset | None:
    """Return the edit of a stop: left alone, taken away, or at a price."""
    if isinstance(change, Left):
        return UNSET
    return None if change is None else StopLossDetails(price=change)


def target_edit(change: Change) -> TakeProfitDetails | Unset | None:
    """Return the edit of a target: left alone, taken away, or at a price."""
    if isinstance(change, Left):
        return UNSET
    return None if change is None else TakeProfitDetails(price=change)


def trail_edit(change: Change) -> TrailingStopLossDetails | Unset | None:
    """Return the edit of a trailing stop: left alone, taken away, or at a distance."""
    if isinstance(change, Left):
        return UNSET
    return None if change is None else TrailingStopLossDetails(distance=change)


def _on_fill(
    order: OpenOrder,
) -> tuple[StopLossDetails | None, TakeProfitDetails | None, TrailingStopLossDetails | None]:
    return (
        None if order.stop is None else StopLossDetails(price=order.stop),
        None if order.target is None else TakeProfitDetails(price=order.target),
        None if order.trail is None else TrailingStopLossDetails(distance=order.trail),
    )
