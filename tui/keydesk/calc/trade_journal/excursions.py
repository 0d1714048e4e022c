"""Maximum adverse and favourable excursion of a trade (MAE, MFE), from candles of the side that closes it.

Candles are of the bid for a long trade, of the ask for a short one: of 5 seconds for a trade under two hours; for a longer one
of a minute, and of 5 seconds in the minutes in which it was opened and closed. The 5 seconds of the opening
and of the closing count whole: what came first in them is not known, and `is_cut` says so. Exit prices count, too.

A trade that was closed a moment ago rests on a candle that still forms: its excursion may grow, and is provisional until then.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from msgspec import Struct

from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk_client.arithmetic.constants import HOUR, MINUTE, SECOND, ZERO
from keydesk_client.arithmetic.risk import stop_distance

SHORT_TRADE_NS = 2 * HOUR
CELL = 5 * SECOND
STOPS_A_R = 20  # that are tried


class CandleRange(NamedTuple):
    """Candles that start at or after `start_ns` and before `end_ns`."""

    granularity: Literal["S5", "M1"]
    start_ns: int
    end_ns: int


class Extremes(NamedTuple):
    """High and low of the closing side in one candle."""

    high: Decimal
    low: Decimal


class Excursion(Struct, frozen=True):
    """How far the price went against and for a trade: price units, never negative."""

    adverse: Decimal
    favourable: Decimal
    stop_distance: Decimal | None = None  # of the initial stop
    is_cut: bool = False  # the first and last 5 seconds reach beyond the trade
    is_provisional: bool = False  # its last candle still forms, so it may grow

    def pips(self, pip: Decimal) -> tuple[Decimal, Decimal]:
        """Return MAE and MFE in pips."""
        return self.adverse / pip, self.favourable / pip

    @property
    def r(self) -> tuple[Decimal, Decimal] | None:
        """MAE and MFE in units of the initial stop's distance; None without one."""
        if self.stop_distance is None:
            return None
        return self.adverse / self.stop_distance, self.favourable / self.stop_distance


def candle_plan(trade: JournalTrade) -> list[CandleRange]:
    """Return the candles that cover a closed trade, in order and without gaps; nothing while it is open."""
    if trade.closed_ns is None or trade.hold_ns is None:
        return []
    start = trade.opened_ns // CELL * CELL
    end = trade.closed_ns // CELL * CELL + CELL
    if trade.hold_ns < SHORT_TRADE_NS:
        return [CandleRange("S5", start, end)]
    first, last = -(-start // MINUTE) * MINUTE, end // MINUTE * MINUTE
    ranges = [
        CandleRange("S5", start, first),
        CandleRange("M1", first, last),
        CandleRange("S5", last, end),
    ]
    return [each for each in ranges if each.start_ns < each.end_ns]


def are_over(
    plan: Sequence[CandleRange], starts_ns: Sequence[int], *, complete: bool, now_ns: int
) -> bool:
    """Return whether the candles of a plan cannot change any more.

    A candle without prices is never sent. So the last of a plan may be missing because it has none yet, or because it has none at
    all: only the time decides.

    Args:
        plan: The candles that were asked for.
        starts_ns: The starts of those that came.
        complete: Whether the broker calls all of them complete.
        now_ns: The broker's time.
    """
    if not plan or not complete:
        return False
    last = plan[-1]
    has_last = max(starts_ns, default=0) >= last.end_ns - length_of(last.granularity)
    return has_last or now_ns >= last.end_ns


def length_of(granularity: str) -> int:
    """Return the length of a candle of a plan, in nanoseconds."""
    return CELL if granularity == "S5" else MINUTE


def excursion_of(trade: JournalTrade, candles: Iterable[Extremes]) -> Excursion | None:
    """Return the excursion of a closed trade from the candles of its plan; None without one."""
    extremes = list(candles)
    if not extremes or trade.closed_ns is None:
        return None
    entry = trade.entry_price
    exits = [each.price for each in trade.exits]
    high = max(*exits, *(each.high for each in extremes))
    low = min(*exits, *(each.low for each in extremes))
    up, down = max(ZERO, high - entry), max(ZERO, entry - low)
    adverse, favourable = (down, up) if trade.is_long else (up, down)
    return known_excursion(trade, adverse, favourable)


def known_excursion(
    trade: JournalTrade, adverse: Decimal, favourable: Decimal, *, is_provisional: bool = False
) -> Excursion:
    """Return the excursion of a trade whose distances are known."""
    is_cut = bool(trade.opened_ns % CELL or (trade.closed_ns or 0) % CELL)
    return Excursion(adverse, favourable, _distance(trade), is_cut, is_provisional)


def _distance(trade: JournalTrade) -> Decimal | None:
    if trade.initial_stop is None:
        return None
    distance = stop_distance(trade.units, trade.entry_price, trade.initial_stop)
    return distance if distance > 0 else None


class StopOutcome(NamedTuple):
    """A stop, in R of the first one, and what some trades would have made with it, in R."""

    stop: Decimal
    total: Decimal
    wins: int  # that it would have ended
    losses: int


def stop_outcomes(trades: Sequence[tuple[Decimal, Decimal]]) -> list[StopOutcome]:
    """Return what stops up to the first one would have made, the nearest first.

    A trade that went that far against its trader ends with a loss of as much, before costs; each other one as it did.

    Args:
        trades: Of each trade its MAE and its result in R.
    """
    before = sum((result for _, result in trades), ZERO)
    outcomes = []
    for number in range(1, STOPS_A_R + 1):
        stop = number / Decimal(STOPS_A_R)
        ended = [result for adverse, result in trades if adverse >= stop]
        total = before - sum(ended, ZERO) - stop * len(ended)
        wins = sum(result > 0 for result in ended)
        outcomes.append(StopOutcome(stop, total, wins, len(ended) - wins))
    return outcomes


def best_stop(outcomes: Sequence[StopOutcome], made: Decimal) -> StopOutcome | None:
    """Return the nearest stop that would have made the most; None where none would have made more than was made."""
    best = max(outcomes, key=lambda each: each.total, default=None)
    return best if best is not None and best.total > made else None
