"""Labels of the time axis: dates at the turn of a day, month or year first, then round times between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise

from msgspec import Struct

from keydesk.chart.canvas import FILLED, POST, Canvas, Run
from keydesk.store.state import Candle
from keydesk.text import format as show

CLOCK_STEPS = (
    *(5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 14400, 21600, 43200),
)  # seconds
COLUMNS_PER_TIME = 11  # from one time to the next
GAP = 2  # columns between labels
FIRST_DATE_WITHIN = 20  # columns from the left edge: else the first candle's date stands there
DAY_S = 86_400
DOTS = "·"
LOCALLY_A_DAY = timedelta(hours=12)


class TimeLabels(Struct, frozen=True):
    """The row of the time axis, and the columns of the grid with their glyphs."""

    runs: Sequence[Run]
    posts: Sequence[tuple[int, str]]


class _Turn(Struct, frozen=True):
    """A calendar unit: what changes when one begins, and how its first candle is labelled."""

    key: Callable[[datetime], object]
    label: Callable[[datetime], str]


def _week(at: datetime) -> object:
    return at.isocalendar()[:2]


def _day_label(at: datetime) -> str:
    return f"{at:%a} {at.day} {at:%b}"


def _month_label(at: datetime) -> str:
    return f"{at:%b %Y}" if at.month == 1 else f"{at:%b}"


DAYS = _Turn(lambda at: at.date(), _day_label)
WEEKS = _Turn(_week, _day_label)
MONTHS = _Turn(lambda at: (at.year, at.month), _month_label)
QUARTERS = _Turn(lambda at: (at.year, (at.month - 1) // 3), _month_label)
YEARS = _Turn(lambda at: at.year, lambda at: str(at.year))
LUSTRES = _Turn(lambda at: at.year // 5, lambda at: str(at.year))
INTRADAY_TURNS = (DAYS, WEEKS, MONTHS, QUARTERS, YEARS)
LONG_TURNS = (MONTHS, QUARTERS, YEARS, LUSTRES)


def time_labels(
    candles: Sequence[Candle],
    columns: Sequence[int],
    width: int,
    *,
    seconds: int,
    zone: tzinfo,
    this_year: int,
    cursor: int | None = None,
) -> TimeLabels:
    """Return the labels under candles at these columns.

    Args:
        candles: Those in sight.
        columns: The column of each candle's centre.
        width: Columns of the plot.
        seconds: Length of a candle.
        zone: The trader's zone.
        this_year: Dates of another year name it.
        cursor: Index of the candle under the cursor.
    """
    writer = _Writer(columns, width)
    daily = seconds >= DAY_S
    local = [label_time(each.time_ns, zone, daily=daily) for each in candles]
    if cursor is not None and 0 <= cursor < len(local):
        pattern = "%d %b %Y" if daily else "%H:%M"
        writer.write(cursor, local[cursor].strftime(pattern), FILLED + "cursor")
    dated = _write_dates(writer, local, daily=daily, this_year=this_year)
    pitch = (columns[-1] - columns[0]) / (len(columns) - 1) if len(columns) > 1 else 1.0
    posts = [(columns[i] - int(pitch) // 2, POST) for i in dated]
    if not daily:
        step = _clock_step(seconds, pitch)
        pattern = "%H:%M:%S" if step < 60 else "%H:%M"  # noqa: PLR2004 - seconds of a minute
        posts += _write_times(writer, local, dated, step, pattern)
    return TimeLabels(writer.canvas.runs(0), posts)


def label_time(time_ns: int, zone: tzinfo, *, daily: bool) -> datetime:
    """Return a candle's start in the zone; of a day and longer, the date that most of it falls on."""
    at = show.at(time_ns, zone)
    return at + LOCALLY_A_DAY if daily else at


