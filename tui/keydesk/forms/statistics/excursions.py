"""The view of MAE and MFE: how far each trade went against and for the trader, wins and losses beside each other."""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import ClassVar, NamedTuple

from msgspec import Struct

from keydesk.calc.trade_journal.charts import OUTERMOST
from keydesk.calc.trade_journal.excursions import BestStop, best_stop
from keydesk.chart.canvas import POST
from keydesk.chart.plots import (
    ASCII_DENSITY,
    DENSITY,
    MANY,
    Label,
    Plot,
    Point,
    Rows,
    Span,
    round_ticks,
    scale_row,
)
from keydesk.forms.info_form import beside
from keydesk.forms.sheet import BLANK, TextLine, as_lines, wrap_text
from keydesk.forms.statistics.equity import LEAST_TRADES
from keydesk.forms.statistics.view import View, ViewInput, is_few, too_few
from keydesk.text.format import counted, money
from keydesk.text.sanitize import SafeText, safe
from keydesk.widgets.theme import ColourRole

WHAT = "MAE against MFE (trades with a first stop and candles)"
AXIS = 6  # columns of the values beside a panel
BETWEEN = 3  # columns between the panels
TICK_COLUMNS, TICK_ROWS = 9, 4
AXES_TEXTS = (
    "across: MAE in R, how far against you   up: MFE in R, how far for you",
    "across: MAE in R   up: MFE in R",
    "across MAE, up MFE",
)
LEAST_ROWS = 5
NAME_ROWS = 3  # in which the names of lines look for room
LEAST_SPAN = 1.1  # R: the first stop and a gain of 1 R are always in sight
ROOM = 1.05


class ExcursionData(Struct, frozen=True):
    """The trades with an excursion in R, the picture of them, and what it says in words."""

    n: int
    rows: Sequence[TextLine] = ()
    words: Sequence[TextLine] = ()


class ExcursionView(View[ExcursionData]):
    """How far each trade went against and for the trader before it was closed."""

    NAME: ClassVar[str] = "MAE/MFE"
    READS: ClassVar[str] = "excursions"

    def key(self, given: ViewInput) -> Hashable:
        """Return what it is drawn for; excursions come one after another."""
        return given.width, given.rows, given.ascii_only, len(given.excursions or ())

    def compute(self, given: ViewInput) -> ExcursionData:
        """Draw the wins and the losses, each as dense as they are."""
        known = given.excursions or {}
        wins, losses = list[Point](), list[Point]()
        results: list[tuple[Decimal, Decimal]] = []
        for each in given.trades:
            excursion = known.get(each.id)
            if excursion is None or excursion.r is None:
                continue
            mae, mfe = excursion.r
            (wins if each.result > 0 else losses).append((float(mae), float(mfe)))
            results.append((mae, each.r or Decimal(0)))
        n = len(results)
        if n < LEAST_TRADES:
            return ExcursionData(n)
        best = best_stop(results)
        words = [*_words(given, losses, n), *_best_words(best, results, given), BLANK]
        rows = max(LEAST_ROWS, given.rows - len(words))
        return ExcursionData(n, _panels(wins, losses, best, rows, given), words)

    def lines(self, data: ExcursionData, given: ViewInput) -> Sequence[TextLine]:
        """Return the picture, or how far reading is."""
        progress: list[TextLine] = [((given.progress, "focus"),)] if given.progress else []
        if data.rows:
            return [*progress, *data.words, *data.rows]
        return progress or too_few(data.n, LEAST_TRADES, WHAT, given.width)


class _Axes(NamedTuple):
    """What both panels share: MAE across, MFE up, both in R from 0 on."""

    x: Span
    y: Span
    columns: int
    rows: int


