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
from keydesk_practice.http.errors import absent, missing, not_listed
from keydesk_practice.http.request_bodies import (
    Members,
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
    Answer,
    Outcome,
    Wire,
    dependents_done,
    dependents_refused,
    done,
    refused,
)
from keydesk_practice.http.transactions import cut, link_to_next, read_page


async def list_positions(call: Call) -> Answer:
    """Answer with the position of every instrument ever traded."""
    desk = await call.frozen_desk()
    positions = await call.encoded(desk.positions(await call.worth(desk)))
    return Answer({"positions": positions, "lastTransactionID": desk.last_transaction_id})


async def list_open_positions(call: Call) -> Answer:
    """Answer with the positions that are open."""
    desk = await call.frozen_desk()
    positions = await call.encoded(desk.open_positions(await call.worth(desk)))
    return Answer({"positions": positions, "lastTransactionID": desk.last_transaction_id})


async def get_position(call: Call) -> Answer:
    """Answer with the position of one instrument."""
    desk = await call.frozen_desk()
    found = desk.position(call.path("instrument"), await call.worth(desk))
    if found is None:
        raise absent("position", "NO_SUCH_POSITION")
    return Answer({"position": found, "lastTransactionID": desk.last_transaction_id})


def close_position(call: Call) -> Answer:
    """Close the sides that are asked for: both, or none if one of them cannot be closed."""
    desk, body = call.desk, Members(call.body)
    instrument = _instrument(call)
    command = ClosePosition(
        request_id=call.request_id,
        instrument=instrument,
        long_units=read_side_units(body, "longUnits"),
        short_units=read_side_units(body, "shortUnits"),
        long_client_extensions=read_extensions(body, "longClientExtensions"),
        short_client_extensions=read_extensions(body, "shortClientExtensions"),
    )
    outcome = call.execute(desk, command)
    if outcome.rejects:
        return _refused(outcome)
    members = {**_side(outcome, "long"), **_side(outcome, "short")}
    link = f"{call.base_url}/v3/accounts/{desk.account.id}/positions/{instrument}"
    return done(outcome, members, headers={"Location": link})


def _instrument(call: Call) -> str:
    name = call.path("instrument")
    if call.broker.board.specification(name) is None:
        raise not_listed(name)
    return name


def _side(outcome: Outcome, side: str) -> dict[str, Wire | None]:
    created = next((one for one in outcome.batch if f"{side}PositionCloseout" in one), None)
    if created is None:
        return {}
    return {
        f"{side}OrderCreateTransaction": created,
        f"{side}OrderFillTransaction": outcome.fill_of(created["id"]),
        f"{side}OrderCancelTransaction": outcome.cancel_of(created["id"]),
    }


def _refused(outcome: Outcome) -> Answer:
    members = {
        f"{side}OrderRejectTransaction": next(
            (one for one in outcome.rejects if f"{side}PositionCloseout" in one), None
        )
        for side in ("long", "short")
    }
    reasons = {reject["rejectReason"] for reject in outcome.rejects}
    first = sorted(reasons, key=lambda reason: (reason == "CLOSEOUT_POSITION_REJECT", reason))
    return refused(members, first, outcome.ids())


T = TypeVar("T")
UNITS_OF_A_TRADE = 2  # with its dependent orders
STATES = frozenset({"OPEN", "CLOSED", "CLOSE_WHEN_TRADEABLE", "ALL"})


async def list_trades(call: Call) -> Answer:
    """Answer with trades of a state, newest first."""
    desk = await call.frozen_desk()
    page = read_page(call, "OPEN", STATES)
    found = desk.trades(page.state, page.instrument, page.before, page.ids)
    trades, next_id = await cut(call.turns, page, found)
    body = {
        "trades": await call.encoded(
            (desk.trade_view(trade) for trade in trades), UNITS_OF_A_TRADE
        ),
        "lastTransactionID": desk.last_transaction_id,
    }
    return Answer(body, headers=link_to_next(call, next_id))


async def list_open_trades(call: Call) -> Answer:
    """Answer with every open trade, newest first."""
    desk = await call.frozen_desk()
    held = reversed(desk.state.trades.values())
    shown = (desk.trade_view(trade) for trade in held if trade.state == "OPEN")
    trades = await call.encoded(shown, UNITS_OF_A_TRADE)
    return Answer({"trades": trades, "lastTransactionID": desk.last_transaction_id})


def get_trade(call: Call) -> Answer:
    """Answer with one trade, open or closed."""
    desk = call.desk
    trade = desk.trade(call.path("tradeSpecifier"))
    if trade is None:
        raise absent("trade", "NO_SUCH_TRADE", desk.last_transaction_id)
    body = {"trade": desk.trade_view(trade), "lastTransactionID": desk.last_transaction_id}
    return Answer(body)


def close_trade(call: Call) -> Answer:
    """Close a trade in full or in part."""
    desk, body = call.desk, Members(call.body)
    command = CloseTrade(
        request_id=call.request_id,
        specifier=call.path("tradeSpecifier"),
        units=read_close_units(body, "units"),
    )
    outcome = call.execute(desk, command)
    if outcome.rejects:
        return _close_refused(outcome)
    order_id = outcome.first["id"]
    members = {
        "orderCreateTransaction": outcome.first,
        "orderFillTransaction": outcome.fill_of(order_id),
        "orderCancelTransaction": outcome.cancel_of(order_id),
    }
    return done(outcome, members)


def _close_refused(outcome: Outcome) -> Answer:
    reject = outcome.first
    reason = reject["rejectReason"]
    ids = outcome.ids() if reason in NOT_THERE else {}  # the interface has none with its 400
    return refused({"orderRejectTransaction": reject}, [reason], ids)


def set_trade_client_extensions(call: Call) -> Answer:
    """Change the labels of an open trade."""
    desk, body = call.desk, Members(call.body)
    if not body.has("clientExtensions"):
        raise missing("clientExtensions")
    command = SetTradeExtensions(
        request_id=call.request_id,
        specifier=call.path("tradeSpecifier"),
        client_extensions=read_extensions(body, "clientExtensions"),
    )
    outcome = call.execute(desk, command)
    if outcome.rejects:
        members = {"tradeClientExtensionsModifyRejectTransaction": outcome.first}
        return refused(members, [outcome.first["rejectReason"]], outcome.ids())
    return done(outcome, {"tradeClientExtensionsModifyTransaction": outcome.first})


def set_trade_dependent_orders(call: Call) -> Answer:
    """Create, change or cancel a trade's dependent orders: all that was asked, or nothing.

    Asking nothing, or cancelling what is not there, changes nothing.
    """
    desk, body = call.desk, Members(call.body)
    specifier = call.path("tradeSpecifier")
    if not desk.is_open_trade(specifier):
        raise absent("trade", "NO_SUCH_TRADE")
    command = SetDependents(
        request_id=call.request_id,
        specifier=specifier,
        take_profit=_asked(body, "takeProfit", read_take_profit),
        stop_loss=_asked(body, "stopLoss", read_stop_loss),
        trailing_stop_loss=_asked(body, "trailingStopLoss", read_trailing_stop_loss),
        guaranteed_stop_loss=_asked(body, "guaranteedStopLoss", read_guaranteed_stop_loss),
    )
    outcome = call.execute(desk, command)
    if outcome.rejects:
        return dependents_refused(outcome, desk.order_type)
    return dependents_done(outcome, desk.order_type)


def _asked(body: Members, member: str, read: Callable[[Members, str], T]) -> T | Omitted:
    """Return what a member asks: OMITTED leaves the order alone, None cancels it."""
    return read(body, member) if body.has(member) else OMITTED
