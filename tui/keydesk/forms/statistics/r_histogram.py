"""The view of the histogram of R: how often each result came out, in units of the first stop's risk."""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from itertools import takewhile
from operator import ge
from typing import ClassVar

from keydesk.calc.trade_journal.charts import BIN, OUTERMOST, Bin, r_histogram
from keydesk.calc.trade_journal.returns import mean, median
from keydesk.chart.canvas import FREE, POST, Run
from keydesk.chart.plots import Label, Plot, Rows, Span, scale_row
from keydesk.forms.modal_form import (
    BLANK,
    TextLine,
    as_lines,
    fold_line,
    signed_money,
    wrap_text,
)
from keydesk.forms.statistics.equity import LEAST_TRADES
from keydesk.forms.statistics.view import View, ViewInput, few_lines, too_few
from keydesk.text.format import money, percent
from keydesk.text.sanitize import safe
from keydesk_client.arithmetic.constants import ZERO

WIDTHS = (BIN, 2 * BIN)  # R of a bar; the wider ones where the window is narrow
USUAL = Decimal(-1), Decimal(2)  # R: what is shown at least
WIDEST_BAR = 14  # columns with the gap beside it
HALVES_FROM = 6  # columns of a bar from which those of half R have a label
WITH_GAP = 3  # columns from which a bar has a gap beside it
LEAST_ROWS = 6
LINE_EVERY = 2  # rows from one cell of a line to the next: each row of them costs bytes
TOP_ROWS = 3  # above the bars: the names of two lines, and the highest count
FIGURES_FROM = 150, 16  # columns and rows of the picture from which figures stand below
LEAST_FIGURE = 6  # columns of a bar with its gap, for them
NAMES = 8  # columns of their names
WHAT = "a histogram (trades with a first stop)"


Histogram = tuple[int, Sequence[TextLine], Sequence[TextLine]]
"""Trades, the picture, what it says in words."""


class HistogramView(View[Histogram]):
    """How often each R came out.

    Args:
        says_few: Whether it says that figures of few trades may be chance.
    """

    NAME: ClassVar[str] = "R histogram"
    SHORT: ClassVar[str] = "R"

    def __init__(self, *, says_few: bool = True) -> None:
        self.says_few = says_few

    def key(self, given: ViewInput) -> Hashable:
        """Return the size and the characters that it is drawn for."""
        return given.width, given.rows, given.ascii_only

    def compute(self, given: ViewInput) -> Histogram:
        """Draw the bars, losses and gains in their colours."""
        rs = [r for each in given.trades if (r := each.r) is not None]
        if len(rs) < LEAST_TRADES:
            return len(rs), [], ()
        width = next((each for each in WIDTHS if len(_bins(rs, each)) <= given.width), WIDTHS[-1])
        words = [*_words(rs, given), *_note(rs, given)]
        words += [*(few_lines(len(rs), given) if self.says_few else []), BLANK]
        rows = max(LEAST_ROWS, given.rows - len(words))
        picture = histogram_rows(rs, width, (given.width, rows), ascii_only=given.ascii_only)
        return len(rs), as_lines(picture), words

    def lines(self, data: Histogram, given: ViewInput) -> Sequence[TextLine]:
        """Return the picture, and what it says in words."""
        n, rows, words = data
        return [*words, *rows] if rows else too_few(n, LEAST_TRADES, WHAT, given.width)


