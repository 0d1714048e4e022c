"""Orders: create, list, read, replace, cancel, and set client extensions."""

from keydesk_practice.engine import views
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
from keydesk_practice.http.transactions import link_to_next, read_page, take_page

STATES = frozenset({"PENDING", "FILLED", "TRIGGERED", "CANCELLED", "ALL"})


def create_order(call: Call) -> Response:
    """Create an order; respond with its transactions, the fill or cancel of the same moment included."""
    session = call.session
    order = read_order(JsonReader(call.body), call.broker.board)
    result = call.execute(session, PlaceOrder(request_id=call.request_id, order=order))
    if result.rejects:
        return _order_reject(result)
    created = result.first
    members = {"orderCreateTransaction": created, **_fill_and_cancel(result, created)}
    return success_response(result, members, 201, _location(call, created))


def replace_order(call: Call) -> Response:
    """Replace a pending order: cancel it and create another in one step."""
    session = call.session
    order = read_order(JsonReader(call.body), call.broker.board)
    specifier = call.path("orderSpecifier")
    command = ReplaceOrder(request_id=call.request_id, specifier=specifier, order=order)
    result = call.execute(session, command)
    if result.of_type("ORDER_CANCEL_REJECT"):
        return _cancel_reject(result, 404)
    if result.rejects:
        return _order_reject(result)
    created = next(one for one in result.transactions if one.get("reason") == "REPLACEMENT")
    outcome = _fill_and_cancel(result, created)
    members = {
        "orderCancelTransaction": result.of_type("ORDER_CANCEL"),
        "orderCreateTransaction": created,
        "orderFillTransaction": outcome["orderFillTransaction"],
        "replacingOrderCancelTransaction": outcome["orderCancelTransaction"],
    }
    return success_response(result, members, 201, _location(call, created))


def cancel_order(call: Call) -> Response:
    """Cancel a pending order; 400 when it has ended, 404 when it never existed."""
    session = call.session
    specifier = call.path("orderSpecifier")
    known = session.order(specifier) is not None
    result = call.execute(session, CancelOrder(request_id=call.request_id, specifier=specifier))
    if result.rejects:
        return _cancel_reject(result, 400 if known else 404)
    return success_response(result, {"orderCancelTransaction": result.first})


def set_order_client_extensions(call: Call) -> Response:
    """Set the client extensions of a pending order, and of the trade it may open."""
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
        return reject_response(members, [result.first["rejectReason"]], result.id_members())
    return success_response(result, {"orderClientExtensionsModifyTransaction": result.first})


async def list_orders(call: Call) -> Response:
    """List the orders in a state, newest first."""
    session = call.frozen_session()
    page = read_page(call, "PENDING", STATES)
    portions = session.orders(page.state, page.instrument, page.before, page.ids)
    orders, next_id = await take_page(call.budget, page, portions)
    body = {
        "orders": await call.encoded(views.order(order, session.board) for order in orders),
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body, headers=link_to_next(call, next_id))


async def list_pending_orders(call: Call) -> Response:
    """List every pending order, newest first."""
    session = call.frozen_session()
    pending = reversed(session.state.orders.values())
    orders = await call.encoded(views.order(order, session.board) for order in pending)
    return Response({"orders": orders, "lastTransactionID": session.last_transaction_id})


def get_order(call: Call) -> Response:
    """Return one order, pending or ended."""
    session = call.session
    order = session.order(call.path("orderSpecifier"))
    if order is None:
        raise not_found("order", "NO_SUCH_ORDER", session.last_transaction_id)
    body = {
        "order": views.order(order, session.board),
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body)


def _fill_and_cancel(result: CommandResult, created: Wire) -> dict[str, Wire | None]:
    return {
        "orderFillTransaction": result.fill_of(created["id"]),
        "orderCancelTransaction": result.cancel_of(created["id"]),
    }


def _location(call: Call, created: Wire) -> dict[str, str]:
    account = created["accountID"]
    return {"Location": f"{call.base_url}/v3/accounts/{account}/orders/{created['id']}"}


def _order_reject(result: CommandResult) -> Response:
    reject = result.rejects[0]
    return reject_response(
        {"orderRejectTransaction": reject}, [reject["rejectReason"]], result.id_members()
    )


def _cancel_reject(result: CommandResult, status: int) -> Response:
    reject = result.rejects[0]
    members = {"orderCancelRejectTransaction": reject}
    return reject_response(members, [reject["rejectReason"]], result.id_members(), status)
