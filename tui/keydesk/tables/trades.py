"""The open trades, together by instrument where asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import ClassVar

from msgspec import Struct
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from keydesk.calc.risk.trade_groups import TradeGroup, group_of
from keydesk.keys.keymap import TRADES
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unknown import UNKNOWN, are_trades_known, unknown_text
from keydesk.tables.column import ValueColumn, number_of_id
from keydesk.tables.column_table import ColumnTable
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.sorted_table import SortedTable
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean, clean_name, safe
from keydesk.values import AccountState, DependentOrder, TradeRow, id_order, is_unprotected
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.price_cells import price_format_of, prices_are_old
from keydesk.widgets.strip_line import Item, fit_items, joined
from keydesk.widgets.theme import ColourRole, Palette, signed_role
from keydesk_client.arithmetic.constants import MINUTE
from keydesk_client.arithmetic.risk import nearest_stop

WIDEST_TAG = 12
READING = "The account is being read …"  # until then the list is not known to be empty
GROUP = "= "  # before the instrument, in the key of a row of sums


class TradeLine(Struct, frozen=True):
    """What the columns read of a trade."""

    trade: TradeRow
    store: Store
    now_ns: int
    grouped: bool = False  # beneath a row of sums

    def price(self, value: Decimal | None) -> str:
        """Return a price as the instrument's are written."""
        return price_format_of(self.store, self.trade.instrument).write(value)

    def dependent(self, order: DependentOrder | None) -> str:
        """Return the price of a dependent order."""
        return self.price(order.price if order else None)

    @property
    def stop(self) -> Decimal | None:
        """The nearest of its stops."""
        stops = (self.trade.stop_loss, self.trade.guaranteed_stop, self.trade.trailing_stop)
        return nearest_stop(self.trade.units, (each.price for each in stops if each is not None))

    @property
    def to_stop(self) -> Decimal | None:
        """The pips from the closing price to the nearest stop."""
        away = self._beyond(self.stop)
        return None if away is None else -away

    @property
    def to_target(self) -> Decimal | None:
        """The pips from the closing price to the target."""
        target = self.trade.take_profit
        return self._beyond(None if target is None else target.price)

    def _beyond(self, level: Decimal | None) -> Decimal | None:
        """Return the pips that the closing price has to win to a level; None without one."""
        trade = self.trade
        if level is None or trade.now is None:
            return None
        distance = level - trade.now if trade.units > 0 else trade.now - level
        return price_format_of(self.store, trade.instrument).pips(distance)


class TradeSums(Struct, frozen=True):
    """What the columns read of an instrument's trades together."""

    name: str
    count: int
    group: TradeGroup
    store: Store

    def price(self, value: Decimal | None) -> str:
        """Return a price as the instrument's are written, "" without one."""
        return "" if value is None else price_format_of(self.store, self.name).write(value)


class TradeColumn(ValueColumn[TradeLine], frozen=True, kw_only=True):
    """A column of trades; `sums` is what it shows of an instrument's trades together."""

    sums: Callable[[TradeSums], str] = lambda _: ""
    sums_role: Callable[[TradeSums], ColourRole] | None = None  # without it: plain, at stake

    def sum_cell(self, sums: TradeSums, palette: Palette, *, old: bool) -> Run:
        """Return what the column shows of a row of sums."""
        text = safe(self.sums(sums))
        if self.sums_role is None:
            return (text, palette["plain"] + palette.at_stake)
        return (text, self.style(self.sums_role(sums), palette, old=old))


def side_word(units: Decimal) -> str:
    """Return the side in a word."""
    return "LONG" if units > 0 else "SHORT"


def side_role(units: Decimal) -> ColourRole:
    """Return the colour of a side."""
    return "buy" if units > 0 else "sell"


def _stop_marks(line: TradeLine, palette: Palette) -> list[Run]:
    """Return `t` when the nearest stop is the trailing one and `p` when an exit plan moves it.

    The plan's has the colour of a warning while it waits or another desk carries it out.
    """
    trade, store = line.trade, line.store
    plan: list[Run] = []
    if trade.id in store.exit_plans:
        waits = store.exit_plan_states.get(trade.id)
        plan = [("p", palette["warn" if waits else "focus"])]
    trailing = trade.trailing_stop
    if trailing is None or line.stop is None or trailing.price != line.stop:
        return plan
    mark: Run = ("t" if plan else " t", palette["muted"])
    return [mark, *plan]


