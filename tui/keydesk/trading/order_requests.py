"""Build requests for what is open: orders that move, and the dependent orders of a trade."""

from collections.abc import Mapping
from decimal import Decimal
from typing import TypeAlias, TypedDict, TypeVar, cast

from keydesk.calc.orders.instructions import Change, MoveEntry, SetProtection
from keydesk.calc.orders.lifetime import Lifetime
from keydesk.values import OrderRow
from keydesk_client.account.records import DependentType
from keydesk_client.models import (
    DateTime,
    GuaranteedStopLossDetails,
    GuaranteedStopLossOrderRequest,
    LimitOrder,
    LimitOrderRequest,
    MarketIfTouchedOrder,
    MarketIfTouchedOrderRequest,
    OrderRequest,
    StopLossDetails,
    StopLossOrderRequest,
    StopOrder,
    StopOrderRequest,
    TakeProfitDetails,
    TakeProfitOrderRequest,
    TrailingStopLossDetails,
    TrailingStopLossOrderRequest,
)
from keydesk_client.models.enumerations import OrderTriggerCondition, TimeInForce
from keydesk_client.models.order_terms import LimitMembers, OrderChanges
from keydesk_client.unset import Unset

HOUR_NS = 3_600_000_000_000
HOURS = {"GTD 1h": 1, "GTD 4h": 4, "GTD 24h": 24}
MovableOrder: TypeAlias = LimitOrder | StopOrder | MarketIfTouchedOrder
REPLACED_BY: Mapping[
    type[MovableOrder],
    type[LimitOrderRequest | StopOrderRequest | MarketIfTouchedOrderRequest],
] = {
    LimitOrder: LimitOrderRequest,
    StopOrder: StopOrderRequest,
    MarketIfTouchedOrder: MarketIfTouchedOrderRequest,
}

Level = TypeVar("Level", StopLossDetails, GuaranteedStopLossDetails, TakeProfitDetails)


def moved_request(order: MovableOrder, move: MoveEntry, now_ns: int) -> OrderRequest:
    """Return the request that replaces a pending order: every member that was not moved is copied.

    A member of the order that cannot be read raises MissingMember: the default in its place would change the order.
    Client extensions are left out: the broker carries those of the old order over.
    """
    kind, moved = REPLACED_BY[type(order)], _moved_members(order, move, now_ns)
    left_out = moved.keys() | {"type", "client_extensions"}
    kept = {
        name: getattr(order, name)
        for name in kind.model_fields
        if name in type(order).model_fields and name not in left_out
    }
    return kind(**cast("LimitMembers", {**kept, **moved}))


def _moved_members(order: MovableOrder, move: MoveEntry, now_ns: int) -> OrderChanges:
    stop, guaranteed = order.stop_loss_on_fill, order.guaranteed_stop_loss_on_fill
    if guaranteed is not None and stop is None:  # its stop is the guaranteed one
        guaranteed = _moved(guaranteed, GuaranteedStopLossDetails, move.stop)
    else:
        stop = _moved(stop, StopLossDetails, move.stop)
    moved: OrderChanges = {
        "price": move.price,
        "stop_loss_on_fill": stop,
        "guaranteed_stop_loss_on_fill": guaranteed,
        "take_profit_on_fill": _moved(order.take_profit_on_fill, TakeProfitDetails, move.target),
        "trailing_stop_loss_on_fill": _trailed(order.trailing_stop_loss_on_fill, move.trail),
    }
    if move.units is not None:
        moved["units"] = move.units
    if move.trigger:
        moved["trigger_condition"] = move.trigger
    if move.lifetime.expiry:
        lifetime = sent_lifetime(move.lifetime, now_ns)
        moved["time_in_force"], moved["gtd_time"] = lifetime["time_in_force"], lifetime["gtd_time"]
    return moved


