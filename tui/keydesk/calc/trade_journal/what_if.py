"""The results that the same trades would have had with another stop, target or break-even rule, by their price paths.

Distances are in R of the first stop, so a trade without one is left out. A part that was closed by hand, or by the broker, ends when
it did unless the rule ends it before. A part closed by its stop goes on if the rule has another stop, one closed by its target if
it has another target: until the rule ends it, or for a day, and then it is closed at the last price. After such an exit at the
target the first stop holds where the rule names none. Costs stay as they were booked; a level is met at its own price, over a gap
at the best price after it.

Which of two levels the price met first within one candle is not known, nor what was before the opening and after the closing
within theirs. The worse result is taken, and such trades are counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.trade_journal.excursions import CELL
from keydesk.calc.trade_journal.price_paths import STOPS, TARGETS, PricePath, PriceStep
from keydesk.calc.trade_journal.statistics import Statistics, statistics_of
from keydesk.calc.trade_journal.trades import Execution, JournalTrade
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.risk import stop_distance

RULE_EXIT = "WHAT_IF"  # the reason of an exit that a rule made


class WhatIf(Struct, frozen=True):
    """A rule in R of the first stop; None leaves that part as it was."""

    stop: Decimal | None = None
    target: Decimal | None = None
    break_even: Decimal | None = None  # the gain from which on the stop is at the entry

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return self == WhatIf()


class WhatIfResult(Struct, frozen=True):
    """The same trades as they were and by the rule."""

    before: Statistics
    after: Statistics
    trades: tuple[JournalTrade, ...]  # by the rule
    changed: int
    ambiguous: int  # the order of prices within a candle decides; the worse result is taken
    last_price: int  # no level was met within a day of the closing
    without_stop: int
    without_candles: int


class _End(NamedTuple):
    """How a part ends: gain in price units, when, and what is doubtful; None: as it did."""

    gain: Decimal | None
    time_ns: int = 0
    is_ambiguous: bool = False
    at_last_price: bool = False


class _Levels(Struct, frozen=True):
    """The distances of the rule in price units."""

    stop: Decimal | None
    target: Decimal | None
    break_even: Decimal | None
    first_stop: Decimal


def what_if(
    trades: Iterable[JournalTrade], paths: Mapping[str, PricePath], rule: WhatIf
) -> WhatIfResult:
    """Return what the rule makes of closed trades.

    Args:
        trades: Trades, not rolled up.
        paths: By trade; a trade without one is left out.
        rule: What would have been different.
    """
    closed = [each for each in trades if each.is_closed]
    with_stop = [each for each in closed if _first_stop(each) is not None]
    known = [each for each in with_stop if each.id in paths]
    ends = [_ends(each, paths[each.id], rule) for each in known]
    after = [_by_rule(each, own) for each, own in zip(known, ends, strict=True)]
    return WhatIfResult(
        statistics_of(known),
        statistics_of(after),
        tuple(after),
        changed=sum(any(end.gain is not None for end in own) for own in ends),
        ambiguous=sum(any(end.is_ambiguous for end in own) for own in ends),
        last_price=sum(any(end.at_last_price for end in own) for own in ends),
        without_stop=len(closed) - len(with_stop),
        without_candles=len(with_stop) - len(known),
    )


def _first_stop(trade: JournalTrade) -> Decimal | None:
    if trade.initial_stop is None or not trade.initial_risk:
        return None
    return stop_distance(trade.units, trade.entry_price, trade.initial_stop)


def _ends(trade: JournalTrade, path: PricePath, rule: WhatIf) -> list[_End]:
    """Return how each part of a trade ends."""
    distance = _first_stop(trade) or ZERO
    levels = _Levels(
        None if rule.stop is None else rule.stop * distance,
        None if rule.target is None else rule.target * distance,
        None if rule.break_even is None else rule.break_even * distance,
        distance,
    )
    if rule.is_empty:
        return [_End(None) for _ in trade.exits]
    return [_end(trade, each, path, levels) for each in trade.exits]


def _end(trade: JournalTrade, part: Execution, path: PricePath, levels: _Levels) -> _End:
    """Return how a part ends: at the first step that meets a level, else as it did or at the last price."""
    resumes = (part.reason in STOPS and levels.stop is not None) or (
        part.reason in TARGETS and levels.target is not None
    )
    at_entry, opened = False, trade.opened_ns
    for step in path.steps:
        if not resumes and step.start_ns > part.time_ns:
            break
        is_after = step.start_ns > part.time_ns
        stop = levels.first_stop if levels.stop is None and is_after else levels.stop
        is_first = _holds_entry(opened, step)
        met = _met(step, levels, ZERO if at_entry else stop, at_entry, is_first)
        if met is None:
            continue
        if met.gains:
            is_last = not resumes and part.time_ns < step.end_ns
            return _worst(met, step, trade, part if is_last else None)
        at_entry = at_entry or met.moves_stop
    if not resumes:
        return _End(None)
    return _End(path.last_gain, max(part.time_ns, path.end_ns), at_last_price=True)


class _StepResult(NamedTuple):
    """The possible results of a step, whether they depend on the order of its prices, and whether it moves the stop to the entry."""

    gains: tuple[Decimal, ...] = ()
    is_ambiguous: bool = False
    moves_stop: bool = False


def _met(
    step: PriceStep,
    levels: _Levels,
    stop: Decimal | None,
    at_entry: bool,
    is_first: bool,
) -> _StepResult | None:
    """Return every result that the step allows, whatever the order of prices in it; None where it meets nothing."""
    _, _, gain, loss = step
    is_stopped = stop is not None and loss >= stop
    stopped = (min(-stop, gain),) if is_stopped and stop is not None else ()
    if is_first:  # its gains may be from before the opening, and so may its loss
        return _StepResult(stopped, is_ambiguous=True) if stopped else None
    target, even = levels.target, levels.break_even
    is_reached = target is not None and gain >= target
    moves_stop = not at_entry and even is not None and gain >= even
    if not (is_stopped or is_reached or moves_stop):
        return None
    comes_back = moves_stop and loss >= ZERO  # perhaps before the gain
    reached = (target,) if is_reached and target is not None else ()
    gains = (*stopped, *reached, *((ZERO,) if comes_back else ()))
    return _StepResult(gains, len(gains) > 1 or comes_back, moves_stop)


def _holds_entry(opened_ns: int, step: PriceStep) -> bool:
    return bool(opened_ns % CELL) and step.start_ns <= opened_ns < step.end_ns


def _gain(trade: JournalTrade, part: Execution) -> Decimal:
    """Return what a part gained in price units."""
    moved = part.price - trade.entry_price
    return moved if trade.is_long else -moved


def _worst(met: _StepResult, step: PriceStep, trade: JournalTrade, last: Execution | None) -> _End:
    """Return the worst result of a step; `last` is the part that was closed within it, perhaps before."""
    worst, is_ambiguous = min(met.gains), met.is_ambiguous
    if last is not None:
        actual = _gain(trade, last)
        is_ambiguous = is_ambiguous or worst != actual
        if actual <= worst:
            return _End(None, is_ambiguous=is_ambiguous)
    return _End(worst, max(trade.opened_ns, step.start_ns), is_ambiguous)


def _by_rule(trade: JournalTrade, ends: Sequence[_End]) -> JournalTrade:
    """Return the trade with its parts ended by the rule; a part that ends as it did keeps its booked profit."""
    if all(each.gain is None for each in ends):
        return trade
    exits = [
        each if end.gain is None else _moved(trade, each, end)
        for each, end in zip(trade.exits, ends, strict=True)
    ]
    return replace(trade, exits=tuple(sorted(exits, key=lambda each: each.time_ns)))


def _moved(trade: JournalTrade, part: Execution, end: _End) -> Execution:
    gain, factor = end.gain or ZERO, trade.home_factor or ZERO
    price = trade.entry_price + (gain if trade.is_long else -gain)
    return replace(
        part,
        time_ns=end.time_ns,
        price=price,
        reason=RULE_EXIT,
        profit=gain * abs(part.units) * factor,
    )
