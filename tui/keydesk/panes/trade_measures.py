"""What the columns of the trades measure when rows are sorted, and the keys of the rows of sums."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from keydesk.panes.price_cells import price_format_of
from keydesk.store.store import Store
from keydesk.values import TradeRow
from keydesk.widgets.row_order import Measured
from keydesk_client.arithmetic.risk import nearest_stop

GROUP = "= "  # before the instrument, in the key of a row of sums


def group_name(key: str) -> str:
    """Return the instrument whose sums a row shows, "" for the row of a trade."""
    return key.removeprefix(GROUP) if key.startswith(GROUP) else ""


def away(trade: TradeRow, column: str, store: Store) -> Decimal | None:
    """Return the pips from the closing price to the nearest stop ("to_stop") or the target; None without one."""
    if column == "to_target":
        level = trade.take_profit.price if trade.take_profit is not None else None
    else:
        stops = (trade.stop_loss, trade.guaranteed_stop, trade.trailing_stop)
        level = nearest_stop(trade.units, (each.price for each in stops if each is not None))
    if level is None or trade.now is None:
        return None
    distance = trade.now - level if trade.units > 0 else level - trade.now
    toward = distance if column == "to_stop" else -distance
    return price_format_of(store, trade.instrument).pips(toward)


def measure_of(trade: TradeRow, column: str, store: Store) -> Measured:
    """Return what a column measures of a trade, None while that is unknown."""
    if column in ("stop", "to_stop"):
        return away(trade, "to_stop", store)
    if column in ("target", "to_target"):
        return away(trade, "to_target", store)
    measure = _MEASURES.get(column)
    return None if measure is None else measure(trade)


def number_of_id(id_: str) -> Decimal | None:
    """Return an id as a number, None if it is not one."""
    return Decimal(id_) if id_.isascii() and id_.isdecimal() else None


def _trail(trade: TradeRow) -> Decimal | None:
    return trade.trailing_stop.distance if trade.trailing_stop is not None else None


_MEASURES: Mapping[str, Callable[[TradeRow], Measured]] = {
    "id": lambda trade: number_of_id(trade.id),
    "pair": lambda trade: trade.instrument,
    "side": lambda trade: "LONG" if trade.units > 0 else "SHORT",
    "units": lambda trade: abs(trade.units),
    "entry": lambda trade: trade.price,
    "now": lambda trade: trade.now,
    "pips": lambda trade: trade.pips,
    "pl": lambda trade: trade.unrealized_pl,
    "r": lambda trade: trade.r_multiple,
    "trail": _trail,
    "risk": lambda trade: trade.risk,
    "financing": lambda trade: trade.financing,
    "margin": lambda trade: trade.margin_used,
    "age": lambda trade: -Decimal(trade.open_time_ns),
    "tag": lambda trade: trade.tag or None,
}
