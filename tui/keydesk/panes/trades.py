"""The open trades and the positions per instrument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from rich.style import Style

from keydesk.keys.keymap import POSITIONS, TRADES
from keydesk.panes.price_cells import InstrumentRows, prices_are_old, shape_of, signed_role
from keydesk.records import DependentOrder, PositionRow, TradeRow
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import SafeText, clean_name, safe
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.strip_line import Item, fit_items, joined
from keydesk.widgets.table import Column
from keydesk.widgets.theme import Palette
from keydesk_client.arithmetic.risk import nearest_stop

MINUTE = 60
READING = "The account is being read …"  # until then the list is not known to be empty


class Trades(InstrumentRows):
    """One row per trade, a line of totals beneath."""

    KEY_CONTEXT: ClassVar[str] = TRADES
    FOOT = 1
    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("id", "id", 6, rank=6, right=False),
        Column("pair", "pair", 7, right=False),
        Column("side", "side", 5, rank=1, right=False),
        Column("units", "units", 9, rank=1),
        Column("entry", "entry", 9, rank=4),
        Column("now", "now", 9, rank=5),
        Column("pips", "pips", 7, rank=2),
        Column("pl", "P/L", 10),
        Column("r", "R", 5, rank=7),
        Column("stop", "stop", 9, rank=0),
        Column("target", "target", 9, rank=3),
        Column("trail", "trail", 9, rank=9),
        Column("risk", "risk", 9, rank=8),
        Column("financing", "swap", 8, rank=10),
        Column("margin", "margin", 9, rank=12),
        Column("age", "age", 6, rank=11),
    )

    def __init__(self, *, id: str | None = "trades") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._minute = 0
        self._old = False

    def heading(self) -> Heading:
        """Return how many there are; a naked one shows even behind another tab."""
        if self.frame is None or self.frame.store.account is None:
            return Heading((Tab("Trades"),))
        trades = self.frame.store.trades.values()
        alarm = " !" if any(is_naked(trade) for trade in trades) else ""
        return Heading((Tab(safe(f"Trades {len(trades)}{alarm}")),))

    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row."""
        trade = store.trades.get(key)
        return trade.instrument if trade is not None else ""

    def empty(self, frame: Frame) -> str:
        """Return how to open a trade."""
        if frame.store.account is None:
            return READING
        if self.exits_only:
            return "No trades."
        buy, sell = self.keymap.name("buy"), self.keymap.name("sell")
        what = show.pair(frame.store.focus) or "what is watched"
        return f"No trades. {buy} buys, {sell} sells {what}."

    def changed(self, frame: Frame) -> None:
        """Redraw the rows whose numbers moved."""
        dirty = frame.keys(Topic.TRADES)
        newest_first = sorted(frame.store.trades, key=lambda key: (len(key), key), reverse=True)
        self.set_keys(newest_first)
        minute, self._minute = self._minute, int(frame.wall_ns // (MINUTE * show.SECOND))
        old, self._old = self._old, prices_are_old(frame.store)
        if None in dirty or minute != self._minute or old != self._old:
            self.redraw()
            return
        for key in dirty:
            self.redraw_row(str(key))
        if dirty or frame.touched(Topic.ACCOUNT):
            self.redraw_line(self.outer_size.height - 1)

    # Cells.

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of a trade."""
        trade = frame.store.trades.get(key)
        if trade is None:
            return []
        match column:
            case "side":
                return [side_run(self.palette, trade.units)]
            case "pips" | "r":
                value = trade.pips if column == "pips" else trade.r_multiple
                text = show.pips(value) if column == "pips" else show.r_multiple(value)
                return [(text, self._by_price(signed_role(value)))]
            case "pl":
                return self._profit(trade)
            case "stop":
                return self._stop(trade, frame.store)
            case _:
                role = _weight(column)
                style = self._by_price(role) if column == "now" else self.palette[role]
                return [(safe(self._text(trade, column, frame)), style)]

    def _profit(self, trade: TradeRow) -> list[Run]:
        style = self._by_price(signed_role(trade.unrealized_pl))
        at_stake = style if self._old else style + self.palette.at_stake
        return [(show.money(trade.unrealized_pl, signed=True), at_stake)]

    def _by_price(self, role: str) -> Style:
        """Return the style of a value computed from prices; faint while prices are stale."""
        return self.palette["faint" if self._old else role]

    def _stop(self, trade: TradeRow, store: Store) -> list[Run]:
        """Return the nearest stop, marked `t` when it is the trailing one and `p` when an exit plan moves it."""
        plan = self._plan_mark(trade, store)
        if is_naked(trade):
            return [("none !", self.palette["danger"]), *plan]
        write = shape_of(store, trade.instrument).write
        stops = (trade.stop_loss, trade.guaranteed_stop, trade.trailing_stop)
        nearest = nearest_stop(trade.units, (each.price for each in stops if each is not None))
        trails = trade.trailing_stop is not None and trade.trailing_stop.price == nearest
        mark: list[Run] = [("t" if plan else " t", self.palette["muted"])] if trails else []
        return [(write(nearest), self.palette["plain"]), *mark, *plan]

    def _plan_mark(self, trade: TradeRow, store: Store) -> list[Run]:
        """Return the mark of an exit plan, in the colour of a warning while it waits or another desk carries it out."""
        if trade.id not in store.exit_plans:
            return []
        return [("p", self.palette["warn" if store.exit_plan_states.get(trade.id) else "focus"])]

    def _text(self, trade: TradeRow, column: str, frame: Frame) -> str:
        write = shape_of(frame.store, trade.instrument).write

        def dependent(order: DependentOrder | None) -> SafeText:
            return write(order.price if order else None)

        texts: Mapping[str, str] = {
            "id": clean_name(trade.id),
            "pair": show.pair(trade.instrument),
            "units": show.units(abs(trade.units)),
            "entry": write(trade.price),
            "now": write(trade.now),
            "target": dependent(trade.take_profit),
            "trail": dependent(trade.trailing_stop),
            "risk": show.money(trade.risk),
            "financing": show.money(trade.financing, signed=True),
            "margin": show.money(trade.margin_used),
            "age": show.age(trade.open_time_ns, frame.wall_ns),
        }
        return texts[column]

    # Totals.

    def foot(self, line: int, frame: Frame) -> Iterable[Run]:  # noqa: ARG002 - there is one
        """Return the totals of profit and risk."""
        account, trades = frame.store.account, frame.store.trades
        if not trades or account is None:
            return []
        count = len(trades)
        muted, faint = self.palette["muted"], self.palette["faint"]
        profit = account.unrealized_pl
        share = safe("")
        if account.open_risk is not None and account.nav:
            share = safe(f" ({show.percent(account.open_risk / account.nav)}% of NAV)")
        items = [
            Item(((safe(f"{count} trade{'s' if count > 1 else ''}"), muted),), 2),
            Item(
                (
                    (show.money(profit, signed=True), self._by_price(signed_role(profit))),
                    (safe(f" {clean_name(account.currency)}"), faint),
                )
            ),
            Item(
                (("open risk ", faint), (show.money(account.open_risk), muted), (share, faint)), 3
            ),
        ]
        if plans := sum(each in trades for each in frame.store.exit_plans):
            words = safe(f"{plans} exit plan{'s' if plans > 1 else ''} p: while Keydesk runs")
            items.append(Item(((words, muted),), 4))
        if account.naked_trades:
            words = safe(f"{account.naked_trades} without a stop !")
            items.append(Item(((words, self.palette["danger"]),), 1))
        return joined(fit_items(items, self.inside, 3), "   ", self.palette["plain"])


def is_naked(trade: TradeRow) -> bool:
    """Return whether nothing stops the trade."""
    return not (trade.stop_loss or trade.guaranteed_stop or trade.trailing_stop)


def side_run(palette: Palette, units: Decimal) -> Run:
    """Return the side in a word and a colour."""
    return ("LONG", palette["buy"]) if units > 0 else ("SHORT", palette["sell"])


def _weight(column: str) -> str:
    return "plain" if column in ("pair", "units", "entry", "now", "target") else "muted"


class Positions(InstrumentRows):
    """One row per instrument."""

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
        """Return how many there are."""
        if self.frame is None or self.frame.store.account is None:
            return Heading((Tab("Positions"),))
        return Heading((Tab(safe(f"Positions {len(self.frame.store.positions)}")),))

    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row."""
        return key if key in store.positions else ""

    def empty(self, frame: Frame) -> str:
        """Return how to open a position."""
        if frame.store.account is None:
            return READING
        if self.exits_only:
            return "No positions."
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
        """Return one cell of a position."""
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
