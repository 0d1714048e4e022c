"""Positions are what the open trades of an instrument add up to."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from keydesk.calc.profit import average_price
from keydesk.records import PositionRow, TradeRow
from keydesk.store.state import Topic
from keydesk.store.store import Store

NOTHING = Decimal(0)


def rebuild_position(store: Store, instrument: str) -> None:
    """Add the open trades of an instrument up again; without any the position is gone."""
    trades = [trade for trade in store.trades.values() if trade.instrument == instrument]
    if trades:
        store.positions[instrument] = position_of(instrument, trades)
    elif store.positions.pop(instrument, None) is None:
        return
    store.mark(Topic.POSITIONS)
    store.mark(Topic.POSITIONS, instrument)


def position_of(instrument: str, trades: Sequence[TradeRow]) -> PositionRow:
    """The row of a position from its trades."""
    longs = [trade for trade in trades if trade.units > 0]
    shorts = [trade for trade in trades if trade.units < 0]
    return PositionRow(
        instrument=instrument,
        long_units=sum((trade.units for trade in longs), NOTHING),
        long_average=_average(longs),
        short_units=sum((trade.units for trade in shorts), NOTHING),
        short_average=_average(shorts),
        unrealized_pl=total(trade.unrealized_pl for trade in trades),
        margin_used=total(trade.margin_used for trade in trades),
        trade_ids=tuple(trade.id for trade in trades),
    )


def total(parts: Iterable[Decimal | None]) -> Decimal | None:
    """The sum, unless a part is not known: then neither is the whole."""
    sum_so_far = NOTHING
    for part in parts:
        if part is None:
            return None
        sum_so_far += part
    return sum_so_far


def _average(trades: Sequence[TradeRow]) -> Decimal | None:
    return average_price((trade.units, trade.price) for trade in trades)
