"""What the charts of the statistics are drawn from: equity curve, histogram of R, and the cells of the two heat maps.

The heat maps have closed trades by hour and weekday of the entry, in the trader's zone, and by the trading day of the closing. Each
closed trade is in exactly one cell of either map.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple, TypeVar

from msgspec import Struct

from keydesk.calc.market.trading_day import booking_date
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk_client.arithmetic.constants import SECOND, ZERO

BIN = Decimal("0.25")  # R
OUTERMOST = Decimal(5)  # R: what is farther away is counted in the last bin of its side
LEVELS = 4  # shades of a gain, and of a loss
Key = TypeVar("Key", bound=Hashable)


class CurvePoint(NamedTuple):
    """The sum of results after a trade, and how far it is below its highest value: 0 or negative."""

    time_ns: int
    total: Decimal
    below: Decimal


class Bin(NamedTuple):
    """How many trades had an R nearest to `middle`: a stop that slipped a little still counts as -1."""

    middle: Decimal
    n: int
    losses: int = 0
    gains: int = 0  # the rest had a result of zero
    total: Decimal = ZERO  # of the R


def equity_curve(trades: Iterable[JournalTrade]) -> list[CurvePoint]:
    """Return the curve of closed trades in the order of their closing; it begins at zero."""
    closed = sorted(
        ((each.closed_ns, each.result) for each in trades if each.closed_ns is not None),
        key=lambda each: each[0],
    )
    total = peak = ZERO
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
    found: dict[Decimal, list[Decimal]] = {}
    for place, r in zip(places, rs, strict=True):
        found.setdefault(place, []).append(r)
    steps = int((max(places) - min(places)) / width) + 1
    middles = [min(places) + number * width for number in range(steps)]
    return [_bin(middle, found.get(middle, ())) for middle in middles]


def _bin(middle: Decimal, rs: Sequence[Decimal]) -> Bin:
    return Bin(middle, len(rs), sum(r < 0 for r in rs), sum(r > 0 for r in rs), sum(rs, ZERO))


class HourOfWeek(NamedTuple):
    """An hour of a weekday, Monday is 0."""

    weekday: int
    hour: int


class HeatCell(Struct, frozen=True):
    """The trades of a cell together."""

    n: int = 0
    wins: int = 0
    result: Decimal = ZERO
    r: Decimal | None = None  # of the trades with a first stop

    def plus(self, trade: JournalTrade) -> "HeatCell":
        """Return the cell with one trade more."""
        result, r = trade.result, trade.r
        return HeatCell(
            self.n + 1,
            self.wins + (result > 0),
            self.result + result,
            self.r if r is None else (self.r or ZERO) + r,
        )


def hours_of_week(trades: Iterable[JournalTrade], zone: tzinfo) -> dict[HourOfWeek, HeatCell]:
    """Return the closed trades by the hour of the week in which they were opened; hours without trades are left out."""
    return _cells((hour_of_week(each, zone), each) for each in trades if each.is_closed)


def hour_of_week(trade: JournalTrade, zone: tzinfo) -> HourOfWeek:
    """Return the hour of the week in which a trade was opened."""
    opened = datetime.fromtimestamp(trade.opened_ns // SECOND, zone)
    return HourOfWeek(opened.weekday(), opened.hour)


def trading_days(trades: Iterable[JournalTrade]) -> dict[date, HeatCell]:
    """Return the closed trades by the date of the trading day in which they were closed."""
    return _cells(
        (booking_date(closed), each) for each in trades if (closed := each.closed_ns) is not None
    )


def _cells(trades: Iterable[tuple[Key, JournalTrade]]) -> dict[Key, HeatCell]:
    cells: dict[Key, HeatCell] = {}
    for key, trade in trades:
        cells[key] = cells.get(key, HeatCell()).plus(trade)
    return cells


def largest_result(cells: Mapping[Key, HeatCell]) -> Decimal:
    """Return the largest gain or loss of a cell, without its sign."""
    return max((abs(each.result) for each in cells.values()), default=ZERO)


def level(result: Decimal, largest: Decimal) -> int:
    """Return the signed shade of a cell: 1 up to a quarter of the largest result, to 4; 0 without gain or loss."""
    if not result or not largest:
        return 0
    strength = min(LEVELS, int(abs(result) / largest * LEVELS) + 1)
    return strength if result > 0 else -strength
