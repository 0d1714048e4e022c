"""Trades: list, read, close, relabel, and their dependent orders.

Positions: all ever held, the open ones, one, and closing a side or both.
"""

from collections.abc import Callable
from typing import TypeVar

from keydesk_practice.engine.commands import (
    OMITTED,
    ClosePosition,
    CloseTrade,
    Omitted,
    SetDependents,
    SetTradeExtensions,
)
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.errors import missing_value, not_found, unknown_instrument
from keydesk_practice.http.request_bodies import (
    JsonReader,
    read_close_units,
    read_extensions,
    read_guaranteed_stop_loss,
    read_side_units,
    read_stop_loss,
    read_take_profit,
    read_trailing_stop_loss,
)
from keydesk_practice.http.responses import (
    NOT_THERE,
    CommandResult,
    Response,
    Wire,
    dependents_reject_response,
    dependents_response,
    reject_response,
    success_response,
)
from keydesk_practice.http.transactions import cut, link_to_next, read_page


async def list_positions(call: Call) -> Response:
    """Answer with the position of every instrument ever traded."""
    session = await call.frozen_session()
    positions = await call.encoded(session.positions(await call.worth(session)))
    return Response({"positions": positions, "lastTransactionID": session.last_transaction_id})


async def list_open_positions(call: Call) -> Response:
    """Answer with the positions that are open."""
    session = await call.frozen_session()
    positions = await call.encoded(session.open_positions(await call.worth(session)))
    return Response({"positions": positions, "lastTransactionID": session.last_transaction_id})


async def get_position(call: Call) -> Response:
    """Answer with the position of one instrument."""
    session = await call.frozen_session()
    found = session.position(call.path("instrument"), await call.worth(session))
    if found is None:
        raise not_found("position", "NO_SUCH_POSITION")
    return Response({"position": found, "lastTransactionID": session.last_transaction_id})


def close_position(call: Call) -> Response:
    """Close the sides that are asked for: both, or none if one of them cannot be closed."""
    session, body = call.session, JsonReader(call.body)
    instrument = _instrument(call)
    command = ClosePosition(
        request_id=call.request_id,
        instrument=instrument,
        long_units=read_side_units(body, "longUnits"),
        short_units=read_side_units(body, "shortUnits"),
        long_client_extensions=read_extensions(body, "longClientExtensions"),
        short_client_extensions=read_extensions(body, "shortClientExtensions"),
    )
    result = call.execute(session, command)
    if result.rejects:
        return _refused(result)
    members = {**_side(result, "long"), **_side(result, "short")}
    link = f"{call.base_url}/v3/accounts/{session.account.id}/positions/{instrument}"
    return success_response(result, members, headers={"Location": link})


def _instrument(call: Call) -> str:
    name = call.path("instrument")
    if call.broker.board.specification(name) is None:
        raise unknown_instrument(name)
    return name


def _side(result: CommandResult, side: str) -> dict[str, Wire | None]:
    created = next((one for one in result.batch if f"{side}PositionCloseout" in one), None)
    if created is None:
        return {}
    return {
        f"{side}OrderCreateTransaction": created,
        f"{side}OrderFillTransaction": result.fill_of(created["id"]),
        f"{side}OrderCancelTransaction": result.cancel_of(created["id"]),
    }


def _refused(result: CommandResult) -> Response:
    members = {
        f"{side}OrderRejectTransaction": next(
            (one for one in result.rejects if f"{side}PositionCloseout" in one), None
        )
        for side in ("long", "short")
    }
    reasons = {reject["rejectReason"] for reject in result.rejects}
    first = sorted(reasons, key=lambda reason: (reason == "CLOSEOUT_POSITION_REJECT", reason))
    return reject_response(members, first, result.ids())


T = TypeVar("T")
UNITS_OF_A_TRADE = 2  # with its dependent orders
STATES = frozenset({"OPEN", "CLOSED", "CLOSE_WHEN_TRADEABLE", "ALL"})


