"""The views that plotext draws: equity curve with its drawdown, histogram of R, MAE against MFE."""

from collections.abc import Hashable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import ClassVar

from rich.cells import cell_len

from keydesk.calc.trade_journal.charts import (
    BIN,
    OUTERMOST,
    Bin,
    CurvePoint,
    equity_curve,
    r_histogram,
)
from keydesk.chart.plots import (
    Axes,
    Point,
    Rows,
    Series,
    Tick,
    histogram,
    plot,
    round_ticks,
    thinned,
)
from keydesk.forms.sheet import BLANK, TextLine, fold_line, signed_money, wrap_text
from keydesk.forms.statistics.view import View, ViewInput, too_few
from keydesk.text.format import at, counted, money
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ChartRole, signed_role
from keydesk_client.arithmetic.constants import DAY

LEAST_TRADES = 2
LEAST_ROWS = 6
LABEL = 9  # columns of the values beside a picture
DATE_WIDTH = 12  # columns for each date under a curve
BIN_WIDTHS = (Decimal("0.1"), Decimal("0.25"), BIN)  # R
BAR_COLUMNS = 9  # for a bar of the histogram and the gap beside it
VALUE_ROWS = 3  # rows for each value beside it
Drawn = tuple[int, Rows, Sequence[TextLine]]  # trades, the picture, what it says in words


class PictureView(View[Drawn]):
    """A view whose picture is drawn in the thread."""

    WHAT: ClassVar[str]  # what there are too few trades for

    def key(self, given: ViewInput) -> Hashable:
        """Return the size and the characters that it is drawn for."""
        return given.width, given.rows, given.ascii_only

    def lines(self, data: Drawn, given: ViewInput) -> Sequence[TextLine]:
        """Return the picture, and what it says in words."""
        n, rows, words = data
        if not rows:
            return too_few(n, LEAST_TRADES, self.WHAT, given.width)
        return [
            *words,
            *(tuple((safe(text), ChartRole(role)) for text, role in row) for row in rows),
        ]


