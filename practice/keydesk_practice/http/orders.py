"""Orders: create, list, read, replace, cancel, relabel."""

from keydesk_practice.engine.commands import (
    CancelOrder,
    PlaceOrder,
    ReplaceOrder,
    SetOrderExtensions,
)
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.errors import absent
from keydesk_practice.http.request_bodies import Members, read_extensions, read_order
from keydesk_practice.http.responses import Answer, Outcome, Wire, done, refused
from keydesk_practice.http.transactions import cut, link_to_next, read_page

STATES = frozenset({"PENDING", "FILLED", "TRIGGERED", "CANCELLED", "ALL"})


def create_order(call: Call) -> Answer:
    """Create an order and answer with what became of it at once."""
    desk = call.desk
    order = read_order(Members(call.body), call.broker.board)
    outcome = call.execute(desk, PlaceOrder(request_id=call.request_id, order=order))
    if outcome.rejects:
        return _order_refused(outcome)
    created = outcome.first
    members = {"orderCreateTransaction": created, **_fate(outcome, created)}
    return done(outcome, members, 201, _location(call, created))


def replace_order(call: Call) -> Answer:
    """Cancel a pending order and create its successor in one step."""
    desk = call.desk
    order = read_order(Members(call.body), call.broker.board)
    specifier = call.path("orderSpecifier")
    command = ReplaceOrder(request_id=call.request_id, specifier=specifier, order=order)
    outcome = call.execute(desk, command)
    if outcome.of_type("ORDER_CANCEL_REJECT"):
        return _cancel_refused(outcome, 404)
    if outcome.rejects:
        return _order_refused(outcome)
    created = next(one for one in outcome.batch if one.get("reason") == "REPLACEMENT")
    fate = _fate(outcome, created)
    members = {
        "orderCancelTransaction": outcome.of_type("ORDER_CANCEL"),
        "orderCreateTransaction": created,
        "orderFillTransaction": fate["orderFillTransaction"],
        "replacingOrderCancelTransaction": fate["orderCancelTransaction"],
    }
    return done(outcome, members, 201, _location(call, created))


def cancel_order(call: Call) -> Answer:
    """Cancel a pending order; 400 when it ended already, 404 when there never was one."""
    desk = call.desk
    specifier = call.path("orderSpecifier")
    known = desk.order(specifier) is not None
    outcome = call.execute(desk, CancelOrder(request_id=call.request_id, specifier=specifier))
    if outcome.rejects:
        return _cancel_refused(outcome, 400 if known else 404)
    return done(outcome, {"orderCancelTransaction": outcome.first})


def set_order_client_extensions(call: Call) -> Answer:
    """Change the labels of a pending order, and of the trade it may open."""
    desk, body = call.desk, Members(call.body)
    command = SetOrderExtensions(
        request_id=call.request_id,
        specifier=call.path("orderSpecifier"),
        client_extensions=read_extensions(body, "clientExtensions"),
        trade_client_extensions=read_extensions(body, "tradeClientExtensions"),
    )
    outcome = call.execute(desk, command)
    if outcome.rejects:
        members = {"orderClientExtensionsModifyRejectTransaction": outcome.first}
        return refused(members, [outcome.first["rejectReason"]], outcome.ids())
    return done(outcome, {"orderClientExtensionsModifyTransaction": outcome.first})


async def list_orders(call: Call) -> Answer:
    """Answer with orders of a state, newest first."""
    desk = await call.frozen_desk()
    page = read_page(call, "PENDING", STATES)
    found = desk.orders(page.state, page.instrument, page.before, page.ids)
    orders, next_id = await cut(call.turns, page, found)
    body = {
        "orders": await call.encoded(desk.order_view(order) for order in orders),
        "lastTransactionID": desk.last_transaction_id,
    }
    return Answer(body, headers=link_to_next(call, next_id))


async def list_pending_orders(call: Call) -> Answer:
    """Answer with every pending order, newest first."""
    desk = await call.frozen_desk()
    pending = reversed(desk.state.orders.values())
    orders = await call.encoded(desk.order_view(order) for order in pending)
    return Answer({"orders": orders, "lastTransactionID": desk.last_transaction_id})


def get_order(call: Call) -> Answer:
    """Answer with one order, pending or ended."""
    desk = call.desk
    order = desk.order(call.path("orderSpecifier"))
    if order is None:
        raise absent("order", "NO_SUCH_ORDER", desk.last_transaction_id)
    body = {"order": desk.order_view(order), "lastTransactionID": desk.last_transaction_id}
    return Answer(body)


def _fate(outcome: Outcome, created: Wire) -> dict[str, Wire | None]:
    return {
        "orderFillTransaction": outcome.fill_of(created["id"]),
        "orderCancelTransaction": outcome.cancel_of(created["id"]),
    }


def _location(call: Call, created: Wire) -> dict[str, str]:
    account = created["accountID"]
    return {"Location": f"{call.base_url}/v3/accounts/{account}/orders/{created['id']}"}


def _order_refused(outcome: Outcome) -> Answer:
    reject = outcome.rejects[0]
    return refused({"orderRejectTransaction": reject}, [reject["rejectReason"]], outcome.ids())


def _cancel_refused(outcome: Outcome, status: int) -> Answer:
    reject = outcome.rejects[0]
    members = {"orderCancelRejectTransaction": reject}
    return refused(members, [reject["rejectReason"]], outcome.ids(), status)