async def list_trades(call: Call) -> Response:
    """Answer with trades of a state, newest first."""
    session = await call.frozen_session()
    page = read_page(call, "OPEN", STATES)
    found = session.trades(page.state, page.instrument, page.before, page.ids)
    trades, next_id = await cut(call.budget, page, found)
    body = {
        "trades": await call.encoded(
            (session.trade_view(trade) for trade in trades), UNITS_OF_A_TRADE
        ),
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body, headers=link_to_next(call, next_id))


async def list_open_trades(call: Call) -> Response:
    """Answer with every open trade, newest first."""
    session = await call.frozen_session()
    held = reversed(session.state.trades.values())
    shown = (session.trade_view(trade) for trade in held if trade.state == "OPEN")
    trades = await call.encoded(shown, UNITS_OF_A_TRADE)
    return Response({"trades": trades, "lastTransactionID": session.last_transaction_id})


def get_trade(call: Call) -> Response:
    """Answer with one trade, open or closed."""
    session = call.session
    trade = session.trade(call.path("tradeSpecifier"))
    if trade is None:
        raise not_found("trade", "NO_SUCH_TRADE", session.last_transaction_id)
    body = {"trade": session.trade_view(trade), "lastTransactionID": session.last_transaction_id}
    return Response(body)


def close_trade(call: Call) -> Response:
    """Close a trade in full or in part."""
    session, body = call.session, JsonReader(call.body)
    command = CloseTrade(
        request_id=call.request_id,
        specifier=call.path("tradeSpecifier"),
        units=read_close_units(body, "units"),
    )
    result = call.execute(session, command)
    if result.rejects:
        return _close_refused(result)
    order_id = result.first["id"]
    members = {
        "orderCreateTransaction": result.first,
        "orderFillTransaction": result.fill_of(order_id),
        "orderCancelTransaction": result.cancel_of(order_id),
    }
    return success_response(result, members)


def _close_refused(result: CommandResult) -> Response:
    reject = result.first
    reason = reject["rejectReason"]
    ids = result.ids() if reason in NOT_THERE else {}  # the interface has none with its 400
    return reject_response({"orderRejectTransaction": reject}, [reason], ids)


def set_trade_client_extensions(call: Call) -> Response:
    """Change the labels of an open trade."""
    session, body = call.session, JsonReader(call.body)
    if not body.has("clientExtensions"):
        raise missing_value("clientExtensions")
    command = SetTradeExtensions(
        request_id=call.request_id,
        specifier=call.path("tradeSpecifier"),
        client_extensions=read_extensions(body, "clientExtensions"),
    )
    result = call.execute(session, command)
    if result.rejects:
        members = {"tradeClientExtensionsModifyRejectTransaction": result.first}
        return reject_response(members, [result.first["rejectReason"]], result.ids())
    return success_response(result, {"tradeClientExtensionsModifyTransaction": result.first})


def set_trade_dependent_orders(call: Call) -> Response:
    """Create, change or cancel a trade's dependent orders: all that was asked, or nothing.

    Asking nothing, or cancelling what is not there, changes nothing.
    """
    session, body = call.session, JsonReader(call.body)
    specifier = call.path("tradeSpecifier")
    if not session.is_open_trade(specifier):
        raise not_found("trade", "NO_SUCH_TRADE")
    command = SetDependents(
        request_id=call.request_id,
        specifier=specifier,
        take_profit=_asked(body, "takeProfit", read_take_profit),
        stop_loss=_asked(body, "stopLoss", read_stop_loss),
        trailing_stop_loss=_asked(body, "trailingStopLoss", read_trailing_stop_loss),
        guaranteed_stop_loss=_asked(body, "guaranteedStopLoss", read_guaranteed_stop_loss),
    )
    result = call.execute(session, command)
    if result.rejects:
        return dependents_reject_response(result, session.order_type)
    return dependents_response(result, session.order_type)


def _asked(body: JsonReader, member: str, read: Callable[[JsonReader, str], T]) -> T | Omitted:
    """Return what a member asks: OMITTED leaves the order alone, None cancels it."""
    return read(body, member) if body.has(member) else OMITTED
