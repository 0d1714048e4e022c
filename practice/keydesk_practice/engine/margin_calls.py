"""Margin calls, margin closeout, and the delayed closes of trades whose market was halted at the closeout.

The formulas are in `margin`. Source: the margin call and closeout members of the v20 `Account` definition.
"""

from keydesk_practice.engine.commands import Tick
from keydesk_practice.engine.fills.filling import fill_or_cancel
from keydesk_practice.engine.margin import CLOSEOUT_FACTOR, account_margin_call_percent
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account, Position, Side
from keydesk_practice.engine.state.apply import Decision
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

# The interval between extensions of a margin call is not public; one day is assumed.
EXTENSION_INTERVAL = 24 * 3600 * SECOND


def needs_margin_check(account: Account, command: Tick, market: Market) -> bool:
    """Return whether a tick needs `check_margin` or `close_delayed_trades`."""
    if not account.trades:
        return account.margin_call_enter_time is not None
    concerned = command.instruments is None or any(
        position.is_open and position.instrument in command.instruments
        for position in account.positions.values()
    )
    if not concerned:
        return False
    called = account.margin_call_enter_time is not None
    return (
        called
        or account_margin_call_percent(account, market) >= 1
        or any(_closable_delayed_trades(account, market))
    )


def check_margin(decision: Decision) -> None:
    """Close out at a margin closeout percent of 1 and above; else enter, extend or exit a margin call."""
    account = decision.account
    percent = account_margin_call_percent(account, decision.market)
    if percent >= 1 and account.margin_call_enter_time is None:
        decision.begin_batch()
        decision.record(MarginCallEntered)
    if percent * CLOSEOUT_FACTOR >= 1:
        _close_out(decision)
        percent = account_margin_call_percent(account, decision.market)
    if account.margin_call_enter_time is None:
        return
    if percent < 1:
        decision.begin_batch()
        decision.record(MarginCallExited)
    elif decision.market.now >= _call_start(account) + EXTENSION_INTERVAL:
        decision.begin_batch()
        decision.record(
            MarginCallExtended, extension_number=account.margin_call_extension_count + 1
        )


def close_delayed_trades(decision: Decision) -> None:
    """Close the trades with a delayed close whose instrument is tradeable again."""
    for trade_id in _closable_delayed_trades(decision.account, decision.market):
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


def _call_start(account: Account) -> int:
    return account.last_margin_call_extension_time or account.margin_call_enter_time or 0


def _close_out(decision: Decision) -> None:
    """Close every open position; the close of one whose instrument is halted is delayed."""
    for position in list(decision.account.positions.values()):
        if not position.is_open:
            continue
        if decision.market.quote(position.instrument).tradeable:
            decision.begin_batch()
            for side in (position.long, position.short):
                _close_side(decision, position, side)
        else:
            _delay_closes(decision, position)


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


def _delay_closes(decision: Decision, position: Position) -> None:
    trades = decision.account.trades
    ids = (*position.long.trade_ids, *position.short.trade_ids)
    delayed = tuple(id_ for id_ in ids if trades[id_].state == "OPEN")
    if delayed:
        decision.begin_batch()
        decision.record(TradeClosureDelayed, reason="MARGIN_CLOSEOUT", trade_ids=delayed)


def _closable_delayed_trades(account: Account, market: Market) -> list[int]:
    """Return the ids of the trades whose delayed close is possible now."""
    return [
        trade.id
        for trade in account.trades.values()
        if trade.state == "CLOSE_WHEN_TRADEABLE" and market.quote(trade.instrument).tradeable
    ]
