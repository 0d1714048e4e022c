"""The margin rules: call, its extension and end, closeout, and the closes that a halted market still owes."""

from keydesk_practice.engine.commands import Tick
from keydesk_practice.engine.fills.filling import fill_or_cancel
from keydesk_practice.engine.margin import CLOSEOUT_FACTOR, account_margin_call_percent
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.records import Position, Side
from keydesk_practice.engine.transactions import (
    DelayedTradeCloseOf,
    MarginCallEntered,
    MarginCallExited,
    MarginCallExtended,
    MarginCloseoutOf,
    MarketOrderCreated,
    TradeClosureDelayed,
)
from keydesk_practice.engine.wire_form import SECOND, strip_zeros

CALL_LASTS = (
    24 * 3600 * SECOND
)  # how often a call is extended is not public; a day is the natural step


def margin_moved(account: Account, command: Tick, market: Market) -> bool:
    """Return whether the margin rules, or closes that are owed, have something to do."""
    if not account.trades:
        return account.margin_call_enter_time is not None
    touched = command.instruments is None or any(
        position.is_open and position.instrument in command.instruments
        for position in account.positions.values()
    )
    if not touched:
        return False
    called = account.margin_call_enter_time is not None
    return (
        called or account_margin_call_percent(account, market) >= 1 or any(_owed(account, market))
    )


def watch_margin(decision: Decision) -> None:
    """Close everything when half of the margin is gone; else begin, extend or end a margin call."""
    account = decision.account
    share = account_margin_call_percent(account, decision.market)
    if share >= 1 and account.margin_call_enter_time is None:
        decision.begin_batch()
        decision.record(MarginCallEntered)
    if share * CLOSEOUT_FACTOR >= 1:
        _close_out(decision)
        share = account_margin_call_percent(account, decision.market)
    if account.margin_call_enter_time is None:
        return
    if share < 1:
        decision.begin_batch()
        decision.record(MarginCallExited)
    elif decision.market.now >= _call_began(account) + CALL_LASTS:
        decision.begin_batch()
        decision.record(
            MarginCallExtended, extension_number=account.margin_call_extension_count + 1
        )


def _call_began(account: Account) -> int:
    return account.last_margin_call_extension_time or account.margin_call_enter_time or 0


def _close_out(decision: Decision) -> None:
    """Close every open position; one whose instrument is halted is owed its close."""
    for position in list(decision.account.positions.values()):
        if not position.is_open:
            continue
        if decision.market.quote(position.instrument).tradeable:
            decision.begin_batch()
            for side in (position.long, position.short):
                _close_side(decision, position, side)
        else:
            _owe_closes(decision, position)


def _close_side(decision: Decision, position: Position, side: Side) -> None:
    if not side.units:
        return
    order = decision.record(
        MarketOrderCreated,
        reason="MARGIN_CLOSEOUT",
        instrument=position.instrument,
        units=strip_zeros(-side.units),
        time_in_force="FOK",
        position_fill="REDUCE_ONLY",
        margin_closeout=MarginCloseoutOf(reason="MARGIN_CHECK_VIOLATION"),
    )
    fill_or_cancel(decision, order.id, reason="MARKET_ORDER_MARGIN_CLOSEOUT")


def _owe_closes(decision: Decision, position: Position) -> None:
    trades = decision.account.trades
    ids = (*position.long.trade_ids, *position.short.trade_ids)
    owed = tuple(id_ for id_ in ids if trades[id_].state == "OPEN")
    if owed:
        decision.begin_batch()
        decision.record(TradeClosureDelayed, reason="MARGIN_CLOSEOUT", trade_ids=owed)


def _owed(account: Account, market: Market) -> list[int]:
    """Return the trades whose owed close can be made up for now."""
    return [
        trade.id
        for trade in account.trades.values()
        if trade.state == "CLOSE_WHEN_TRADEABLE" and market.quote(trade.instrument).tradeable
    ]


def close_what_is_owed(decision: Decision) -> None:
    """Close the trades whose instrument can be traded again."""
    for trade_id in _owed(decision.account, decision.market):
        trade = decision.account.trades[trade_id]
        decision.begin_batch()
        order = decision.record(
            MarketOrderCreated,
            reason="DELAYED_TRADE_CLOSE",
            instrument=trade.instrument,
            units=strip_zeros(-trade.current_units),
            time_in_force="FOK",
            position_fill="REDUCE_ONLY",
            delayed_trade_close=DelayedTradeCloseOf(
                trade_id=trade.id,
                client_trade_id=trade.client_id,
                source_transaction_id=trade.close_owed_by or 0,
            ),
        )
        fill_or_cancel(decision, order.id, trade=trade, reason="MARKET_ORDER_DELAYED_TRADE_CLOSE")
