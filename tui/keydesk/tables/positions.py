"""The positions: the open trades of each instrument as one, with weighted entry, pips, R and risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import ClassVar

from msgspec import Struct

from keydesk.calc.risk.trade_groups import TradeGroup, group_of
from keydesk.keys.keymap import POSITIONS
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unknown import are_trades_known
from keydesk.tables.column import ValueColumn
from keydesk.tables.column_table import ColumnTable
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.trades import nothing_open
from keydesk.text import format as show
from keydesk.text.sanitize import Printable
from keydesk.values import PositionRow, TradeRow
from keydesk.widgets.lines import Heading, Tab
from keydesk.widgets.price_cells import price_format_of, prices_are_old
from keydesk.widgets.theme import ColourRole, signed_role

SIDE_ROLES: Mapping[str, ColourRole] = {"LONG": "buy", "SHORT": "sell"}


class PositionLine(Struct, frozen=True):
    """What the columns read of a position."""

    position: PositionRow
    store: Store

    @property
    def net(self) -> Decimal:
        """The units of both sides together."""
        return self.position.long_units + self.position.short_units

    @property
    def is_hedged(self) -> bool:
        """Whether both sides are held."""
        return bool(self.position.long_units and self.position.short_units)

    @property
    def side(self) -> str:
        """The side in a word."""
        if self.is_hedged:
            return "BOTH"
        return "LONG" if self.net > 0 else "SHORT" if self.net else "FLAT"

    @property
    def net_text(self) -> str:
        """The net units; of a hedge that comes to nothing what each side holds."""
        if not self.net and self.is_hedged:
            return f"±{show.units(self.position.long_units)}"
        return show.units(self.net, signed=True)

    @property
    def trades(self) -> list[TradeRow]:
        """Its trades."""
        known = self.store.trades
        return [known[key] for key in self.position.trade_ids if key in known]

    @property
    def group(self) -> TradeGroup:
        """Its trades as one."""
        return group_of(self.trades)

    def price(self, value: Decimal | None) -> str:
        """Return a price as the instrument's are written."""
        return price_format_of(self.store, self.position.instrument).write(value)


class PositionColumn(ValueColumn[PositionLine], frozen=True, kw_only=True):
    """A column of positions; what is reckoned from trades is unknown while one of them is."""

    unknown: Callable[[PositionLine], bool] = lambda line: not are_trades_known(line.store)


def _sides(line: PositionLine) -> str:
    position = line.position
    return f"{'long ' * bool(position.long_units)}{'short ' * bool(position.short_units)}"


POSITION_COLUMNS: tuple[PositionColumn, ...] = (
    PositionColumn(
        *("pair", "pair", 7),
        right=False,
        ascending=True,
        text=lambda line: show.pair(line.position.instrument),
        role="plain",
        value=lambda line: line.position.instrument,
        search_text=lambda line: line.position.instrument,
        unknown=lambda _: False,
    ),
    PositionColumn(
        *("side", "side", 5, 1),
        right=False,
        ascending=True,
        text=lambda line: line.side,
        role=lambda line: SIDE_ROLES.get(line.side, "muted"),
        value=lambda line: line.side,
        search_text=_sides,
    ),
    PositionColumn(
        *("net", "net units", 11),
        text=lambda line: line.net_text,
        role="plain",
        value=lambda line: abs(line.net),
    ),
    PositionColumn(
        *("entry", "avg entry", 9, 2),
        text=lambda line: line.price(line.group.entry),
        value=lambda line: line.group.entry,
    ),
    PositionColumn(
        *("pips", "pips", 7, 3),
        text=lambda line: show.pips(line.group.pips),
        role=lambda line: signed_role(line.group.pips),
        by_price=True,
        value=lambda line: line.group.pips,
    ),
    PositionColumn(
        *("pl", "P/L", 10),
        text=lambda line: show.money(line.position.unrealized_pl, signed=True),
        role=lambda line: signed_role(line.position.unrealized_pl),
        by_price=True,
        at_stake=True,
        value=lambda line: line.position.unrealized_pl,
    ),
    PositionColumn(
        *("r", "R", 5, 4),
        text=lambda line: show.r_multiple(line.group.r_multiple),
        role=lambda line: signed_role(line.group.r_multiple),
        by_price=True,
        value=lambda line: line.group.r_multiple,
    ),
    PositionColumn(
        *("risk", "risk", 9, 5),
        text=lambda line: (
            f"{n} none !" if (n := line.group.unprotected) else show.money(line.group.risk)
        ),
        role=lambda line: "danger" if line.group.unprotected else "muted",
        value=lambda line: None if line.group.unprotected else line.group.risk,
    ),
    PositionColumn(
        *("long", "long", 10, 9),
        group="units",
        text=lambda line: show.units(line.position.long_units or None),
        value=lambda line: line.position.long_units,
    ),
    PositionColumn(
        *("long_average", "long avg", 10, 10),
        group="averages",
        text=lambda line: line.price(line.position.long_average),
        value=lambda line: line.position.long_average,
    ),
    PositionColumn(
        *("short", "short", 10, 9),
        group="units",
        text=lambda line: show.units(line.position.short_units or None),
        value=lambda line: abs(line.position.short_units),
    ),
    PositionColumn(
        *("short_average", "short avg", 10, 10),
        group="averages",
        text=lambda line: line.price(line.position.short_average),
        value=lambda line: line.position.short_average,
    ),
    PositionColumn(
        *("margin", "margin", 10, 7),
        text=lambda line: show.money(line.position.margin_used),
        value=lambda line: line.position.margin_used,
    ),
    PositionColumn(
        *("trades", "trades", 6, 6),
        text=lambda line: str(len(line.position.trade_ids)),
        value=lambda line: Decimal(len(line.position.trade_ids)),
        search_text=lambda line: " ".join(f"{each.id} {each.tag}" for each in line.trades),
    ),
)


class Positions(InstrumentRows, ColumnTable[PositionLine]):
    """One row per instrument."""

    KEY_CONTEXT: ClassVar[str] = POSITIONS
    NAME: ClassVar[str] = "Positions"
    COLUMNS: ClassVar[tuple[PositionColumn, ...]] = POSITION_COLUMNS

    def __init__(self, *, id: str | None = "positions") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)

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

    def record(self, key: str, store: Store) -> PositionLine | None:
        """Return what the columns read of a position."""
        position = store.positions.get(key)
        return None if position is None else PositionLine(position, store)
