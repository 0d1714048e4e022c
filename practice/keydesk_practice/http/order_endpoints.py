"""Orders: create, list, read, replace, cancel, and set client extensions; and the engine's request for an order in a body.

A well-formed order that breaks a trading rule, such as a missing price, is left to the engine, which rejects it with a
transaction.
"""

from collections.abc import Callable
from typing import Any, Literal, cast, get_args

from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    CancelOrder,
    ClientExtensions,
    GuaranteedStopLossDetails,
    GuaranteedStopLossRequest,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    OrderRequest,
    PlaceOrder,
    PositionFill,
    ReplaceOrder,
    SetOrderExtensions,
    StopLossDetails,
    StopLossRequest,
    StopRequest,
    TakeProfitDetails,
    TakeProfitRequest,
    TimeInForce,
    TrailingStopLossDetails,
    TrailingStopLossRequest,
    TriggerCondition,
)
from keydesk_practice.engine.quotes import Market
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.error_responses import invalid_value, missing_value, not_found
from keydesk_practice.http.requests import JsonReader, read_id
from keydesk_practice.http.responses import (
    CommandResult,
    Response,
    Wire,
    reject_response,
    success_response,
)
from keydesk_practice.http.transaction_endpoints import link_to_next, read_page, take_page

STATES = frozenset({"PENDING", "FILLED", "TRIGGERED", "CANCELLED", "ALL"})
_TIMES_IN_FORCE = frozenset(get_args(TimeInForce))
_POSITION_FILLS = frozenset(get_args(PositionFill))
_TRIGGERS = frozenset(get_args(TriggerCondition))


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


# --- the order in a body ---


def read_order(body: JsonReader, market: Market) -> OrderRequest:
    """Return the order of a create or replace body."""
    order = body.required("order")
    kind = order.text("type")
    if kind is None:
        raise missing_value(order.name("type"))
    reader = _READERS.get(kind)
    if reader is None:
        raise invalid_value(order.name("type"))
    return reader(order, market)


def read_extensions(parent: JsonReader, member: str) -> ClientExtensions | None:
    """Return the client extensions in a member."""
    details = parent.object(member)
    if details is None:
        return None
    return ClientExtensions(details.text("id"), details.text("tag"), details.text("comment"))


def read_take_profit(parent: JsonReader, member: str) -> TakeProfitDetails | None:
    """Return the details of a take-profit in a member."""
    details = parent.object(member)
    return None if details is None else TakeProfitDetails(**_priced_details(details))


def read_stop_loss(parent: JsonReader, member: str) -> StopLossDetails | None:
    """Return the details of a stop-loss in a member."""
    details = parent.object(member)
    if details is None:
        return None
    return StopLossDetails(**_priced_details(details), guaranteed=details.flag("guaranteed"))


def read_guaranteed_stop_loss(parent: JsonReader, member: str) -> GuaranteedStopLossDetails | None:
    """Return the details of a guaranteed stop in a member."""
    details = parent.object(member)
    return None if details is None else GuaranteedStopLossDetails(**_priced_details(details))


def read_trailing_stop_loss(parent: JsonReader, member: str) -> TrailingStopLossDetails | None:
    """Return the details of a trailing stop in a member."""
    details = parent.object(member)
    if details is None:
        return None
    return TrailingStopLossDetails(distance=details.decimal("distance"), **_details(details))


def _details(details: JsonReader) -> dict[str, Any]:
    return {
        "time_in_force": details.word("timeInForce", _TIMES_IN_FORCE),
        "gtd_time": details.time("gtdTime"),
        "client_extensions": read_extensions(details, "clientExtensions"),
    }


def _priced_details(details: JsonReader) -> dict[str, Any]:
    return {
        "price": details.decimal("price"),
        "distance": details.decimal("distance"),
        **_details(details),
    }


