"""The view of hours: a heat map of the results by hour and weekday of the entry."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from keydesk.calc.trade_journal.charts import (
    HeatCell,
    HourOfWeek,
    hour_of_week,
    hours_of_week,
    largest_result,
)
from keydesk.calc.trade_journal.groups import WEEKDAYS
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.modal_form import BLANK, TextLine, fold_line, wrap_text
from keydesk.forms.statistics.heat_cells import LEAST_CELL, HeatMap, rows_of
from keydesk.forms.statistics.heat_page import chosen_lines, page_of, together, window_of
from keydesk.forms.statistics.report_lines import beside_trades, trade_lines, trades_room
from keydesk.forms.statistics.view import CHANCE, View, ViewInput, is_few
from keydesk.text.sanitize import SafeText, safe

SATURDAY = 5
LEAST_HOURS = 8  # that are shown
LAST_HOUR = 23
LABEL = 6  # columns of the names of rows: win %
TRADE_TIME = "%d %b %H:%M"
FIGURES = 2  # rows below the sums: number of trades, win rate

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
        self._heads: Sequence[str] = ()
        self._days: Sequence[int] = ()

    def compute(self, given: ViewInput) -> Cells:
        """Return the cells."""
        return hours_of_week(given.trades, given.snapshot.context.zone)

    def lines(self, data: Cells, given: ViewInput) -> Sequence[TextLine]:
        """Return the map, the chosen cell, and the sums."""
        if not data:
            why = "Not enough trades for a map: none was closed."
            return wrap_text(safe(why), "plain", given.width)
        self._bound(data)
        shown = self._map(data, given)
        name = f"{WEEKDAYS[self.weekday]} {self.hour:02}:00"
        chosen = data.get(HourOfWeek(self.weekday, self.hour))
        title: TextLine = (
            ("Result by hour and weekday of the entry", "bright"),
            (safe(f"   hours in {given.zone_name}"), "muted"),
        )
        head = fold_line(title, given.width)
        below = [*chosen_lines(name, chosen, given), *shown.legend(_few_text(data))]
        shown = rows_of(shown, len(head) + 1 + len(below), figures=FIGURES)
        cells = [*head, *shown.lines(self._heads)]
        own = [each for each in given.trades if self._is_chosen_hour(each, given)]
        which = f"opened {name}"
        if wide := beside_trades([*cells, BLANK, *below], own, which, given, TRADE_TIME):
            return wide
        trades = trade_lines(own, which, given, trades_room(cells, below, given), TRADE_TIME)
        return page_of(cells, below, trades, given.rows)

    def _bound(self, data: Cells) -> None:
        """Find the hours and weekdays that are shown, and keep the chosen ones within them."""
        first, last = min(each.hour for each in data), max(each.hour for each in data)
        last = min(LAST_HOUR, max(last, first + LEAST_HOURS - 1))
        first = max(0, min(first, last - LEAST_HOURS + 1))
        self._hours = range(first, last + 1)
        traded = {each.weekday for each in data}
        self._days = [day for day in range(len(WEEKDAYS)) if day < SATURDAY or day in traded]
        if not self._is_chosen:
            at = max(data, key=lambda each: (abs(data[each].result), each))
            self.weekday, self.hour, self._is_chosen = *at, True
        self.hour = max(first, min(last, self.hour))
        self.weekday = self.weekday if self.weekday in self._days else self._days[-1]

    def _map(self, data: Cells, given: ViewInput) -> HeatMap:
        room = max(1, (given.width - LABEL) // LEAST_CELL)
        hours = window_of(self._hours[0], self._hours[-1], self.hour, room)
        self._heads = [f"{hour:02}" for hour in hours]
        cells = [[data.get(HourOfWeek(day, hour)) for hour in hours] for day in self._days]
        return HeatMap(
            [WEEKDAYS[day] for day in self._days],
            cells,
            [together([c for key, c in data.items() if key.hour == hour]) for hour in hours],
            [together([each for each in row if each is not None]) for row in cells],
            (self._days.index(self.weekday), hours.index(self.hour)),
            LABEL,
            largest_result(data),
            given,
        )

    def _is_chosen_hour(self, trade: JournalTrade, given: ViewInput) -> bool:
        return hour_of_week(trade, given.snapshot.context.zone) == (self.weekday, self.hour)

    def move(self, across: int, down: int) -> bool:
        """Choose another cell; behind the last hour comes the first."""
        if self._hours and self._days:
            first = self._hours[0]
            self.hour = first + (self.hour - first + across) % len(self._hours)
            at = self._days.index(self.weekday) + down
            self.weekday = self._days[max(0, min(len(self._days) - 1, at))]
        return True


def _few_text(data: Cells) -> SafeText:
    """Return how many cells rest on few trades, if any."""
    few = sum(is_few(each.n) for each in data.values())
    if not few:
        return safe("")
    which = "each cell" if len(data) == few else f"{few} of {len(data)} cells"
    return safe(f"n {CHANCE} ({which}).")
