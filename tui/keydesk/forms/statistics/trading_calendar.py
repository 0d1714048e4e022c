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
    TABLE_GAP,
    CellSize,
    CellStyle,
    cell_width,
    chosen_lines,
    fitting_size,
    sum_lines,
    together,
    window_of,
    with_tables,
)
from keydesk.forms.statistics.view import View, ViewInput, in_columns
from keydesk.text.sanitize import safe

DAYS = 7
SATURDAY = 5
YEAR = 52  # weeks that a calendar has room for, where there is
LEAST_WEEKS = 4
HEAD, CELL_ROWS = 2, 2  # rows above the cells, and of a cell: shade and amount
THREE_TABLES = 130  # columns of the page
LABEL_WIDTH, WIDE_LABEL, WIDE_FROM = 8, 12, 112  # columns of the names in a table; of the page


class CalendarData(Struct, frozen=True):
    """The days with trades, and the same by month and by the Monday of their week."""

    days: Mapping[date, HeatCell]
    months: Mapping[str, HeatCell]
    weeks: Mapping[date, HeatCell]


class CalendarView(View[CalendarData]):
    """The trading days as weeks side by side; Enter opens the chosen day."""

    NAME: ClassVar[str] = "calendar"
    SHORT: ClassVar[str] = "days"
    HINT: ClassVar[str] = "arrows choose a day  Enter opens it  d its week"
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
        known = max(LEAST_WEEKS, min(_week(last) - _week(first) + 1, YEAR))
        width = cell_width(known, given.width)
        style = CellStyle(CellSize(width), largest_result(data.days), given)
        name = f"{self.chosen:%a %Y-%m-%d}"
        chosen = [BLANK, *chosen_lines(name, data.days.get(self.chosen), given)]
        tables = _sums(data, self._weekdays, given, 0)
        others = HEAD + 1 + len(chosen) + len(style.legend()) + 1 + len(tables)
        size = fitting_size(width, CELL_ROWS, others, len(self._weekdays), given.rows)
        style = style._replace(size=size)
        shown = [*self._map(data, self.chosen, style), *chosen, *style.legend()]
        room = given.rows - len(shown) - 2
        return with_tables(shown, _sums(data, self._weekdays, given, room), given.rows)

    def _map(self, data: CalendarData, chosen: date, style: CellStyle) -> list[TextLine]:
        size, _, given = style
        first, last = _week(min(data.days)), _week(max(data.days))
        room = (given.width - LABEL) // size.width
        weeks = window_of(first, last, _week(chosen), room)
        mondays = [_monday_of(number) for number in weeks]
        lines = [
            _title(len(weeks), last - first + 1, given.width),
            _month_line(mondays, size, self._weekdays[-1]),
        ]
        for weekday in self._weekdays:
            cells = [data.days.get(monday + timedelta(days=weekday)) for monday in mondays]
            at = weeks.index(_week(chosen)) if weekday == chosen.weekday() else None
            lines += style.lines((safe(WEEKDAYS[weekday]), "muted"), cells, at)
        # as strong as they are beside each other
        style = CellStyle(CellSize(size.width), largest_result(data.weeks), given)
        return [*lines, *style.lines(("all", "bright"), [data.weeks.get(each) for each in mondays])]

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


def _month_line(mondays: Sequence[date], size: CellSize, last_weekday: int) -> TextLine:
    """Return the names of months over the weeks that they begin in; a week is of the month of its last day shown."""
    letters = [" "] * (LABEL + len(mondays) * size.width)
    free = 0
    for number, monday in enumerate(mondays):
        last = monday + timedelta(days=last_weekday)
        if number and last.month == (last - timedelta(weeks=1)).month:
            continue
        name = f"{last:%b}" if last.month > 1 else f"{last:%b %y}"
        place = LABEL + number * size.width
        if place >= free and place + len(name) <= len(letters):
            letters[place : place + len(name)] = name
            free = place + len(name) + 1
    return ((safe("".join(letters).rstrip()), "muted"),)


def _sums(
    data: CalendarData, weekdays: Sequence[int], given: ViewInput, room: int
) -> list[TextLine]:
    """Return what months and weekdays made, and beside or below them the last weeks, as many as there is room for."""
    by_day = {
        WEEKDAYS[number]: together([c for day, c in data.days.items() if day.weekday() == number])
        for number in weekdays
    }
    beside = 3 if given.width >= THREE_TABLES else 2
    width = (given.width - (beside - 1) * TABLE_GAP) // beside
    label = WIDE_LABEL if given.width >= WIDE_FROM else LABEL_WIDTH
    tables = [sum_lines(*each, width, label) for each in (("month", data.months), ("day", by_day))]
    tall = max(room, *map(len, tables)) if room else 0
    free = tall - min(map(len, tables)) - 1  # below the shorter one
    parts = [tall, free] if beside > len(tables) else [free]
    most = sum(max(0, each - 1) for each in parts if each > LEAST_WEEKS)
    shown = dict(list(data.weeks.items())[-most:]) if most else {}
    name = "week of" if len(shown) == len(data.weeks) else "last weeks"
    weeks = {f"{monday:%d %b}": cell for monday, cell in shown.items()}
    head, *rows = sum_lines(name, weeks, width, label)  # one scale for both parts
    while rows and parts:
        size = parts.pop(0) - 1
        tables.append([head, *rows[-size:]])
        rows = rows[:-size]
    return in_columns(tables, given.width, TABLE_GAP)
