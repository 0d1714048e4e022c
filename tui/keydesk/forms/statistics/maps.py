"""The heat maps: hours by weekdays, and the days of a year. Each has a chosen cell, whose figures stand below.

A cell is the stronger, the larger its result is beside the largest of the map; its colour is the sign. Where colours or shades are
missing, sign and strength are written: +4 to -4.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import ClassVar, cast

from msgspec import Struct

from keydesk.calc.market.trading_day import DAY_SPAN_TEXT
from keydesk.calc.trade_journal.charts import (
    LEVELS,
    HeatCell,
    HourOfWeek,
    hours_of_week,
    largest_result,
    level,
    trading_days,
)
from keydesk.calc.trade_journal.groups import WEEKDAYS
from keydesk.calc.trade_journal.statistics import FEW_TRADES
from keydesk.forms.framed_sheet import WordsRole
from keydesk.forms.sheet import BLANK, TextLine, Words, signed_money, wrap_text
from keydesk.forms.statistics.view import (
    FEW_ROLE,
    View,
    ViewInput,
    bars_of,
    in_columns,
    is_few,
)
from keydesk.text.format import MINUS, money, percent, shorten
from keydesk.text.sanitize import safe
from keydesk.widgets.theme import ColourRole, signed_role
from keydesk_client.arithmetic.constants import ZERO

SHADES = " ░▒▓█"
HOURS = 24
DAYS = 7
LABEL = 4  # columns of the names of weekdays
BETWEEN = 6  # columns between two tables
TABLE_GAP, HOUR_LABEL, THREE_TABLES = 4, 6, 112  # columns
SUM_BAR = 6  # cells of a bar to each side of its axis
SUM_WIDTH = 5 + 11 + 1 + 2 * SUM_BAR + 1  # columns of count, result and bar
WIN_WIDTH, R_WIDTH = 7, 9
WIDEST_DAY = 8  # columns of a day of the calendar
YEAR = 52  # weeks that a calendar has room for, where there is
FIGURES_FROM = 7  # columns of a cell that has room for its amount


def cell_text(cell: HeatCell | None, largest: Decimal, width: int, given: ViewInput) -> Words:
    """Return a cell of the map; width: its columns, of which the last stays blank where there are more than two."""
    if cell is None or not cell.n:
        return safe(f"{'·':^{max(1, width - (width > 2))}}".ljust(width)), "grid"  # noqa: PLR2004
    strength = level(cell.result, largest)
    role = signed_role(strength, zero="muted")
    filled = width - 1 if width > 2 else width  # noqa: PLR2004
    if width >= FIGURES_FROM:
        shade = "" if _is_written(given) else SHADES[abs(strength)]
        text = f"{shade}{_short(cell.result):>{filled - len(shade)}}"
    elif _is_written(given):
        text = f"{'-+'[strength > 0]}{abs(strength)}" if strength else "=0"
        text = f"{text[:filled]:^{filled}}"
    else:
        text = (SHADES[abs(strength)] or "=") * filled if strength else "=" * filled
    return safe(f"{text:<{width}}"), role


def _is_written(given: ViewInput) -> bool:
    return given.ascii_only or given.is_mono


def _short(value: Decimal) -> str:
    size = abs(value)
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    return f"{sign}{size / 1000:.1f}k" if size >= 1000 else f"{sign}{size:.0f}"  # noqa: PLR2004


def legend(given: ViewInput, largest: Decimal, cells: Sequence[HeatCell]) -> list[TextLine]:
    """Return what the shades mean."""
    few = sum(is_few(each.n) for each in cells)
    scale = f"{money(largest / LEVELS)} {given.snapshot.currency}".rstrip()
    doubt = f"; {few} of {len(cells)}: n under {FEW_TRADES}" if few else ""
    if _is_written(given):
        text = f"+ gain, {MINUS} loss, 1 to 4 in steps of {scale}{doubt}"
        return wrap_text(safe(text), "muted", given.width)
    text = f" in steps of {scale}{doubt}"
    line: TextLine = (
        ("gain ", "muted"),
        ("░▒▓█", "profit"),
        (" loss ", "muted"),
        ("░▒▓█", "loss"),
        (safe(text), "muted"),
    )
    return [line]


def cell_line(name: str, cell: HeatCell | None, given: ViewInput) -> TextLine:
    """Return the figures of the chosen cell."""
    if cell is None:
        return ((safe(name), "bright"), ("   no trade", "muted"))
    won = percent(Decimal(cell.wins) / cell.n, 0)
    few = f", under {FEW_TRADES}" if is_few(cell.n) else ""
    in_r: list[Words] = [] if cell.r is None else [signed_money(cell.r), (" R   ", "muted")]
    return (
        (safe(f"{name}   "), "bright"),
        signed_money(cell.result),
        (safe(f" {given.snapshot.currency}   "), "muted"),
        *in_r,
        (safe(f"win {won} %   n {cell.n:,}{few}"), "muted"),
    )


# Hours by weekdays.


class HoursView(View[Mapping[HourOfWeek, HeatCell]]):
    """Results by the hour and weekday of the entry."""

    NAME: ClassVar[str] = "hours"
    HINT: ClassVar[str] = "arrows choose an hour"
    POINTS: ClassVar[bool] = True

    def __init__(self) -> None:
        self.hour, self.weekday = 0, 0
        self._is_chosen = False  # by the trader, or as the cell with the largest result

    def compute(self, given: ViewInput) -> Mapping[HourOfWeek, HeatCell]:
        """Return the cells."""
        return hours_of_week(given.trades, given.snapshot.context.zone)

    def lines(self, data: Mapping[HourOfWeek, HeatCell], given: ViewInput) -> Sequence[TextLine]:
        """Return the map, its sums and the chosen cell."""
        if not data:
            why = "Not enough trades for a map: none was closed."
            return wrap_text(safe(why), "muted", given.width)
        width = max(2, min(8, (given.width - LABEL) // HOURS))
        with_sums = given.width - LABEL - width * HOURS
        largest = largest_result(data)
        if not self._is_chosen:
            at = max(data, key=lambda each: (abs(data[each].result), each))
            self.weekday, self.hour, self._is_chosen = *at, True
        title: TextLine = (
            ("Result by hour and weekday of the entry", "bright"),
            (safe(f"   hours in {given.zone_name}"), "muted"),
        )
        lines: list[TextLine] = [title, BLANK, self._hours(width)]
        days = 7 if any(each.weekday >= 5 for each in data) else 5  # noqa: PLR2004
        self.weekday = min(self.weekday, days - 1)
        for weekday in range(days):
            line: list[Words] = [(safe(f"{WEEKDAYS[weekday]:<{LABEL}}"), "muted")]
            for hour in range(HOURS):
                words = cell_text(data.get(HourOfWeek(weekday, hour)), largest, width, given)
                line.append(_marked(words, is_chosen=(weekday, hour) == (self.weekday, self.hour)))
            lines.append(line)
            if given.rows >= 2 * days + 20:
                lines.append(BLANK)
        lines.append(_all_line(data, width, given))
        name = f"{WEEKDAYS[self.weekday]} {self.hour:02}:00"
        chosen = data.get(HourOfWeek(self.weekday, self.hour))
        lines += [
            BLANK,
            cell_line(name, chosen, given),
            *legend(given, largest, list(data.values())),
        ]
        room = given.rows - len(lines) - 2
        if room >= days:
            lines += [BLANK, *_sums(data, days, given, room)]
        return lines if with_sums >= 0 else _narrow(given.width)

    def _hours(self, width: int) -> TextLine:
        every = 1 if width > 2 else 2  # noqa: PLR2004
        shown = "".join(f"{hour:02}".ljust(width * every) for hour in range(0, HOURS, every))
        return ((safe(" " * LABEL + shown.rstrip()), "muted"),)

    def move(self, across: int, down: int) -> bool:
        """Choose another cell."""
        self.hour = (self.hour + across) % HOURS
        self.weekday = max(0, min(DAYS - 1, self.weekday + down))
        return True


def _all_line(data: Mapping[HourOfWeek, HeatCell], width: int, given: ViewInput) -> TextLine:
    """Return the row of all weekdays together, its cells as strong as they are beside each other."""
    hours = {each.hour for each in data}
    sums = {h: _together([c for key, c in data.items() if key.hour == h]) for h in hours}
    largest = largest_result(sums)
    cells = [cell_text(sums.get(hour), largest, width, given) for hour in range(HOURS)]
    return ((safe(f"{'all':<{LABEL}}"), "bright"), *cells)


def _narrow(width: int) -> list[TextLine]:
    return wrap_text(safe("Enlarge this window: the map needs 52 columns."), "muted", width)


def _marked(words: Words, *, is_chosen: bool) -> Words:
    """Return a cell; the chosen one on the colour of a selection, in brackets where there is room."""
    text, role = words
    if not is_chosen:
        return words
    if len(text) > 2:  # noqa: PLR2004
        marked = f"{role if role != 'grid' else 'bright'} on selection"
        return safe(f"▶{text[1:]}"), cast("WordsRole", marked)
    return safe("▶" + text[1:]), "bright on selection"


def _sums(
    data: Mapping[HourOfWeek, HeatCell], days: int, given: ViewInput, room: int
) -> list[TextLine]:
    """Return the weekdays together, and the hours where there is room."""
    by_day = {
        name: _together([c for key, c in data.items() if key.weekday == number])
        for number, name in enumerate(WEEKDAYS[:days])
    }
    hours = sorted({each.hour for each in data})
    by_hour = {
        f"{h:02}:00": _together([c for key, c in data.items() if key.hour == h]) for h in hours
    }
    if given.width < THREE_TABLES:
        half = given.width // 2 - BETWEEN
        tables = [sum_lines("weekday", by_day, half), sum_lines("hour", by_hour, half)]
        return in_columns(tables, given.width, BETWEEN, room)
    third = (given.width - 2 * TABLE_GAP) // 3
    head, *rows = sum_lines("hour", by_hour, third, HOUR_LABEL)  # one scale for both halves
    middle = (len(rows) + 1) // 2
    halves = [[head, *part] for part in (rows[:middle], rows[middle:]) if part]
    tables = [sum_lines("day", by_day, third, HOUR_LABEL), *halves]
    return in_columns(tables, given.width, TABLE_GAP, room)


def _together(cells: Sequence[HeatCell]) -> HeatCell:
    rs = [each.r for each in cells if each.r is not None]
    return HeatCell(
        sum(each.n for each in cells),
        sum(each.wins for each in cells),
        sum((each.result for each in cells), ZERO),
        sum(rs, ZERO) if rs else None,
    )


def sum_lines(
    name: str, cells: Mapping[str, HeatCell], width: int, label_width: int = 9
) -> list[TextLine]:
    """Return a table of cells, with a bar beside each result; win rate and R where there is room."""
    shown = {label: cell for label, cell in cells.items() if cell.n}
    bars = bars_of([each.result for each in shown.values()], SUM_BAR)
    has_win = width >= label_width + SUM_WIDTH + R_WIDTH + WIN_WIDTH
    has_r = width >= label_width + SUM_WIDTH + R_WIDTH
    head = f"{name:<{label_width}}{'n':>5}{'win %' if has_win else '':>{WIN_WIDTH * has_win}}"
    head += f"{'R' if has_r else '':>{R_WIDTH * has_r}}{'result':>11}"
    lines: list[TextLine] = [((safe(head), "muted"),)]
    for (label, cell), bar in zip(shown.items(), bars, strict=True):
        role: ColourRole = FEW_ROLE if is_few(cell.n) else "plain"
        won = percent(Decimal(cell.wins) / cell.n, 0)
        in_r, r_role = signed_money(cell.r)
        result, result_role = signed_money(cell.result)
        line: list[Words] = [
            (safe(f"{shorten(safe(label), label_width - 1):<{label_width}}"), role),
            (safe(f"{cell.n:>5,}{won if has_win else '':>{WIN_WIDTH * has_win}}"), role),
            (safe(f"{in_r:>{R_WIDTH}}" if has_r else ""), r_role),
            (safe(f"{result:>11} "), result_role),
            *bar,
        ]
        lines.append(line)
    return lines


# The calendar.


class CalendarData(Struct, frozen=True):
    """The days with trades, and the same by month."""

    days: Mapping[date, HeatCell]
    months: Mapping[str, HeatCell]


class CalendarView(View[CalendarData]):
    """The trading days of the last year or so as weeks side by side; Enter opens the chosen day."""

    NAME: ClassVar[str] = "calendar"
    SHORT: ClassVar[str] = "days"
    HINT: ClassVar[str] = "arrows choose a day  Enter opens it  d its week"
    POINTS: ClassVar[bool] = True

    def __init__(self) -> None:
        self.chosen: date | None = None
        self._range: tuple[date, date] | None = None

    def compute(self, given: ViewInput) -> CalendarData:
        """Return the cells of days and months."""
        days = trading_days(given.trades)
        months: dict[str, list[HeatCell]] = {}
        for day in sorted(days):
            months.setdefault(f"{day:%Y-%m}", []).append(days[day])
        return CalendarData(days, {name: _together(own) for name, own in months.items()})

    def lines(self, data: CalendarData, given: ViewInput) -> Sequence[TextLine]:
        """Return the weeks around the chosen day, its figures, and the months."""
        if not data.days:
            why = "Not enough trades for a calendar: none was closed."
            return wrap_text(safe(why), "muted", given.width)
        first, last = min(data.days), max(data.days)
        self._range = first, last
        self.chosen = min(max(self.chosen or last, first), last)
        known = (_monday(last) - _monday(first)).days // DAYS + 1
        width = max(2, min(WIDEST_DAY, (given.width - LABEL) // min(known, YEAR)))
        weeks = max(1, min(known, (given.width - LABEL) // width))
        monday = _monday(last) - timedelta(weeks=weeks - 1)
        if self.chosen < monday:
            monday = _monday(self.chosen) - timedelta(weeks=weeks // 2)
        largest = largest_result(data.days)
        title: TextLine = (
            ("Result of each trading day", "bright"),
            (f", {DAY_SPAN_TEXT}", "muted"),
        )
        mondays = [monday + timedelta(weeks=number) for number in range(weeks)]
        rows = DAYS if any(each.weekday() >= 5 for each in data.days) else 5  # noqa: PLR2004
        lines: list[TextLine] = [title, BLANK, _month_line(mondays, width, rows)]
        for weekday in range(rows):
            line: list[Words] = [(safe(f"{WEEKDAYS[weekday]:<{LABEL}}"), "muted")]
            for each in mondays:
                day = each + timedelta(days=weekday)
                is_chosen = day == self.chosen
                if not first <= day <= last:
                    line.append((safe(" " * width), "grid"))
                    continue
                words = cell_text(data.days.get(day), largest, width, given)
                line.append(_marked(words, is_chosen=is_chosen))
            lines.append(line)
            if given.rows >= 2 * rows + 20:
                lines.append(BLANK)
        chosen = cell_line(f"{self.chosen:%a %Y-%m-%d}", data.days.get(self.chosen), given)
        lines += [BLANK, chosen, *legend(given, largest, ())]
        room = given.rows - len(lines) - 2
        if room > 1:
            months = dict(list(data.months.items())[-room:])
            by_day = {
                name: _together([c for day, c in data.days.items() if day.weekday() == number])
                for number, name in enumerate(WEEKDAYS[:rows])
            }
            half = given.width // 2 - BETWEEN
            tables = [sum_lines("month", months, half), sum_lines("weekday", by_day, half)]
            lines += [BLANK, *in_columns(tables, given.width, BETWEEN, room + 1)]
        return lines

    def move(self, across: int, down: int) -> bool:
        """Choose another day: a week to the side, a day up or down; weekends without trades are passed over."""
        if self.chosen is None or self._range is None:
            return True
        first, last = self._range
        day = self.chosen + timedelta(weeks=across, days=down)
        while down and day.weekday() >= 5 and first <= day <= last:  # noqa: PLR2004
            day += timedelta(days=1 if down > 0 else -1)
        self.chosen = min(max(day, first), last)
        return True

    def day(self) -> date | None:
        """Return the chosen day."""
        return self.chosen


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _month_line(mondays: Sequence[date], width: int, rows: int) -> TextLine:
    """Return the names of months over the weeks that they begin in; a week is of the month of its last day shown."""
    letters = [" "] * (LABEL + len(mondays) * width)
    free = 0
    for number, monday in enumerate(mondays):
        last = monday + timedelta(days=rows - 1)
        if number and last.month == (last - timedelta(weeks=1)).month:
            continue
        name = f"{last:%b}" if last.month > 1 else f"{last:%b %y}"
        place = LABEL + number * width
        if place >= free and place + len(name) <= len(letters):
            letters[place : place + len(name)] = name
            free = place + len(name) + 1
    return ((safe("".join(letters).rstrip()), "muted"),)
