"""When resting orders trigger: the price side and level of each, and the marks that trailing stops follow.

The rules (source: the `OrderTriggerCondition` definition and the order types of the v20 reference):

- LIMIT and TAKE_PROFIT trigger at their price or better; stops of every kind at their price or worse.
- MARKET_IF_TOUCHED triggers when the price reaches its level from the side on which it was at creation.
- The side is the one at which the order would trade (ask for a buy, bid for a sell); INVERSE is the other one, and BID,
  ASK and MID force it.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal

from keydesk_practice.engine.quotes import ZERO, Market, Quote
from keydesk_practice.engine.state.account import Account, Order, OrderPriceLevel, Trigger
from keydesk_practice.engine.transactions import (
    DependentOrderCreated,
    MarketIfTouchedOrderCreated,
    MarketOrderCreated,
    PendingOrderCreated,
    PricedDependentCreated,
    TrailingStopLossCreated,
)

PriceSide = Literal["bid", "ask", "mid"]
_FORCED_SIDES: Mapping[str, PriceSide] = {"BID": "bid", "ASK": "ask", "MID": "mid"}
_AT_PRICE_OR_BETTER = frozenset({"LIMIT", "TAKE_PROFIT"})


def watched_side(condition: str, buys: bool) -> PriceSide:
    """Return the price side that triggers an order with a `triggerCondition`."""
    if condition in _FORCED_SIDES:
        return _FORCED_SIDES[condition]
    return "ask" if buys == (condition == "DEFAULT") else "bid"


def price_on_side(quote: Quote, side: PriceSide) -> Decimal:
    """Return one side of a price."""
    if side == "bid":
        return quote.bid
    return quote.ask if side == "ask" else quote.mid


def trigger_of(order: Order) -> Trigger | None:
    """Return the trigger of a pending order; None for a market order, and for an order that still needs its mark."""
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
            below = order.buys == (order.created.order_type in _AT_PRICE_OR_BETTER)
        case _:
            return None
    return Trigger(order.id, watched_side(condition, order.buys), below, level)


def is_met(trigger: Trigger, quote: Quote) -> bool:
    """Return whether a price triggers an order."""
    price = price_on_side(quote, trigger.side)
    return price <= trigger.level if trigger.below else price >= trigger.level


def observe(
    account: Account, market: Market, instruments: Iterable[str] | None = None
) -> tuple[OrderPriceLevel, ...]:
    """Return the new marks of the account's orders: of trailing stops that moved, and of orders without a mark.

    To be applied after every batch and every tick. It makes no transactions.
    """
    names = None if instruments is None else frozenset(instruments)
    marks = (
        _new_mark(order, market)
        for order in account.orders.values()
        if isinstance(order.created, TrailingStopLossCreated | MarketIfTouchedOrderCreated)
        and (names is None or order.instrument in names)
    )
    return tuple(mark for mark in marks if mark is not None)


def _new_mark(order: Order, market: Market) -> OrderPriceLevel | None:
    match order.created:
        case MarketIfTouchedOrderCreated(trigger_condition=condition) if order.mark is None:
            side = watched_side(condition, order.buys)
            return OrderPriceLevel(order.id, price_on_side(market.quote(order.instrument), side))
        case TrailingStopLossCreated():
            return _trailing_mark(order, order.created, market)
        case _:
            return None


def _trailing_mark(
    order: Order, created: DependentOrderCreated, market: Market
) -> OrderPriceLevel | None:
    """Return the trailing stop value if it moved: only in the winning direction, and not while trading is halted."""
    quote = market.quote(order.instrument)
    distance = created.distance or ZERO
    price = price_on_side(quote, watched_side(created.trigger_condition, order.buys))
    level = price + distance if order.buys else price - distance
    if order.mark is None:
        return OrderPriceLevel(order.id, level)
    moved = level < order.mark if order.buys else level > order.mark
    return OrderPriceLevel(order.id, level) if moved and quote.tradeable else None
