"""Place market, limit, stop and market-if-touched orders."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from keydesk_practice.engine.checks import (
    extensions_problem,
    first_problem,
    guaranteed_stop_required,
    on_fill_problems,
    pending_orders_problem,
    price_problem,
    time_in_force_problem,
    units_problem,
)
from keydesk_practice.engine.commands import (
    EntryRequest,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    PendingRequest,
    StopRequest,
    TakeProfitDetails,
)
from keydesk_practice.engine.fills.filling import cancel, fill_if_triggered, fill_or_cancel
from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.state.account import Order
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.transactions import (
    EntryOrderCreated,
    EntryOrderRejected,
    LimitOrderCreated,
    LimitOrderRejected,
    MarketIfTouchedOrderCreated,
    MarketIfTouchedOrderRejected,
    MarketOrderCreated,
    MarketOrderRejected,
    StopOrderCreated,
    StopOrderRejected,
)
from keydesk_practice.engine.wire_form import strip_zeros

Entry = MarketRequest | LimitRequest | StopRequest | MarketIfTouchedRequest

_TRANSACTIONS: Mapping[type[Entry], tuple[type[EntryOrderCreated], type[EntryOrderRejected]]] = {
    MarketRequest: (MarketOrderCreated, MarketOrderRejected),
    LimitRequest: (LimitOrderCreated, LimitOrderRejected),
    StopRequest: (StopOrderCreated, StopOrderRejected),
    MarketIfTouchedRequest: (MarketIfTouchedOrderCreated, MarketIfTouchedOrderRejected),
}

_IMMEDIATE = frozenset({"FOK", "IOC"})


def place_entry(decision: Decision, request: Entry) -> None:
    """Create an entry order and fill it if it can be filled now, or reject it."""
    problem = entry_problem(decision, request)
    if problem is None and not isinstance(request, MarketRequest):
        problem = pending_orders_problem(decision.account)
    if problem:
        reject_entry(decision, request, problem)
    else:
        create_entry(decision, request)


def entry_problem(decision: Decision, request: Entry, replaces: Order | None = None) -> str | None:
    """Return the reject reason for an entry order, or None; a replacement may keep the client id of the order it replaces."""
    specification = decision.market.specification(request.instrument)
    if specification is None:
        return "INSTRUMENT_UNKNOWN"
    account = decision.account
    owner = replaces.id if replaces else None
    return first_problem(
        [
            units_problem(request.units, specification),
            _price_and_time_problem(request, specification, decision.market.now),
            extensions_problem(request.client_extensions, account.order_ids, owner=owner),
            extensions_problem(request.trade_client_extensions, account.trade_ids, "TRADE"),
            on_fill_problems(account, request, specification, decision.market.now),
            _guarantee_problem(decision, request, specification),
        ]
    )


def order_type_of(request: Entry) -> str:
    """Return the order type of a request on the wire."""
    return _TRANSACTIONS[type(request)][0].order_type


def reject_entry(
    decision: Decision, request: Entry, reason: str, replaces: Order | None = None
) -> None:
    """Record the rejection of an entry order."""
    members = _members(request, decision.market.specification(request.instrument))
    decision.record(
        _TRANSACTIONS[type(request)][1],
        reason="REPLACEMENT" if replaces else "CLIENT_ORDER",
        intended_replaces_order_id=replaces.id if replaces else None,
        reject_reason=reason,
        **members,
    )


def create_entry(decision: Decision, request: Entry, replaces: Order | None = None) -> None:
    """Create an entry order that passed its checks, and fill it if it can be filled now.

    `replaces` is a pending order to cancel in the same batch.
    """
    members = _members(request, decision.market.specification(request.instrument))
    if replaces is not None and members["client_extensions"] is None:
        # The real service keeps the extensions of the replaced order if the request has none.
        members["client_extensions"] = replaces.client_extensions
    members |= replacement_members(decision, replaces)
    created = decision.record(_TRANSACTIONS[type(request)][0], **members)
    _fill_new_order(decision, created.id)


def replacement_members(decision: Decision, replaces: Order | None) -> dict[str, Any]:
    """Cancel the order to be replaced, if any; return the members that the new order's transaction gets from that."""
    if replaces is None:
        return {"reason": "CLIENT_ORDER"}
    cancelled = cancel(decision, replaces, "CLIENT_REQUEST_REPLACED", decision.next_id + 1)
    return {
        "reason": "REPLACEMENT",
        "replaces_order_id": replaces.id,
        "cancelling_transaction_id": cancelled.id,
    }


