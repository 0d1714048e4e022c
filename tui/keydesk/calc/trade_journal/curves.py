"""The equity curve of closed trades with its drawdown, and how often each R came out: what the pictures are drawn from."""

from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from keydesk.calc.trade_journal.trades import JournalTrade

NOTHING = Decimal(0)
BIN = Decimal("0.5")  # R
OUTERMOST = Decimal(5)  # R: what is farther away is counted in the last bin of its side


class CurvePoint(NamedTuple):
    """The sum of results after a trade, and how far it is below its highest value: 0 or negative."""

    time_ns: int
    total: Decimal
    below: Decimal


class Bin(NamedTuple):
    """How many trades had an R nearest to `middle`: a stop that slipped a little still counts as -1."""

    middle: Decimal
    n: int


def equity_curve(trades: Iterable[JournalTrade]) -> list[CurvePoint]:
    """Return the curve of closed trades in the order of their closing; it begins at zero."""
    closed = sorted(
        ((each.closed_ns, each.result) for each in trades if each.closed_ns is not None),
        key=lambda each: each[0],
    )
    total = peak = NOTHING
    points = []
    for time_ns, result in closed:
        total += result
        peak = max(peak, total)
        points.append(CurvePoint(time_ns, total, total - peak))
    return points


def r_histogram(rs: Sequence[Decimal], width: Decimal = BIN) -> list[Bin]:
    """Return the bins from the lowest R to the highest, empty ones between them, too; their counts add up to all."""
    if not rs:
        return []
    places = [
        min(OUTERMOST, max(-OUTERMOST, (r / width).to_integral_value(ROUND_HALF_UP) * width))
        for r in rs
    ]
    counts: dict[Decimal, int] = {}
    for each in places:
        counts[each] = counts.get(each, 0) + 1
    steps = int((max(places) - min(places)) / width) + 1
    middles = [min(places) + number * width for number in range(steps)]
    return [Bin(middle, counts.get(middle, 0)) for middle in middles]