def _without(*members: str) -> Callable[[TradeLine], bool]:
    """Return whether one of these members of a trade could not be read."""
    return lambda line: not line.trade.unread.isdisjoint(members)


TRADE_COLUMNS: tuple[TradeColumn, ...] = (
    TradeColumn(
        *("id", "id", 6, 6),
        right=False,
        text=lambda line: clean_name(line.trade.id) + (" ?" if "id" in line.trade.unread else ""),
        value=lambda line: number_of_id(line.trade.id),
        letters=lambda line: line.trade.id,
    ),
    TradeColumn(
        *("pair", "pair", 7),
        right=False,
        ascending=True,
        text=lambda line: show.pair(line.trade.instrument),
        role=lambda line: "faint" if line.grouped else "plain",
        value=lambda line: line.trade.instrument,
        letters=lambda line: line.trade.instrument,
        sums=lambda sums: f"{show.pair(sums.name)} ×{sums.count}",
    ),
    TradeColumn(
        *("side", "side", 5, 1),
        unknown=_without("current_units"),
        right=False,
        ascending=True,
        text=lambda line: side_word(line.trade.units),
        role=lambda line: side_role(line.trade.units),
        value=lambda line: side_word(line.trade.units),
        letters=lambda line: "long buy" if line.trade.units > 0 else "short sell",
        sums=lambda sums: "BOTH" if sums.group.is_hedged else side_word(sums.group.units),
        sums_role=lambda sums: "muted" if sums.group.is_hedged else side_role(sums.group.units),
    ),
    TradeColumn(
        *("units", "units", 9, 1),
        unknown=_without("current_units"),
        text=lambda line: show.units(abs(line.trade.units)),
        role="plain",
        value=lambda line: abs(line.trade.units),
        sums=lambda sums: show.units(abs(sums.group.units)),
    ),
    TradeColumn(
        *("entry", "entry", 9, 4),
        text=lambda line: line.price(line.trade.price),
        role="plain",
        value=lambda line: line.trade.price,
        sums=lambda sums: sums.price(sums.group.entry),
    ),
    TradeColumn(
        *("now", "now", 9, 5),
        text=lambda line: line.price(line.trade.now),
        role="plain",
        by_price=True,
        value=lambda line: line.trade.now,
        sums=lambda sums: sums.price(sums.group.now),
    ),
    TradeColumn(
        *("pips", "pips", 7, 2),
        text=lambda line: show.pips(line.trade.pips),
        role=lambda line: signed_role(line.trade.pips),
        by_price=True,
        value=lambda line: line.trade.pips,
        sums=lambda sums: show.pips(sums.group.pips),
        sums_role=lambda sums: signed_role(sums.group.pips),
    ),
    TradeColumn(
        *("pl", "P/L", 10),
        unknown=_without("current_units"),
        text=lambda line: show.money(line.trade.unrealized_pl, signed=True),
        role=lambda line: signed_role(line.trade.unrealized_pl),
        by_price=True,
        at_stake=True,
        value=lambda line: line.trade.unrealized_pl,
        sums=lambda sums: show.money(sums.group.profit, signed=True),
        sums_role=lambda sums: signed_role(sums.group.profit),
    ),
    TradeColumn(
        *("r", "R", 5, 7),
        unknown=_without("current_units", "realized_pl", "financing", "initial_units"),
        text=lambda line: show.r_multiple(line.trade.r_multiple),
        role=lambda line: signed_role(line.trade.r_multiple),
        by_price=True,
        value=lambda line: line.trade.r_multiple,
        sums=lambda sums: show.r_multiple(sums.group.r_multiple),
        sums_role=lambda sums: signed_role(sums.group.r_multiple),
    ),
    TradeColumn(
        *("stop", "stop", 9, 0),
        unknown=lambda line: line.stop is None and not is_unprotected(line.trade),
        text=lambda line: "none !" if is_unprotected(line.trade) else line.price(line.stop),
        role=lambda line: "danger" if is_unprotected(line.trade) else "plain",
        marks=_stop_marks,
        value=lambda line: line.to_stop,
        letters=lambda line: "naked" if is_unprotected(line.trade) else "",
        sums=lambda sums: f"{sums.group.unprotected} none !" if sums.group.unprotected else "",
        sums_role=lambda _: "danger",
    ),
    TradeColumn(
        *("target", "target", 9, 3),
        unknown=_without("take_profit_order_id"),
        text=lambda line: line.dependent(line.trade.take_profit),
        role="plain",
        value=lambda line: line.to_target,
    ),
    TradeColumn(
        *("to_stop", "to stop", 8, 8),
        text=lambda line: show.pips(line.to_stop, signed=False),
        by_price=True,
        value=lambda line: line.to_stop,
    ),
    TradeColumn(
        *("to_target", "to target", 9, 9),
        text=lambda line: show.pips(line.to_target, signed=False),
        by_price=True,
        value=lambda line: line.to_target,
    ),
    TradeColumn(
        *("trail", "trail", 9, 11),
        text=lambda line: line.dependent(line.trade.trailing_stop),
        value=lambda line: line.trade.trailing_stop.distance if line.trade.trailing_stop else None,
    ),
    TradeColumn(
        *("risk", "risk", 9, 10),
        unknown=_without("current_units"),
        text=lambda line: show.money(line.trade.risk),
        value=lambda line: line.trade.risk,
        sums=lambda sums: show.money(sums.group.risk),
    ),
    TradeColumn(
        *("financing", "swap", 8, 13),
        unknown=_without("financing"),
        text=lambda line: show.money(line.trade.financing, signed=True),
        value=lambda line: line.trade.financing,
        sums=lambda sums: show.money(sums.group.financing, signed=True),
    ),
    TradeColumn(
        *("margin", "margin", 9, 15),
        unknown=_without("current_units"),
        text=lambda line: show.money(line.trade.margin_used),
        value=lambda line: line.trade.margin_used,
        sums=lambda sums: show.money(sums.group.margin),
    ),
    TradeColumn(
        *("age", "age", 6, 14),
        unknown=_without("open_time"),
        text=lambda line: show.age(line.trade.open_time_ns, line.now_ns),
        value=lambda line: -Decimal(line.trade.open_time_ns),
    ),
    TradeColumn(
        *("tag", "tag", 6, 12),
        right=False,
        ascending=True,
        text=lambda line: show.shorten(clean(line.trade.tag or show.EMPTY), WIDEST_TAG),
        value=lambda line: line.trade.tag or None,
        letters=lambda line: line.trade.tag,
    ),
)


