"""The view of MAE and MFE: how far each trade went against and for the trader, wins and losses beside each other."""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import ClassVar, NamedTuple

from msgspec import Struct

from keydesk.calc.trade_journal.charts import OUTERMOST
from keydesk.calc.trade_journal.excursions import StopOutcome, best_stop, stop_outcomes
from keydesk.chart.canvas import Canvas
from keydesk.chart.plots import (
    ASCII_DENSITY,
    DENSITY,
    DOTS_HIGH,
    MANY,
    ROUNDING,
    SEVERAL,
    Label,
    Plot,
    Point,
    Rows,
    Span,
    round_ticks,
    scale_row,
)
from keydesk.forms.modal_form import (
    BLANK,
    TextLine,
    Words,
    as_lines,
    fold_line,
    signed_money,
    wrap_text,
)
from keydesk.forms.page_lines import beside, width_of
from keydesk.forms.statistics.equity import LEAST_TRADES
from keydesk.forms.statistics.view import CHANCE, View, ViewInput, bars_of, is_few, too_few
from keydesk.text.format import EMPTY, counted
from keydesk.text.sanitize import SafeText, safe
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import ZERO

WHAT = "MAE against MFE (trades with a first stop and candles)"
AXIS = 6  # columns of the values beside a panel
BETWEEN = 3  # columns between the panels
TICK_COLUMNS, TICK_ROWS = 8, 4
LEAST_TICKS = 4  # beside a panel; its lines across may be fewer, as each costs bytes
AXES_TEXTS = (
    "across: MAE in R, how far against you   up: MFE in R, how far for you",
    "across: MAE in R   up: MFE in R",
    "across MAE, up MFE, in R",
)
LEAST_ROWS = 6  # of the panels
ROOMY = 14  # rows of the page from which there is a blank one above the panels
STOP = "stop"
TABLE_FROM = 150  # columns of the page from which the table of stops has room
TABLE_WIDTH, TABLE_GAP = 71, 4  # its columns, and those before it
TABLE_HEAD, TABLE_BAR = 3, 12  # rows above it, cells to each side of a bar's axis
TABLE_GROUP = 5  # stops, after which there is a blank row where there is room
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
            point = float(mae), float(min(OUTERMOST, mfe))
            (wins if each.result > 0 else losses).append(point)
            results.append((mae, each.r or Decimal(0)))
        n = len(results)
        if n < LEAST_TRADES:
            return ExcursionData(n)
        made, outcomes = sum((result for _, result in results), ZERO), stop_outcomes(results)
        best = None if is_few(n) else best_stop(outcomes, made)
        words = [*_words(given, best, made, losses, n), *[BLANK] * (given.rows >= ROOMY)]
        rows = max(LEAST_ROWS, given.rows - len(words))
        table = _stop_lines(outcomes, made, best, rows) if given.width >= TABLE_FROM else []
        width = given.width - (TABLE_WIDTH + TABLE_GAP if table else 0)
        panels = _panels(wins, losses, best, (width, rows), given.ascii_only)
        return ExcursionData(n, beside(panels, width + TABLE_GAP, table), words)

    def lines(self, data: ExcursionData, given: ViewInput) -> Sequence[TextLine]:
        """Return the picture, or how far reading is."""
        progress: list[TextLine] = [((given.progress, "focus"),)] if given.progress else []
        if data.rows:  # what is being read takes the place of the last line, which names the axes
            return [*progress, *data.words, *data.rows][: len(data.words) + len(data.rows)]
        return progress or too_few(data.n, LEAST_TRADES, WHAT, given.width)


class _Axes(NamedTuple):
    """Of a panel: MAE across, MFE up, both in R from 0 on."""

    x: Span
    y: Span
    columns: int
    rows: int


