"""The positions: all trades of an instrument together, long and short apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from keydesk.keys.keymap import POSITIONS
from keydesk.panes.instrument_rows import InstrumentRows
from keydesk.panes.prices import prices_are_old, shape_of, signed_role
from keydesk.panes.trades import READING, side_run
from keydesk.records import PositionRow
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.table import Column


class Positions(InstrumentRows):
    """One row an instrument."""

    KEY_CONTEXT: ClassVar[str] = POSITIONS
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("pair", "pair", 7, right=False),
        Column("side", "side", 5, rank=1, right=False),
        Column("net", "net units", 11),
        Column("pl", "P/L", 11),
        Column("long", "long", 10, rank=5, group="units"),
        Column("long_average", "long avg", 10, rank=2, group="averages"),
        Column("short", "short", 10, rank=5, group="units"),
        Column("short_average", "short avg", 10, rank=2, group="averages"),
        Column("margin", "margin", 10, rank=3),
        Column("trades", "trades", 6, rank=4),
    )

    def __init__(self, *, id: str | None = "positions") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._old = False

    def heading(self) -> Heading:
        """How many there are."""
        if self.frame is None or self.frame.store.account is None:
            return Heading((Tab("Positions"),))
        return Heading((Tab(safe(f"Positions {len(self.frame.store.positions)}")),))

    def instrument_of(self, key: str, store: Store) -> str:
        """The instrument of a row."""
        return key if key in store.positions else ""

    def empty(self, frame: Frame) -> str:
        """How a position comes about."""
        if frame.store.account is None:
            return READING
        buy, sell = self.keymap.name("buy"), self.keymap.name("sell")
        what = show.pair(frame.store.focus) or "what is watched"
        return f"No positions. {buy} buys, {sell} sells {what}."

    def changed(self, frame: Frame) -> None:
        """Redraw the rows whose numbers moved."""
        dirty = frame.keys(Topic.POSITIONS)
        self.set_keys(sorted(frame.store.positions))
        old, self._old = self._old, prices_are_old(frame.store)
        if None in dirty or old != self._old:
            self.redraw()
        for key in dirty:
            self.redraw_row(str(key))

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """One cell of a position."""
        position = frame.store.positions.get(key)
        if position is None:
            return []
        net = position.long_units + position.short_units
        match column:
            case "side" if not net:
                return [("FLAT", self.palette["muted"])]
            case "side":
                return [side_run(self.palette, net)]
            case "pl" if self._old:
                text = show.money(position.unrealized_pl, signed=True)
                return [(text, self.palette["faint"])]
            case "pl":
                style = self.palette[signed_role(position.unrealized_pl)] + self.palette.at_stake
                return [(show.money(position.unrealized_pl, signed=True), style)]
            case _:
                weight = "plain" if column in ("pair", "net") else "muted"
                return [(safe(self._text(position, column, frame)), self.palette[weight])]

    def _text(self, position: PositionRow, column: str, frame: Frame) -> str:
        write = shape_of(frame.store, position.instrument).write
        texts = {
            "pair": show.pair(position.instrument),
            "net": show.units(position.long_units + position.short_units, signed=True),
            "long": show.units(position.long_units or None),
            "long_average": write(position.long_average),
            "short": show.units(position.short_units or None),
            "short_average": write(position.short_average),
            "margin": show.money(position.margin_used),
            "trades": str(len(position.trade_ids)),
        }
        return texts[column]
