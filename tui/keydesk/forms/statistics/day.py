"""The page of a day or a week: the same content as `keydesk journal report` prints; ← and → turn to the next with trades."""

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import ClassVar, TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from textual.worker import Worker

from keydesk.calc.market.trading_day import booking_date
from keydesk.calc.trade_journal.charts import CurvePoint, equity_curve
from keydesk.forms.info_form import EDGES, LEAST_IN_SIGHT, ScrolledForm
from keydesk.forms.modal_form import BLANK, TextLine, as_lines, two_ends, wrap_text
from keydesk.forms.page_lines import beside, width_of
from keydesk.forms.statistics.equity import LEAST_TRADES, curve_name, curve_rows
from keydesk.forms.statistics.group_tables import BETWEEN, bar_cells, tables_below
from keydesk.forms.statistics.report_lines import (
    figure_lines,
    in_pages,
    is_of_figures,
    parts_of,
    section_lines,
)
from keydesk.keys.keymap import DAY_PAGE
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.format import at
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.trade_journal.report import Page, Section, day_of, page, trades_of, week_of
from keydesk.trade_journal.snapshot import JournalSnapshot

WIDE_FROM = 100  # columns of the page that has two columns
MOST_WORDS, MORE_WORDS = 76, 2  # columns of the right one: of the table of trades; beyond a half
CURVE_FROM = 14  # rows of the page
COLUMNS_OF_FIGURES = 2, 3  # beside each other
CURVE_ROW: TextLine = (
    ("curve", "plain"),
)  # in place of a row of it, where only its height matters
ColumnParts: TypeAlias = tuple[list[list[TextLine]], list[list[TextLine]]]
"""What stands in the left column below the curve, and in the right one."""
LOW_CURVE, HIGHEST_CURVE = 5, 28  # rows of the curve between the words, and at most


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
    WIDTH: ClassVar[int] = 250

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
        this, other = ("week", "day") if self._period[1] else ("day", "week")
        pages = super().foot_text().removeprefix("Esc closes").strip()
        for words in (
            (f"← → {this}", f"d {other}", pages, "Esc closes"),
            ("← →", f"d {other}", "Esc closes"),
        ):
            text = "   ".join(filter(None, words))
            if len(text) <= self.inside - 4:
                return safe(text)
        return "Esc closes"

    @property
    def dims_panes(self) -> bool:
        """Whether the panes that it leaves in sight are dimmed: sent sooner, they might be covered with the next picture."""
        return self.shown is not None

    def all_lines(self) -> Sequence[TextLine]:
        """Return the whole page."""
        if self.shown is None:
            return [(("Computing …", "muted"),)]
        trouble, part = self.snapshot.trouble, self.snapshot.part
        lines = wrap_text(safe(trouble), "danger", self.inside) if trouble else []
        lines += wrap_text(safe(f"Over a part: {part}"), "warn", self.inside) if part else []
        sections, curve = self.shown.page.sections, self.shown.curve
        if len(curve) < LEAST_TRADES or self.room < CURVE_FROM:
            return [*lines, *in_pages(parts_of(sections, self.inside), self.room, len(lines))]
        if self.inside >= WIDE_FROM:
            return [*lines, *self._in_two_columns(sections, curve, len(lines))]
        parts = self._with_curve(sections, curve, len(lines))
        return [*lines, *in_pages(parts, self.room, len(lines))]

    def _in_two_columns(
        self, sections: Sequence[Section], curve: Sequence[CurvePoint], above: int
    ) -> list[TextLine]:
        """Return the curve and what it is made of at the left; words, trades, figures and the tables that have no room there at the right."""
        words = [each for each in sections if not each.results and not is_of_figures(each)]
        most = min((self.inside - BETWEEN) // 2 + MORE_WORDS, MOST_WORDS)
        beside_it = parts_of(sorted(words, key=lambda each: bool(each.rows)), most)
        right = max(width_of(line) for part in beside_it for line in part)
        left = self.inside - BETWEEN - right
        places = self._places(sections, beside_it, left, right)
        one, other = min(places, key=lambda each: self._lacks(each[0], each[1], above))
        beside_curve = in_pages(other, self.room, above)
        rows = self._curve_rows(one, above + 1, self.room // 3, len(beside_curve))
        title: TextLine = ((self._curve_name(curve), "bright"),)
        lines = in_pages([[title, *self._curve(curve, left, rows)], *one], self.room, above)
        return beside(lines, left + BETWEEN, beside_curve)

    def _places(
        self,
        sections: Sequence[Section],
        beside_it: list[list[TextLine]],
        left: int,
        right: int,
    ) -> list[ColumnParts]:
        """Return what may stand in the two columns of these widths, the first of equal ones is preferred."""
        groups = [each for each in sections if each.results]
        figures = [each for each in sections if is_of_figures(each)]
        shapes = [
            [figure_lines(each, right, count) for each in figures] for count in COLUMNS_OF_FIGURES
        ]
        places: list[ColumnParts] = []
        for count in range(len(groups), -1, -1):
            widths = [left] * (count > 0) + [right] * (count < len(groups))
            most = bar_cells(groups, *widths)
            one = tables_below(groups, left, most)[:count]
            rest = tables_below(groups, right, most)[count:]
            for shape in shapes:
                places += [(one, [*beside_it, *shape, *rest]), (one, [*beside_it, *rest, *shape])]
        pairs = parts_of(groups, left)
        lowest = [figure_lines(each, left, COLUMNS_OF_FIGURES[-1]) for each in figures]
        at_left = tables_below(groups, left, bar_cells(groups, left))
        return [
            *places,
            *((pairs, [*beside_it, *shape]) for shape in shapes),
            ([*pairs, *lowest], beside_it),
            ([*at_left, *lowest], beside_it),
        ]

    def _lacks(
        self, left: Sequence[list[TextLine]], right: Sequence[list[TextLine]], above: int
    ) -> tuple[int, int, int]:
        """Return the pages that two columns take, the left one below a curve, the rows free on the first, and how unequal they are."""
        other = in_pages(right, self.room, above)
        curve = [CURVE_ROW] * (self._curve_rows(left, above + 1, self.room // 3, len(other)) + 1)
        columns = [in_pages([curve, *left], self.room, above), other]
        used = sum(line != BLANK for lines in columns for line in lines[: self.room - above])
        shorter, longer = sorted(map(len, columns))
        pages = -(-(above + longer) // self.room)
        return pages, -used if pages > 1 else 0, longer - shorter

    def _curve_rows(
        self, below: Sequence[list[TextLine]], others: int, usual: int, beside_it: int = 0
    ) -> int:
        """Return the rows of the curve: a usual height, and more to where the lines beside it or the page end.

        Args:
            below: The parts below it, of which as many are on its page as leave it its height.
            others: The other lines on its page.
            usual: Its rows where there is room.
            beside_it: The lines beside it and the parts below it.
        """
        for count in range(len(below), -1, -1):
            taken = others + sum(len(each) + 1 for each in below[:count])
            free = self.room - taken
            if free >= (LOW_CURVE if count == len(below) else usual):
                rows = max(usual, beside_it - taken) if count == len(below) else free
                height = self.rows_for_page(max(self._tallest, taken + rows + EDGES)) - EDGES
                end = height if self.room - height >= LEAST_IN_SIGHT else self.room
                return min(HIGHEST_CURVE, end - taken)
        return LOW_CURVE

    def _curve_name(self, curve: Sequence[CurvePoint]) -> SafeText:
        zone = at(curve[-1].time_ns, self.snapshot.context.zone).tzname() or ""
        return curve_name(self.snapshot.currency, zone)

    def _curve(self, curve: Sequence[CurvePoint], width: int, rows: int) -> list[TextLine]:
        zone = self.snapshot.context.zone
        ascii_only = self.app.has_class("-ascii")
        return as_lines(curve_rows(curve, (width, rows), zone, ascii_only=ascii_only))

    def _with_curve(
        self, sections: Sequence[Section], curve: Sequence[CurvePoint], above: int
    ) -> list[list[TextLine]]:
        """Return the result, the curve, the other words, and the other parts below them."""
        first, *others = sections
        result, *rest = first.sentences
        lines = section_lines(replace(first, sentences=(result,)), self.inside)
        name: TextLine = ((self._curve_name(curve), "muted"),)
        if len(lines) == 1 and width_of((*lines[0], *name)) < self.inside:
            lines = [two_ends(lines[0], name, self.inside)]
        words, *parts = parts_of([replace(first, sentences=tuple(rest)), *others], self.inside)
        rows = self._curve_rows(parts, above + len(lines) + len(words), LOW_CURVE)
        return [[*lines, *self._curve(curve, self.inside, rows), *words], *parts]

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
    limits, currency = snapshot.limits, snapshot.currency
    shown = page(journal, period, snapshot.context, snapshot.account, limits, currency=currency)
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