def _panels(
    wins: Sequence[Point],
    losses: Sequence[Point],
    best: StopOutcome | None,
    size: tuple[int, int],
    ascii_only: bool,
) -> list[TextLine]:
    """Return a panel of the wins beside one of the losses, and what the axes are."""
    width, rows = size
    columns = max(1, (width - 2 * AXIS - BETWEEN) // 2)
    maes, mfes = ([point[at] for point in (*wins, *losses)] for at in (0, 1))
    x = Span(0.0, min(float(OUTERMOST), max(LEAST_SPAN, *maes) * ROOM))
    y = _even_span(max(LEAST_SPAN, *mfes), rows - 4)
    kinds: tuple[tuple[Sequence[Point], SafeText, ColourRole], ...] = (
        (wins, counted(len(wins), "win"), "profit"),
        (losses, _losses(len(losses)), "loss"),
    )
    panels: list[list[TextLine]] = []
    for points, name, role in kinds:
        axes = _Axes(x, y, columns, rows - 4)
        own = as_lines(_panel(points, role, best, axes, ascii_only))
        own = beside(as_lines(_values(axes)), AXIS, own)
        panels.append([((safe(" " * AXIS), "plain"), (name, role)), *own])
    panels[0][0] = (*panels[0][0], *_legend(columns - len(kinds[0][1]), ascii_only))
    both = beside(panels[0], AXIS + columns + BETWEEN, panels[1])
    foot = next((text for text in AXES_TEXTS if AXIS + len(text) <= width), "")
    return [*both, ((safe(" " * AXIS + foot), "faint"),)]


def _losses(n: int) -> SafeText:
    return counted(n, "loss", "losses")


def _legend(room: int, ascii_only: bool) -> TextLine:
    """Return what the glyphs mean, as far as there is room."""
    one, several, many = ASCII_DENSITY if ascii_only else DENSITY
    texts = (
        f"   {one} 1 trade  {several} {SEVERAL} to {MANY - 1}  {many} {MANY} and more",
        f"   {one} 1  {several} {SEVERAL}-{MANY - 1}  {many} {MANY}+",
    )
    return ((safe(next((text for text in texts if len(text) <= room), "")), "faint"),)


def _even_span(highest: float, rows: int) -> Span:
    """Return the span from 0 in which 1 R, or 2 R where there is little room, is a whole number of rows: labels are evenly apart."""
    room = (rows - 1 / DOTS_HIGH) / highest  # rows for 1 R
    unit = 2 if room >= 6 else 1 if room >= 2 else 0.5  # noqa: PLR2004 - an even number has rows for 0.5 R
    return Span(0.0, (rows - 1 / DOTS_HIGH) / (room // unit * unit or room))


def _panel(
    points: Sequence[Point], role: str, best: StopOutcome | None, axes: _Axes, ascii_only: bool
) -> Rows:
    """Return the points with a line at the stop and one at the best stop, their names above, and the values below."""
    size = axes.columns, axes.rows
    plot = Plot(size, axes.x, axes.y, across=_ticks(axes), ascii_only=ascii_only)
    plot.density(points, role)
    stop, names = plot.column(1.0), Canvas(0, axes.columns, 1)
    if best is not None and best.stop != 1:
        value, name = float(best.stop), f"best {best.stop.normalize():f}"
        plot.line_down(value, "bright", every=1)
        at = plot.column(value)
        names.whole(0, max(0, at + 1 - len(name)), name, "bright")
        stop = max(stop, at + 2)
    plot.line_down(1.0, "stop", every=1)
    names.whole(0, min(stop, axes.columns - len(STOP)), STOP, "stop")
    plot.line_across(1.0, "muted", "-")
    step = round_ticks(0.0, axes.x.high, axes.columns // TICK_COLUMNS)
    labels = [Label(plot.column(value), text) for value, text in _named(step).items()]
    return [names.runs(0), *plot.drawn(), scale_row(labels, axes.columns)]


def _ticks(axes: _Axes, least: int = 0) -> list[float]:
    """Return round values that are at the lower edge of a row, as 0 is."""
    ticks = round_ticks(0.0, axes.y.high, max(least, axes.rows // TICK_ROWS))
    rows = (axes.rows - 1 / DOTS_HIGH) / axes.y.high  # for 1 R
    return [each for each in {*ticks, 1.0} if abs(each * rows - round(each * rows)) < ROUNDING]


def _values(axes: _Axes) -> Rows:
    """Return the values beside a panel, the unit with that of the line at the first stop's distance, and the names of the axes."""
    plot = Plot((0, axes.rows), axes.x, axes.y)
    texts = {plot.row(value): text for value, text in _named(_ticks(axes, LEAST_TICKS)).items()}
    if (line := plot.row(1.0)) != plot.row(0.0):
        texts[line] = f"{texts.get(line, '1')} R"
    names = [texts.get(y, "") for y in range(axes.rows)]
    names = [name if name.endswith("R") else f"{name}  " for name in names]
    shown = [f"{name:>{AXIS - 1}} "[:AXIS] for name in ("MFE", *names, "MAE")]
    return [[(text, "muted")] for text in shown]


def _named(values: Sequence[float]) -> dict[float, str]:
    """Return the values of an axis as they are written: with as many decimals as one of them needs, bare as the foot has the unit."""
    most = max(len(f"{value:.4g}".partition(".")[2]) for value in values)
    return {
        value: f"{'≥' if value >= OUTERMOST else ''}{value:.{most}f}" if value else "0"
        for value in values
    }


# What it says in words.


def _words(
    given: ViewInput, best: StopOutcome | None, made: Decimal, losses: Sequence[Point], n: int
) -> list[TextLine]:
    """Return the best stop of so many trades, looking back, and how many losses had been a gain; that it may be chance."""
    rescued = sum(mfe >= 1 for _, mfe in losses)
    text = f"{rescued} of {_losses(len(losses))} had been 1 R in profit."
    if without := len(given.trades) - n:
        text += f" {without} without first stop or candles left out."
    known = given.excursions or {}
    growing = sum(each.id in known and known[each.id].is_provisional for each in given.trades)
    if growing:
        text += f" {growing} may still change: the candle of the exit is not complete."
    wins = n - len(losses)
    chance = _chance(wins, len(losses))
    sentences: list[Words] = [(safe(text), "plain"), (safe(chance), "warn")]
    first: TextLine = (("Too few trades to name a best stop.", "plain"),)
    first = first if is_few(n) else _best_words(best, made, wins, len(losses))
    lines = fold_line(first, given.width)
    for sentence, role in sentences:
        if width_of(lines[-1]) + 1 + len(sentence) <= given.width:
            lines[-1] = (*lines[-1], (safe(f" {sentence}" if sentence else ""), role))
        elif sentence:  # whole on a line of its own
            lines += wrap_text(sentence, role, given.width)
    return lines


def _chance(wins: int, losses: int) -> str:
    """Return what is said where the best stop rests on few trades, or on few of one kind."""
    if is_few(wins + losses):
        return f"n {wins + losses}, {CHANCE}."
    few = counted(wins, "win") if wins <= losses else _losses(losses)
    return f"{few}, {CHANCE}." if is_few(min(wins, losses)) else ""


def _best_words(best: StopOutcome | None, made: Decimal, wins: int, losses: int) -> TextLine:
    """Return what the best stop would have made, and how many trades it would have stopped out."""
    if best is None:
        return (
            ("No stop nearer than the first one would have made more than ", "plain"),
            signed_money(made),
            (" R.", "plain"),
        )
    stopped = f"{best.wins} of {counted(wins, 'win')}, {best.losses} of {_losses(losses)}"
    return (
        ("Best stop in hindsight ", "plain"),
        (safe(f"{best.stop.normalize():f} R"), "bright"),
        (": makes ", "plain"),
        signed_money(best.total),
        (" R, not ", "plain"),
        signed_money(made),
        (safe(f" R, before costs; stops out {stopped}."), "plain"),
    )


def _stop_lines(
    outcomes: Sequence[StopOutcome], made: Decimal, best: StopOutcome | None, rows: int
) -> list[TextLine]:
    """Return what each stop would have stopped out and made, every second one where there is less room; none without any."""
    every = next((n for n in (1, 2) if len(outcomes) // n + TABLE_HEAD + 1 <= rows), 0)
    if not every:
        return []
    shown = [each for each in outcomes[every - 1 :: every] if each != best]
    shown = sorted([*shown, *([best] if best is not None else [])])
    bars = bars_of([*(each.total for each in shown), made], TABLE_BAR)
    head = f"{'a stop at':>9}   {'would have stopped out':<23}{'and made':>10}"
    lines: list[TextLine] = [(("What each stop would have made, before costs", "bright"),), BLANK]
    lines.append(((safe(head), "muted"),))
    blanks = len(shown) // TABLE_GROUP
    group = TABLE_GROUP if len(lines) + len(shown) + blanks + 1 <= rows else len(shown) + 1
    for number, (each, bar) in enumerate(zip(shown, bars, strict=False), 1):
        lines.append((*_stop_words(each, is_best=each == best), *bar))
        lines += [BLANK] * (number % group == 0)
    total, its = signed_money(made)
    ended = f"{EMPTY:>4}      {EMPTY:>4}"
    name = f"{'as traded':<9}   {ended:<23}"
    return [*lines, ((safe(name), "muted"), (safe(f"{total:>8} R "), its), *bars[-1])]


def _stop_words(outcome: StopOutcome, *, is_best: bool) -> list[Words]:
    """Return what a stop would have stopped out and made, the best one all in bold."""
    ended = f"{outcome.wins:>4} {'win ' if outcome.wins == 1 else 'wins'}"
    ended += f" {outcome.losses:>4} {'loss' if outcome.losses == 1 else 'losses'}"
    total, role = signed_money(outcome.total)
    name = f"{outcome.stop:.2f} R".rjust(9)
    return [
        (safe(f"{name}   {ended:<23}"), "bright" if is_best else "plain"),
        (safe(f"{total:>8} R "), "bright" if is_best else role),
    ]