def histogram_rows(
    rs: Sequence[Decimal], width: Decimal, size: tuple[int, int], *, ascii_only: bool
) -> Rows:
    """Return bars on a common base with their counts above them, and lines at the mean and the median."""
    bins = _bins(rs, width)
    pitch = min(WIDEST_BAR, (size[0] - NAMES) // len(bins))
    has_figures = pitch >= LEAST_FIGURE and all(map(ge, size, FIGURES_FROM))
    pitch = pitch if has_figures else max(1, min(WIDEST_BAR, size[0] // len(bins)))
    below = _figure_rows(bins, len(rs), pitch) if has_figures else []
    left = max(NAMES * has_figures, (size[0] - pitch * len(bins)) // 2)
    columns, rows = pitch * len(bins), size[1] - 2 - len(below)
    half = float(width) / 2
    x = Span(float(bins[0].middle) - half, float(bins[-1].middle) + half)
    most = max(each.n for each in bins)
    y = Span(0.0, most * rows / max(1, rows - TOP_ROWS))
    plot = Plot((columns, rows), x, y, ascii_only=ascii_only)
    for number, each in enumerate(bins):
        _paint_bar(plot, number * pitch + pitch // 2, _bar_columns(pitch), each)
    for row, (name, value) in enumerate((("median", median(rs)), ("mean", mean(rs)))):
        _paint_line(plot, row, name, value)
    named = [(number, each) for number, each in enumerate(bins) if _is_named(each, pitch)]
    names = [_name(each, number * pitch + pitch // 2) for number, each in named]
    labels = scale_row(names, columns)
    base = _base([each.place for each in names], columns)
    above: Rows = [[("", ""), *row] for row in (*plot.drawn(), base, labels)]
    return [[(f"{name:<{left}}", role), *row] for (name, role), *row in (*above, *below)]


def _figure_rows(bins: Sequence[Bin], n: int, pitch: int) -> Rows:
    """Return the share of the trades in each bar, and what these made in R, below it."""
    columns = pitch - 1
    shares: list[Run] = [("share %", "muted")]
    made: list[Run] = [("made R", "muted")]
    for each in bins:
        share = percent(Decimal(each.n) / n, 0) if each.n else ""
        text, role = signed_money(each.total) if each.n else (safe(""), "plain")
        text = text if len(text) <= columns else money(each.total, 0, signed=True)
        shares.append((f" {share:^{columns}}", "plain"))
        made.append((f" {text:^{columns}}", role))
    return [shares, made]


def _bins(rs: Sequence[Decimal], width: Decimal) -> list[Bin]:
    """Return the bins of these results, and empty ones as far as is usually shown."""
    known = {each.middle: each for each in r_histogram(rs, width)}
    low, high = min(USUAL[0], *known), max(USUAL[1], *known)
    middles = (low + number * width for number in range(int((high - low) / width) + 1))
    return [known.get(middle, Bin(middle, 0)) for middle in middles]


def _paint_bar(plot: Plot, middle: int, columns: int, own: Bin) -> None:
    if not own.n:
        return
    zeros = own.n - own.losses - own.gains
    parts = ((own.losses, "loss"), (zeros, "muted"), (own.gains, "profit"))
    first = middle - columns // 2
    top = plot.bar(first, columns, [(n, role) for n, role in parts if n])
    text = f"{own.n:,}"
    plot.write(top - 1, first + (columns - len(text)) // 2, text, "plain")


def _bar_columns(pitch: int) -> int:
    """Return the columns of a bar: an odd number, about half, where there is a gap beside it."""
    return pitch if pitch < WITH_GAP else min(pitch - 1, pitch // 2 | 1)


def _paint_line(plot: Plot, row: int, name: str, value: Decimal) -> None:
    """Paint a line from a value down to its bar, with its name beside its top: to the side where there is room."""
    text, column = f"{name} {money(value, signed=True)} R", plot.column(float(value))
    for y in takewhile(lambda y: plot.canvas.roles[y][column] in FREE, range(row, plot.rows)):
        if y == row or not y % LINE_EVERY:
            plot.canvas.cell_behind(y, column, POST, "bright")
    fits = column + 2 + len(text) < plot.columns
    plot.canvas.whole(row, column + 2 if fits else column - 1 - len(text), text, "bright")


def _is_named(own: Bin, pitch: int) -> bool:
    """Return whether a bar has a label: those of whole R, and of half R where there is room."""
    return not own.middle % 1 or (pitch >= HALVES_FROM and not own.middle * 2 % 1)


def _name(own: Bin, place: int) -> Label:
    is_whole = not own.middle % 1
    text = f"{money(own.middle, 0 if is_whole else 1, signed=True)}{' R' if is_whole else ''}"
    return Label(place, text, "plain" if is_whole else "muted")


def _base(ticks: Sequence[int], columns: int) -> list[Run]:
    line = ["┬" if place in ticks else "─" for place in range(columns)]
    return [("".join(line), "muted")]


def _words(rs: Sequence[Decimal], given: ViewInput) -> list[TextLine]:
    without = len(given.trades) - len(rs)
    left_out = f"   {without} without a first stop left out" if without else ""
    line: TextLine = (
        ("Net ", "muted"),
        signed_money(sum(rs, ZERO)),
        (" R: wins ", "muted"),
        signed_money(sum((r for r in rs if r > 0), ZERO)),
        (", losses ", "muted"),
        signed_money(sum((r for r in rs if r < 0), ZERO)),
        ("   worst ", "muted"),
        signed_money(min(rs)),
        (", best ", "muted"),
        signed_money(max(rs)),
        (safe(left_out), "muted"),
    )
    return fold_line(line, given.width)


def _note(rs: Sequence[Decimal], given: ViewInput) -> list[TextLine]:
    has_far = max(map(abs, rs)) > OUTERMOST
    note = f"The outermost bars hold all beyond {OUTERMOST} R." if has_far else ""
    return wrap_text(safe(note), "faint", given.width)[:1]
