"""Closed trades by hour and weekday, and by trading day: the cells of the two heat maps.

Hours and weekdays are those of the entry, in the trader's zone; a day is the trading day of the closing. Each closed trade is in
exactly one cell of either map.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import NamedTuple, TypeVar

from keydesk.calc.market.trading_day import SECOND, trading_date
from keydesk.calc.trade_journal.trades import JournalTrade

NOTHING = Decimal(0)
LEVELS = 4
Key = TypeVar("Key", bound=Hashable)


class HourOfWeek(NamedTuple):
    """An hour of a weekday, Monday is 0."""

    weekday: int
    hour: int


@dataclass(frozen=True, slots=True)
class HeatCell:
    """The trades of a cell together."""

    n: int = 0
    wins: int = 0
    result: Decimal = NOTHING
    r: Decimal | None = None  # of the trades with a first stop

    def plus(self, trade: JournalTrade) -> "HeatCell":
        """Return the cell with one trade more."""
        result, r = trade.result, trade.r
        return HeatCell(
            self.n + 1,
            self.wins + (result > 0),
            self.result + result,
            self.r if r is None else (self.r or NOTHING) + r,
        )


def hours_of_week(trades: Iterable[JournalTrade], zone: tzinfo) -> dict[HourOfWeek, HeatCell]:
    """Return the closed trades by the hour of the week in which they were opened; hours without trades are left out."""

    def hour(trade: JournalTrade) -> HourOfWeek:
        opened = datetime.fromtimestamp(trade.opened_ns // SECOND, zone)
        return HourOfWeek(opened.weekday(), opened.hour)

    return _cells((hour(each), each) for each in trades if each.is_closed)


def trading_days(trades: Iterable[JournalTrade]) -> dict[date, HeatCell]:
    """Return the closed trades by the date of the trading day in which they were closed."""
    return _cells(
        (trading_date(closed), each) for each in trades if (closed := each.closed_ns) is not None
    )


def _cells(trades: Iterable[tuple[Key, JournalTrade]]) -> dict[Key, HeatCell]:
    found: dict[Key, HeatCell] = {}
    for key, trade in trades:
        found[key] = found.get(key, HeatCell()).plus(trade)
    return found


def largest_result(cells: Mapping[Key, HeatCell]) -> Decimal:
    """Return the largest gain or loss of a cell, without its sign."""
    return max((abs(each.result) for each in cells.values()), default=NOTHING)


def level(result: Decimal, largest: Decimal) -> int:
    """Return the signed shade of a cell: 1 up to a quarter of the largest result, to 4; 0 without gain or loss."""
    if not result or not largest:
        return 0
    strength = min(LEVELS, int(abs(result) / largest * LEVELS) + 1)
    return strength if result > 0 else -strength
