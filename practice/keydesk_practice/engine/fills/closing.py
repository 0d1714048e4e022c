"""Closing trades and positions at the client's wish."""

from decimal import Decimal
from typing import Literal

from keydesk_practice.engine.checks import first, has_elder_twin, label_problem
from keydesk_practice.engine.commands import ClientExtensions, ClosePosition, CloseTrade
from keydesk_practice.engine.fills.filling import cancel, fill_or_cancel
from keydesk_practice.engine.quotes import specification_of
from keydesk_practice.engine.state.account import number_in, open_trade
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.records import Side, Trade
from keydesk_practice.engine.transactions import (
    MarketOrderCreated,
    MarketOrderRejected,
    PositionCloseoutOf,
    TradeCloseOf,
)
from keydesk_practice.engine.wire_form import decimal_places, plain, strip_zeros

_HOW = {"time_in_force": "FOK", "position_fill": "REDUCE_ONLY"}


def close_trade(decision: Decision, command: CloseTrade) -> None:
    """Close a trade, whole or in part."""
    trade = open_trade(decision.account, command.specifier)
    asked = _asked(command.units)
    if trade is None:
        number = number_in(command.specifier)
        purpose = None if number is None else TradeCloseOf(trade_id=number, units=asked)
        _reject(decision, "TRADE_CLOSE", "TRADE_DOESNT_EXIST", trade_close=purpose)
        return
    members = {
        "instrument": trade.instrument,
        "units": _closing_units(trade.current_units, command.units),
        "trade_close": TradeCloseOf(
            trade_id=trade.id, client_trade_id=trade.client_id, units=asked
        ),
    }
    if problem := _size_problem(decision, trade, command.units):
        _reject(decision, "TRADE_CLOSE", problem, **members)
        return
    order = decision.record(MarketOrderCreated, reason="TRADE_CLOSE", **_HOW, **members)
    if has_elder_twin(decision.account, trade):
        cancel(decision, decision.account.orders[order.id], "FIFO_VIOLATION")
        return
    fill_or_cancel(decision, order.id, trade=trade, reason="MARKET_ORDER_TRADE_CLOSE")


def _asked(units: Literal["ALL", "NONE"] | Decimal | None) -> str:
    return plain(units) if isinstance(units, Decimal) else "ALL"


def _closing_units(held: Decimal, asked: Literal["ALL", "NONE"] | Decimal | None) -> Decimal:
    """Return the signed units that close what is asked of what is held."""
    if not isinstance(asked, Decimal):
        return strip_zeros(-held)
    return strip_zeros(asked.copy_negate() if held > 0 else asked)  # minus would round


def _size_problem(decision: Decision, trade: Trade, units: Literal["ALL"] | Decimal) -> str | None:
    if not isinstance(units, Decimal):
        return None
    specification = specification_of(decision.market, trade.instrument)
    if units <= 0:
        return "UNITS_INVALID"
    if decimal_places(units) > specification.trade_units_precision:
        return "UNITS_PRECISION_EXCEEDED"
    too_many = units > abs(trade.current_units)
    return "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE" if too_many else None


def close_position(decision: Decision, command: ClosePosition) -> None:
    """Close one or both sides of a position: all that is asked, or nothing."""
    position = decision.account.position(command.instrument)
    sides = [
        _SideAsked("long", position.long, command.long_units, command.long_client_extensions),
        _SideAsked("short", position.short, command.short_units, command.short_client_extensions),
    ]
    wanted = [side for side in sides if side.units not in {None, "NONE"}]
    if not wanted:
        _reject_side(
            decision, command.instrument, sides[0], "CLOSEOUT_POSITION_INCOMPLETE_SPECIFICATION"
        )
        return
    problems = [_side_problem(decision, command.instrument, side) for side in wanted]
    if any(problems):
        for side, problem in zip(wanted, problems, strict=True):
            # A side with nothing wrong is refused with its partner.
            _reject_side(decision, command.instrument, side, problem or "CLOSEOUT_POSITION_REJECT")
        return
    for side in wanted:
        _close_side(decision, command.instrument, side)


class _SideAsked:
    """One side of a position and what is asked of it."""

    def __init__(
        self,
        name: Literal["long", "short"],
        held: Side,
        units: Literal["ALL", "NONE"] | Decimal | None,
        labels: ClientExtensions | None,
    ) -> None:
        self.name = name
        self.held = held
        self.units = units
        self.labels = labels

    def purpose(self, instrument: str) -> dict[str, PositionCloseoutOf]:
        """Return the member that says what the market order is for."""
        asked = PositionCloseoutOf(instrument=instrument, units=_asked(self.units))
        return {f"{self.name}_position_closeout": asked}


def _side_problem(decision: Decision, instrument: str, side: _SideAsked) -> str | None:
    if not side.held.units:
        return "CLOSEOUT_POSITION_DOESNT_EXIST"
    return first(
        [
            _units_problem(decision, instrument, side),
            label_problem(side.labels, decision.account.order_ids),
        ]
    )


def _units_problem(decision: Decision, instrument: str, side: _SideAsked) -> str | None:
    if not isinstance(side.units, Decimal):
        return None
    if side.units <= 0:
        return "UNITS_INVALID"
    specification = specification_of(decision.market, instrument)
    if decimal_places(side.units) > specification.trade_units_precision:
        return "UNITS_PRECISION_EXCEEDED"
    too_many = side.units > abs(side.held.units)
    return "CLOSEOUT_POSITION_UNITS_EXCEED_POSITION_SIZE" if too_many else None


def _close_side(decision: Decision, instrument: str, side: _SideAsked) -> None:
    order = decision.record(
        MarketOrderCreated,
        reason="POSITION_CLOSEOUT",
        instrument=instrument,
        units=_closing_units(side.held.units, side.units),
        client_extensions=side.labels,
        **_HOW,
        **side.purpose(instrument),
    )
    fill_or_cancel(decision, order.id, reason="MARKET_ORDER_POSITION_CLOSEOUT")


def _reject_side(decision: Decision, instrument: str, side: _SideAsked, reason: str) -> None:
    """Record the refusal of a side; that of a flat one has no units."""
    held = side.held.units
    _reject(
        decision,
        "POSITION_CLOSEOUT",
        reason,
        instrument=instrument,
        units=_closing_units(held, side.units) if held else None,
        client_extensions=side.labels,
        **side.purpose(instrument),
    )


def _reject(decision: Decision, reason: str, reject_reason: str, **members: object) -> None:
    decision.record(
        MarketOrderRejected, reason=reason, reject_reason=reject_reason, **_HOW, **members
    )
