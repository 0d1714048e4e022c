"""The positions: the open trades of each instrument as one, with weighted entry, pips, R and risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.calc.risk.trade_groups import TradeGroup, group_of
from keydesk.keys.keymap import POSITIONS
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unknown import UNKNOWN, are_trades_known
from keydesk.tables.column import Column, Measured
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.sorted_table import SortedTable
from keydesk.tables.trades import nothing_open, signed_cells
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, safe
from keydesk.values import PositionRow
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.price_cells import price_format_of, prices_are_old
from keydesk.widgets.theme import ColourRole, signed_role

SIDE_ROLES: Mapping[str, ColourRole] = {"LONG": "buy", "SHORT": "sell"}


class Positions(InstrumentRows, SortedTable):
    """One row per instrument."""

    KEY_CONTEXT: ClassVar[str] = POSITIONS
    NAME: ClassVar[str] = "Positions"
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("pair", "pair", 7, right=False, ascending=True),
        Column("side", "side", 5, rank=1, right=False, ascending=True),
        Column("net", "net units", 11),
        Column("entry", "avg entry", 9, rank=2),
        Column("pips", "pips", 7, rank=3),
        Column("pl", "P/L", 10),
        Column("r", "R", 5, rank=4),
        Column("risk", "risk", 9, rank=5),
        Column("long", "long", 10, rank=9, group="units"),
        Column("long_average", "long avg", 10, rank=10, group="averages"),
        Column("short", "short", 10, rank=9, group="units"),
        Column("short_average", "short avg", 10, rank=10, group="averages"),
        Column("margin", "margin", 10, rank=7),
        Column("trades", "trades", 6, rank=6),
    )

    def __init__(self, *, id: str | None = "positions") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._old = False

    def heading(self) -> Heading:
        """Return how many there are."""
        if self.frame is None or self.frame.store.account is None:
            return Heading((Tab("Positions"),))
        unread = "?" if self.frame.store.unread.trades else ""
        return self.titled(len(self.frame.store.positions), unread=unread)

    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row."""
        return key if key in store.positions else ""

    def empty(self, frame: Frame) -> Printable:
        """Return how to open a position, or how to see those that there are."""
        return nothing_open(self, frame, "No positions.")

    def changed(self, frame: Frame) -> None:
        """Redraw the rows whose numbers moved."""
        dirty = frame.keys(Topic.POSITIONS)
        self.show_rows(sorted(frame.store.positions), frame)
        old, self._old = self._old, prices_are_old(frame.store)
        if None in dirty or old != self._old:
            self.redraw()
        for key in dirty:
            self.redraw_row(str(key))

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of a position."""
        position = frame.store.positions.get(key)
        if position is None:
            return []
        if column != "pair" and not are_trades_known(frame.store):
            return [(UNKNOWN, self.palette["danger"])]
        return self._cell(position, column, frame)

    def _cell(self, position: PositionRow, column: str, frame: Frame) -> Sequence[Run]:
        match column:
            case "side":
                word = _side_word(position)
                return [(word, self.palette[SIDE_ROLES.get(word, "muted")])]
            case "pl":
                style = self.palette[signed_role(position.unrealized_pl)] + self.palette.at_stake
                shown = self.palette["faint"] if self._old else style
                return [(show.money(position.unrealized_pl, signed=True), shown)]
            case "pips" | "r":
                group = self._group(position, frame.store)
                return signed_cells(self.palette, group, column, old=self._old)
            case "risk":
                return self._risk(self._group(position, frame.store))
            case _:
                weight: ColourRole = "plain" if column in ("pair", "net") else "muted"
                return [(safe(self._text(position, column, frame)), self.palette[weight])]

    def _group(self, position: PositionRow, store: Store) -> TradeGroup:
        return group_of([store.trades[key] for key in position.trade_ids if key in store.trades])

    def _risk(self, group: TradeGroup) -> list[Run]:
        """Return the risk to the stops; of a position with a trade without one, how many have none."""
        if group.unprotected:
            return [(safe(f"{group.unprotected} none !"), self.palette["danger"])]
        return [(show.money(group.risk), self.palette["muted"])]

    # Sorting and filtering.

    def measure(self, key: str, column: str, store: Store) -> Measured:
        """Return what a column measures of a position."""
        position = store.positions.get(key)
        if position is None:
            return None
        group = self._group(position, store)
        net = position.long_units + position.short_units
        measured: Mapping[str, Measured] = {
            "pair": position.instrument,
            "side": _side_word(position),
            "net": abs(net),
            "entry": group.entry,
            "pips": group.pips,
            "pl": position.unrealized_pl,
            "r": group.r_multiple,
            "risk": None if group.unprotected else group.risk,
            "long": position.long_units,
            "long_average": position.long_average,
            "short": abs(position.short_units),
            "short_average": position.short_average,
            "margin": position.margin_used,
            "trades": Decimal(len(position.trade_ids)),
        }
        return measured.get(column)

    def text_of(self, key: str, store: Store) -> str:
        """Return instrument, side, and ids and tags of the trades."""
        position = store.positions.get(key)
        if position is None:
            return ""
        sides = f"{'long ' * bool(position.long_units)}{'short ' * bool(position.short_units)}"
        trades = [store.trades[each] for each in position.trade_ids if each in store.trades]
        return f"{key} {sides}{' '.join(f'{each.id} {each.tag}' for each in trades)}"

    def _text(self, position: PositionRow, column: str, frame: Frame) -> str:
        write = price_format_of(frame.store, position.instrument).write
        texts = {
            "pair": show.pair(position.instrument),
            "entry": write(self._group(position, frame.store).entry),
            "net": _net_text(position),
            "long": show.units(position.long_units or None),
            "long_average": write(position.long_average),
            "short": show.units(position.short_units or None),
            "short_average": write(position.short_average),
            "margin": show.money(position.margin_used),
            "trades": str(len(position.trade_ids)),
        }
        return texts[column]


def _side_word(position: PositionRow) -> str:
    if _is_hedged(position):
        return "BOTH"
    net = position.long_units + position.short_units
    return "LONG" if net > 0 else "SHORT" if net else "FLAT"


def _is_hedged(position: PositionRow) -> bool:
    return bool(position.long_units and position.short_units)


def _net_text(position: PositionRow) -> str:
    """Return the net units; of a hedge that comes to nothing what each side holds."""
    net = position.long_units + position.short_units
    if not net and _is_hedged(position):
        return f"±{show.units(position.long_units)}"
    return show.units(net, signed=True)
