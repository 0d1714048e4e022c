"""One trade of the journal: its chart, all its numbers in words with units, its note, the screens kept of it."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import ClassVar, Protocol

from msgspec import Struct, field

from keydesk.calc.trade_journal.groups import session_of
from keydesk.calc.trade_journal.notes import MAX_NOTE_LENGTH, NO_NOTE
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.details_form import Rows
from keydesk.forms.info_form import ScrolledForm
from keydesk.forms.journal.chart import TradeChart, decimals_of
from keydesk.forms.journal.columns import result_text
from keydesk.forms.journal.trade_rows import (
    excursion_rows,
    fill_rows,
    note_rows,
    result_rows,
    stop_rows,
    time_rows,
)
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.keymap import JOURNAL_TRADE, KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.records.trades import line_of
from keydesk.store.frame import Frame
from keydesk.store.state import Candle
from keydesk.store.store import Store
from keydesk.text.format import (
    EMPTY,
    date_and_time,
    lines_of,
    shorten,
)
from keydesk.text.sanitize import Printable, SafeText, clean, clean_name, safe, split_at
from keydesk.trade_journal.live import LiveJournal
from keydesk.trade_journal.screens import KeptScreen
from keydesk.widgets.theme import palette_of, signed_role

LABEL = 14
CHART_FROM = 14  # rows of the window that have room for a chart
CHART_ROWS = 16
CHART_WIDTH = 40
SHIFT = 20  # columns
CHECK_INTERVAL = 2.0  # seconds
LEAST_PAUSE = 5.0  # seconds between two readings of the candles of an open trade
CANDLE_PARTS = 4  # readings in the time of one candle


class TradeCandles(Struct, frozen=True):
    """The candles around a trade, or why there are none."""

    candles: Sequence[Candle] = ()
    seconds: int = 1
    name: Printable = ""  # of their length
    trouble: SafeText = field(default_factory=lambda: safe(""))


class TradeHost(Protocol):
    """What the page requests."""

    def write_note(self, trade_id: str) -> None: ...
    def read_excursion(self, trade: JournalTrade) -> None: ...
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
    BINDINGS = [*bindings_of(JOURNAL_TRADE)]  # noqa: RUF012 - as Textual has it
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
        self._checked_at = float("-inf")
        self._loaded: float | None = None  # when candles were asked for last
        self._is_reading = False  # newer candles
        self._was_open = (trade := self.trade) is not None and not trade.is_closed

    def on_mount(self) -> None:
        super().on_mount()
        if (trade := self.trade) is not None:
            self._host.read_excursion(trade)
            self._host.read_candles(trade, self.apply_candles)
            self._host.read_kept(trade, self.show_screens)

    def on_frame(self, frame: Frame) -> None:
        """Follow the journal; read candles that are complete by now, and newer ones while the trade is open."""
        now = self.journal.version, self.journal.excursions_read
        if self._drawn != now:
            self._drawn = now
            self.redraw()
        if frame.now - self._checked_at >= CHECK_INTERVAL:
            self._checked_at = frame.now
            self._read_newer(frame.now)

    def _read_newer(self, now: float) -> None:
        trade = self.trade
        if trade is None:
            return
        if self.trade_id in self.journal.excursions.due or self.journal.excursions_due:
            self._host.read_excursion(trade)
        if self._loaded is None:
            self._loaded = now
        loaded = self.candles
        if loaded is None or self._is_reading:
            return
        pause = max(LEAST_PAUSE, loaded.seconds / CANDLE_PARTS)
        closed_since = self._was_open and trade.is_closed
        if closed_since or (not trade.is_closed and now - self._loaded >= pause):
            self._loaded, self._was_open = now, not trade.is_closed
            self._is_reading = True
            self._host.read_candles(trade, self.apply_candles)

    def apply_candles(self, candles: TradeCandles) -> None:
        """Show the chart; one that is drawn already stays when newer candles cannot be read."""
        self._is_reading = False
        if self.candles is None or not self.candles.candles or not candles.trouble:
            self.candles = candles
        self.redraw()

    def show_screens(self, screens: Sequence[KeptScreen]) -> None:
        """Offer the kept screens."""
        self.screens = screens
        self.redraw()

    @property
    def trade(self) -> JournalTrade | None:
        """The trade as the journal has it now."""
        line = self.journal.line(self.trade_id)
        return None if line is None else line.trade

    # What is shown.

    def title_text(self) -> Printable:
        """Name the trade, or the screen."""
        if screen := self._screen():
            when = date_and_time(screen.time_ns, self.store.zone)
            return safe(
                f"Trade #{clean_name(self.trade_id)}, the screen at the {screen.moment} {when}"
            )
        return safe(f"Trade #{clean_name(self.trade_id)}")

    def foot_text(self) -> Printable:
        """Return the keys."""
        name = self.keymap.name
        words = [f"{name('journal-trade-note')} note"]
        if self.screens:
            after = self.shown + 1
            shown = self.screens[self.shown].moment if after <= len(self.screens) else "figures"
            what = f"screen at {shown}" if after <= len(self.screens) else shown
            words.append(f"{name('journal-trade-view')} {what}")
        closes = super().foot_text()
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
            lines += _named(name, clean(value, MAX_NOTE_LENGTH), self.inside)
        return [*self._head(trade), *self._chart(trade), *lines]

    def _head(self, trade: JournalTrade) -> list[TextLine]:
        line = line_of(trade, self.journal.pips)
        home = self.store.home_currency
        role = "bright" if line.is_open else signed_role(line.result, zero="loss")
        return wrap_text(safe(result_text(line, home, self.store.zone)), role, self.inside)

    def _chart(self, trade: JournalTrade) -> Sequence[TextLine]:
        if self.room < CHART_FROM or self.inside < CHART_WIDTH:
            return ()
        loaded = self.candles
        if loaded is None:
            return [(("candles are being read …", "muted"),), BLANK]
        if loaded.trouble or not loaded.candles:
            text = loaded.trouble or safe("the broker has no candles of this time")
            return [*wrap_text(text, "muted", self.inside), BLANK]
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
            *result_rows(trade, self.store.home_currency, pip),
            *excursion_rows(trade, excursion, pip),
            *time_rows(trade, session_of(trade.opened_ns), self.store.zone),
            *fill_rows(trade, self.store.home_currency, pip, self.store.zone),
            *stop_rows(self.journal.stops_of(trade), trade, pip, self.store.zone),
            ("broker's tag", clean(trade.tag) or EMPTY),
            ("comment", clean(trade.comment) or EMPTY),
        ]

    # Keys.

    def action_note(self) -> None:
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