def group_name(key: str) -> str:
    """Return the instrument whose sums a row shows, "" for the row of a trade."""
    return key.removeprefix(GROUP) if key.startswith(GROUP) else ""


class Trades(InstrumentRows, ColumnTable[TradeLine]):
    """One row per trade, a line of totals beneath; grouped, a row of sums above the trades of each instrument."""

    class NoteWanted(Message):
        """The user wants to write about the selected trade."""

    KEY_CONTEXT: ClassVar[str] = TRADES
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(TRADES)]
    NAME: ClassVar[str] = "Trades"
    FOOT = 1
    COLUMNS: ClassVar[tuple[TradeColumn, ...]] = TRADE_COLUMNS

    def __init__(self, *, id: str | None = "trades") -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.by_instrument = False
        self._minute = 0

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

    def record(self, key: str, store: Store) -> TradeLine | None:
        """Return what the columns read of a trade."""
        trade = store.trades.get(key)
        if trade is None:
            return None
        return TradeLine(trade, store, self.now_ns, self.by_instrument)

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of a trade, or of the sums of an instrument's trades."""
        if not (name := group_name(key)):
            return super().cell(key, column, frame)
        trades = [each for each in frame.store.trades.values() if each.instrument == name]
        if not trades:
            return []
        if column != "pair" and not are_trades_known(frame.store):
            return [(UNKNOWN, self.palette["danger"])]
        sums = TradeSums(name, len(trades), group_of(trades), frame.store)
        declared = next(each for each in self.COLUMNS if each.key == column)
        return [declared.sum_cell(sums, self.palette, old=self._old)]

    def _by_price(self, role: ColourRole) -> Style:
        """Return the style of a value computed from prices; faint while prices are stale."""
        return self.palette["faint" if self._old else role]

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
            Item(
                ((safe(f"{count:,} trade{'s' if count > 1 else ''}"), muted),) if count else (), 2
            ),
            Item(
                (
                    (show.money(profit, signed=True), self._by_price(signed_role(profit))),
                    (safe(f" {clean_name(account.currency)}"), faint),
                )
            ),
            Item((("open risk ", faint), *self._open_risk(account)), 3),
        ]
        if unread:
            known = "; ".join(clean(each) for each in unread)
            words = show.shorten(safe(f"{counted_unread(unread)}: {known}"), self.inside // 2)
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
