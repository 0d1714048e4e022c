"""Close trades and positions by market orders at the client's request."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from keydesk_practice.engine.checks import (
    extensions_problem,
    first_problem,
    has_older_equal_trade,
)
from keydesk_practice.engine.commands import ClientExtensions, ClosePosition, CloseTrade
from keydesk_practice.engine.fills.filling import cancel, fill_or_cancel
from keydesk_practice.engine.quotes import specification_of
from keydesk_practice.engine.state.account import Side, id_in, open_trade
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.transactions import (
    MarketOrderCreated,
    MarketOrderRejected,
    PositionCloseoutOf,
    TradeCloseOf,
)
from keydesk_practice.engine.wire_form import decimal_places, plain, strip_zeros

RequestedUnits = Literal["ALL", "NONE"] | Decimal | None
_CLOSING_TERMS = {"time_in_force": "FOK", "position_fill": "REDUCE_ONLY"}


class _SideRequest(Struct, frozen=True):
    """The request to close one side of a position, and the side itself."""

    name: Literal["long", "short"]
    held: Side
    units: RequestedUnits
    client_extensions: ClientExtensions | None

    def closeout(self, instrument: str) -> dict[str, PositionCloseoutOf]:
        """Return the `longPositionCloseout` or `shortPositionCloseout` of the market order."""
        closeout = PositionCloseoutOf(instrument=instrument, units=_units_text(self.units))
        return {f"{self.name}_position_closeout": closeout}


def close_trade(decision: Decision, command: CloseTrade) -> None:
    """Close a trade, whole or in part."""
    trade = open_trade(decision.account, command.specifier)
    requested = _units_text(command.units)
    if trade is None:
        trade_id = id_in(command.specifier)
        closed = None if trade_id is None else TradeCloseOf(trade_id=trade_id, units=requested)
        _reject(decision, "TRADE_CLOSE", "TRADE_DOESNT_EXIST", trade_close=closed)
        return
    members = {
        "instrument": trade.instrument,
        "units": _closing_units(trade.current_units, command.units),
        "trade_close": TradeCloseOf(
            trade_id=trade.id, client_trade_id=trade.client_id, units=requested
        ),
    }
    too_many = "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE"
    held = trade.current_units
    if problem := _units_problem(decision, trade.instrument, held, command.units, too_many):
        _reject(decision, "TRADE_CLOSE", problem, **members)
        return
    order = decision.record(MarketOrderCreated, reason="TRADE_CLOSE", **_CLOSING_TERMS, **members)
    if has_older_equal_trade(decision.account, trade):
        cancel(decision, decision.account.orders[order.id], "FIFO_VIOLATION")
        return
    fill_or_cancel(decision, order.id, trade=trade, reason="MARKET_ORDER_TRADE_CLOSE")


def close_position(decision: Decision, command: ClosePosition) -> None:
    """Close one or both sides of a position: everything that is requested, or nothing."""
    position = decision.account.position(command.instrument)
    sides = [
        _SideRequest("long", position.long, command.long_units, command.long_client_extensions),
        _SideRequest("short", position.short, command.short_units, command.short_client_extensions),
    ]
    requested = [side for side in sides if side.units not in {None, "NONE"}]
    if not requested:
        _reject_side(
            decision, command.instrument, sides[0], "CLOSEOUT_POSITION_INCOMPLETE_SPECIFICATION"
        )
        return
    problems = [_side_problem(decision, command.instrument, side) for side in requested]
    if any(problems):
        for side, problem in zip(requested, problems, strict=True):
            # A side without a problem is rejected together with the other side.
            _reject_side(decision, command.instrument, side, problem or "CLOSEOUT_POSITION_REJECT")
        return
    for side in requested:
        _close_side(decision, command.instrument, side)


def _units_text(units: RequestedUnits) -> str:
    return plain(units) if isinstance(units, Decimal) else "ALL"


def _closing_units(held: Decimal, requested: RequestedUnits) -> Decimal:
    """Return the signed units that close what is requested of the units held."""
    if not isinstance(requested, Decimal):
        return strip_zeros(-held)
    # copy_negate, since the minus operator would round to the context's precision.
    return strip_zeros(requested.copy_negate() if held > 0 else requested)


def _units_problem(
    decision: Decision, instrument: str, held: Decimal, requested: RequestedUnits, too_many: str
) -> str | None:
    if not isinstance(requested, Decimal):
        return None
    if requested <= 0:
        return "UNITS_INVALID"
    specification = specification_of(decision.market, instrument)
    if decimal_places(requested) > specification.trade_units_precision:
        return "UNITS_PRECISION_EXCEEDED"
    return too_many if requested > abs(held) else None


def _side_problem(decision: Decision, instrument: str, side: _SideRequest) -> str | None:
    if not side.held.units:
        return "CLOSEOUT_POSITION_DOESNT_EXIST"
    too_many = "CLOSEOUT_POSITION_UNITS_EXCEED_POSITION_SIZE"
    return first_problem(
        [
            _units_problem(decision, instrument, side.held.units, side.units, too_many),
            extensions_problem(side.client_extensions, decision.account.order_ids),
        ]
    )


def _close_side(decision: Decision, instrument: str, side: _SideRequest) -> None:
    order = decision.record(
        MarketOrderCreated,
        reason="POSITION_CLOSEOUT",
        instrument=instrument,
        units=_closing_units(side.held.units, side.units),
        client_extensions=side.client_extensions,
        **_CLOSING_TERMS,
        **side.closeout(instrument),
    )
    fill_or_cancel(decision, order.id, reason="MARKET_ORDER_POSITION_CLOSEOUT")


def _reject_side(decision: Decision, instrument: str, side: _SideRequest, reason: str) -> None:
    """Record the rejection of a side; that of a flat side has no units."""
    held = side.held.units
    _reject(
        decision,
        "POSITION_CLOSEOUT",
        reason,
        instrument=instrument,
        units=_closing_units(held, side.units) if held else None,
        client_extensions=side.client_extensions,
        **side.closeout(instrument),
    )


def _reject(decision: Decision, reason: str, reject_reason: str, **members: object) -> None:
    decision.record(
        MarketOrderRejected, reason=reason, reject_reason=reject_reason, **_CLOSING_TERMS, **members
    )
