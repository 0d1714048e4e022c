"""The open trades, together by instrument where asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from keydesk.calc.risk.trade_groups import group_of
from keydesk.keys.keymap import TRADES
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unknown import UNKNOWN, are_trades_known, unknown_text
from keydesk.tables.column_table import ColumnTable
from keydesk.tables.instrument_rows import InstrumentRows
from keydesk.tables.sorted_table import SortedTable
from keydesk.tables.trade_columns import TRADE_COLUMNS, TradeColumn, TradeLine, TradeSums
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean, clean_name, safe
from keydesk.values import AccountState, id_order, is_unprotected
from keydesk.widgets.lines import Heading, Run, Tab
from keydesk.widgets.price_cells import prices_are_old
from keydesk.widgets.strip_line import Item, fit_items, joined
from keydesk.widgets.theme import ColourRole, signed_role
from keydesk_client.arithmetic.constants import MINUTE

READING = "The account is being read …"  # until then the list is not known to be empty
GROUP = "= "  # before the instrument, in the key of a row of sums


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