class _Writer:
    """Writes labels centred on candles where none stands yet."""

    def __init__(self, columns: Sequence[int], width: int) -> None:
        self.columns, self.width = columns, width
        self.canvas = Canvas(0, width, 1)
        self._taken: list[tuple[int, int]] = []

    def write(self, index: int, text: str, role: str) -> bool:
        """Write a label under a candle; return whether it had room."""
        if len(text) > self.width:
            return False
        wanted = self.columns[index] - len(text) // 2
        start = max(0, min(self.width - len(text), wanted))
        if any(start < end + GAP and begin < start + len(text) + GAP for begin, end in self._taken):
            return False
        self._taken.append((start, start + len(text)))
        for column, glyph in enumerate(text, start):
            self.canvas.put(column, 0, glyph, role)
        return True


def _write_dates(
    writer: _Writer, local: Sequence[datetime], *, daily: bool, this_year: int
) -> list[int]:
    """Write the dates; return the candles that begin a labelled day, month or year."""
    unit = _fitting_turn(local, writer, LONG_TURNS if daily else INTRADAY_TURNS)
    keys = [unit.key(each) for each in local]
    turns = [i for i, (one, other) in enumerate(pairwise(keys), 1) if one != other]
    if not local:
        return []
    first_far = not turns or writer.columns[turns[0]] > FIRST_DATE_WITHIN
    if first_far:
        _write_first(writer, local[0], daily=daily, this_year=this_year)
    dated: list[int] = []
    for i in turns:
        text = unit.label(local[i])
        if str(local[i].year) not in text and _names_year(i, turns, local, first_far, this_year):
            text += f" {local[i].year}"
        if writer.write(i, text, "plain"):
            dated.append(i)
    if not dated and not first_far:
        _write_first(writer, local[0], daily=daily, this_year=this_year)
    return dated


def _write_first(writer: _Writer, at: datetime, *, daily: bool, this_year: int) -> None:
    """Write the date of the first candle in sight, as long as there is room for."""
    day = f"{at.day} {at:%b}"
    texts = [_day_label(at), day, str(at.day)] if not daily else [f"{at:%b %Y}", f"{at:%b}"]
    if not daily and at.year != this_year:
        texts = [f"{_day_label(at)} {at.year}", f"{day} {at.year}", *texts]
    for text in texts:
        if writer.write(0, text, "plain"):
            return


def _names_year(
    i: int, turns: Sequence[int], local: Sequence[datetime], named: bool, this_year: int
) -> bool:
    """Return whether a date names its year: the first one of a year that is not the present one."""
    if local[i].year == this_year:
        return False
    if i == turns[0]:
        return not named or local[0].year != local[i].year
    return local[turns[turns.index(i) - 1]].year != local[i].year


def _fitting_turn(local: Sequence[datetime], writer: _Writer, units: Sequence[_Turn]) -> _Turn:
    """Return the shortest calendar unit whose labels have room beside each other."""
    for unit in units:
        keys = [unit.key(each) for each in local]
        turns = [i for i, (one, other) in enumerate(pairwise(keys), 1) if one != other]
        distances = [
            writer.columns[after] - writer.columns[before] for before, after in pairwise(turns)
        ]
        longest = max((len(unit.label(local[i])) for i in turns), default=0)
        # a day cut short by a weekend may lose its label, not every second one
        if not distances or sorted(distances)[len(distances) // 4] >= longest + GAP:
            return unit
    return units[-1]


def _clock_step(seconds: int, pitch: float) -> int:
    """Return the smallest round time step whose labels have room."""
    for step in CLOCK_STEPS:
        if step >= seconds and step / seconds * pitch >= COLUMNS_PER_TIME:
            return step
    return CLOCK_STEPS[-1]


def _write_times(
    writer: _Writer, local: Sequence[datetime], dated: Sequence[int], step: int, pattern: str
) -> list[tuple[int, str]]:
    posts = []
    for i, at in enumerate(local):
        is_round = (at.hour * 3600 + at.minute * 60 + at.second) % step == 0
        if is_round and i not in dated and writer.write(i, at.strftime(pattern), "faint"):
            posts.append((writer.columns[i], DOTS))
    return posts
