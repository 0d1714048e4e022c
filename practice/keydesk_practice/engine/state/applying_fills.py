"""How a fill changes the account: the order ends, trades shrink, close and open, positions and money follow."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.applying_orders import end_order
from keydesk_practice.engine.state.order_states import trade_after
from keydesk_practice.engine.state.records import KINDS, Position, Side, Trade
from keydesk_practice.engine.transactions import OrderFilled, TradeOpened, TradeReduced

_NO_LINKS: dict[str, Any] = {f"{kind}_id": None for kind in KINDS}


def apply_fill(account: Account, fill: OrderFilled) -> None:
    """Change the account by a fill."""
    account.balance = fill.account_balance
    account.pl += fill.pl
    account.financing += fill.financing
    account.commission += fill.commission
    account.guaranteed_execution_fees += fill.guaranteed_execution_fee
    account.last_order_fill_time = fill.time
    _end_filled(account, fill)
    position = account.position(fill.instrument)
    if fill.commission:
        position = replace(position, commission=position.commission + fill.commission)
    parts = [*(fill.trades_closed or ())]
    if fill.trade_reduced is not None:
        parts.append(fill.trade_reduced)
    reduced = [(_reduce(account, part, fill), part) for part in parts]
    for long in (True, False):  # each side is replaced once, however many of its trades close
        if of_side := [pair for pair in reduced if pair[0].long == long]:
            position = _with_side(position, long, _side_after(position, long, of_side))
    if fill.trade_opened is not None:
        position = _open(account, position, fill.trade_opened, fill)
    account.positions[fill.instrument] = position


def _end_filled(account: Account, fill: OrderFilled) -> None:
    closed = tuple(part.trade_id for part in fill.trades_closed or ())
    end_order(
        account,
        account.orders[fill.order_id],
        "FILLED",
        filling_transaction_id=fill.id,
        filled_time=fill.time,
        trade_opened_id=fill.trade_opened.trade_id if fill.trade_opened else None,
        trade_reduced_id=fill.trade_reduced.trade_id if fill.trade_reduced else None,
        trade_closed_ids=closed or None,
    )


def _reduce(account: Account, part: TradeReduced, fill: OrderFilled) -> Trade:
    """Shrink or close a trade, and return it as it is then; `part.units` has the opposite sign of the trade's."""
    trade = account.trades[part.trade_id]
    left = trade.current_units + part.units
    shrunk = replace(
        trade,
        state=trade_after(trade.state, "REDUCED" if left else "CLOSED"),
        current_units=left,
        realized_pl=trade.realized_pl + part.realized_pl,
        financing=trade.financing + part.financing,
        closing_value=trade.closing_value - part.units * part.price,
        closing_transaction_ids=(*(trade.closing_transaction_ids or ()), fill.id),
        close_time=None if left else fill.time,
    )
    if left:
        account.trades[trade.id] = shrunk
    else:
        _put_away(account, shrunk)
    return shrunk


def _put_away(account: Account, trade: Trade) -> None:
    del account.trades[trade.id]
    if trade.client_id is not None and account.trade_ids.get(trade.client_id) == trade.id:
        del account.trade_ids[trade.client_id]
    account.ended.keep_trade(replace(trade, **_NO_LINKS) if trade.dependents else trade)


def _side_after(
    position: Position, long: bool, reduced: Sequence[tuple[Trade, TradeReduced]]
) -> Side:
    side = position.long if long else position.short
    closed = {trade.id for trade, _ in reduced if not trade.current_units}
    parts = [part for _, part in reduced]
    fees = (part.guaranteed_execution_fee for part in parts)
    return replace(
        side,
        units=sum((part.units for part in parts), side.units),
        value=sum((part.units * trade.price for trade, part in reduced), side.value),
        trade_ids=tuple(id_ for id_ in side.trade_ids if id_ not in closed),
        pl=sum((part.realized_pl for part in parts), side.pl),
        financing=sum((part.financing for part in parts), side.financing),
        guaranteed_execution_fees=sum(fees, side.guaranteed_execution_fees),
    )


def _open(account: Account, position: Position, part: TradeOpened, fill: OrderFilled) -> Position:
    trade = Trade(
        id=part.trade_id,
        instrument=fill.instrument,
        price=part.price,
        open_time=fill.time,
        initial_units=part.units,
        current_units=part.units,
        initial_margin_required=part.initial_margin_required,
        client_extensions=part.client_extensions,
    )
    account.trades[trade.id] = trade
    if trade.client_id is not None:
        account.trade_ids[trade.client_id] = trade.id
    side = position.long if trade.long else position.short
    grown = replace(
        side,
        units=side.units + part.units,
        value=side.value + part.units * part.price,
        trade_ids=(*side.trade_ids, trade.id),
    )
    return _with_side(position, trade.long, grown)


def _with_side(position: Position, long: bool, side: Side) -> Position:
    return replace(position, long=side) if long else replace(position, short=side)
