"""Statistics of closed trades: each figure with its number of trades, and a warning where that number is small.

A result of zero counts in n, neither as a win nor as a loss, and ends a streak. The formulas with worked numbers: `docs/formulas.md`.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from msgspec import Struct

from keydesk.calc.trade_journal.returns import (
    Day,
    Drawdown,
    drawdown_of_days,
    drawdown_of_results,
    mean,
    over_deviation,
    sharpe,
    sortino,
)
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk_client.arithmetic.constants import ZERO

INFINITE = Decimal("Infinity")
FEW_TRADES, FEW_DAYS = 20, 60
MAX_TRADES_OF_SQN = 100


class Figure(Struct, frozen=True):
    """A figure, and the number of trades or days that it is computed from."""

    value: Decimal | None  # None: it is not defined
    n: int
    doubt: str = ""  # why it is not reliable; "": there is enough data


class Statistics(Struct, frozen=True):
    """The figures of a set of closed trades."""

    n: int
    total: Figure
    win_rate: Figure
    average_win: Figure
    average_loss: Figure
    payoff: Figure
    expectancy: Figure
    expectancy_r: Figure
    profit_factor: Figure
    drawdown: Drawdown
    recovery: Figure
    sqn: Figure
    longest_wins: int
    longest_losses: int
    time_in_market: Figure
    financing: Decimal
    spread_paid: Decimal


class DailyStatistics(Struct, frozen=True):
    """The figures of daily values."""

    n: int
    sharpe: Figure
    sortino: Figure
    drawdown: Drawdown


def of_trades(value: Decimal | None, n: int) -> Figure:
    """Return a figure computed from `n` trades."""
    return Figure(value, n, f"n={n}, under {FEW_TRADES}" if n < FEW_TRADES else "")


def of_days(value: Decimal | None, n: int) -> Figure:
    """Return a figure computed from `n` days."""
    return Figure(value, n, f"n={n}, meaningless" if n < FEW_DAYS else "")


def statistics_of(trades: Iterable[JournalTrade], start: Decimal | None = None) -> Statistics:
    """Return the figures of closed trades; open ones are left out.

    Args:
        trades: In any order.
        start: The capital that the drawdown is measured against; without it there is no share.
    """
    closed = sorted(
        (each for each in trades if each.is_closed), key=lambda each: each.closed_ns or 0
    )
    results = [each.result for each in closed]
    rs = [r for each in closed if (r := each.r) is not None]
    n, total = len(results), sum(results, ZERO)
    wins = [each for each in results if each > 0]
    losses = [each for each in results if each < 0]
    gained, lost = sum(wins, ZERO), -sum(losses, ZERO)
    fall = drawdown_of_results(results, start)
    return Statistics(
        n=n,
        total=of_trades(total, n),
        win_rate=of_trades(_ratio(Decimal(len(wins)), Decimal(n)), n),
        average_win=of_trades(mean(wins) if wins else None, len(wins)),
        average_loss=of_trades(mean(losses) if losses else None, len(losses)),
        payoff=of_trades(_payoff(wins, losses), n),
        expectancy=of_trades(mean(results) if results else None, n),
        expectancy_r=of_trades(mean(rs) if rs else None, len(rs)),
        profit_factor=of_trades(_over(gained, lost), n),
        drawdown=fall,
        recovery=of_trades(_over(total, fall.money), n),
        sqn=of_trades(system_quality(rs), len(rs)),
        longest_wins=longest_streak(each > 0 for each in results),
        longest_losses=longest_streak(each < 0 for each in results),
        time_in_market=of_trades(time_in_market(closed), n),
        financing=sum((each.costs.financing for each in closed), ZERO),
        spread_paid=sum((each.spread_paid for each in closed), ZERO),
    )


def daily_statistics_of(days: Sequence[Day]) -> DailyStatistics:
    """Return the figures of daily balances or net asset values."""
    changes = [change for each in days if (change := each.change) is not None]
    n = len(changes)
    return DailyStatistics(
        n, of_days(sharpe(changes), n), of_days(sortino(changes), n), drawdown_of_days(days)
    )


def system_quality(rs: Sequence[Decimal]) -> Decimal | None:
    """Return the SQN: √n x mean / deviation of R, n at most 100; None if R hardly varies."""
    ratio = over_deviation(rs)
    return None if ratio is None else Decimal(min(len(rs), MAX_TRADES_OF_SQN)).sqrt() * ratio


def longest_streak(outcomes: Iterable[bool]) -> int:
    """Return the length of the longest run of true outcomes."""
    longest = current = 0
    for each in outcomes:
        current = current + 1 if each else 0
        longest = max(longest, current)
    return longest


def time_in_market(trades: Iterable[JournalTrade]) -> Decimal | None:
    """Return the share of the time from the first opening to the last closing in which a trade was open."""
    spans = sorted((each.opened_ns, each.closed_ns or each.opened_ns) for each in trades)
    if not spans:
        return None
    held, until = 0, spans[0][0]
    for opened, closed in spans:
        held += max(0, closed - max(opened, until))
        until = max(until, closed)
    return _ratio(Decimal(held), Decimal(until - spans[0][0]))


def _payoff(wins: Sequence[Decimal], losses: Sequence[Decimal]) -> Decimal | None:
    return mean(wins) / -mean(losses) if wins and losses else None


def _ratio(part: Decimal, whole: Decimal) -> Decimal | None:
    return part / whole if whole else None


def _over(gained: Decimal, lost: Decimal) -> Decimal | None:
    """Return gain over loss: infinite without a loss, None without either."""
    if lost:
        return gained / lost
    return INFINITE if gained > 0 else None
