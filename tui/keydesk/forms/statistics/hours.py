"""The view of hours: a heat map of the results by hour and weekday of the entry."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from keydesk.calc.trade_journal.charts import HeatCell, HourOfWeek, hours_of_week, largest_result
from keydesk.calc.trade_journal.groups import WEEKDAYS
from keydesk.calc.trade_journal.statistics import FEW_TRADES
from keydesk.forms.modal_form import TextLine, fold_line, wrap_text
from keydesk.forms.statistics.heat_cells import (
    LABEL,
    TABLE_GAP,
    CellSize,
    CellStyle,
    cell_width,
    chosen_lines,
    fitting_size,
    head_line,
    least_amount,
    page_of,
    say_few,
    sum_lines,
    together,
    window_of,
)
from keydesk.forms.statistics.view import View, ViewInput, in_columns, is_few
from keydesk.text.sanitize import SafeText, safe

SATURDAY = 5
LEAST_HOURS = 8  # that are shown
LAST_HOUR = 23
HEAD, CELL_ROWS = 2, 3  # rows above the cells, and of a cell: shade, amount, number of trades
HOUR_LABEL, THREE_TABLES = 6, 112  # columns
ROOMY_HOUR = 14  # columns of a cell from which there is room for further hours

Cells = Mapping[HourOfWeek, HeatCell]


class HoursView(View[Cells]):
    """Results by the hour and weekday of the entry: the hours from the first to the last with a trade."""

    NAME: ClassVar[str] = "hours"
    HINT: ClassVar[str] = "arrows choose an hour"
    POINTS: ClassVar[bool] = True

    def __init__(self) -> None:
        self.hour, self.weekday = 0, 0
        self._is_chosen = False  # by the trader, or as the cell with the largest result
        self._hours: Sequence[int] = ()
        self._days: Sequence[int] = ()

    def compute(self, given: ViewInput) -> Cells:
        """Return the cells."""
        return hours_of_week(given.trades, given.snapshot.context.zone)

    def lines(self, data: Cells, given: ViewInput) -> Sequence[TextLine]:
        """Return the map, the chosen cell, and the sums."""
        if not data:
            why = "Not enough trades for a map: none was closed."
            return wrap_text(safe(why), "muted", given.width)
        self._bound(data, given.width)
        sums = {h: together([c for key, c in data.items() if key.hour == h]) for h in self._hours}
        style = CellStyle(
            CellSize(cell_width(len(self._hours), given.width)),
            largest_result(data),
            given,
            least_amount([*data.values(), *sums.values()]),
        )
        others = HEAD + 2 + len(self._below(data, style))
        tables = _sums(data, self._days, given, 0)
        size = fitting_size(style, CELL_ROWS, (others, len(tables)), len(self._days))
        style = style._replace(size=size)
        shown, below = self._map(data, sums, style), self._below(data, style)
        room = given.rows - len(shown) - len(below) - 2
        return page_of(shown, below, _sums(data, self._days, given, room), given.rows)

    def _below(self, data: Cells, style: CellStyle) -> list[TextLine]:
        """Return the figures of the chosen cell, and what the shades mean."""
        name = f"{WEEKDAYS[self.weekday]} {self.hour:02}:00"
        chosen = data.get(HourOfWeek(self.weekday, self.hour))
        return [*chosen_lines(name, chosen, style.given), *style.legend(*_few_texts(data))]

    def _bound(self, data: Cells, width: int) -> None:
        """Find the hours and weekdays that are shown, and keep the chosen ones within them."""
        first, last = min(each.hour for each in data), max(each.hour for each in data)
        least = min(LAST_HOUR + 1, max(LEAST_HOURS, (width - LABEL) // ROOMY_HOUR))
        last = min(LAST_HOUR, max(last, first + least - 1))
        first = max(0, min(first, last - least + 1))
        self._hours = range(first, last + 1)
        traded = {each.weekday for each in data}
        self._days = [day for day in range(len(WEEKDAYS)) if day < SATURDAY or day in traded]
        if not self._is_chosen:
            at = max(data, key=lambda each: (abs(data[each].result), each))
            self.weekday, self.hour, self._is_chosen = *at, True
        self.hour = max(first, min(last, self.hour))
        self.weekday = self.weekday if self.weekday in self._days else self._days[-1]

    def _map(self, data: Cells, sums: Mapping[int, HeatCell], style: CellStyle) -> list[TextLine]:
        given = style.given
        room = (given.width - LABEL) // style.size.width
        hours = window_of(self._hours[0], self._hours[-1], self.hour, room)
        title: TextLine = (
            ("Result by hour and weekday of the entry", "bright"),
            (safe(f"   hours in {given.zone_name}"), "muted"),
        )
        lines = [*fold_line(title, given.width), head_line([f"{hour:02}" for hour in hours], style)]
        for day in self._days:
            cells = [data.get(HourOfWeek(day, hour)) for hour in hours]
            chosen = hours.index(self.hour) if day == self.weekday else None
            lines += style.lines((safe(WEEKDAYS[day]), "muted"), cells, chosen)
        return [*lines, style.sums([sums[hour] for hour in hours])]

    def move(self, across: int, down: int) -> bool:
        """Choose another cell; behind the last hour comes the first."""
        if self._hours and self._days:
            first = self._hours[0]
            self.hour = first + (self.hour - first + across) % len(self._hours)
            at = self._days.index(self.weekday) + down
            self.weekday = self._days[max(0, min(len(self._days) - 1, at))]
        return True


def _few_texts(data: Cells) -> tuple[SafeText, ...]:
    """Return how many cells rest on few trades, in words, and in fewer ones."""
    few = sum(is_few(each.n) for each in data.values())
    if not few:
        return ()
    are_all = len(data) == few
    which = "Each cell" if are_all else f"{few} of {len(data)} cells"
    has = "has" if are_all else "have"
    return (
        safe(f"{which} {has} fewer than {FEW_TRADES} trades: its result may be chance."),
        safe(f"{which}: under {FEW_TRADES} trades."),
    )


def _sums(data: Cells, days: Sequence[int], given: ViewInput, room: int) -> list[TextLine]:
    """Return the weekdays together, and the hours: in two halves where one has no room in so many lines."""
    by_day = {
        WEEKDAYS[day]: together([c for key, c in data.items() if key.weekday == day])
        for day in days
    }
    hours = sorted({each.hour for each in data})
    by_hour = {
        f"{h:02}:00": together([c for key, c in data.items() if key.hour == h]) for h in hours
    }
    columns = 3 if given.width >= THREE_TABLES and len(by_hour) + 1 > room else 2
    width = (given.width - (columns - 1) * TABLE_GAP) // columns
    head, *rows = sum_lines("hour", by_hour, width, HOUR_LABEL)  # one scale for both halves
    middle = -(-len(rows) // (columns - 1))
    parts = [[head, *part] for part in (rows[:middle], rows[middle:]) if part]
    tables = [sum_lines("day", by_day, width, HOUR_LABEL), *parts]
    say_few(tables, given, by_day, by_hour)
    return in_columns(tables, given.width, TABLE_GAP)