class EquityView(PictureView):
    """The sum of results by time, and below it how far it is under its highest value."""

    NAME: ClassVar[str] = "equity"
    WHAT: ClassVar[str] = "a curve"

    def compute(self, given: ViewInput) -> Drawn:
        """Draw both curves one above the other, with the same dates."""
        curve = equity_curve(given.trades)
        if len(curve) < LEAST_TRADES:
            return len(curve), [], ()
        height = max(LEAST_ROWS, given.rows - 3)
        below = max(LEAST_ROWS, height // 3)
        xs = [each.time_ns / DAY for each in curve]
        if xs[-1] == xs[0]:
            xs = [float(number) for number in range(len(curve))]
        spans = xs[0], xs[-1]
        total = [(xs[0], 0.0), *zip(xs, (float(each.total) for each in curve), strict=True)]
        under = [(xs[0], 0.0), *zip(xs, (float(each.below) for each in curve), strict=True)]
        columns = given.width - LABEL
        upper = plot(
            [Series(thinned(total, columns), "overlay-1", "curve")],
            Axes((), _values(total, height - below), zero=True, x_range=spans),
            (given.width, height - below),
            ascii_only=given.ascii_only,
        )
        lower = plot(
            [Series(thinned(under, columns), "loss", "fill", filled=True)],
            Axes(_dates(*spans, columns), _values(under, below), x_range=spans),
            (given.width, below),
            ascii_only=given.ascii_only,
        )
        return len(curve), [*upper, *lower], [_equity_text(curve, given), BLANK]


def _equity_text(curve: Sequence[CurvePoint], given: ViewInput) -> TextLine:
    deepest = min(curve, key=lambda each: each.below)
    currency = given.snapshot.currency
    when = f"{at(deepest.time_ns, given.snapshot.context.zone):%d %b %Y}"
    line: TextLine = (
        ("Realized ", "muted"),
        signed_money(curve[-1].total),
        (safe(f" {currency}  n {len(curve):,}  drawdown now "), "muted"),
        (money(curve[-1].below), "loss" if curve[-1].below else "plain"),
        (", deepest ", "muted"),
        (money(deepest.below), "loss" if deepest.below else "plain"),
        (safe(f" {when}"), "muted"),
    )
    fits = sum(cell_len(text) for text, _ in line) <= given.width
    return line if fits else line[:-1]  # the curve shows the day


def _values(points: Sequence[Point], rows: int) -> list[Tick]:
    """Return the values beside a curve, all of one width, so that curves above one another have the same columns."""
    ys = [y for _, y in points]
    ticks = round_ticks(min(ys), max(ys), max(2, rows // VALUE_ROWS))
    return [(each, f"{_short(each):>{LABEL - 1}}") for each in ticks]


def _short(value: float) -> str:
    return str(money(Decimal(f"{value:.6g}"), 0 if abs(value) >= 10 or value == int(value) else 2))  # noqa: PLR2004


def _dates(first: float, last: float, columns: int) -> list[Tick]:
    """Return dates at equal distances; within two days times of the day."""
    count = max(2, min(8, columns // DATE_WIDTH))
    style = "%d %b" if last - first > 2 else "%d %b %H:%M"  # noqa: PLR2004
    steps = [first + (last - first) * number / (count - 1) for number in range(count)]
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return [(each, f"{epoch + timedelta(days=each):{style}}") for each in steps]


class HistogramView(PictureView):
    """How often each R came out."""

    NAME: ClassVar[str] = "R histogram"
    SHORT: ClassVar[str] = "R"
    WHAT: ClassVar[str] = "a histogram (trades with a first stop)"

    def compute(self, given: ViewInput) -> Drawn:
        """Draw the bins, losses and gains in their colours."""
        rs = [r for each in given.trades if (r := each.r) is not None]
        if len(rs) < LEAST_TRADES:
            return len(rs), [], ()
        bins = _bins(rs, given.width - LABEL)
        bars = [(float(each.middle), each.n, _role(each)) for each in bins]
        most = max(each.n for each in bins)
        every = -(-len(bins) // max(1, (given.width - LABEL) // 8))
        ticks = [
            (place, f"{each.middle.normalize():f}")
            for (place, _, _), each in zip(bars, bins, strict=True)
        ][::every]
        counts = [
            (v, f"{v:>5,.0f}")
            for v in round_ticks(0, most, max(2, given.rows // VALUE_ROWS))
            if v == int(v)
        ]
        rows = histogram(
            bars,
            Axes(ticks, counts),
            (given.width, max(LEAST_ROWS, given.rows - 4)),
            ascii_only=given.ascii_only,
        )
        return (
            len(rs),
            rows,
            [
                *_histogram_text(rs, given),
                *_histogram_note(bins, given),
                BLANK,
            ],
        )


def _role(bin_: Bin) -> str:
    """Return the colour of a bin; the one around zero has gains and losses."""
    return signed_role(bin_.middle, zero="muted")


def _histogram_text(rs: Sequence[Decimal], given: ViewInput) -> list[TextLine]:
    middle = sorted(rs)[len(rs) // 2]
    without = len(given.trades) - len(rs)
    left_out = f", {without} without a first stop left out" if without else ""
    line: TextLine = (
        ("Mean ", "muted"),
        signed_money(sum(rs, Decimal(0)) / len(rs)),
        (" R, median ", "muted"),
        signed_money(middle),
        (" R, worst ", "muted"),
        signed_money(min(rs)),
        (", best ", "muted"),
        signed_money(max(rs)),
        (safe(f"   n {len(rs):,}{left_out}"), "muted"),
    )
    return fold_line(line, given.width)


def _bins(rs: Sequence[Decimal], columns: int) -> list[Bin]:
    """Return the narrowest bins that have room for their bars."""
    found = ((width, r_histogram(rs, width)) for width in BIN_WIDTHS)
    return next((bins for _, bins in found if len(bins) * BAR_COLUMNS <= columns), r_histogram(rs))


def _histogram_note(bins: Sequence[Bin], given: ViewInput) -> list[TextLine]:
    width = bins[1].middle - bins[0].middle if len(bins) > 1 else BIN
    note = f"A bar counts the trades nearest to its R, {width.normalize():f} R wide; the outermost all beyond {OUTERMOST} R."
    return wrap_text(safe(note), "faint", given.width)[:1]


class ExcursionView(PictureView):
    """How far each trade went against and for the trader before it was closed."""

    NAME: ClassVar[str] = "MAE/MFE"
    WHAT: ClassVar[str] = "MAE against MFE (trades with a first stop and candles)"
    READS: ClassVar[str] = "excursions"

    def key(self, given: ViewInput) -> Hashable:
        """Return what it is drawn for; excursions come one after another."""
        return super().key(given), len(given.excursions or ())

    def compute(self, given: ViewInput) -> Drawn:
        """Draw a mark for each trade, wins and losses apart."""
        known = given.excursions or {}
        wins, losses = list[Point](), list[Point]()
        for each in given.trades:
            excursion = known.get(each.id)
            if excursion is not None and excursion.r is not None:
                mae, mfe = excursion.r
                (wins if each.result > 0 else losses).append((float(mae), float(mfe)))
        n = len(wins) + len(losses)
        if n < LEAST_TRADES:
            return n, [], ()
        series = [
            Series(points, role, mark)
            for points, role, mark in ((losses, "loss", "x"), (wins, "profit", "+"))
            if points
        ]
        farthest = [max(point[side] for point in (*wins, *losses)) for side in (0, 1)]
        size = given.width, max(LEAST_ROWS, given.rows - 3)
        ticks = round_ticks(0, farthest[0], given.width // 12)
        axes = Axes(
            [(each, f"{each:.1f}") for each in ticks],
            [
                (each, f"{each:>5.1f}")
                for each in round_ticks(0, farthest[1], size[1] // VALUE_ROWS)
            ],
            x_name="MAE in R: how far against you",
        )
        rows = plot(series, axes, size, ascii_only=given.ascii_only)
        return n, rows, _excursion_text(given, wins, losses)

    def lines(self, data: Drawn, given: ViewInput) -> Sequence[TextLine]:
        """Return the picture, or how far reading is."""
        if given.progress:
            first: TextLine = ((given.progress, "focus"),)
            return [first, *(super().lines(data, given) if data[1] else ())]
        return super().lines(data, given)


def _excursion_text(
    given: ViewInput, wins: Sequence[Point], losses: Sequence[Point]
) -> Sequence[TextLine]:
    n = len(wins) + len(losses)
    rescued = sum(mfe >= 1 for _, mfe in losses)
    without = len(given.trades) - n
    left_out = f"   {without} without first stop or candles left out" if without else ""
    text: Printable = safe(f"  up: MFE in R, how far for you   n {n:,}{left_out}")
    known = given.excursions or {}
    growing = sum(each.id in known and known[each.id].is_provisional for each in given.trades)
    if growing:
        text = safe(f"{text}   {growing} may still change: the candle of the exit is not complete")
    return [
        (("+ win", "profit"), ("  x loss", "loss"), (text, "muted")),
        (
            (
                safe(
                    f"{rescued} of {counted(len(losses), 'losing trade')} had been 1 R in profit."
                ),
                "muted",
            ),
        ),
    ]
