"""The view of the calendar: a heat map of the trading days as weeks side by side, and what weeks, months and weekdays made."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import ClassVar

from msgspec import Struct

from keydesk.calc.market.trading_day import DAY_SPAN_TEXT
from keydesk.calc.trade_journal.charts import HeatCell, largest_result, trading_days
from keydesk.calc.trade_journal.groups import WEEKDAYS
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.forms.statistics.heat_cells import (
    LABEL,
    R_WIDTH,
    SUM_WIDTH,
    TABLE_GAP,
    WIN_WIDTH,
    CellSize,
    CellStyle,
    cell_width,
    chosen_lines,
    fitting_size,
    least_amount,
    page_of,
    say_few,
    sum_lines,
    together,
    window_of,
)
from keydesk.forms.statistics.view import View, ViewInput, in_columns
from keydesk.text.sanitize import safe

DAYS = 7
SATURDAY = 5
YEAR = 52  # weeks that a calendar has room for, where there is
LEAST_WEEKS = 4
ROOMY_WEEK = 12  # columns of a cell from which there is room for further weeks
HEAD, CELL_ROWS, ROOMY_ROWS = 2, 2, 3  # rows above the cells, and of a cell: shade, amount, number
THREE_TABLES = 112  # columns of the page
LABEL_WIDTH, WIDE_LABEL = 8, 12  # columns of the names in a table
WIDE_FROM = SUM_WIDTH + R_WIDTH + WIN_WIDTH + WIDE_LABEL  # columns of a table


class CalendarData(Struct, frozen=True):
    """The days with trades, and the same by month and by the Monday of their week."""

    days: Mapping[date, HeatCell]
    months: Mapping[str, HeatCell]
    weeks: Mapping[date, HeatCell]


class CalendarView(View[CalendarData]):
    """The trading days as weeks side by side; Enter opens the chosen day."""

    NAME: ClassVar[str] = "calendar"
    SHORT: ClassVar[str] = "days"
    HINT: ClassVar[str] = "arrows choose a day   Enter opens it   d week"
    POINTS: ClassVar[bool] = True

    def __init__(self) -> None:
        self.chosen: date | None = None
        self._range: tuple[date, date] | None = None
        self._weekdays: Sequence[int] = ()

    def compute(self, given: ViewInput) -> CalendarData:
        """Return the cells of days, months and weeks."""
        days = trading_days(given.trades)
        months: dict[str, list[HeatCell]] = {}
        weeks: dict[date, list[HeatCell]] = {}
        for day in sorted(days):
            months.setdefault(f"{day:%Y-%m}", []).append(days[day])
            weeks.setdefault(_monday(day), []).append(days[day])
        return CalendarData(
            days,
            {name: together(own) for name, own in months.items()},
            {monday: together(own) for monday, own in weeks.items()},
        )

    def lines(self, data: CalendarData, given: ViewInput) -> Sequence[TextLine]:
        """Return the weeks around the chosen day, its figures, and the sums."""
        if not data.days:
            why = "Not enough trades for a calendar: none was closed."
            return wrap_text(safe(why), "muted", given.width)
        first, last = self._range = min(data.days), max(data.days)
        self.chosen = min(max(self.chosen or last, first), last)
        traded = {day.weekday() for day in data.days}
        self._weekdays = [day for day in range(DAYS) if day < SATURDAY or day in traded]
        weeks = max(LEAST_WEEKS, (given.width - LABEL) // ROOMY_WEEK)  # that are shown at least
        shown_from = min(_week(first), _week(last) - weeks + 1)
        width = cell_width(min(_week(last) - shown_from + 1, YEAR), given.width)
        least = least_amount([*data.days.values(), *data.weeks.values()])
        style = CellStyle(CellSize(width), largest_result(data.days), given, least)
        name = f"{self.chosen:%a %Y-%m-%d}"
        chosen = chosen_lines(name, data.days.get(self.chosen), given)
        others = HEAD + 2 + len(chosen) + len(style.legend())
        lines = others, len(_sums(data, self._weekdays, given, 0))
        most = ROOMY_ROWS if width >= ROOMY_WEEK else CELL_ROWS
        style = style._replace(size=fitting_size(style, most, lines, len(self._weekdays)))
        below = [*chosen, *style.legend()]
        shown = self._map(data, (shown_from, _week(last)), self.chosen, style)
        room = given.rows - len(shown) - len(below) - 2
        return page_of(shown, below, _sums(data, self._weekdays, given, room), given.rows)

    def _map(
        self, data: CalendarData, span: tuple[int, int], chosen: date, style: CellStyle
    ) -> list[TextLine]:
        """Return the weeks of a span, as many as there is room for."""
        given, (first, last) = style.given, span
        room = (given.width - LABEL) // style.size.width
        weeks = window_of(first, last, _week(chosen), room)
        mondays = [_monday_of(number) for number in weeks]
        lines = [
            _title(len(weeks), last - first + 1, given.width),
            _month_line(mondays, style.widths(len(mondays)), self._weekdays[-1]),
        ]
        for weekday in self._weekdays:
            cells = [data.days.get(monday + timedelta(days=weekday)) for monday in mondays]
            at = weeks.index(_week(chosen)) if weekday == chosen.weekday() else None
            lines += style.lines((safe(WEEKDAYS[weekday]), "muted"), cells, at)
        return [*lines, style.sums([data.weeks.get(each) for each in mondays])]

    def move(self, across: int, down: int) -> bool:
        """Choose another day: a week to the side, a day up or down; weekdays that are not shown are passed over."""
        if self.chosen is None or self._range is None:
            return True
        first, last = self._range
        day = self.chosen + timedelta(weeks=across, days=down)
        while down and day.weekday() not in self._weekdays and first <= day <= last:
            day += timedelta(days=1 if down > 0 else -1)
        self.chosen = min(max(day, first), last)
        return True

    def day(self) -> date | None:
        """Return the chosen day."""
        return self.chosen


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week(day: date) -> int:
    """Return the number of a week: consecutive, from Monday to Sunday."""
    return (day.toordinal() - 1) // DAYS


def _monday_of(week: int) -> date:
    return date.fromordinal(week * DAYS + 1)


def _title(shown: int, known: int, width: int) -> TextLine:
    """Return what the map has, and how many of its weeks are in sight where not all are."""
    name, about = "Result of each trading day", f", {DAY_SPAN_TEXT}"
    counts = f"   {shown} of {known} weeks" if shown < known else ""
    full = f"{counts}: ← → shows the others" if counts else ""
    texts = (about, full), ("", full), ("", counts)
    about, more = next((t for t in texts if len(name + "".join(t)) <= width), texts[-1])
    return ((name, "bright"), (safe(about), "muted"), (safe(more), "warn"))


def _month_line(mondays: Sequence[date], widths: Sequence[int], last_weekday: int) -> TextLine:
    """Return the names of months over the weeks that they begin in; a week is of the month of its last day shown.

    A month of one week, which has no room for its name before the next one, has none.
    """
    lasts = [monday + timedelta(days=last_weekday) for monday in mondays]
    starts = [n for n, day in enumerate(lasts) if not n or day.month != lasts[n - 1].month]
    letters = [" "] * (LABEL + sum(widths))
    for start, end in zip(starts, [*starts[1:], len(mondays)], strict=True):
        day, place = lasts[start], LABEL + sum(widths[:start])
        name = f"{day:%b}" if day.month > 1 else f"{day:%b %y}"
        behind = 1 if end < len(mondays) else 0
        if len(name) + behind <= sum(widths[start:end]):
            letters[place : place + len(name)] = name
    return ((safe("".join(letters).rstrip()), "muted"),)


def _sums(
    data: CalendarData, weekdays: Sequence[int], given: ViewInput, room: int
) -> list[TextLine]:
    """Return what months, weekdays and weeks made; of the weeks the last ones, as many as there is room for."""
    by_day = {
        WEEKDAYS[number]: together([c for day, c in data.days.items() if day.weekday() == number])
        for number in weekdays
    }
    by_day = {name: cell for name, cell in by_day.items() if cell.n}
    named = {"month": data.months}
    if list(by_day.values()) != list(data.months.values()):
        named["day"] = by_day
    has_weeks = all(list(each.values()) != list(data.weeks.values()) for each in named.values())
    beside = max(2, len(named) + (has_weeks and given.width >= THREE_TABLES))
    width = (given.width - (beside - 1) * TABLE_GAP) // beside
    label = WIDE_LABEL if width >= WIDE_FROM else LABEL_WIDTH
    tables = [sum_lines(name, cells, width, label) for name, cells in named.items()]
    say_few(tables, given, *named.values())
    if has_weeks and room:
        tall = max(room - 1, *map(len, tables))  # a blank row stays above the frame
        tables += [[]] * (beside > len(named))
        _add_weeks(tables, data.weeks, tall, (width, label))
    return in_columns([each for each in tables if each], given.width, TABLE_GAP)


def _add_weeks(
    tables: Sequence[list[TextLine]],
    weeks: Mapping[date, HeatCell],
    tall: int,
    columns: tuple[int, int],
) -> None:
    """Add the last weeks below tables of so many lines together with them: the newest first, column by column."""
    rooms = [(each, tall - len(each) - bool(each) - 1) for each in tables]
    rooms = [(each, size) for each, size in rooms if size >= LEAST_WEEKS]
    rooms = rooms[-1:] if rooms and rooms[-1][1] >= len(weeks) else rooms  # whole in one column
    most = sum(size for _, size in rooms)
    shown = dict(list(weeks.items())[::-1][:most])
    width, label = columns
    is_part = len(shown) < len(weeks) and label == WIDE_LABEL
    named = {f"{monday:%d %b}": cell for monday, cell in shown.items()}
    head, *rows = sum_lines("last weeks" if is_part else "week of", named, width, label)
    for table, size in rooms:  # all of one scale
        if rows:
            table += [*([BLANK] if table else []), head, *rows[:size]]
            rows = rows[size:]
