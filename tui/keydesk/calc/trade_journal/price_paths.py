"""The path of the price during a trade, as far as the result of another stop, target or break-even depends on it.

A step is a candle of the side that closes the trade: how far its high and low are from the entry in the trade's favour. Only steps
are kept that reach farther than every one before them, and the first return to the entry after each such gain: on these, every rule
of `what_if` ends as it does on all candles. A trade that its stop or target closed is followed for a day longer, as another
stop or target would have left it open.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct

from keydesk.calc.trade_journal.excursions import CandleRange, candle_plan
from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk_client.arithmetic.constants import MINUTE, ZERO

STOPS = frozenset(("STOP_LOSS_ORDER", "TRAILING_STOP_LOSS_ORDER", "GUARANTEED_STOP_LOSS_ORDER"))
TARGETS = frozenset(("TAKE_PROFIT_ORDER",))
FOLLOWED_NS = 24 * 60 * MINUTE


class PriceStep(NamedTuple):
    """A candle of the closing side: its start and end, and how far it went for and against the trade, from the entry."""

    start_ns: int
    end_ns: int
    gain: Decimal  # of its best price; negative if even that is a loss
    loss: Decimal  # of its worst price; negative if even that is a gain


class PricePath(Struct, frozen=True):
    """The steps of a trade in their order, when the last candle ended, and the gain at its close."""

    steps: tuple[PriceStep, ...]
    end_ns: int
    last_gain: Decimal


def is_followed(trade: JournalTrade) -> bool:
    """Return whether a stop or a target closed a part of the trade."""
    return any(each.reason in STOPS | TARGETS for each in trade.exits)


def path_plan(trade: JournalTrade) -> list[CandleRange]:
    """Return the candles of a closed trade's path, in order and without gaps."""
    plan = candle_plan(trade)
    if not plan or not is_followed(trade):
        return plan
    after = plan[-1].end_ns
    minute = -(-after // MINUTE) * MINUTE
    more = [CandleRange("S5", after, minute), CandleRange("M1", minute, after + FOLLOWED_NS)]
    return [*plan, *(each for each in more if each.start_ns < each.end_ns)]


def step_of(
    trade: JournalTrade, start_ns: int, length: int, prices: tuple[Decimal, Decimal]
) -> PriceStep:
    """Return the step of a candle by its high and low."""
    high, low = prices
    entry = trade.entry_price
    gain, loss = (high - entry, entry - low) if trade.is_long else (entry - low, high - entry)
    return PriceStep(start_ns, start_ns + length, gain, loss)


def path_of(trade: JournalTrade, steps: Sequence[PriceStep], last_gain: Decimal) -> PricePath:
    """Return the path of all steps of a trade; there is at least one."""
    exits = sorted(each.time_ns for each in trade.exits)
    return PricePath(tuple(_decisive_steps(steps, exits)), steps[-1].end_ns, last_gain)


def _decisive_steps(steps: Iterable[PriceStep], exits: Sequence[int]) -> Iterable[PriceStep]:
    """Yield the steps that a rule may end at; after each exit the first stop counts anew."""
    best = worst = None
    awaits_return, waiting = True, list(exits)
    for number, each in enumerate(steps):
        is_decisive = not number
        while waiting and each.start_ns > waiting[0]:
            worst = None
            del waiting[0]
        if worst is None or each.loss > worst:
            worst, is_decisive = each.loss, True
        if awaits_return and each.loss >= ZERO:
            awaits_return, is_decisive = False, True
        if number and (best is None or each.gain > best):  # the first holds the entry
            best, awaits_return, is_decisive = each.gain, True, True
        if not number:
            awaits_return = True
        if is_decisive:
            yield each
