"""When resting orders act: the side and level that trigger each, and what the market shows trailing stops."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal

from keydesk_practice.engine.quotes import Market, Quote
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Mark, Order, Trigger
from keydesk_practice.engine.transactions import (
    DependentOrderCreated,
    MarketIfTouchedOrderCreated,
    MarketOrderCreated,
    PendingOrderCreated,
    PricedDependentCreated,
    TrailingStopLossCreated,
)

Watched = Literal["bid", "ask", "mid"]
_FORCED: Mapping[str, Watched] = {"BID": "bid", "ASK": "ask", "MID": "mid"}
_BETTER = frozenset({"LIMIT", "TAKE_PROFIT"})  # act at their level or better; stops at it or worse


def watched_side(condition: str, buys: bool) -> Watched:
    """Return the side that an order looks at: by default the one that it would trade at."""
    if condition in _FORCED:
        return _FORCED[condition]
    return "ask" if buys == (condition == "DEFAULT") else "bid"


def side_of(quote: Quote, side: Watched) -> Decimal:
    """Return one side of a price."""
    if side == "bid":
        return quote.bid
    return quote.ask if side == "ask" else quote.mid


def trigger_of(order: Order) -> Trigger | None:
    """Return when a pending order acts, None while that is not known (it needs its mark first) or never."""
    match order.created:
        case MarketOrderCreated():
            return None
        case MarketIfTouchedOrderCreated(price=level, trigger_condition=condition):
            if order.mark is None:
                return None
            below = level <= order.mark
        case TrailingStopLossCreated(trigger_condition=condition):
            if order.mark is None:
                return None
            level, below = order.mark, not order.buys
        case (
            PendingOrderCreated(price=level, trigger_condition=condition)
            | PricedDependentCreated(price=level, trigger_condition=condition)
        ):
            better = order.created.order_type in _BETTER
            below = order.buys == better
        case _:
            return None
    return Trigger(order.id, watched_side(condition, order.buys), below, level)


def is_met(trigger: Trigger, quote: Quote) -> bool:
    """Return whether a price triggers an order."""
    price = side_of(quote, trigger.side)
    return price <= trigger.level if trigger.below else price >= trigger.level


def observe(
    account: Account, market: Market, instruments: Iterable[str] | None = None
) -> tuple[Mark, ...]:
    """Return what the market shows the account's orders now: trailing stops that moved, and orders that never looked.

    To be applied after every batch and every tick; it makes no transactions.
    """
    wanted = None if instruments is None else frozenset(instruments)
    found = (
        _look(order, market)
        for order in account.orders.values()
        if isinstance(order.created, TrailingStopLossCreated | MarketIfTouchedOrderCreated)
        and (wanted is None or order.instrument in wanted)
    )
    return tuple(mark for mark in found if mark is not None)


def _look(order: Order, market: Market) -> Mark | None:
    match order.created:
        case MarketIfTouchedOrderCreated(trigger_condition=condition) if order.mark is None:
            side = watched_side(condition, order.buys)
            return Mark(order.id, side_of(market.quote(order.instrument), side))
        case TrailingStopLossCreated():
            return _trail(order, order.created, market)
        case _:
            return None


def _trail(order: Order, created: DependentOrderCreated, market: Market) -> Mark | None:
    """Return the level of a trailing stop when it moved: only ever in the winning direction, and not while halted."""
    quote = market.quote(order.instrument)
    distance = created.distance or Decimal(0)
    price = side_of(quote, watched_side(created.trigger_condition, order.buys))
    level = price + distance if order.buys else price - distance
    if order.mark is None:
        return Mark(order.id, level)
    moved = level < order.mark if order.buys else level > order.mark
    return Mark(order.id, level) if moved and quote.tradeable else None
