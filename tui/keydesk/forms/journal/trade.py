"""One trade of the journal: its chart, all its numbers in words with units, its note, the screens kept of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from decimal import Decimal
from typing import ClassVar, Protocol

from keydesk.calc.trade_journal.events import StopSet
from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.notes import LONGEST_NOTE, NO_NOTE, TradeNote
from keydesk.calc.trade_journal.trades import Execution, JournalTrade
from keydesk.forms.info_form import Rows, ScrolledForm
from keydesk.forms.journal.chart import TradeChart, decimals_of
from keydesk.forms.journal.columns import result_words
from keydesk.forms.sheet import BLANK, TextLine, wrap_words
from keydesk.keys.keymap import JOURNAL_TRADE, KEYMAP, KeyMap
from keydesk.store.frame import Frame
from keydesk.store.state import Candle
from keydesk.store.store import Store
from keydesk.text.format import (
    EMPTY,
    date_and_time,
    duration,
    lines_of,
    money,
    pips,
    price,
    shorten,
    units,
)
from keydesk.text.sanitize import Printable, SafeText, clean, clean_name, safe, split_at
from keydesk.trade_journal.live import LiveJournal
from keydesk.trade_journal.screens import KeptScreen
from keydesk.widgets.theme import palette_of

SECOND = 1_000_000_000
LABEL = 14
CHART_FROM = 14  # rows of the window that have room for a chart
CHART_ROWS = 16
CHART_WIDTH = 40
MOST_EXECUTIONS = 40
SHIFT = 20  # columns


@dataclass(frozen=True, slots=True)
class TradeCandles:
    """The candles around a trade, or why there are none."""

    candles: Sequence[Candle] = ()
    seconds: int = 1
    name: Printable = ""  # of their length
    trouble: SafeText = field(default_factory=lambda: safe(""))


class TradeHost(Protocol):
    """What the page asks for."""

    def write_note(self, trade_id: str) -> None: ...
    def read_candles(self, trade: JournalTrade, take: Callable[[TradeCandles], None]) -> None: ...
    def read_kept(
        self, trade: JournalTrade, take: Callable[[Sequence[KeptScreen]], None]
    ) -> None: ...


class JournalTradeForm(ScrolledForm):
    """Shows all of one trade; it follows the journal while it is open.

    Args:
        store: Has the trader's zone and the currency.
        journal: Has the trade.
        trade_id: The trade.
        host: Reads candles and screens, and opens the form of the note.
        keymap: The keys, as the foot names them.
    """

    KEY_CONTEXT: ClassVar[str] = JOURNAL_TRADE
    BINDINGS = [*KEYMAP.bindings(JOURNAL_TRADE)]  # noqa: RUF012 - as Textual has it
    WIDTH: ClassVar[int] = 120

    def __init__(
        self,
        store: Store,
        journal: LiveJournal,
        trade_id: str,
        host: TradeHost,
        keymap: KeyMap = KEYMAP,
    ) -> None:
        super().__init__()
        self.store, self.journal, self.trade_id, self.keymap = store, journal, trade_id, keymap
        self._host = host
        self.candles: TradeCandles | None = None
        self.screens: Sequence[KeptScreen] = ()
        self.shown = 0  # 0: the figures; else one of the screens
        self.left = 0  # columns of a wide screen that are beyond the left edge
        self._drawn = journal.version, journal.excursions_read

    def on_mount(self) -> None:
        """Ask for candles and screens."""
        super().on_mount()
        if (trade := self.trade) is not None:
            self._host.read_candles(trade, self.take_candles)
            self._host.read_kept(trade, self.take_screens)

    def on_frame(self, _frame: Frame) -> None:
        """Follow the journal."""
        now = self.journal.version, self.journal.excursions_read
        if self._drawn != now:
            self._drawn = now
            self.redraw()

    def take_candles(self, candles: TradeCandles) -> None:
        """Show the chart."""
        self.candles = candles
        self.redraw()

    def take_screens(self, screens: Sequence[KeptScreen]) -> None:
        """Offer the kept screens."""
        self.screens = screens
        self.redraw()

    @property
    def trade(self) -> JournalTrade | None:
        """The trade as the journal has it now."""
        line = self.journal.lines.trades.get(self.trade_id)
        return None if line is None else line.trade

    # What is shown.

    def title_words(self) -> Printable:
        """Name the trade, or the screen."""
        if screen := self._screen():
            when = date_and_time(screen.time_ns, self.store.zone)
            return safe(
                f"Trade #{clean_name(self.trade_id)}, the screen at the {screen.moment} {when}"
            )
        return safe(f"Trade #{clean_name(self.trade_id)}")

    def foot_words(self) -> Printable:
        """Return the keys."""
        name = self.keymap.name
        words = [f"{name('journal-trade-note')} note"]
        if self.screens:
            after = self.shown + 1
            shown = self.screens[self.shown].moment if after <= len(self.screens) else "figures"
            what = f"screen at {shown}" if after <= len(self.screens) else shown
            words.append(f"{name('journal-trade-view')} {what}")
        closes = super().foot_words()
        while words and len("  ".join((*words, closes))) > self.inside:
            words.pop()
        return safe("  ".join((*words, closes)))

    def _screen(self) -> KeptScreen | None:
        return self.screens[self.shown - 1] if 0 < self.shown <= len(self.screens) else None

    def all_lines(self) -> Sequence[TextLine]:
        """Return the chart over the figures, or a kept screen."""
        if screen := self._screen():
            parts = [split_at(each, self.left, len(each))[1] for each in screen.lines]
            return [((shorten(each, self.inside), "plain"),) for each in parts]
        trade = self.trade
        if trade is None:
            return (((("The journal does not have this trade", "muted")),),)
        lines: list[TextLine] = []
        for name, value in self._rows(trade):
            lines += _named(name, clean(value, LONGEST_NOTE), self.inside)
        return [*self._head(trade), *self._chart(trade), *lines]

    def _head(self, trade: JournalTrade) -> list[TextLine]:
        line = self.journal.lines.trades[trade.id]
        home = self._home
        role = "bright" if line.is_open else "profit" if line.result > 0 else "loss"
        return wrap_words(safe(result_words(line, home, self.store.zone)), role, self.inside)

    @property
    def _home(self) -> str:
        return self.store.account.currency if self.store.account is not None else ""

    def _chart(self, trade: JournalTrade) -> Sequence[TextLine]:
        if self.room < CHART_FROM or self.inside < CHART_WIDTH:
            return ()
        loaded = self.candles
        if loaded is None:
            return [(("candles are being read …", "muted"),), BLANK]
        if loaded.trouble or not loaded.candles:
            words = loaded.trouble or safe("the broker has no candles of this time")
            return [*wrap_words(words, "muted", self.inside), BLANK]
        pip = self.journal.pips.get(trade.instrument, Decimal("0.0001"))
        palette = palette_of(self.app)
        chart = TradeChart(
            trade,
            loaded.candles,
            loaded.seconds,
            decimals_of(trade),
            float(pip),
            self.store.zone,
            ascii_only=self.app.has_class("-ascii"),
            is_mono=palette["rise"].color == palette["fall"].color,
        )
        rows = chart.lines(self.inside, min(CHART_ROWS, self.room // 2))
        return [*rows, BLANK]

    def _rows(self, trade: JournalTrade) -> Rows:
        note = self.journal.notes.by_trade.get(trade.id, NO_NOTE)
        pip = self.journal.pips.get(trade.instrument)
        excursion = self.journal.excursions.known(trade)
        return [
            *note_rows(note),
            *result_rows(trade, self._home, pip),
            *excursion_rows(trade, excursion, pip),
            *time_rows(trade, self.journal.lines.trades[trade.id].session, self.store.zone),
            *fill_rows(trade, self._home, pip, self.store.zone),
            *stop_rows(self.journal.stops_of(trade), trade, pip, self.store.zone),
            ("broker's tag", clean(trade.tag) or EMPTY),
            ("comment", clean(trade.comment) or EMPTY),
        ]

    # Keys.

    def action_note(self) -> None:
        """Write about the trade."""
        self._host.write_note(self.trade_id)

    def action_view(self) -> None:
        """Show the next kept screen, or the figures again."""
        self.shown = (self.shown + 1) % (len(self.screens) + 1)
        self.top = self.left = 0
        self.redraw()

    def action_shift(self, step: int) -> None:
        """Show more of a screen that is wider than the window, or its left again."""
        screen = self._screen()
        widest = max((len(each) for each in screen.lines), default=0) if screen else 0
        most = max(0, widest - self.inside)
        self.left = max(0, min(most, self.left + step * SHIFT))
        self.redraw()


def _named(name: Printable, value: Printable, width: int) -> list[TextLine]:
    room = max(1, width - LABEL)
    lines = lines_of(value, room) or [safe(EMPTY)]
    names = [name, *[""] * (len(lines) - 1)]
    return [
        ((safe(f"{label:<{LABEL}}"), "muted"), (line, "plain"))
        for label, line in zip(names, lines, strict=True)
    ]


def note_rows(note: TradeNote) -> Rows:
    """Return what the trader wrote."""
    if note.is_empty:
        return [("note", "nothing is noted: n writes tags, setup, note, rating, mistake")]
    written = (
        ("setup", note.setup),
        ("tags", " ".join(note.tags)),
        ("rating", "" if note.rating is None else f"{note.rating} of 5"),
        ("mistake", note.mistake),
        ("note", note.note),
    )
    return [(safe(name), text) for name, text in written if text]


def result_rows(trade: JournalTrade, home: str, pip: Decimal | None) -> Rows:
    """Return what came of it, the parts of the result apart."""
    costs = trade.costs
    in_pips = "" if pip is None or not trade.exits else f", {pips(trade.pips(pip))} pips"
    rows: Rows = [
        ("price P/L", f"{money(trade.profit, signed=True)} {home}{in_pips}"),
        ("financing", f"{money(costs.financing, signed=True)} {home}"),
    ]
    for name, amount in (
        ("dividends", costs.dividends),
        ("commission", -costs.commission),
        ("guarantee", -costs.guarantee_fee),
    ):
        if amount:
            rows.append((safe(name), f"{money(amount, signed=True)} {home}"))
    booked = "booked so far" if not trade.is_closed else "net"
    rows.append((safe(booked), f"{money(trade.result, signed=True)} {home}"))
    if trade.initial_risk is None:
        return [*rows, ("R", "none: no stop within 60 s of the fill")]
    risk = f"initial risk of {money(trade.initial_risk)} {home}"
    so_far = "" if trade.is_closed else " so far"
    return [*rows, ("R", f"{money(trade.r, signed=True)} R{so_far} of an {risk}")]


def excursion_rows(trade: JournalTrade, found: Excursion | None, pip: Decimal | None) -> Rows:
    """Return how far it went against and for the trader."""
    if not trade.is_closed:
        return [("MAE, MFE", "known once the trade is closed")]
    if found is None or pip is None:
        return [("MAE, MFE", "not known: its candles are not read")]
    in_r = found.r or (None, None)
    rows: Rows = []
    for name, words, distance, share in zip(
        ("MAE", "MFE"), ("against you", "for you"), found.pips(pip), in_r, strict=True
    ):
        also = "" if share is None else f", {money(share)} R"
        rows.append((safe(name), f"{pips(distance, signed=False)} pips {words}{also}"))
    return rows


def time_rows(trade: JournalTrade, session: str, zone: tzinfo) -> Rows:
    """Return when it was opened and closed, and how long it was held."""
    rows: Rows = [("opened", date_and_time(trade.opened_ns, zone))]
    if trade.closed_ns is not None and trade.hold_ns is not None:
        rows.append(("closed", date_and_time(trade.closed_ns, zone)))
        rows.append(("held", duration(trade.hold_ns / SECOND)))
    return [*rows, ("session", clean(session))]


def fill_rows(trade: JournalTrade, home: str, pip: Decimal | None, zone: tzinfo) -> Rows:
    """Return each entry and exit, and what spread and slippage cost."""
    rows: Rows = []
    for name, fills in (("entry", trade.entries), ("exit", trade.exits)):
        for each in fills[:MOST_EXECUTIONS]:
            rows.append((safe(name), fill_words(each, home, pip, zone)))
        if len(fills) > MOST_EXECUTIONS:
            rows.append((safe(name), f"and {len(fills) - MOST_EXECUTIONS} more"))
    slip = trade.slippage
    if slip is None or pip is None:
        rows.append(("slippage", "not known: no price to compare"))
    else:
        rows.append(("slippage", f"{pips(slip / pip)} pips on average, + is worse"))
    paid = f"{money(trade.spread_paid)} {home}, part of the price P/L already"
    return [*rows, ("spread paid", paid)]


def fill_words(fill: Execution, home: str, pip: Decimal | None, zone: tzinfo) -> str:
    """Return a fill in words."""
    verb = "bought" if fill.units > 0 else "sold"
    reason = clean_name(fill.reason, 60).replace("_", " ").lower()
    words = [f"{date_and_time(fill.time_ns, zone)} {verb} {units(abs(fill.units))} at {fill.price}"]
    words.append(reason)
    if fill.slippage is not None and pip is not None:
        words.append(f"slipped {pips(fill.slippage / pip)} pips")
    if fill.profit:
        words.append(f"{money(fill.profit, signed=True)} {home}")
    return ", ".join(words)


def stop_rows(
    stops: Iterable[StopSet], trade: JournalTrade, pip: Decimal | None, zone: tzinfo
) -> Rows:
    """Return the stops in the order in which they were set."""
    rows: Rows = []
    places = decimals_of(trade)
    for number, each in enumerate(list(stops)[:MOST_EXECUTIONS]):
        name = "stop moved" if number else "stop"
        if each.price is not None:
            where = (
                f"to {price(each.price, places)}" if number else f"at {price(each.price, places)}"
            )
            away = None if pip is None else abs(each.price - trade.entry_price) / pip
            beside = "" if away is None else f", {pips(away, signed=False)} pips from the entry"
        else:
            behind = each.distance or Decimal(0)
            away_words = f"{behind}" if pip is None else f"{pips(behind / pip, signed=False)} pips"
            where, beside = f"trailing {away_words} behind the price", ""
        rows.append((safe(name), f"{date_and_time(each.time_ns, zone)} {where}{beside}"))
    return rows or [("stop", "none was set")]
