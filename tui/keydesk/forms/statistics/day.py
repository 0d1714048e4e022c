"""The page of a day or a week: the same content as `keydesk journal report` prints; ← and → turn to the next with trades."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from textual.worker import Worker

from keydesk.calc.market.trading_day import booking_date
from keydesk.calc.trade_journal.charts import CurvePoint, equity_curve
from keydesk.forms.info_form import ScrolledForm, beside, width_of
from keydesk.forms.modal_form import BLANK, TextLine, Words, as_lines, wrap_text
from keydesk.forms.statistics.equity import LEAST_TRADES, curve_rows
from keydesk.forms.statistics.view import FEW_ROLE, bars_of
from keydesk.keys.keymap import DAY_PAGE
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.format import MINUS
from keydesk.text.sanitize import Printable, safe
from keydesk.trade_journal.report import Page, Section, day_of, page, trades_of, week_of
from keydesk.trade_journal.snapshot import JournalSnapshot
from keydesk.widgets.theme import ColourRole

GAP = 2
BETWEEN = 4  # columns between two tables
SIGNED = frozenset({"result", "R"})
SENTENCE_ROLES: Mapping[str, ColourRole] = {
    "Result:": "bright",
    "Best:": "profit",
    "Worst:": "loss",
    "Mistakes:": "warn",
}
LEFT_OUT_FIRST = ("id", "held", "setup", "side", "closed", "of")
INDENT = 10  # of sentences that go on
BAR_WIDTH = 4  # cells of a bar to each side of its axis
CURVE_BESIDE_FROM, CURVE_SHARE = 100, 0.5  # columns of the page; share of them
CURVE_FROM = 14  # rows of the page
TALL_CURVE, LOW_CURVE = 11, 6  # rows of the curve beside the words, and above them


class DayPageState(Struct, frozen=True):
    """A page, and the days with trades around it."""

    page: Page
    day: date
    week: bool
    days: Sequence[date]
    curve: Sequence[CurvePoint] = ()  # of its results


class DayPage(ScrolledForm):
    """Shows a day or a week of trading.

    Args:
        snapshot: The journal.
        day: The day, or one of the week; None: the last with trades.
        week: Whether the week is shown.
    """

    KEY_CONTEXT: ClassVar[str] = DAY_PAGE
    BINDINGS = bindings_of(DAY_PAGE)
    WIDTH: ClassVar[int] = 120

    def __init__(self, snapshot: JournalSnapshot, day: date | None, *, week: bool = False) -> None:
        super().__init__()
        self.snapshot = snapshot
        self.shown: DayPageState | None = None
        self._period = day, week

    def on_mount(self) -> None:
        """Compute the page."""
        super().on_mount()
        self._show(*self._period)

    def show_journal(self, snapshot: JournalSnapshot) -> None:
        """Show the same day, or week, of a journal that has more trades."""
        shown, self.snapshot, self.shown = self.shown, snapshot, None
        day = shown.day if shown is not None and shown.days else None
        self._show(day, self._period[1])

    def _show(self, day: date | None, week: bool) -> None:
        self._period = day, week
        work = partial(self._computed, day, week)
        _: Worker[None] = self.run_worker(
            work,
            group="day",
            description="day",  # else the repr of every trade
            exclusive=True,
        )

    async def _computed(self, day: date | None, week: bool) -> None:
        days = None if self.shown is None else self.shown.days
        self.shown = await asyncio.to_thread(_shown, self.snapshot, day, week, days)
        self.top = 0
        self.redraw()

    def title_text(self) -> Printable:
        """Name the day or the week."""
        return safe(self.shown.page.title) if self.shown is not None else "Day"

    def foot_text(self) -> Printable:
        """Name the keys."""
        other = "day" if self._period[1] else "week"
        pages = super().foot_text().removeprefix("Esc closes").strip()
        for text in (
            f"← → {'week' if self._period[1] else 'day'}   d {other}   {pages}   Esc closes",
            f"← →  d {other}  Esc closes",
        ):
            if len(text) <= self.inside - 4:
                return safe(" ".join(text.split("   ")).strip() if not pages else text)
        return "Esc closes"

    def all_lines(self) -> Sequence[TextLine]:
        """Return the whole page."""
        if self.shown is None:
            return [(("Computing …", "muted"),)]
        trouble, part = self.snapshot.trouble, self.snapshot.part
        lines = wrap_text(safe(trouble), "danger", self.inside) if trouble else []
        lines += wrap_text(safe(f"Over a part: {part}"), "warn", self.inside) if part else []
        first, *others = self.shown.page.sections
        lines += self._beginning(first, self.shown.curve)
        for row in side_by_side(others, self.inside):
            lines += [BLANK, *row]
        return lines

    def _beginning(self, section: Section, curve: Sequence[CurvePoint]) -> list[TextLine]:
        """Return the result and the curve of the period; what it is made of beside it where there is room, else below."""
        if len(curve) < LEAST_TRADES or self.room < CURVE_FROM:
            return section_lines(section, self.inside)
        is_beside = self.inside >= CURVE_BESIDE_FROM
        width = int(self.inside * CURVE_SHARE) if is_beside else self.inside
        rows = TALL_CURVE if is_beside else LOW_CURVE
        drawn = as_lines(
            curve_rows(
                curve,
                (width, rows),
                self.snapshot.context.zone,
                ascii_only=self.app.has_class("-ascii"),
            )
        )
        if is_beside:
            words = section_lines(section, self.inside - width - BETWEEN)
            return beside(drawn, width + BETWEEN, words)
        result, *rest = section.sentences
        shown = section_lines(replace(section, sentences=(result,)), self.inside)
        return [
            *shown,
            *drawn,
            *section_lines(replace(section, sentences=tuple(rest)), self.inside),
        ]

    def action_turn(self, step: int) -> None:
        """Show the next day or week with trades, or the one before."""
        if self.shown is None:
            return
        day = next_day(self.shown, step)
        if day is not None:
            self._show(day, self.shown.week)

    def action_week(self) -> None:
        """Show the week of the day, or the last day with trades of the week."""
        if self.shown is None:
            return
        day, week = self.shown.day, self.shown.week
        if week:
            monday = day - timedelta(days=day.weekday())
            own = [each for each in self.shown.days if monday <= each < monday + timedelta(weeks=1)]
            day = own[-1] if own else day
        self._show(day, not week)


def _shown(
    snapshot: JournalSnapshot,
    day: date | None,
    week: bool,
    days: Sequence[date] | None,
) -> DayPageState:
    journal = snapshot.journal
    if days is None:
        days = sorted({booking_date(each.closed_ns or 0) for each in journal.closed})
    day = day or (days[-1] if days else date.today())  # noqa: DTZ011 - of an empty journal
    period = week_of(day) if week else day_of(day)
    shown = page(journal, period, snapshot.context, snapshot.account, snapshot.limits)
    return DayPageState(shown, day, week, days, equity_curve(trades_of(journal, period)))


def next_day(shown: DayPageState, step: int) -> date | None:
    """Return the next day with trades in this direction, out of the week where weeks are shown; None at the end."""
    first = last = shown.day
    if shown.week:
        first = shown.day - timedelta(days=shown.day.weekday())
        last = first + timedelta(days=6)
    if step > 0:
        return next((each for each in shown.days if each > last), None)
    return next((each for each in reversed(shown.days) if each < first), None)


def side_by_side(sections: Sequence[Section], width: int) -> list[list[TextLine]]:
    """Return the parts of a page as rows: tables stand beside one another where there is room."""
    rows: list[list[TextLine]] = []
    is_open, taken = False, 0
    for section in sections:
        lines = section_lines(section, width)
        own = max(width_of(line) for line in lines)
        if is_open and section.rows and taken + BETWEEN + own <= width:
            rows[-1] = beside(rows[-1], taken + BETWEEN, lines)
            taken += BETWEEN + own
        else:
            rows.append(lines)
            is_open, taken = bool(section.rows), own
    return rows


def section_lines(section: Section, width: int) -> list[TextLine]:
    """Return a part of the page; columns that do not fit are left out whole, the least important first."""
    lines: list[TextLine] = []
    if section.title:
        lines.append(((safe(section.title), "bright"),))
    for sentence in section.sentences:
        lines += _sentence(sentence, width)
    if section.rows:
        lines += _table(section, width)
    return lines


def _sentence(sentence: str, width: int) -> list[TextLine]:
    head, _, rest = sentence.partition(" ")
    role = SENTENCE_ROLES.get(head)
    if role is None and head != "Traded:":
        return wrap_text(safe(sentence), "plain", width)
    wrapped = wrap_text(safe(rest), role or "plain", max(1, width - INDENT))
    label: Words = (safe(f"{head:<{INDENT}}"), "muted")
    blank: Words = (safe(" " * INDENT), "muted")
    return [(blank if number else label, *line) for number, line in enumerate(wrapped)]


def _table(section: Section, width: int) -> list[TextLine]:
    widths = {
        name: max(cell_len(name), *(cell_len(safe(row[name])) for row in section.rows))
        for name in section.columns
    }
    columns = list(section.columns)
    for name in LEFT_OUT_FIRST:
        if sum(widths[each] + GAP for each in columns) - GAP > width and name in columns[1:]:
            columns.remove(name)
    right = {name: all(_is_number(row[name]) for row in section.rows) for name in columns}
    head = "".join(_aligned(name, widths[name], right=right[name]) for name in columns)
    lines: list[TextLine] = [((safe(head.rstrip()), "muted"),)]
    for row in section.rows:
        cells: list[Words] = [
            (safe(_aligned(row[name], widths[name], right=right[name])), _role(name, row))
            for name in columns
        ]
        lines.append(tuple(cells))
    if not section.results or width_of(lines[0]) + GAP + 2 * BAR_WIDTH + 1 > width:
        return lines
    bars = bars_of(section.results, BAR_WIDTH)
    at = max(map(width_of, lines))
    return [lines[0], *beside(lines[1:], at, bars)]


def _role(name: str, row: Mapping[str, str]) -> ColourRole:
    value = row[name]
    if "under" in row.get("of", ""):
        return FEW_ROLE
    if name in SIGNED and value.strip(f"{MINUS}0."):
        return "loss" if value.startswith(MINUS) else "profit"
    return "plain" if name not in {"of", "id", "closed", "held"} else "muted"


def _aligned(text: str, width: int, *, right: bool) -> str:
    shown = safe(text)
    blank = " " * (width - cell_len(shown))
    return f"{blank}{shown}  " if right else f"{shown}{blank}  "


def _is_number(text: str) -> bool:
    return not text.strip("−+0123456789.,%∞")
