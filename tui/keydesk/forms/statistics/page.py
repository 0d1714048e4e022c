"""The page of statistics: eight views of the closed trades, or of those of one group. It sends nothing.

What a view needs is computed in a thread, and kept until the trades change; the event loop only draws lines from it.
"""

import asyncio
from collections.abc import Hashable, Sequence
from datetime import date
from functools import partial
from typing import Any, ClassVar, Protocol

from msgspec import Struct
from rich.cells import cell_len
from textual.worker import Worker

from keydesk.calc.trade_journal.groups import GroupContext, grouped
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.forms.statistics.equity import EquityView
from keydesk.forms.statistics.excursions import ExcursionView
from keydesk.forms.statistics.figures import FiguresView
from keydesk.forms.statistics.groups import GroupsView
from keydesk.forms.statistics.hours import HoursView
from keydesk.forms.statistics.r_histogram import HistogramView
from keydesk.forms.statistics.trading_calendar import CalendarView
from keydesk.forms.statistics.view import View, ViewInput
from keydesk.forms.statistics.what_if import WhatIfView
from keydesk.keys.keymap import STATISTICS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.records.errors import DamagedRecords
from keydesk.store.frame import Frame
from keydesk.text.format import counted
from keydesk.text.sanitize import Printable, SafeText, clean, safe
from keydesk.trade_journal.snapshot import Excursions, JournalSnapshot, OpenProfits, Paths
from keydesk.widgets.theme import palette_of

NO_TRADE = safe("No trade was closed yet. Each one appears here once it is closed.")
MAX_KEPT = 60  # computed views
HEAD = 2  # rows of the names of the views
CHECK_INTERVAL = 5.0  # seconds
SMALL = 12  # rows from which there is a blank one below them


class ViewSelection(Struct, frozen=True):
    """The trades that are looked at: all, or one group."""

    grouping: str = ""
    group: str = ""

    @property
    def text(self) -> str:
        """The group in words; "" of all."""
        return f"{self.grouping}: {self.group}" if self.grouping else ""


class StatisticsHost(Protocol):
    """What the page requests; the answers are passed to the `show_` methods of the page."""

    @property
    def progress(self) -> Printable: ...
    @property
    def stamp(self) -> object: ...
    def read(self, page: "StatisticsPage") -> None: ...
    def read_open_profits(self, page: "StatisticsPage") -> None: ...
    def read_excursions(self, page: "StatisticsPage", trades: Sequence[JournalTrade]) -> None: ...
    def read_paths(self, page: "StatisticsPage", trades: Sequence[JournalTrade]) -> None: ...
    def open_day(self, snapshot: JournalSnapshot, day: date, *, week: bool) -> object: ...


