"""The view of the calendar: a heat map of the trading days as weeks side by side, and what weeks, months and weekdays made."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.market.trading_day import DAY_SPAN_TEXT, booking_date
from keydesk.calc.trade_journal.charts import HeatCell, largest_result, trading_days
from keydesk.calc.trade_journal.groups import WEEKDAYS
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.forms.page_lines import beside, width_of
from keydesk.forms.statistics.heat_cells import HeatMap, rows_of
from keydesk.forms.statistics.heat_page import (
    chosen_lines,
    least_amount,
    page_of,
    together,
    window_of,
)
from keydesk.forms.statistics.report_lines import (
    LEAST_TRADES_WIDTH,
    TABLE_GAP,
    beside_trades,
    trade_lines,
    trades_room,
)
from keydesk.forms.statistics.sum_tables import (
    R_WIDTH,
    RESULT_WIDTH,
    SUM_WIDTH,
    WIN_WIDTH,
    results_width,
    say_few,
    sum_lines,
)
from keydesk.forms.statistics.view import View, ViewInput
from keydesk.text.format import shorten
from keydesk.text.sanitize import safe

DAYS = 7
SATURDAY = 5
LEAST_WEEKS = 5  # those of a month, also where fewer have trades
TRADE_TIME = "%H:%M"
HEAD_GAP = 2  # columns of a cell before a month and its day: else "29 Jan 5" is read as one date
LABEL = 4  # columns of the names of weekdays
MONTHS_WIDTH = 36  # columns of the table of months in a narrow window; half of a wide one
MOST_LISTED = 8  # trades of a day that have room below the map before bars have
LABEL_WIDTH = 9  # of their names
WIDE_FROM = SUM_WIDTH + R_WIDTH + WIN_WIDTH + LABEL_WIDTH


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
        self._shown: Sequence[int] = ()  # weeks

    def compute(self, given: ViewInput) -> CalendarData:
        """Return the cells of days, months and weeks."""
        days = trading_days(given.trades)
        months: dict[str, list[HeatCell]] = {}
        weeks: dict[date, list[HeatCell]] = {}
        for day in sorted(days):
            months.setdefault(f"{day:%b %Y}", []).append(days[day])
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
            return wrap_text(safe(why), "plain", given.width)
        last = max(data.days)
        first = min(*data.days, _monday(last) - timedelta(weeks=LEAST_WEEKS - 1))
        self._range = first, last
        self.chosen = min(max(self.chosen or last, first), last)
        traded = {day.weekday() for day in data.days}
        if self.chosen.weekday() not in {*range(SATURDAY), *traded}:  # it is of other trades
            self.chosen = max(day for day in data.days if day <= self.chosen)
        span = _week(first), _week(last)
        shown = self._map(data, span, self.chosen, given)
        chosen = chosen_lines(
            f"{_date_text(self.chosen)} {self.chosen.year}", data.days.get(self.chosen), given
        )
        below = [*chosen, *shown.legend()]
        months = (
            _months(data, given) if len(data.months) > 1 else []
        )  # the sum of one is in the map
        listed = 2 + min(MOST_LISTED, max(each.n for each in data.days.values()))
        shown = rows_of(shown, 2 + len(below), max(min(len(months), MOST_LISTED), listed))
        mondays = [_monday_of(number) for number in self._shown]
        title = _title(len(mondays), span[1] - span[0] + 1, given.width)
        cells = [title, *shown.lines(_heads(mondays, shown.cell))]
        own = [each for each in given.trades if booking_date(each.closed_ns or 0) == self.chosen]
        which = f"of the day, times {given.zone_name}"
        if wide := beside_trades([*cells, BLANK, *below], own, which, given, TRADE_TIME):
            return page_of(wide, (), months, given.rows)
        tables = _months_and_trades(months, own, which, given, trades_room(cells, below, given))
        return page_of(cells, below, tables, given.rows)

    def _map(
        self, data: CalendarData, span: tuple[int, int], chosen: date, given: ViewInput
    ) -> HeatMap:
        """Return the weeks of a span, as many as have room for their amounts and the sums of weekdays."""
        cell = least_amount([*data.days.values(), *data.weeks.values()]) + 1
        room = max(1, (given.width - LABEL) // cell - 1)
        self._shown = weeks = window_of(*span, _week(chosen), room)
        traded = {day.weekday() for day in (*data.days, chosen) if _week(day) in weeks}
        self._weekdays = [day for day in range(DAYS) if day < SATURDAY or day in traded]
        dates = [
            [_monday_of(week) + timedelta(days=each) for week in weeks] for each in self._weekdays
        ]
        days = [[data.days.get(day) for day in row] for row in dates]
        return HeatMap(
            [WEEKDAYS[each] for each in self._weekdays],
            days,
            [data.weeks.get(_monday_of(week), HeatCell()) for week in weeks],
            [together([each for each in row if each is not None]) for row in days],
            (self._weekdays.index(chosen.weekday()), weeks.index(_week(chosen))),
            LABEL,
            largest_result(data.days),
            given,
            marks=[[str(day.day) for day in row] for row in dates],
        )

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


def _months_and_trades(
    months: list[TextLine], own: Sequence[JournalTrade], which: str, given: ViewInput, room: int
) -> list[TextLine]:
    """Return the months, and the trades of the chosen day beside them where there is room."""
    at = max(map(width_of, months)) + TABLE_GAP if months else 0
    free = replace(given, width=given.width - at)
    if free.width < LEAST_TRADES_WIDTH:
        return months
    return beside(months, at, trade_lines(own, which, free, room, TRADE_TIME))


def _date_text(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b}"


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _week(day: date) -> int:
    """Return the number of a week: consecutive, from Monday to Sunday."""
    return (day.toordinal() - 1) // DAYS


def _monday_of(week: int) -> date:
    return date.fromordinal(week * DAYS + 1)


def _title(shown: int, known: int, width: int) -> TextLine:
    """Return what the map has, and how many of its weeks are in sight where not all are."""
    name, about = safe("Result of each trading day"), f", {DAY_SPAN_TEXT}"
    counts = f"   {shown} of {known} weeks" if shown < known else ""
    full = f"{counts}: ← → shows the others" if counts else ""
    texts = (about, full), ("", full), ("", counts)
    about, more = next((t for t in texts if len(name + "".join(t)) <= width), texts[-1])
    name = shorten(name, width - len(more))
    return ((name, "bright"), (safe(about), "muted"), (safe(more), "warn"))


def _heads(mondays: Sequence[date], width: int) -> list[str]:
    """Return the days of month of Mondays, with the month where it is another one; it alone where both have no room apart from the day before."""
    heads = []
    for number, day in enumerate(mondays):
        name = f"{day:%b} {day.day}"
        name = name if len(name) <= width - (HEAD_GAP if number else 0) else f"{day:%b}"
        is_same = number and day.month == mondays[number - 1].month
        heads.append(str(day.day) if is_same else name)
    return heads


def _months(data: CalendarData, given: ViewInput) -> list[TextLine]:
    """Return what the months made, the newest first: those that have no room are the oldest."""
    width = given.width // 2 if given.width >= WIDE_FROM else MONTHS_WIDTH
    newest = dict(reversed(list(data.months.items())))
    results = max(RESULT_WIDTH, results_width(newest.values()))
    table = sum_lines("month", newest, min(width, given.width), LABEL_WIDTH, result_width=results)
    say_few([table], given, data.months)
    return table
