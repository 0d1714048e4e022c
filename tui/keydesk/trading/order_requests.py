"""From a decision to what the interface takes: an order request, or the edit of a trade's dependent orders."""

from decimal import Decimal
from typing import Any, Literal, TypeAlias

from keydesk.calc.instructions import Change, Left, MoveEntry, OpenOrder, Reverse
from keydesk.calc.ticket_draft import Kind
from keydesk_client.models import (
    DateTime,
    LimitOrder,
    LimitOrderRequest,
    MarketIfTouchedOrder,
    MarketIfTouchedOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    StopLossDetails,
    StopOrder,
    StopOrderRequest,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models._core.unset import UNSET, Unset
from keydesk_client.models.enumerations import TimeInForce

HOUR_NS = 3_600_000_000_000
PendingKind: TypeAlias = (
    type[LimitOrderRequest] | type[StopOrderRequest] | type[MarketIfTouchedOrderRequest]
)
KINDS: dict[Kind, PendingKind] = {
    "LIMIT": LimitOrderRequest,
    "STOP": StopOrderRequest,
    "MARKET_IF_TOUCHED": MarketIfTouchedOrderRequest,
}
KEPT = (
    "instrument",
    "units",
    "position_fill",
    "time_in_force",
    "gtd_time",
    "trigger_condition",
    "price_bound",
    "guaranteed_stop_loss_on_fill",
    "trailing_stop_loss_on_fill",
    "trade_client_extensions",
)
HOURS = {"GTD 1h": 1, "GTD 4h": 4, "GTD 24h": 24}


def order_request(order: OpenOrder, now_ns: int) -> OrderRequest:
    """Return the request of a ticket.

    Args:
        order: What the trader confirmed.
        now_ns: The broker's time, from which a duration becomes an expiry.
    """
    time_in_force, gtd_time = expiry(order.expiry, now_ns)
    stop, target, trail = _on_fill(order)
    fill: Literal["REDUCE_ONLY", "DEFAULT"] = "REDUCE_ONLY" if order.reduces else "DEFAULT"
    if order.kind == "MARKET":
        return MarketOrderRequest(
            instrument=order.instrument,
            units=order.units,
            time_in_force=time_in_force,
            price_bound=order.bound,
            position_fill=fill,
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
        position_fill=fill,
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


MovableOrder: TypeAlias = LimitOrder | StopOrder | MarketIfTouchedOrder


def moved_request(order: MovableOrder, move: MoveEntry) -> OrderRequest:
    """Return the request that takes the place of a pending order; all that was not moved stays.

    Client extensions are left out: the broker carries those of the old order over.
    """
    kind = KINDS[order.type]
    members: dict[str, Any] = {  # of the types that the old order has
        name: getattr(order, name) for name in KEPT if name in order.model_fields_set
    }
    members["price"] = move.price
    guaranteed = order.guaranteed_stop_loss_on_fill
    if guaranteed is not None and order.stop_loss_on_fill is None:  # its stop is the guaranteed one
        members["guaranteed_stop_loss_on_fill"] = (
            None
            if move.stop is None
            else guaranteed.model_copy(update={"price": move.stop, "distance": None})
        )
    else:
        members["stop_loss_on_fill"] = _moved_stop(order.stop_loss_on_fill, move.stop)
    members["take_profit_on_fill"] = _moved_target(order.take_profit_on_fill, move.target)
    return kind(**members)


def _moved_stop(now: StopLossDetails | None, stop: Decimal | None) -> StopLossDetails | None:
    if stop is None:
        return None
    if now is None:
        return StopLossDetails(price=stop)
    return now.model_copy(update={"price": stop, "distance": None})


def _moved_target(
    now: TakeProfitDetails | None, target: Decimal | None
) -> TakeProfitDetails | None:
    if target is None:
        return None
    if now is None:
        return TakeProfitDetails(price=target)
    return now.model_copy(update={"price": target, "distance": None})


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