def _entry(order: JsonReader, market: Market) -> dict[str, Any]:
    instrument, units = order.text("instrument"), order.decimal("units")
    if instrument is None or market.specification(instrument) is None:
        raise invalid_value(order.name("instrument"))
    if units is None:
        raise missing_value(order.name("units"))
    return {
        "instrument": instrument,
        "units": units,
        "position_fill": order.word("positionFill", _POSITION_FILLS) or "DEFAULT",
        "client_extensions": read_extensions(order, "clientExtensions"),
        "take_profit_on_fill": read_take_profit(order, "takeProfitOnFill"),
        "stop_loss_on_fill": read_stop_loss(order, "stopLossOnFill"),
        "guaranteed_stop_loss_on_fill": read_guaranteed_stop_loss(
            order, "guaranteedStopLossOnFill"
        ),
        "trailing_stop_loss_on_fill": read_trailing_stop_loss(order, "trailingStopLossOnFill"),
        "trade_client_extensions": read_extensions(order, "tradeClientExtensions"),
    }


def _time_in_force(order: JsonReader, default: Literal["FOK", "GTC"]) -> TimeInForce:
    return cast("TimeInForce | None", order.word("timeInForce", _TIMES_IN_FORCE)) or default


def _resting(order: JsonReader) -> dict[str, Any]:
    return {
        "price": order.decimal("price"),
        "time_in_force": _time_in_force(order, "GTC"),
        "gtd_time": order.time("gtdTime"),
        "trigger_condition": order.word("triggerCondition", _TRIGGERS) or "DEFAULT",
    }


def _market(order: JsonReader, market: Market) -> MarketRequest:
    return MarketRequest(
        **_entry(order, market),
        time_in_force=_time_in_force(order, "FOK"),
        price_bound=order.decimal("priceBound"),
    )


def _pending(order: JsonReader, market: Market) -> dict[str, Any]:
    return {**_entry(order, market), **_resting(order)}


def _limit(order: JsonReader, market: Market) -> LimitRequest:
    return LimitRequest(**_pending(order, market))


def _stop(order: JsonReader, market: Market) -> StopRequest:
    return StopRequest(**_pending(order, market), price_bound=order.decimal("priceBound"))


def _market_if_touched(order: JsonReader, market: Market) -> MarketIfTouchedRequest:
    bound = order.decimal("priceBound")
    return MarketIfTouchedRequest(**_pending(order, market), price_bound=bound)


def _dependent(order: JsonReader) -> dict[str, Any]:
    trade_id = order.text("tradeID")
    return {
        "trade_id": None if trade_id is None else read_id(trade_id, order.name("tradeID")),
        "client_trade_id": order.text("clientTradeID"),
        "distance": order.decimal("distance"),
        "client_extensions": read_extensions(order, "clientExtensions"),
        **_resting(order),
    }


def _take_profit(order: JsonReader, _: Market) -> TakeProfitRequest:
    return TakeProfitRequest(**_dependent(order))


def _stop_loss(order: JsonReader, _: Market) -> StopLossRequest:
    return StopLossRequest(**_dependent(order), guaranteed=order.flag("guaranteed"))


def _guaranteed_stop_loss(order: JsonReader, _: Market) -> GuaranteedStopLossRequest:
    return GuaranteedStopLossRequest(**_dependent(order))


def _trailing_stop_loss(order: JsonReader, _: Market) -> TrailingStopLossRequest:
    return TrailingStopLossRequest(**_dependent(order))


_READERS: dict[str, Callable[[JsonReader, Market], OrderRequest]] = {
    "MARKET": _market,
    "LIMIT": _limit,
    "STOP": _stop,
    "MARKET_IF_TOUCHED": _market_if_touched,
    "TAKE_PROFIT": _take_profit,
    "STOP_LOSS": _stop_loss,
    "GUARANTEED_STOP_LOSS": _guaranteed_stop_loss,
    "TRAILING_STOP_LOSS": _trailing_stop_loss,
}
