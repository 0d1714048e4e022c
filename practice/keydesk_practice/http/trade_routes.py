"""Trades: list, read, close, relabel, and their dependent orders."""

from collections.abc import Callable
from typing import TypeVar

from keydesk_practice.engine.commands import (
    OMITTED,
    CloseTrade,
    Omitted,
    SetDependents,
    SetTradeExtensions,
)
from keydesk_practice.http.answers import Answer
from keydesk_practice.http.dependents import dependents_done, dependents_refused
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.members import Members
from keydesk_practice.http.order_bodies import (
    read_extensions,
    read_guaranteed_stop_loss,
    read_stop_loss,
    read_take_profit,
    read_trailing_stop_loss,
)
from keydesk_practice.http.outcomes import NOT_THERE, Outcome, done, refused
from keydesk_practice.http.paging import cut, link_to_next, read_page
from keydesk_practice.http.refusals import absent, missing
from keydesk_practice.http.units import read_close_units

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
