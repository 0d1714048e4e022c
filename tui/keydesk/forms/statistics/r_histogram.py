"""The view of the histogram of R: how often each result came out, in units of the first stop's risk."""

from collections.abc import Hashable, Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.calc.trade_journal.charts import BIN, OUTERMOST, Bin, r_histogram
from keydesk.calc.trade_journal.returns import mean, median
from keydesk.chart.canvas import Run
from keydesk.chart.plots import Label, Plot, Rows, Span, scale_row
from keydesk.forms.info_form import beside
from keydesk.forms.modal_form import (
    BLANK,
    TextLine,
    Words,
    as_lines,
    fold_line,
    signed_money,
    wrap_text,
)
from keydesk.forms.statistics.equity import LEAST_TRADES
from keydesk.forms.statistics.view import View, ViewInput, bars_of, few_lines, too_few
from keydesk.text.format import money, percent
from keydesk.text.sanitize import safe
from keydesk_client.arithmetic.constants import ZERO

WIDTHS = (BIN, 2 * BIN)  # R of a bar; the wider ones where the window is narrow
USUAL = Decimal(-2), Decimal(3)  # R: what is shown at least, so that the shape is read alike
WIDEST_BAR = 12  # columns with the gap beside it
HALVES_FROM = 4  # columns of a bar from which those of half R have a label
WITH_GAP = 3  # columns from which a bar has a gap beside it
LEAST_ROWS = 6
TOP_ROWS = 3  # above the bars: the names of two lines, and the highest count
TABLE_FROM = 150  # columns of the page from which the table of the bars has room
TABLE_WIDTH, TABLE_GAP = 67, 4  # its columns with those before it
TABLE_EDGES, TABLE_BAR = 5, 12  # rows above and below its own, cells to each side of a bar's axis
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
        words = [*_words(rs, given), *_note(rs, width, given)]
        words += [*(few_lines(len(rs), given) if self.says_few else []), BLANK]
        rows = max(LEAST_ROWS, given.rows - len(words))
        table = _table(rs, width, rows) if given.width >= TABLE_FROM else []
        size = given.width - (TABLE_WIDTH if table else 0), rows
        picture = histogram_rows(rs, width, size, ascii_only=given.ascii_only)
        return len(rs), beside(as_lines(picture), size[0], table), words

    def lines(self, data: Histogram, given: ViewInput) -> Sequence[TextLine]:
        """Return the picture, and what it says in words."""
        n, rows, words = data
        return [*words, *rows] if rows else too_few(n, LEAST_TRADES, WHAT, given.width)


def histogram_rows(
    rs: Sequence[Decimal], width: Decimal, size: tuple[int, int], *, ascii_only: bool
) -> Rows:
    """Return bars on a common base with their counts above them, and lines at the mean and the median."""
    bins = _bins(rs, width)
    pitch = max(1, min(WIDEST_BAR, size[0] // len(bins)))
    left = (size[0] - pitch * len(bins)) // 2
    columns, rows = pitch * len(bins), size[1] - 2
    half = float(width) / 2
    x = Span(float(bins[0].middle) - half, float(bins[-1].middle) + half)
    most = max(each.n for each in bins)
    y = Span(0.0, most * rows / max(1, rows - TOP_ROWS))
    plot = Plot((columns, rows), x, y, ascii_only=ascii_only)
    for number, each in enumerate(bins):
        _paint_bar(plot, number * pitch, pitch, each)
    for row, (name, value) in enumerate((("median", median(rs)), ("mean", mean(rs)))):
        _paint_line(plot, row, name, value)
    indent: list[Run] = [(" " * left, "")]
    named = [(number, each) for number, each in enumerate(bins) if _is_named(each, pitch)]
    names = [_name(each, number * pitch + _bar_columns(pitch) // 2) for number, each in named]
    labels = scale_row(names, columns)
    base = _base([each.place for each in names], columns)
    return [[*indent, *row] for row in (*plot.drawn(), base, labels)]


def _table(rs: Sequence[Decimal], width: Decimal, rows: int) -> list[TextLine]:
    """Return how many trades each bar stands for and what they made in R; nothing where it has no room."""
    bins = [each for each in r_histogram(rs, width) if each.n]
    if len(bins) + TABLE_EDGES > rows:
        return []
    made = sum(rs, ZERO)
    bars = bars_of([*(each.total for each in bins), made], TABLE_BAR)
    head = f"{'R':>8}{'n':>8}{'share %':>10}{'made':>10}"
    lines: list[TextLine] = [(("What the trades of each bar made, in R", "bright"),), BLANK]
    lines.append(((safe(head), "muted"),))
    for each, bar in zip(bins, bars, strict=False):
        lines.append((*_row(_bar_name(each), each.n, len(rs), each.total), *bar))
    lines.append(BLANK)
    lines.append((*_row("all", len(rs), len(rs), made), *bars[-1]))
    return [((" " * TABLE_GAP, "plain"), *line) for line in lines]


def _row(name: str, n: int, of: int, made: Decimal) -> list[Words]:
    total, role = signed_money(made)
    share = percent(Decimal(n) / of, 0)
    return [(safe(f"{name:>8}{n:>8,}{share:>10}"), "plain"), (safe(f"{total:>10}  "), role)]


def _bar_name(own: Bin) -> str:
    beyond = "" if abs(own.middle) < OUTERMOST else "≥" if own.middle > 0 else "≤"
    return beyond + money(own.middle, signed=True)


def _bins(rs: Sequence[Decimal], width: Decimal) -> list[Bin]:
    """Return the bins of these results, and empty ones as far as is usually shown."""
    known = {each.middle: each for each in r_histogram(rs, width)}
    low, high = min(USUAL[0], *known), max(USUAL[1], *known)
    middles = (low + number * width for number in range(int((high - low) / width) + 1))
    return [known.get(middle, Bin(middle, 0)) for middle in middles]


def _paint_bar(plot: Plot, first: int, pitch: int, own: Bin) -> None:
    if not own.n:
        return
    zeros = own.n - own.losses - own.gains
    parts = ((own.losses, "loss"), (zeros, "muted"), (own.gains, "profit"))
    columns = _bar_columns(pitch)
    top = plot.bar(first, columns, [(n, role) for n, role in parts if n])
    text = f"{own.n:,}"
    plot.write(top - 1, first + (columns - len(text) + 1) // 2, text, "plain")


def _bar_columns(pitch: int) -> int:
    return pitch - (pitch >= WITH_GAP)


def _paint_line(plot: Plot, row: int, name: str, value: Decimal) -> None:
    """Paint a line at a value, with its name beside its top: to the side where there is room."""
    text = f"{name} {money(value, signed=True)} R"
    column = plot.column(float(value))
    plot.line_down(float(value), "bright", first=row)
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
    left_out = f", {without} without a first stop left out" if without else ""
    line: TextLine = (
        ("Mean ", "muted"),
        signed_money(mean(rs)),
        (" R, median ", "muted"),
        signed_money(median(rs)),
        (" R, worst ", "muted"),
        signed_money(min(rs)),
        (", best ", "muted"),
        signed_money(max(rs)),
        (safe(f"   n {len(rs):,}{left_out}"), "muted"),
    )
    return fold_line(line, given.width)


def _note(rs: Sequence[Decimal], width: Decimal, given: ViewInput) -> list[TextLine]:
    has_far = max(map(abs, rs)) > OUTERMOST
    beyond = f"; the outermost hold all beyond {OUTERMOST} R" if has_far else ""
    note = f"Each bar is {width.normalize():f} R wide around its R{beyond}."
    return wrap_text(safe(note), "faint", given.width)[:1]
