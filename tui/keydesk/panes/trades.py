"""The open trades, together by instrument where asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from keydesk.calc.risk.trade_groups import TradeGroup, group_of
from keydesk.keys.keymap import TRADES
from keydesk.keys.textual_bindings import bindings_of
from keydesk.panes.instrument_rows import InstrumentRows
from keydesk.panes.price_cells import price_format_of, prices_are_old
from keydesk.panes.trade_measures import GROUP, away, group_name, measure_of
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unknown import UNKNOWN, are_trades_known, unknown_text
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, SafeText, clean, clean_name, safe
from keydesk.values import AccountState, DependentOrder, TradeRow, id_order, is_unprotected
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.row_order import Measured
from keydesk.widgets.sorted_table import SortedTable
from keydesk.widgets.strip_line import Item, fit_items, joined
from keydesk.widgets.table import Column
from keydesk.widgets.theme import ColourRole, Palette, signed_role
from keydesk_client.arithmetic.constants import MINUTE
from keydesk_client.arithmetic.risk import nearest_stop

WIDEST_TAG = 12
NO_MEMBERS: frozenset[str] = frozenset()
_SIZE = frozenset({"current_units"})
_RESULT = frozenset({"current_units", "realized_pl", "financing"})
UNKNOWN_WITHOUT: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("side", "units", "pl", "risk", "margin"), _SIZE),
    "r": _RESULT | {"initial_units"},
    "financing": frozenset({"financing"}),
    "age": frozenset({"open_time"}),
    "target": frozenset({"take_profit_order_id"}),
}
"""Columns of a trade, and the members without which they are not known."""
READING = "The account is being read …"  # until then the list is not known to be empty


class Trades(InstrumentRows, SortedTable):
    """One row per trade, a line of totals beneath; grouped, a row of sums above the trades of each instrument."""

    class NoteWanted(Message):
        """The user wants to write about the selected trade."""

    KEY_CONTEXT: ClassVar[str] = TRADES
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(TRADES)]
    NAME: ClassVar[str] = "Trades"
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
        Column("to_stop", "to stop", 8, rank=8),
        Column("to_target", "to target", 9, rank=9),
        Column("trail", "trail", 9, rank=11),
        Column("risk", "risk", 9, rank=10),
        Column("financing", "swap", 8, rank=13),
        Column("margin", "margin", 9, rank=15),
        Column("age", "age", 6, rank=14),
        Column("tag", "tag", 6, rank=12, right=False),
    )

    def __init__(self, *, id: str | None = "trades") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.by_instrument = False
        self._minute = 0
        self._old = False

    def heading(self) -> Heading:
        """Return how many there are; an unprotected one shows even behind another tab."""
        if self.frame is None or self.frame.store.account is None:
            return Heading((Tab("Trades"),))
        trades = self.frame.store.trades.values()
        alarm = " !" if any(is_unprotected(trade) for trade in trades) else ""
        return self.titled(len(trades), alarm, unread=unread_count(self.frame.store.unread.trades))

    def right_text(self, usual: str = "") -> Printable:
        """Return whether rows are grouped, then how they are sorted and filtered."""
        together = "by instrument" if self.by_instrument else ""
        return safe(", ".join(filter(None, (together, super().right_text(usual)))))

    def instrument_of(self, key: str, store: Store) -> str:
        """Return the instrument of a row."""
        trade = store.trades.get(key)
        return trade.instrument if trade is not None else group_name(key)

    def empty(self, frame: Frame) -> Printable:
        """Return how to open a trade, or how to see those that there are."""
        return nothing_open(self, frame, "No trades.")

    def changed(self, frame: Frame) -> None:
        """Redraw the rows whose numbers moved."""
        dirty = frame.keys(Topic.TRADES)
        self.show_rows(sorted(frame.store.trades, key=id_order, reverse=True), frame)
        minute, self._minute = self._minute, int(frame.time_ns // MINUTE)
        old, self._old = self._old, prices_are_old(frame.store)
        if None in dirty or minute != self._minute or old != self._old:
            self.redraw()
            return
        for key in dirty:
            self.redraw_row(str(key))
        if dirty and self.by_instrument:
            for key in self._shown():
                if group_name(key):
                    self.redraw_row(key)
        if dirty or frame.touched(Topic.ACCOUNT):
            self.redraw_line(self.outer_size.height - 1)

    # Cells.

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of a trade."""
        trade = frame.store.trades.get(key)
        if trade is None:
            return self._group_cell(group_name(key), column, frame)
        return self._trade_cell(trade, column, frame)

    def _trade_cell(self, trade: TradeRow, column: str, frame: Frame) -> Sequence[Run]:
        if trade.unread & UNKNOWN_WITHOUT.get(column, NO_MEMBERS):
            return [(UNKNOWN, self.palette["danger"])]
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
                return [self._plain_cell(trade, column, frame)]

    def _plain_cell(self, trade: TradeRow, column: str, frame: Frame) -> Run:
        moves = column in ("now", "to_stop", "to_target")
        role: ColourRole = "faint" if self.by_instrument and column == "pair" else _weight(column)
        style = self._by_price(role) if moves else self.palette[role]
        return (safe(self._text(trade, column, frame)), style)

    def _profit(self, trade: TradeRow) -> list[Run]:
        style = self._by_price(signed_role(trade.unrealized_pl))
        at_stake = style if self._old else style + self.palette.at_stake
        return [(show.money(trade.unrealized_pl, signed=True), at_stake)]

    def _by_price(self, role: ColourRole) -> Style:
        """Return the style of a value computed from prices; faint while prices are stale."""
        return self.palette["faint" if self._old else role]

    def _stop(self, trade: TradeRow, store: Store) -> list[Run]:
        """Return the nearest stop, marked `t` when it is the trailing one and `p` when an exit plan moves it."""
        plan = self._plan_mark(trade, store)
        if is_unprotected(trade):
            return [("none !", self.palette["danger"]), *plan]
        write = price_format_of(store, trade.instrument).write
        stops = (trade.stop_loss, trade.guaranteed_stop, trade.trailing_stop)
        nearest = nearest_stop(trade.units, (each.price for each in stops if each is not None))
        trails = trade.trailing_stop is not None and trade.trailing_stop.price == nearest
        mark: list[Run] = [("t" if plan else " t", self.palette["muted"])] if trails else []
        if nearest is None:  # it stands at the broker, at a price that is not known
            return [(UNKNOWN, self.palette["danger"]), *plan]
        return [(write(nearest), self.palette["plain"]), *mark, *plan]

    def _plan_mark(self, trade: TradeRow, store: Store) -> list[Run]:
        """Return the mark of an exit plan, in the colour of a warning while it waits or another desk carries it out."""
        if trade.id not in store.exit_plans:
            return []
        return [("p", self.palette["warn" if store.exit_plan_states.get(trade.id) else "focus"])]

    def _text(self, trade: TradeRow, column: str, frame: Frame) -> str:
        write = price_format_of(frame.store, trade.instrument).write

        def dependent(order: DependentOrder | None) -> SafeText:
            return write(order.price if order else None)

        texts: Mapping[str, str] = {
            "id": clean_name(trade.id) + (" ?" if "id" in trade.unread else ""),
            "pair": show.pair(trade.instrument),
            "units": show.units(abs(trade.units)),
            "entry": write(trade.price),
            "now": write(trade.now),
            "target": dependent(trade.take_profit),
            "to_stop": show.pips(away(trade, "to_stop", frame.store), signed=False),
            "to_target": show.pips(away(trade, "to_target", frame.store), signed=False),
            "trail": dependent(trade.trailing_stop),
            "risk": show.money(trade.risk),
            "financing": show.money(trade.financing, signed=True),
            "margin": show.money(trade.margin_used),
            "age": show.age(trade.open_time_ns, frame.time_ns),
            "tag": show.shorten(clean(trade.tag or show.EMPTY), WIDEST_TAG),
        }
        return texts[column]

    def action_note(self) -> None:
        """Ask for the form of a note on the selected trade."""
        self.post(self.NoteWanted())

    # Groups.

    def action_group(self) -> None:
        """Show the trades of each instrument together under their sums, or newest first."""
        self.by_instrument = not self.by_instrument
        self._rearrange()

    def grouped(self, rows: list[str], store: Store) -> list[str]:
        """Return the rows, those of an instrument together; instruments by their first row."""
        if not self.by_instrument:
            return rows
        groups: dict[str, list[str]] = {}
        for key in rows:
            groups.setdefault(store.trades[key].instrument, []).append(key)
        return [key for name, keys in groups.items() for key in (GROUP + name, *keys)]

    def _group_cell(self, name: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of the sums of an instrument's trades."""
        trades = [each for each in frame.store.trades.values() if each.instrument == name]
        if not trades:
            return []
        if column != "pair" and not are_trades_known(frame.store):
            return [(UNKNOWN, self.palette["danger"])]
        return self._sum_cell(name, trades, column, frame)

    def _sum_cell(
        self, name: str, trades: Sequence[TradeRow], column: str, frame: Frame
    ) -> Sequence[Run]:
        group, at_stake = group_of(trades), self.palette.at_stake
        match column:
            case "side" if group.is_hedged:
                return [("BOTH", self.palette["muted"])]
            case "side":
                return [side_run(self.palette, group.units)]
            case "pips" | "r" | "pl":
                return signed_cells(self.palette, group, column, old=self._old)
            case "stop" if group.unprotected:
                return [(safe(f"{group.unprotected} none !"), self.palette["danger"])]
            case _:
                text = self._group_text(name, group, len(trades), column, frame)
                return [(text, self.palette["plain"] + at_stake)]

    def _group_text(
        self, name: str, group: TradeGroup, count: int, column: str, frame: Frame
    ) -> SafeText:
        write = price_format_of(frame.store, name).write
        texts: Mapping[str, str] = {
            "pair": f"{show.pair(name)} ×{count}",
            "units": show.units(abs(group.units)),
            "entry": write(group.entry) if group.entry is not None else "",
            "now": write(group.now) if group.now is not None else "",
            "risk": show.money(group.risk),
            "financing": show.money(group.financing, signed=True),
            "margin": show.money(group.margin),
        }
        return safe(texts.get(column, ""))

    # Sorting and filtering.

    def measure(self, key: str, column: str, store: Store) -> Measured:
        """Return what a column measures of a trade."""
        trade = store.trades.get(key)
        return None if trade is None else measure_of(trade, column, store)

    def text_of(self, key: str, store: Store) -> str:
        """Return instrument, side, tag and id."""
        trade = store.trades.get(key)
        if trade is None:
            return ""
        side = "long buy" if trade.units > 0 else "short sell"
        unprotected = "naked" if is_unprotected(trade) else ""
        return f"{trade.instrument} {side} {trade.tag} {trade.id} {unprotected}"

    # Totals.

    def foot(self, line: int, frame: Frame) -> Iterable[Run]:  # noqa: ARG002 - there is one
        """Return the totals of profit and risk."""
        account, trades = frame.store.account, frame.store.trades
        unread = frame.store.unread.trades
        if account is None or not (trades or unread):
            return []
        count = len(trades)
        muted, faint = self.palette["muted"], self.palette["faint"]
        profit = account.unrealized_pl
        items = [
            Item(((safe(f"{count:,} trade{'s' if count > 1 else ''}"), muted),), 2),
            Item(
                (
                    (show.money(profit, signed=True), self._by_price(signed_role(profit))),
                    (safe(f" {clean_name(account.currency)}"), faint),
                )
            ),
            Item((("open risk ", faint), *self._open_risk(account)), 3),
        ]
        if unread:
            words = safe(f"{counted_unread(unread)}: {'; '.join(clean(each) for each in unread)}")
            items.insert(0, Item(((words, self.palette["danger"]),), 0))
        if plans := sum(each in trades for each in frame.store.exit_plans):
            text = safe(f"{plans} exit plan{'s' if plans > 1 else ''} p: while Keydesk runs")
            items.append(Item(((text, muted),), 4))
        if account.unprotected_trades:
            text = safe(f"{account.unprotected_trades} without a stop !")
            items.append(Item(((text, self.palette["danger"]),), 1))
        return joined(fit_items(items, self.inside, 3), "   ", self.palette["plain"])

    def _open_risk(self, account: AccountState) -> Iterable[Run]:
        """Yield what is lost at the stops; a trade without one makes it unlimited."""
        faint = self.palette["faint"]
        if account.unprotected_trades:
            yield show.UNLIMITED, self.palette["danger"]
            if account.open_risk:
                yield safe(f" ({show.money(account.open_risk)} to the stops)"), faint
            return
        if account.open_risk is None:
            yield UNKNOWN, self.palette["danger"]
            return
        yield show.money(account.open_risk), self.palette["muted"]
        if account.open_risk is not None and account.nav:
            yield safe(f" ({show.percent(account.open_risk / account.nav)}% of NAV)"), faint


def unread_count(unread: Sequence[str]) -> str:
    """Return how many have no row as they could not be read: "2 ?"; "" for none."""
    return f"{len(unread)} ?" if unread else ""


def counted_unread(unread: Sequence[str]) -> str:
    """Return the same in words: "2 could not be read"."""
    return f"{len(unread)} could not be read" if unread else ""


def signed_cells(palette: Palette, group: TradeGroup, column: str, *, old: bool) -> list[Run]:
    """Return pips, R or profit of trades together, coloured by its sign; faint while prices are stale."""
    value, text = {
        "pips": (group.pips, show.pips(group.pips)),
        "r": (group.r_multiple, show.r_multiple(group.r_multiple)),
        "pl": (group.profit, show.money(group.profit, signed=True)),
    }[column]
    if old:
        return [(text, palette["faint"])]
    style = palette[signed_role(value)]
    return [(text, style + palette.at_stake if column == "pl" else style)]


def side_run(palette: Palette, units: Decimal) -> Run:
    """Return the side in a word and a colour."""
    return ("LONG", palette["buy"]) if units > 0 else ("SHORT", palette["sell"])


def _weight(column: str) -> ColourRole:
    return "plain" if column in ("pair", "units", "entry", "now", "target") else "muted"


def why_no_rows(pane: SortedTable, frame: Frame, nothing: Printable) -> Printable:
    """Return why no row is shown, "" where there are none and the terminal has room for a ticket."""
    if frame.store.account is None:
        return READING
    if unknown := unknown_text(frame.store):
        return safe(f"Not known: {unknown} could not be read.")
    return pane.no_rows() or (nothing if pane.exits_only else "")


def nothing_open(pane: SortedTable, frame: Frame, nothing: Printable) -> Printable:
    """Return why no row is shown, or `nothing` with the keys that open a trade, and of which instrument."""
    buy, sell = pane.keymap.name("buy"), pane.keymap.name("sell")
    keys = f"{buy} buys, {sell} sells {show.pair(frame.store.focus) or 'the instrument'}."
    return why_no_rows(pane, frame, nothing) or safe(f"{nothing} {keys}")
