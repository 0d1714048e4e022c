"""Drawdown and ratios of daily returns, transfers taken out; worked numbers: `docs/formulas.md`.

A day is a trading day, 17:00 to 17:00 New York; days of a weekend count only if something was booked on them. The return of a
day is what it earned over the capital at its start; a deposit counts as made at the start of its day, a withdrawal at its end.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, field

from keydesk.calc.market.trading_day import NEW_YORK, booking_day_start, next_day_start
from keydesk.calc.trade_journal.rebuild import BalancePoint
from keydesk_client.arithmetic.constants import SECOND, ZERO

ONE = Decimal(1)
DAYS_A_YEAR = Decimal(252)
SATURDAY = 5
LEAST_DEVIATION = Decimal("0.01")  # of the mean: below it values differ by the rounding of money
LEAST_DAYS = 2  # of a ratio


class Day(Struct, frozen=True):
    """One trading day: the balance or net asset value at its start and end, and the transfers in it."""

    start_ns: int
    end_ns: int
    opening: Decimal
    closing: Decimal
    transfers: Decimal = ZERO

    @property
    def profit(self) -> Decimal:
        """What the day earned."""
        return self.closing - self.opening - self.transfers

    @property
    def capital(self) -> Decimal:
        """What the day's profit is measured against."""
        return self.opening + max(self.transfers, ZERO)

    @property
    def change(self) -> Decimal | None:
        """The return of the day; None without capital."""
        return self.profit / self.capital if self.capital > 0 else None


class Drawdown(Struct, frozen=True):
    """The largest fall from a peak: in money, and as a share of the peak (possibly that of a different fall)."""

    money: Decimal = ZERO
    share: Decimal | None = None


class _Curve(Struct):
    """A curve of profit, and the same compounded from the capital of each step."""

    profit: Decimal = ZERO
    peak: Decimal = ZERO
    index: Decimal = ONE
    index_peak: Decimal = ONE
    money: Decimal = ZERO
    share: Decimal = ZERO
    has_share: bool = field(default=False)

    def add(self, profit: Decimal, capital: Decimal | None) -> None:
        self.profit += profit
        self.peak = max(self.peak, self.profit)
        self.money = max(self.money, self.peak - self.profit)
        if capital is None or capital <= 0:
            return
        self.has_share = True
        self.index *= ONE + profit / capital
        self.index_peak = max(self.index_peak, self.index)
        self.share = max(self.share, ONE - self.index / self.index_peak)


def drawdown(steps: Iterable[tuple[Decimal, Decimal | None]]) -> Drawdown:
    """Return the largest fall of a curve of (profit, capital before it); without capital there is no share."""
    curve = _Curve()
    for profit, capital in steps:
        curve.add(profit, capital)
    return Drawdown(curve.money, curve.share if curve.has_share else None)


def drawdown_of_results(results: Iterable[Decimal], start: Decimal | None = None) -> Drawdown:
    """Return the drawdown of results in their order, on a starting capital."""
    capital, steps = start, []
    for each in results:
        steps.append((each, capital))
        capital = None if capital is None else capital + each
    return drawdown(steps)


def drawdown_of_days(days: Iterable[Day]) -> Drawdown:
    """Return the drawdown of the daily values."""
    return drawdown((each.profit, each.capital) for each in days)


def days_of(
    points: Sequence[BalancePoint],
    start: Decimal = ZERO,
    unrealized: Mapping[int, Decimal] | None = None,
) -> list[Day]:
    """Return the trading days from the first event to the last, or to the last open profit.

    Args:
        points: The balances after each event, oldest first.
        start: The balance before the first.
        unrealized: The open profit at the end of days, by `end_ns`, and the present one by the end of the day that is not
            over; with it the values are net asset values.
    """
    if not points:
        return []
    days: list[Day] = []
    open_profit = unrealized or {}
    value = balance = start
    position = 0
    begins = booking_day_start(points[0].time_ns)
    last = max((points[-1].time_ns, *open_profit))
    while begins < last:
        ends = next_day_start(begins)
        first, transfers = position, ZERO
        while position < len(points) and points[position].time_ns <= ends:
            balance = points[position].balance
            transfers += points[position].transfer
            position += 1
        closing = balance + open_profit.get(ends, ZERO)
        if position > first or closing != value or not _is_weekend(ends):
            days.append(Day(begins, ends, value, closing, transfers))
            value = closing
        begins = ends
    return days


def _is_weekend(end_ns: int) -> bool:
    return datetime.fromtimestamp(end_ns // SECOND, NEW_YORK).weekday() >= SATURDAY


def sharpe(changes: Sequence[Decimal]) -> Decimal | None:
    """Return the annual Sharpe ratio of daily returns, without a risk-free rate; None if they hardly vary."""
    ratio = over_deviation(changes)
    return None if ratio is None else ratio * DAYS_A_YEAR.sqrt()


def sortino(changes: Sequence[Decimal]) -> Decimal | None:
    """Return the annual Sortino ratio of daily returns; None without a day of loss, and of fewer than two days."""
    if len(changes) < LEAST_DAYS:
        return None
    below = sum((min(each, ZERO) ** 2 for each in changes), ZERO) / len(changes)
    return mean(changes) / below.sqrt() * DAYS_A_YEAR.sqrt() if below else None


def mean(values: Sequence[Decimal]) -> Decimal:
    """Return the mean; 0 for an empty sequence."""
    return sum(values, ZERO) / len(values) if values else ZERO


def median(values: Sequence[Decimal]) -> Decimal:
    """Return the middle value, of an even number the mean of the two in the middle; 0 for an empty sequence."""
    ordered, half = sorted(values), len(values) // 2
    return mean(
        ordered[half : half + 1] if len(ordered) % 2 else ordered[max(0, half - 1) : half + 1]
    )


def over_deviation(values: Sequence[Decimal]) -> Decimal | None:
    """Return the mean over the sample deviation; None if that is under a hundredth of the mean: it is rounding."""
    deviation, middle = sample_deviation(values), mean(values)
    if deviation is None or deviation <= abs(middle) * LEAST_DEVIATION:
        return None
    return middle / deviation


def sample_deviation(values: Sequence[Decimal]) -> Decimal | None:
    """Return the standard deviation with n-1; None of fewer than two."""
    if len(values) < LEAST_DAYS:  # one value does not vary
        return None
    middle = mean(values)
    squares = sum(((each - middle) ** 2 for each in values), ZERO)
    return (squares / (len(values) - 1)).sqrt()
