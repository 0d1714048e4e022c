"""Orders as a ticket makes them, by the words of a test, and the levels of those that a ticket made."""

from datetime import UTC
from decimal import Decimal

from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitRules
from keydesk.calc.orders.plans.scale_out import OrderPart
from keydesk.calc.orders.ticket import work_out
from keydesk.calc.orders.ticket_draft import Draft, Kind
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.trading.entry_requests import OpenOrder, Reverse, order_of
from keydesk.words.order_text import EntryRequest
from keydesk_client.models import (
    DateTime,
    LimitOrderRequest,
    MarketIfTouchedOrderRequest,
    MarketOrderRequest,
    StopLossDetails,
    StopOrderRequest,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.order_terms import EntryMembers
from support.data.trading_contexts import example_facts

Parts = tuple[OrderPart, ...]


def entry_request(
    instrument: str,
    kind: Kind,
    units: Decimal,
    *,
    price: Decimal | None = None,
    bound: Decimal | None = None,
    stop: Decimal | None = None,
    target: Decimal | None = None,
    trail: Decimal | None = None,
    ends_ns: int | None = None,
    reduces: bool = False,
) -> EntryRequest:
    """Return a request; a pending one rests until it is cancelled, or until an instant."""
    pending = kind != "MARKET"
    members: EntryMembers = {
        "instrument": instrument,
        "units": units,
        "time_in_force": "FOK" if not pending else "GTC" if ends_ns is None else "GTD",
        "position_fill": "REDUCE_ONLY" if reduces else "DEFAULT",
        "stop_loss_on_fill": None if stop is None else StopLossDetails(price=stop),
        "take_profit_on_fill": None if target is None else TakeProfitDetails(price=target),
        "trailing_stop_loss_on_fill": None
        if trail is None
        else TrailingStopLossDetails(distance=trail),
    }
    if price is None:
        return MarketOrderRequest(**members, price_bound=bound)
    ends = None if ends_ns is None else DateTime.from_ns(ends_ns)
    if kind == "LIMIT":
        return LimitOrderRequest(**members, price=price, gtd_time=ends)
    request = StopOrderRequest if kind == "STOP" else MarketIfTouchedOrderRequest
    return request(**members, price=price, gtd_time=ends, price_bound=bound)


def open_order(
    instrument: str,
    kind: Kind,
    units: Decimal,
    *,
    price: Decimal | None = None,
    bound: Decimal | None = None,
    stop: Decimal | None = None,
    target: Decimal | None = None,
    trail: Decimal | None = None,
    ends_ns: int | None = None,
    reduces: bool = False,
    expected: Decimal | None = None,
    exit_rules: ExitRules = NO_RULES,
    draft: Draft | None = None,
) -> OpenOrder:
    """Return what a ticket returns."""
    request = entry_request(
        instrument,
        kind,
        units,
        price=price,
        bound=bound,
        stop=stop,
        target=target,
        trail=trail,
        ends_ns=ends_ns,
        reduces=reduces,
    )
    return OpenOrder(request, expected, exit_rules, draft=draft)


def ticket_order(
    draft: Draft, *, now_ns: int, facts: TradingContext | None = None, parts: Parts = ()
) -> OpenOrder:
    """Return what a ticket with these fields returns, at the prices of the example."""
    plan = work_out(draft, facts or example_facts(), Limits())
    order = order_of(draft, plan, NO_RULES, parts, now_ns=now_ns, zone=UTC)
    assert order is not None
    return order


def price_of(order: OpenOrder) -> Decimal | None:
    """Return the price of a pending order."""
    return None if isinstance(order.request, MarketOrderRequest) else order.request.price


def stop_of(order: OpenOrder) -> Decimal | None:
    """Return the price of the usual stop."""
    stop = order.request.stop_loss_on_fill
    return None if stop is None else stop.price


def target_of(order: OpenOrder) -> Decimal | None:
    """Return the price of the target."""
    target = order.request.take_profit_on_fill
    return None if target is None else target.price


def trail_of(order: OpenOrder | Reverse) -> Decimal | None:
    """Return the distance of the trailing stop."""
    trail = order.request.trailing_stop_loss_on_fill
    return None if trail is None else trail.distance
