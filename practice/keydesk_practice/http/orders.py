"""Orders: create, list, read, replace, cancel, relabel."""

from keydesk_practice.engine.commands import (
    CancelOrder,
    PlaceOrder,
    ReplaceOrder,
    SetOrderExtensions,
)
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.errors import not_found
from keydesk_practice.http.request_bodies import JsonReader, read_extensions, read_order
from keydesk_practice.http.responses import (
    CommandResult,
    Response,
    Wire,
    reject_response,
    success_response,
)
from keydesk_practice.http.transactions import cut, link_to_next, read_page

STATES = frozenset({"PENDING", "FILLED", "TRIGGERED", "CANCELLED", "ALL"})


def create_order(call: Call) -> Response:
    """Create an order and answer with what became of it at once."""
    session = call.session
    order = read_order(JsonReader(call.body), call.broker.board)
    result = call.execute(session, PlaceOrder(request_id=call.request_id, order=order))
    if result.rejects:
        return _order_refused(result)
    created = result.first
    members = {"orderCreateTransaction": created, **_fate(result, created)}
    return success_response(result, members, 201, _location(call, created))


def replace_order(call: Call) -> Response:
    """Cancel a pending order and create its successor in one step."""
    session = call.session
    order = read_order(JsonReader(call.body), call.broker.board)
    specifier = call.path("orderSpecifier")
    command = ReplaceOrder(request_id=call.request_id, specifier=specifier, order=order)
    result = call.execute(session, command)
    if result.of_type("ORDER_CANCEL_REJECT"):
        return _cancel_refused(result, 404)
    if result.rejects:
        return _order_refused(result)
    created = next(one for one in result.batch if one.get("reason") == "REPLACEMENT")
    fate = _fate(result, created)
    members = {
        "orderCancelTransaction": result.of_type("ORDER_CANCEL"),
        "orderCreateTransaction": created,
        "orderFillTransaction": fate["orderFillTransaction"],
        "replacingOrderCancelTransaction": fate["orderCancelTransaction"],
    }
    return success_response(result, members, 201, _location(call, created))


def cancel_order(call: Call) -> Response:
    """Cancel a pending order; 400 when it ended already, 404 when there never was one."""
    session = call.session
    specifier = call.path("orderSpecifier")
    known = session.order(specifier) is not None
    result = call.execute(session, CancelOrder(request_id=call.request_id, specifier=specifier))
    if result.rejects:
        return _cancel_refused(result, 400 if known else 404)
    return success_response(result, {"orderCancelTransaction": result.first})


def set_order_client_extensions(call: Call) -> Response:
    """Change the labels of a pending order, and of the trade it may open."""
    session, body = call.session, JsonReader(call.body)
    command = SetOrderExtensions(
        request_id=call.request_id,
        specifier=call.path("orderSpecifier"),
        client_extensions=read_extensions(body, "clientExtensions"),
        trade_client_extensions=read_extensions(body, "tradeClientExtensions"),
    )
    result = call.execute(session, command)
    if result.rejects:
        members = {"orderClientExtensionsModifyRejectTransaction": result.first}
        return reject_response(members, [result.first["rejectReason"]], result.ids())
    return success_response(result, {"orderClientExtensionsModifyTransaction": result.first})


async def list_orders(call: Call) -> Response:
    """Answer with orders of a state, newest first."""
    session = await call.frozen_session()
    page = read_page(call, "PENDING", STATES)
    found = session.orders(page.state, page.instrument, page.before, page.ids)
    orders, next_id = await cut(call.budget, page, found)
    body = {
        "orders": await call.encoded(session.order_view(order) for order in orders),
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body, headers=link_to_next(call, next_id))


async def list_pending_orders(call: Call) -> Response:
    """Answer with every pending order, newest first."""
    session = await call.frozen_session()
    pending = reversed(session.state.orders.values())
    orders = await call.encoded(session.order_view(order) for order in pending)
    return Response({"orders": orders, "lastTransactionID": session.last_transaction_id})


def get_order(call: Call) -> Response:
    """Answer with one order, pending or ended."""
    session = call.session
    order = session.order(call.path("orderSpecifier"))
    if order is None:
        raise not_found("order", "NO_SUCH_ORDER", session.last_transaction_id)
    body = {"order": session.order_view(order), "lastTransactionID": session.last_transaction_id}
    return Response(body)


def _fate(result: CommandResult, created: Wire) -> dict[str, Wire | None]:
    return {
        "orderFillTransaction": result.fill_of(created["id"]),
        "orderCancelTransaction": result.cancel_of(created["id"]),
    }


def _location(call: Call, created: Wire) -> dict[str, str]:
    account = created["accountID"]
    return {"Location": f"{call.base_url}/v3/accounts/{account}/orders/{created['id']}"}


def _order_refused(result: CommandResult) -> Response:
    reject = result.rejects[0]
    return reject_response(
        {"orderRejectTransaction": reject}, [reject["rejectReason"]], result.ids()
    )


def _cancel_refused(result: CommandResult, status: int) -> Response:
    reject = result.rejects[0]
    members = {"orderCancelRejectTransaction": reject}
    return reject_response(members, [reject["rejectReason"]], result.ids(), status)