def rounded_price(price: Decimal | None, specification: Specification | None) -> Decimal | None:
    """Return a price with the decimals of the instrument; an invalid price is returned as it was requested."""
    if price is None or specification is None or price_problem(price, specification):
        return price
    return price.quantize(specification.price_step)


def _fill_new_order(decision: Decision, order_id: int) -> None:
    """Fill a new order that can be filled now; cancel an immediate (FOK, IOC) one that cannot."""
    order = decision.account.orders[order_id]
    if isinstance(order.created, MarketOrderCreated):
        fill_or_cancel(decision, order_id)
        return
    if not fill_if_triggered(decision, order) and order.created.time_in_force in _IMMEDIATE:
        tradeable = decision.market.quote(order.instrument).tradeable
        cancel(decision, order, "TIME_IN_FORCE_EXPIRED" if tradeable else "MARKET_HALTED")


def _price_and_time_problem(request: Entry, specification: Specification, now: int) -> str | None:
    order_type = order_type_of(request)
    if isinstance(request, MarketRequest):
        return time_in_force_problem(order_type, request.time_in_force, None, now) or price_problem(
            request.price_bound, specification, "PRICE_BOUND"
        )
    if request.price is None:
        return "PRICE_MISSING"
    bound = None if isinstance(request, LimitRequest) else request.price_bound
    return first_problem(
        [
            price_problem(request.price, specification),
            price_problem(bound, specification, "PRICE_BOUND"),
            time_in_force_problem(order_type, request.time_in_force, request.gtd_time, now),
        ]
    )


def _guarantee_problem(
    decision: Decision, request: Entry, specification: Specification
) -> str | None:
    """Require a guaranteed stop on fill of a pending order if every trade must have a guaranteed stop."""
    stop = request.stop_loss_on_fill
    lacks = request.guaranteed_stop_loss_on_fill is None and not (stop and stop.guaranteed)
    needs = guaranteed_stop_required(decision.account, specification)
    if needs and lacks and isinstance(request, PendingRequest):
        return "GUARANTEED_STOP_LOSS_ON_FILL_REQUIRED_FOR_PENDING_ORDER"
    return None


def _members(request: EntryRequest, specification: Specification | None) -> dict[str, Any]:
    """Return the members of a request for its transaction, which has all of them."""
    members = {name: getattr(request, name) for name in request.__struct_fields__}
    members["units"] = strip_zeros(request.units)
    if members.get("time_in_force") != "GTD":
        members.pop("gtd_time", None)
    for name in ("price", "price_bound"):
        if name in members:
            members[name] = rounded_price(members[name], specification)
    for name in ("take_profit_on_fill", "stop_loss_on_fill", "guaranteed_stop_loss_on_fill"):
        if members[name] is not None:
            members[name] = _rounded_details(members[name], specification)
    if request.trailing_stop_loss_on_fill is not None:
        trailing = request.trailing_stop_loss_on_fill
        members["trailing_stop_loss_on_fill"] = replace(
            trailing, time_in_force=trailing.time_in_force or "GTC"
        )
    return members


def _rounded_details(
    details: TakeProfitDetails, specification: Specification | None
) -> TakeProfitDetails:
    return replace(
        details,
        price=rounded_price(details.price, specification),
        time_in_force=details.time_in_force or "GTC",
    )