class StatisticsPage(InfoForm[None]):
    """Shows statistics of the closed trades.

    Args:
        host: Reads what the views need.
        view: The number of the view that it opens with, from 1.
    """

    KEY_CONTEXT: ClassVar[str] = STATISTICS
    BINDINGS = bindings_of(STATISTICS)
    WIDTH: ClassVar[int] = 250

    def __init__(self, host: StatisticsHost, view: int = 1) -> None:
        super().__init__()
        self._host = host
        self.views: Sequence[View[Any]] = (
            FiguresView(),
            GroupsView(),
            EquityView(),
            HistogramView(),
            ExcursionView(),
            HoursView(),
            CalendarView(),
            WhatIfView(),
        )
        self.number = view - 1
        self.chosen = ViewSelection()
        self.top = 0
        self.snapshot: JournalSnapshot | None = None
        self.trouble: Printable = ""
        self.progress = safe("")
        self._older = safe("")  # how far reading older transactions is
        self._trades: Sequence[JournalTrade] = ()
        self._open_profits: OpenProfits | None = None
        self._excursions: Excursions | None = None
        self._paths: Paths | None = None
        self._results: dict[Hashable, object] = {}
        self._drawn: dict[
            Hashable, Hashable
        ] = {}  # by view and version, the result that was drawn last
        self._requests: set[str] = set()  # what was asked for of these trades
        self._version = 0  # of the trades
        self._stamp: object = None  # of the journal
        self._checked_at = float("-inf")
        self._computing: Hashable = None

    # What it is given.

    def on_mount(self) -> None:
        super().on_mount()
        self._host.read(self)

    def on_frame(self, frame: Frame) -> None:
        """Show how far reading is; read again, not too often, when the journal has changed."""
        if self.snapshot is None:
            if self._host.progress != self.progress:
                self.show_progress(self._host.progress)
            return
        if self.snapshot.part and self._host.progress != self._older:
            self._older = safe(self._host.progress)
            self.redraw()
        if self._host.stamp != self._stamp and frame.now - self._checked_at >= CHECK_INTERVAL:
            self._checked_at = frame.now
            self._host.read(self)

    def show_journal(self, snapshot: JournalSnapshot, stamp: object = None) -> None:
        """Show the journal as it is now; `stamp` differs as soon as it has changed."""
        self.snapshot, self._stamp = snapshot, stamp
        self.progress, self.trouble = safe(""), ""
        self._paths = self._excursions = self._open_profits = None
        self._choose(self.chosen)

    def show_open_profits(self, profits: OpenProfits) -> None:
        """Show the daily figures."""
        self._open_profits = profits
        self.redraw()

    def show_excursions(self, excursions: Excursions) -> None:
        """Show how far trades went; they may come a few at a time."""
        self._excursions = excursions
        self.redraw()

    def show_paths(self, paths: Paths) -> None:
        """Show what a rule makes of these paths."""
        self._paths = paths
        self.redraw()

    def show_progress(self, text: Printable) -> None:
        """Show how far reading is; "" when it is done."""
        self.progress = safe(text)
        self.redraw()

    def show_error(self, text: Printable) -> None:
        """Show why something cannot be read."""
        self.trouble, self.progress = text, safe("")
        self.redraw()

    # What it shows.

    @property
    def dims_panes(self) -> bool:
        """Whether the panes that it leaves in sight are dimmed: sent sooner, they might be covered with the next picture."""
        return bool(self._drawn or self.trouble)

    @property
    def is_empty(self) -> bool:
        """Whether it is known that no trade was closed."""
        return self.snapshot is not None and not self.snapshot.journal.closed

    @property
    def view(self) -> View[Any]:
        """The view that is shown."""
        return self.views[self.number]

    def title_text(self) -> Printable:
        """Name the trades."""
        if self.snapshot is None:
            return "Statistics"
        about = f"  {self.chosen.text}" if self.chosen.text else ""
        return safe(f"Statistics{about}  {counted(len(self._trades), 'closed trade')}")

    def foot_text(self) -> Printable:
        """Name the keys, those of the view first, as many as there is room for."""
        back = "Esc all trades" if self.chosen.text else "Esc closes"
        hints = self.view.HINT.split("   ") if self.view.HINT and self._trades else []
        for count in range(len(hints), -1, -1):
            text = self.key_words(safe("   ".join((*hints[:count], "1-8 view", back))))
            if len(text) <= self.inside - 4:
                return text
        return safe(back)

    def lines(self) -> Sequence[TextLine]:
        """Return the names of the views, and the one that is shown, as far as there is room."""
        head = [self._names(), *([BLANK] if self.room >= SMALL else [])]
        if self.trouble:
            head += wrap_text(safe(self.trouble), "danger", self.inside)
        if self.snapshot is not None and self.snapshot.part:
            head += wrap_text(self._part_text(self.snapshot.part), "warn", self.inside)
        rows = max(1, self.room - len(head))
        body = self._body(rows)
        self.top = max(0, min(self.top, len(body) - rows))
        shown = list(body[self.top : self.top + rows])
        if len(body) > self.top + rows:
            shown[-1] = ((safe(f"… {len(body) - self.top - rows + 1} lines more: Space"), "faint"),)
        return [*head, *shown]

    def _part_text(self, part: str) -> SafeText:
        so_far = f"; reading {self._older}" if self._older else ""
        return safe(f"Over a part: {part}{so_far}")

    def _names(self) -> TextLine:
        names = [each.NAME for each in self.views]
        if sum(len(name) + 4 for name in names) > self.inside:
            names = [each.SHORT or each.NAME for each in self.views]
        if sum(len(name) + 4 for name in names) - 2 > self.inside:
            return ((safe(f"{self.number + 1}/{len(names)} {self.view.NAME}"), "bright"),)
        line: list[Words] = []
        for number, name in enumerate(names):
            is_shown = number == self.number
            line += [
                (safe(f"{number + 1} "), "focus" if is_shown else "faint"),
                (safe(name), "bright" if is_shown else "muted"),
                ("  ", "plain"),
            ]
        return line

    def _body(self, rows: int) -> Sequence[TextLine]:
        if self.snapshot is None:
            text = self.progress or ("" if self.trouble else "The journal is being read …")
            return [((safe(text), "muted"),)]
        if not self._trades:  # not chosen yet, or there are none
            return wrap_text(NO_TRADE if self.is_empty else "Computing …", "plain", self.inside)
        given = self._given(rows)
        self._ask(self.view.READS)
        shown = self.number, self._version
        key: Hashable = (*shown, self.view.key(given))
        if key not in self._results:
            self._compute(key, given)
            if shown not in self._drawn:
                return [((given.progress or "Computing …", "muted"),)]
            key = self._drawn[
                shown
            ]  # until then, as it was: an empty page costs bytes and is no news
        self._drawn[shown] = key
        return [_cut(line, self.inside) for line in self.view.lines(self._results[key], given)]

    def _given(self, rows: int) -> ViewInput:
        palette = palette_of(self.app)
        return ViewInput(
            self.snapshot or JournalSnapshot(),
            self._trades,
            is_whole=not self.chosen.text,
            chosen=self.chosen.text,
            open_profits=self._open_profits,
            excursions=self._excursions,
            paths=self._paths,
            progress=self.progress,
            width=self.inside,
            rows=rows,
            ascii_only=self.app.has_class("-ascii"),
            is_mono=palette["profit"].color == palette["loss"].color,
            has_tints=palette.has_tints,
        )

    # Computing.

    def _ask(self, what: str) -> None:
        """Ask once for what the view needs beside the trades."""
        if not what or what in self._requests:
            return
        self._requests.add(what)
        match what:
            case "open profits" if not self.chosen.text and self._open_profits is None:
                self._host.read_open_profits(self)
            case "excursions":
                self._host.read_excursions(self, self._trades)
            case "paths":
                self._host.read_paths(self, self._trades)

    def _compute(self, key: Hashable, given: ViewInput) -> None:
        if self._computing != key and self.is_attached:
            self._computing = key
            work = partial(self._computed, key, self.view, given)
            _: Worker[None] = self.run_worker(
                work,
                group="view",
                description=self.view.NAME,  # else the repr of every trade
                exclusive=True,
            )

    async def _computed(self, key: Hashable, view: View[Any], given: ViewInput) -> None:
        try:
            data = await asyncio.to_thread(view.compute, given)
        except DamagedRecords as error:  # of the price paths, which are read where they are needed
            self.show_error(safe(f"The records cannot be read: {clean(str(error))}"))
            return
        if len(self._results) >= MAX_KEPT:
            self._results.clear()
            self._drawn.clear()
        self._results[key], self._computing = data, None
        self.redraw()

    def _anew(self) -> None:
        """Compute everything again."""
        self._version += 1
        self._results.clear()
        self._drawn.clear()
        self._computing = None
        self.redraw()

    def _choose(self, chosen: ViewSelection) -> None:
        """Look at other trades, which are chosen in a thread."""
        if self.snapshot is not None and self.is_attached:
            work = partial(self._choosing, self.snapshot, chosen)
            _: Worker[None] = self.run_worker(
                work, group="trades", description=chosen.text or "all", exclusive=True
            )

    async def _choosing(self, snapshot: JournalSnapshot, chosen: ViewSelection) -> None:
        self._trades = await asyncio.to_thread(trades_of, snapshot, chosen)
        self.chosen, self.top = chosen, 0
        self._requests = (
            self._requests & {"open profits"} if self._open_profits is not None else set()
        )
        self._anew()

    # Keys.

    def action_show_view(self, number: int) -> None:
        self.number, self.top = (number - 1) % len(self.views), 0
        self.redraw()

    def action_next_view(self, step: int) -> None:
        """Show the next view, or the one before."""
        self.action_show_view(self.number + 1 + step)

    def action_move(self, across: int, down: int) -> None:
        """Move the choice in the view; in a view without one scroll, and change the view to the sides."""
        if self.view.move(across, down):
            self.top = 0  # where the choice is
            self.redraw()
        elif across:
            self.action_next_view(across)
        else:
            self.action_scroll(down)

    def action_scroll(self, lines: int) -> None:
        self.top += lines
        self.redraw()

    def action_page(self, step: int) -> None:
        """Scroll by a page; past the end it begins again."""
        before, self.top = self.top, self.top + step * max(1, self.room - HEAD - 1)
        self.lines()  # bounds it
        if self.top == before:
            self.top = 0
        self.redraw()

    def action_take(self) -> None:
        """Open the chosen day, or look at the trades of the chosen group alone."""
        group, day = self.view.group(), self.view.day()
        if group is not None:
            self._choose(ViewSelection(*group))
        elif day is not None and self.snapshot is not None:
            self._host.open_day(self.snapshot, day, week=False)

    def action_week(self) -> None:
        day = self.view.day()
        if day is not None and self.snapshot is not None:
            self._host.open_day(self.snapshot, day, week=True)

    def action_read(self) -> None:
        self.trouble = ""
        self._host.read(self)

    def action_drop(self) -> None:
        """Go back to all trades, or close."""
        if self.chosen.text and self.is_active:
            self._choose(ViewSelection())
        else:
            super().action_drop()


def trades_of(snapshot: JournalSnapshot, chosen: ViewSelection) -> Sequence[JournalTrade]:
    """Return the chosen closed trades."""
    journal, context = snapshot.journal, snapshot.context
    if not chosen.grouping:
        return journal.closed
    groups = GroupContext(journal.trades, context.notes, context.zone)
    return grouped(journal.closed, chosen.grouping, groups).get(chosen.group, [])


def _cut(line: TextLine, width: int) -> TextLine:
    """Return a line that is not wider than the page."""
    if sum(cell_len(text) for text, _ in line) <= width:
        return line
    runs: list[Words] = []
    for text, role in line:
        room = width - sum(cell_len(each) for each, _ in runs)
        if cell_len(text) > room:
            runs.append((safe(f"{text[: max(0, room - 1)]}…"[:room]), role))
            break
        runs.append((text, role))
    return runs