def _panels(
    wins: Sequence[Point],
    losses: Sequence[Point],
    best: BestStop | None,
    rows: int,
    given: ViewInput,
) -> list[TextLine]:
    """Return a panel of the wins and one of the losses with the same axes, and what the axes are."""
    columns = max(1, (given.width - AXIS - BETWEEN) // 2)
    x, y = (_span([point[side] for point in (*wins, *losses)]) for side in (0, 1))
    axes = _Axes(x, y, columns, rows - 3)
    kinds: tuple[tuple[Sequence[Point], SafeText, ColourRole], ...] = (
        (wins, counted(len(wins), "win"), "profit"),
        (losses, _losses(losses), "loss"),
    )
    left, right = (
        [((name, role),), *as_lines(_panel(points, role, best, axes, given.ascii_only))]
        for points, name, role in kinds
    )
    left[0] = (*left[0], *_legend(columns - len(kinds[0][1]), given))
    values = [BLANK, *as_lines(_values(axes)), BLANK]
    both = beside(beside(values, AXIS, left), AXIS + columns + BETWEEN, right)
    foot = next((text for text in AXES_TEXTS if AXIS + len(text) <= given.width), "")
    return [*both, ((safe(" " * AXIS + foot), "faint"),)]


def _losses(losses: Sequence[Point]) -> SafeText:
    return counted(len(losses), "loss", "losses")


def _legend(room: int, given: ViewInput) -> TextLine:
    """Return what the glyphs mean, as far as there is room."""
    one, several, many = ASCII_DENSITY if given.ascii_only else DENSITY
    texts = (
        f"   {one} 1 trade  {several} 2 to {MANY - 1}  {many} {MANY} and more",
        f"   {one} 1  {several} 2  {many} {MANY} and more",
    )
    return ((safe(next((text for text in texts if len(text) <= room), "")), "faint"),)


def _span(values: Sequence[float]) -> Span:
    """Return the span from 0 to the farthest of the values, as far as it is shown."""
    return Span(0.0, min(float(OUTERMOST), max(LEAST_SPAN, *values) * ROOM))


def _panel(
    points: Sequence[Point], role: str, best: BestStop | None, axes: _Axes, ascii_only: bool
) -> Rows:
    size = axes.columns, axes.rows
    plot = Plot(size, axes.x, axes.y, ascii_only=ascii_only)
    plot.density(points, role)
    lines = [(1.0, "stop", "stop")]
    if best is not None and best.stop != 1:
        lines.insert(0, (float(best.stop), f"best {best.stop.normalize():f}", "bright"))
    for value, name, its in lines:
        plot.line_down(value, its)
        column = plot.column(value)
        plot.canvas.put(column, 0, POST, its)
        _write_name(plot, column, name, its)
    plot.line_across(1.0, "muted", "╌")
    step = round_ticks(0.0, axes.x.high, axes.columns // TICK_COLUMNS)
    labels = [Label(plot.column(value), _tick(value)) for value in step]
    return [*plot.drawn(), scale_row(labels, axes.columns)]


def _write_name(plot: Plot, column: int, name: str, role: str) -> None:
    """Write the name of a line beside its top, at the side and in the row that have room."""
    for row in range(NAME_ROWS):
        for first in (column + 2, column - 1 - len(name)):
            if plot.write(row, first, name, role):
                return


def _ticks(axes: _Axes) -> list[float]:
    return round_ticks(0.0, axes.y.high, axes.rows // TICK_ROWS)


def _values(axes: _Axes) -> Rows:
    """Return the values beside the first panel; that of the first stop's distance is always among them."""
    plot = Plot((0, axes.rows), axes.x, axes.y)
    texts = {plot.row(value): _tick(value) for value in (*_ticks(axes), 1.0)}
    return [[(f"{texts.get(y, ''):>{AXIS - 1}} ", "muted")] for y in range(axes.rows)]


def _tick(value: float) -> str:
    if value == 0:
        return "0"
    more = "≥" if value >= OUTERMOST else ""
    return f"{more}{value:.4g} R" if value == int(value) else f"{more}{value:.4g}"


# What it says in words.


def _words(given: ViewInput, losses: Sequence[Point], n: int) -> list[TextLine]:
    rescued = sum(mfe >= 1 for _, mfe in losses)
    text = f"{rescued} of {counted(len(losses), 'losing trade')} had been 1 R in profit."
    if without := len(given.trades) - n:
        text += f" {without} without first stop or candles left out."
    known = given.excursions or {}
    growing = sum(each.id in known and known[each.id].is_provisional for each in given.trades)
    if growing:
        text += f" {growing} may still change: the candle of the exit is not complete."
    return wrap_text(safe(text), "plain", given.width)


def _best_words(
    best: BestStop | None, results: Sequence[tuple[Decimal, Decimal]], given: ViewInput
) -> list[TextLine]:
    """Return what the best stop would have been: of these trades, looking back."""
    made = money(sum((result for _, result in results), Decimal(0)), signed=True)
    few = f" n {len(results)}: it may be chance." if is_few(len(results)) else ""
    if best is None:
        text = f"No stop nearer than the first one would have made more than {made} R.{few}"
        return wrap_text(safe(text), "plain", given.width)
    ended = f"{counted(best.wins, 'win')} and {counted(best.losses, 'loss', 'losses')}"
    text = (
        f"Best stop in hindsight: {best.stop.normalize():f} R. It ends {ended} and makes"
        f" {money(best.total, signed=True)} R before costs, not {made} R.{few}"
    )
    return wrap_text(safe(text), "plain", given.width)