def _moved(now: Level | None, kind: type[Level], price: Decimal | None) -> Level | None:
    """Return a stop or target at another price; None where there is to be none."""
    if price is None:
        return None
    if now is None:
        return kind(price=price)
    return now.model_copy(update={"price": price, "distance": None})


def _trailed(now: TrailingStopLossDetails | None, change: Change) -> TrailingStopLossDetails | None:
    """Return a trailing stop at another distance; as it is where it is left alone."""
    if isinstance(change, Unset):
        return now
    if change is None:
        return None
    if now is None:
        return TrailingStopLossDetails(distance=change)
    return now.model_copy(update={"distance": change})


def expiry(text: str, now_ns: int) -> tuple[TimeInForce, DateTime | None]:
    """Return the time in force, and the expiry if there is one."""
    hours = HOURS.get(text)
    if hours is None:
        return text, None
    return "GTD", DateTime.from_ns(now_ns + hours * HOUR_NS)


class LifetimeMembers(TypedDict):
    """How long a dependent order lives."""

    time_in_force: TimeInForce
    gtd_time: DateTime | None


class DependentMembers(LifetimeMembers):
    """Members of every dependent order."""

    trade_id: str
    trigger_condition: OrderTriggerCondition


TILL_CANCELLED: LifetimeMembers = {"time_in_force": "GTC", "gtd_time": None}


def sent_lifetime(lifetime: Lifetime, now_ns: int) -> LifetimeMembers:
    """Return the members of a lifetime; an order without one lives till it is cancelled."""
    if lifetime.gtd_ns is not None:
        return {"time_in_force": "GTD", "gtd_time": DateTime.from_ns(lifetime.gtd_ns)}
    time_in_force, gtd_time = expiry(lifetime.expiry or "GTC", now_ns)
    return {"time_in_force": time_in_force, "gtd_time": gtd_time}


def lifetime_of(lifetime: Lifetime, now_ns: int, order: OrderRow | None) -> LifetimeMembers:
    """Return the time in force chosen; with none, that of the order in whose place the new one comes."""
    if lifetime.expiry:
        return sent_lifetime(lifetime, now_ns)
    if order is None:
        return TILL_CANCELLED
    ends = None if order.gtd_ns is None else DateTime.from_ns(order.gtd_ns)
    return {"time_in_force": order.time_in_force, "gtd_time": ends}


def dependent_request(
    dependent_type: DependentType, change: SetProtection, lifetime: LifetimeMembers
) -> OrderRequest:
    """Return the order request of one level with a trigger condition, which the edit of a trade does not have."""
    trigger = change.trigger or "DEFAULT"
    members: DependentMembers = {
        "trade_id": change.trade_id,
        "trigger_condition": trigger,
        **lifetime,
    }
    match dependent_type:
        case "stop_loss":
            return StopLossOrderRequest(price=_level(change.stop), **members)
        case "take_profit":
            return TakeProfitOrderRequest(price=_level(change.target), **members)
        case "trailing_stop":
            return TrailingStopLossOrderRequest(distance=_level(change.trail), **members)
        case "guaranteed_stop":
            return GuaranteedStopLossOrderRequest(price=_level(change.guaranteed), **members)


def _level(change: Change) -> Decimal:
    if not isinstance(change, Decimal):
        raise TypeError("a level that is set is a number")
    return change


def price_edit(
    kind: type[Level], change: Change, lifetime: LifetimeMembers = TILL_CANCELLED
) -> Level | Unset | None:
    """Return the edit of a stop, guaranteed stop or target: unchanged, cancelled, or at a price."""
    if change is None or isinstance(change, Unset):
        return change
    return kind(price=change, **lifetime)


def trail_edit(
    change: Change, lifetime: LifetimeMembers = TILL_CANCELLED
) -> TrailingStopLossDetails | Unset | None:
    """Return the edit of a trailing stop: unchanged, cancelled, or at a distance."""
    if change is None or isinstance(change, Unset):
        return change
    return TrailingStopLossDetails(distance=change, **lifetime)
