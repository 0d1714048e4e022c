"""The view of the realized curve: the sum of results by time, and beneath it how far that is under its highest value."""

from collections.abc import Callable, Hashable, Sequence
from datetime import date, timedelta, tzinfo
from decimal import Decimal
from typing import ClassVar, NamedTuple

from keydesk.calc.market.trading_day import booking_day_end, booking_day_start, trading_date
from keydesk.calc.trade_journal.charts import CurvePoint, equity_curve
from keydesk.chart.plots import (
    GAP,
    Label,
    Plot,
    Rows,
    Signed,
    Span,
    round_ticks,
    scale_row,
    signed_span,
)
from keydesk.forms.modal_form import TextLine, as_lines, fold_line, signed_money
from keydesk.forms.statistics.view import View, ViewInput, few_lines, too_few
from keydesk.text.format import at, money
from keydesk.text.sanitize import SafeText, safe
from keydesk.widgets.theme import signed_role
from keydesk_client.arithmetic.constants import MINUTE

LEAST_TRADES = 2
LEAST_ROWS = 5  # of a curve, beside the row of its dates
VALUES = 8  # columns of the values beside a curve, at least
VALUE_ROWS = 4  # rows for each value beside it
BAND_FROM = 12  # rows from which on the band has room
LEAST_FALL = 0.2  # of the range of the curve, from which on it has a band of its own scale
WEEK = 5  # trading days
SATURDAY = 5
CURVE = Signed("rise", "fall")  # not "loss": in mono that underlines, as a second line of zero
ZERO_LINE = "─"  # in the middle of its row, as its label
CLOCK_STEPS = (1, 5, 15, 30, 60, 120, 180, 360)  # minutes
CLOCK_COLUMNS = 8  # for each time under a curve of one day
Drawn = tuple[int, Rows, Sequence[TextLine]]  # trades, the picture, what it says in words


class Mark(NamedTuple):
    """A place on the axis of time, and its label."""

    x: float
    text: str


class Times(NamedTuple):
    """The places of a curve's points on the axis of time, and the marks on it."""

    xs: Sequence[float]
    marks: Sequence[Mark]


class EquityView(View[Drawn]):
    """The sum of results by time, and below it how far it is under its highest value."""

    NAME: ClassVar[str] = "equity"

    def key(self, given: ViewInput) -> Hashable:
        """Return the size and the characters that it is drawn for."""
        return given.width, given.rows, given.ascii_only

    def compute(self, given: ViewInput) -> Drawn:
        """Draw both curves one above the other, with the same dates."""
        curve = equity_curve(given.trades)
        if len(curve) < LEAST_TRADES:
            return len(curve), [], ()
        name: TextLine = ((curve_name(given.snapshot.currency), "muted"),)
        words = [*_equity_text(curve, given), *few_lines(len(curve), given), name]
        size = given.width, given.rows - len(words)
        rows = curve_rows(curve, size, given.snapshot.context.zone, ascii_only=given.ascii_only)
        return len(curve), rows, words

    def lines(self, data: Drawn, given: ViewInput) -> Sequence[TextLine]:
        """Return the picture, and what it says in words."""
        n, rows, words = data
        return (
            [*words, *as_lines(rows)] if rows else too_few(n, LEAST_TRADES, "a curve", given.width)
        )


def curve_name(currency: str, zone: str = "") -> SafeText:
    """Return what a curve shows, and the zone of the times below it."""
    return safe(f"Realized {currency}".rstrip() + (f", times {zone}" if zone else ""))


