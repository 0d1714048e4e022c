"""Trades and positions: list, read, close, and set client extensions and dependent orders."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Literal, TypeVar

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    OMITTED,
    ClosePosition,
    CloseTrade,
    Omitted,
    SetDependents,
    SetTradeExtensions,
)
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.error_responses import (
    invalid_value,
    missing_value,
    not_found,
    unknown_instrument,
)
from keydesk_practice.http.order_endpoints import (
    read_extensions,
    read_guaranteed_stop_loss,
    read_stop_loss,
    read_take_profit,
    read_trailing_stop_loss,
)
from keydesk_practice.http.requests import JsonReader
from keydesk_practice.http.responses import (
    NOT_FOUND_REASONS,
    CommandResult,
    Response,
    Wire,
    dependents_reject_response,
    dependents_response,
    reject_response,
    success_response,
)
from keydesk_practice.http.transaction_endpoints import link_to_next, read_page, take_page

T = TypeVar("T")
UNITS_PER_TRADE = 2  # of work: a trade with its dependent orders
TRADE_STATES = frozenset({"OPEN", "CLOSED", "CLOSE_WHEN_TRADEABLE", "ALL"})


async def list_positions(call: Call) -> Response:
    """List the position of every instrument ever traded."""
    session = call.frozen_session()
    positions = await call.encoded(
        _positions(session, list(session.state.positions), await call.valuation(session))
    )
    return Response({"positions": positions, "lastTransactionID": session.last_transaction_id})


async def list_open_positions(call: Call) -> Response:
    """Return the instruments that have open trades, each valued at the prices of now."""
    session = call.frozen_session()
    names = [one.instrument for one in session.state.positions.values() if one.is_open]
    positions = await call.encoded(_positions(session, names, await call.valuation(session)))
    return Response({"positions": positions, "lastTransactionID": session.last_transaction_id})


async def get_position(call: Call) -> Response:
    """Return the position of one instrument."""
    session = call.frozen_session()
    instrument = call.path("instrument")
    if instrument not in session.state.positions:
        raise not_found("position", "NO_SUCH_POSITION")
    (position,) = _positions(session, [instrument], await call.valuation(session))
    return Response({"position": position, "lastTransactionID": session.last_transaction_id})


def _positions(
    session: AccountSession, instruments: Iterable[str], valuation: views.AccountValuation
) -> views.Views:
    for name in instruments:
        yield views.position(session.state, name, session.board, valuation.position(name))


def close_position(call: Call) -> Response:
    """Close one or both sides of a position; if one of two cannot be closed, none is."""
    session, body = call.session, JsonReader(call.body)
    instrument = _instrument(call)
    command = ClosePosition(
        request_id=call.request_id,
        instrument=instrument,
        long_units=_read_side_units(body, "longUnits"),
        short_units=_read_side_units(body, "shortUnits"),
        long_client_extensions=read_extensions(body, "longClientExtensions"),
        short_client_extensions=read_extensions(body, "shortClientExtensions"),
    )
    result = call.execute(session, command)
    if result.rejects:
        return _position_reject(result)
    members = {**_side_members(result, "long"), **_side_members(result, "short")}
    link = f"{call.base_url}/v3/accounts/{session.account.id}/positions/{instrument}"
    return success_response(result, members, headers={"Location": link})


def _instrument(call: Call) -> str:
    name = call.path("instrument")
    if call.broker.board.specification(name) is None:
        raise unknown_instrument(name)
    return name


def _side_members(result: CommandResult, side: str) -> dict[str, Wire | None]:
    created = next((one for one in result.transactions if f"{side}PositionCloseout" in one), None)
    if created is None:
        return {}
    return {
        f"{side}OrderCreateTransaction": created,
        f"{side}OrderFillTransaction": result.fill_of(created["id"]),
        f"{side}OrderCancelTransaction": result.cancel_of(created["id"]),
    }


def _position_reject(result: CommandResult) -> Response:
    members = {
        f"{side}OrderRejectTransaction": next(
            (one for one in result.rejects if f"{side}PositionCloseout" in one), None
        )
        for side in ("long", "short")
    }
    reasons = {reject["rejectReason"] for reject in result.rejects}
    first = sorted(reasons, key=lambda reason: (reason == "CLOSEOUT_POSITION_REJECT", reason))
    return reject_response(members, first, result.id_members())


async def list_trades(call: Call) -> Response:
    """List the trades in a state, newest first."""
    session = call.frozen_session()
    page = read_page(call, "OPEN", TRADE_STATES)
    portions = session.trades(page.state, page.instrument, page.before, page.ids)
    trades, next_id = await take_page(call.budget, page, portions)
    body = {
        "trades": await call.encoded(
            (views.trade(session.state, trade, session.board) for trade in trades), UNITS_PER_TRADE
        ),
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body, headers=link_to_next(call, next_id))


async def list_open_trades(call: Call) -> Response:
    """List every open trade, newest first."""
    session = call.frozen_session()
    held = reversed(session.state.trades.values())
    shown = (
        views.trade(session.state, trade, session.board) for trade in held if trade.state == "OPEN"
    )
    trades = await call.encoded(shown, UNITS_PER_TRADE)
    return Response({"trades": trades, "lastTransactionID": session.last_transaction_id})


def get_trade(call: Call) -> Response:
    """Return one trade, open or closed."""
    session = call.session
    trade = session.trade(call.path("tradeSpecifier"))
    if trade is None:
        raise not_found("trade", "NO_SUCH_TRADE", session.last_transaction_id)
    body = {
        "trade": views.trade(session.state, trade, session.board),
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body)


def close_trade(call: Call) -> Response:
    """Close a trade, in part or, also without a body, whole."""
    session, body = call.session, JsonReader(call.body)
    command = CloseTrade(
        request_id=call.request_id,
        specifier=call.path("tradeSpecifier"),
        units=_read_close_units(body, "units"),
    )
    result = call.execute(session, command)
    if result.rejects:
        return _close_reject(result)
    order_id = result.first["id"]
    members = {
        "orderCreateTransaction": result.first,
        "orderFillTransaction": result.fill_of(order_id),
        "orderCancelTransaction": result.cancel_of(order_id),
    }
    return success_response(result, members)


def _close_reject(result: CommandResult) -> Response:
    reject = result.first
    reason = reject["rejectReason"]
    ids = (
        result.id_members() if reason in NOT_FOUND_REASONS else {}
    )  # the interface has no ids in its 400
    return reject_response({"orderRejectTransaction": reject}, [reason], ids)


def set_trade_client_extensions(call: Call) -> Response:
    """Set the client extensions of an open trade."""
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
        return reject_response(members, [result.first["rejectReason"]], result.id_members())
    return success_response(result, {"tradeClientExtensionsModifyTransaction": result.first})


def set_trade_dependent_orders(call: Call) -> Response:
    """Create, change or cancel a trade's dependent orders: all that is requested, or nothing.

    An empty request, or the cancel of an order that does not exist, changes nothing.
    """
    session, body = call.session, JsonReader(call.body)
    specifier = call.path("tradeSpecifier")
    if not session.is_open_trade(specifier):
        raise not_found("trade", "NO_SUCH_TRADE")
    command = SetDependents(
        request_id=call.request_id,
        specifier=specifier,
        take_profit=_dependent(body, "takeProfit", read_take_profit),
        stop_loss=_dependent(body, "stopLoss", read_stop_loss),
        trailing_stop_loss=_dependent(body, "trailingStopLoss", read_trailing_stop_loss),
        guaranteed_stop_loss=_dependent(body, "guaranteedStopLoss", read_guaranteed_stop_loss),
    )
    result = call.execute(session, command)
    if result.rejects:
        return dependents_reject_response(result, session.order_type)
    return dependents_response(result, session.order_type)


def _dependent(body: JsonReader, member: str, read: Callable[[JsonReader, str], T]) -> T | Omitted:
    """Return the details in a member: OMITTED leaves the order as it is, None cancels it."""
    return read(body, member) if body.has(member) else OMITTED


def _read_close_units(body: JsonReader, member: str) -> Literal["ALL"] | Decimal:
    """Return the units of a trade close; `ALL` when the member is absent, but null is invalid."""
    if body.values.get(member, "ALL") == "ALL":
        return "ALL"
    units = body.decimal(member)
    if units is None or units <= 0:
        raise invalid_value(body.name(member))
    return units


def _read_side_units(body: JsonReader, member: str) -> Literal["ALL", "NONE"] | Decimal | None:
    """Return the units of one side of a position close; None when the member is absent."""
    value = body.values.get(member)
    if value == "ALL":
        return "ALL"
    if value == "NONE":
        return "NONE"
    units = body.decimal(member)
    if units is not None and units <= 0:
        raise invalid_value(body.name(member))
    return units