def curve_rows(
    curve: Sequence[CurvePoint], size: tuple[int, int], zone: tzinfo, *, ascii_only: bool
) -> Rows:
    """Return the curve over its dates, and the band of its drawdown where there is room and it is a fair share."""
    columns, height = (
        max(CLOCK_COLUMNS, size[0] - _values_width(curve)),
        max(LEAST_ROWS, size[1] - 1),
    )
    times = _times(curve, columns, zone)
    totals = [0.0, *(float(point.total) for point in curve)]
    deepest = -float(min(point.below for point in curve))
    has_band = height >= BAND_FROM and deepest >= (max(totals) - min(totals)) * LEAST_FALL
    band = height // 4 if has_band else 0
    x = Span(times.xs[0], times.xs[-1])
    top = _curve_plot(curve, times, x, (columns, height - band - bool(band)), ascii_only=ascii_only)
    rows = list(top)
    if band:
        rows.append([("drawdown from the highest value", "muted")])
        rows += _band_plot(curve, times, x, (columns, band), ascii_only=ascii_only)
    labels = [Label(round(x.share(mark.x) * (columns - 1)), mark.text) for mark in times.marks]
    return [*rows, scale_row(labels, columns, centred=False)]


def _curve_plot(
    curve: Sequence[CurvePoint],
    times: Times,
    x: Span,
    size: tuple[int, int],
    *,
    ascii_only: bool,
) -> Rows:
    points = [(x.low, 0.0), *zip(times.xs, (float(p.total) for p in curve), strict=True)]
    y = signed_span((value for _, value in points), size[1])
    ticks = round_ticks(y.low, y.high, size[1] // VALUE_ROWS)
    plot = Plot(size, x, y, across=ticks, ascii_only=ascii_only)
    plot.steps(points, CURVE)
    plot.line_across(0.0, "muted", ZERO_LINE)
    for mark in times.marks:
        plot.line_down(mark.x, "grid")
    now = _last_label(curve[-1].total, plot)
    labels = [now, *(Label(plot.row(tick), _value(tick)) for tick in ticks)]
    return plot.with_values(labels, _values_width(curve))


def _band_plot(
    curve: Sequence[CurvePoint],
    times: Times,
    x: Span,
    size: tuple[int, int],
    *,
    ascii_only: bool,
) -> Rows:
    points = [(x.low, 0.0), *zip(times.xs, (float(p.below) for p in curve), strict=True)]
    deepest = min(curve, key=lambda point: point.below).below
    plot = Plot(size, x, Span(float(deepest) or -1.0, 0.0), ascii_only=ascii_only)
    for mark in times.marks:  # before the area: a line across filled cells costs bytes
        plot.line_down(mark.x, "grid")
    plot.area(points, "fall")
    lowest = str(money(deepest, _places(deepest)))
    return plot.with_values([Label(0, "0"), Label(size[1] - 1, lowest)], _values_width(curve))


def _last_label(last: Decimal, plot: Plot) -> Label:
    """Return the last value beside its own row; one near zero beside the next row on its side, where there is one."""
    row = plot.row(float(last))
    if row == plot.row(0.0):
        row += (last < 0) - (last > 0 and row > 0)
    return Label(row, str(money(last, _places(last), signed=True)), signed_role(last))


def _values_width(curve: Sequence[CurvePoint]) -> int:
    """Return the columns of the values beside a curve: more than usual ones for millions of yen."""
    totals = [each.total for each in curve]
    ends = min(totals), max(totals), min(each.below for each in curve)
    return max(VALUES, *(len(money(each, _places(each), signed=True)) + 1 for each in ends))


def _places(value: Decimal) -> int:
    return 2 if abs(value) < 1000 else 0  # noqa: PLR2004 - in the columns beside a curve


def _value(value: float) -> str:
    exact = Decimal(f"{value:.6g}")
    return str(money(exact, 0 if abs(value) >= 10 or value == int(value) else 2))  # noqa: PLR2004


# The axis of time.


def _times(curve: Sequence[CurvePoint], columns: int, zone: tzinfo) -> Times:
    """Return where the points stand: by the time of a day, or by trading days, of which weekends have none."""
    first, last = curve[0].time_ns, curve[-1].time_ns
    if booking_day_end(first) == booking_day_end(last):
        minutes = [point.time_ns / MINUTE for point in curve]
        if minutes[0] == minutes[-1]:
            return Times([float(number) for number in range(len(curve))], ())
        return Times(minutes, _clock_marks(minutes[0], minutes[-1], columns, zone))
    places = [_day_place(point.time_ns) for point in curve]
    return Times(places, _date_marks(places[0], places[-1], columns))


def _day_place(time_ns: int) -> float:
    """Return an instant in trading days: a whole number where one begins, five a week."""
    start, end = booking_day_start(time_ns), booking_day_end(time_ns)
    day = trading_date(start)
    whole = _number_of(day)
    return whole + (0.0 if day.weekday() >= SATURDAY else (time_ns - start) / (end - start))


def _number_of(day: date) -> int:
    weeks, weekday = divmod(day.toordinal() - 1, 7)
    return weeks * WEEK + min(weekday, SATURDAY)


def _day_of(number: int) -> date:
    weeks, weekday = divmod(number, WEEK)
    return date.fromordinal(weeks * 7 + weekday + 1)


def _date_marks(first: float, last: float, columns: int) -> list[Mark]:
    """Return the starts of days, weeks, months or years that have room, each label as short as it differs."""
    days = [_day_of(number) for number in range(int(first), int(last) + 1)]
    fitting = (unit for unit in UNITS if len(days) / unit.days * unit.columns <= columns)
    unit = next(fitting, UNITS[-1])
    keys = [unit.key(day) for day in days]
    shown = [day for place, day in enumerate(days) if not place or keys[place - 1] != keys[place]]
    xs = [max(first, float(_number_of(day))) for day in shown]
    texts = [
        _date_text(day, before, unit) for before, day in zip((None, *shown), shown, strict=False)
    ]
    room = (xs[1] - xs[0]) / (last - first) * columns if len(xs) > 1 else columns
    if len(texts) > 1 and room < len(texts[0]) + GAP:  # the first one has begun long ago
        texts[:2] = "", _date_text(shown[1], None, unit)
    return [Mark(x, text) for x, text in zip(xs, texts, strict=True)]


def _date_text(day: date, before: date | None, unit: "Unit") -> str:
    """Return a date as short as it differs from the one before."""
    is_new_year = before is None or before.year != day.year
    if unit.days >= MONTH:
        return f"{day:%b %Y}" if is_new_year else f"{day:%b}"
    is_new_month = before is None or before.month != day.month
    return f"{day.day} {day:%b}" if is_new_month else str(day.day)


class Unit(NamedTuple):
    """A unit of the calendar under a curve: its trading days, the columns of its label, and what is the same within one."""

    days: float
    columns: int
    key: Callable[[date], object]


MONTH = 21.7  # trading days
UNITS = (
    Unit(1, 8, lambda day: day),
    Unit(WEEK, 9, lambda day: day.isocalendar()[:2]),
    Unit(MONTH, 10, lambda day: (day.year, day.month)),
    Unit(3 * MONTH, 10, lambda day: (day.year, (day.month - 1) // 3)),
    Unit(12 * MONTH, 10, lambda day: day.year),
)


def _clock_marks(first: float, last: float, columns: int, zone: tzinfo) -> list[Mark]:
    """Return round times of a day, in minutes."""
    wanted = (last - first) / max(1, columns // CLOCK_COLUMNS)
    step = next((step for step in CLOCK_STEPS if step >= wanted), CLOCK_STEPS[-1])
    start = at(round(first) * MINUTE, zone)
    midnight = start.replace(hour=0, minute=0, second=0)
    begins = first - (start - midnight).total_seconds() / 60
    marks = []
    for number in range(int((first - begins) // step), int((last - begins) // step) + 1):
        x = begins + number * step
        if first <= x <= last:
            marks.append(Mark(x, f"{midnight + timedelta(minutes=number * step):%H:%M}"))
    return marks


def _equity_text(curve: Sequence[CurvePoint], given: ViewInput) -> list[TextLine]:
    deepest = min(curve, key=lambda each: each.below)
    currency = given.snapshot.currency
    when = f"{at(deepest.time_ns, given.snapshot.context.zone):%d %b %Y}"
    line: TextLine = (
        ("Net ", "muted"),
        signed_money(curve[-1].total),
        (safe(f" {currency}   max drawdown "), "muted"),
        signed_money(deepest.below),
        (safe(f" on {when}" if deepest.below else ""), "muted"),
        ("   drawdown now ", "muted"),
        signed_money(curve[-1].below),
    )
    return fold_line(line, given.width)
