"""What alerts read from candles: the difference of two averages, the relative strength index, the range in ATR."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import isfinite

from keydesk.calc.alerts.conditions import (
    AverageCross,
    CandleCondition,
    RangeMultiple,
    StrengthLevel,
)
from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.market.indicators import compute, warm_up
from keydesk.store.candles import period_end
from keydesk.store.state import Candle

PRECISION = 8
MARGIN = 5  # candles more than the warm-up


def specs_of(condition: CandleCondition) -> tuple[IndicatorSpec, ...]:
    """Return the indicators that a condition is about."""
    match condition:
        case AverageCross():
            return (
                IndicatorSpec("ema", (condition.fast,)),
                IndicatorSpec("ema", (condition.slow,)),
            )
        case StrengthLevel():
            return (IndicatorSpec("rsi", (condition.period,)),)
        case RangeMultiple():
            return (IndicatorSpec("atr", (condition.period,)),)


def candles_needed(conditions: Sequence[CandleCondition]) -> int:
    """Return how many complete candles give values that have settled."""
    longest = (warm_up((spec,)) + spec.periods[0] for each in conditions for spec in specs_of(each))
    return max(longest, default=0) + MARGIN


def values_of(
    condition: CandleCondition, candles: Sequence[Candle], after_ns: int
) -> Iterator[tuple[int, Decimal]]:
    """Return the values of complete candles, oldest first, with the ends of the candles: those after a time, and the one before them."""
    lines = [compute(spec, candles).lines[0].values for spec in specs_of(condition)]
    ends = [period_end(each.time_ns, condition.granularity) or 0 for each in candles]
    first = max(0, sum(end <= after_ns for end in ends) - 1)
    for at in range(first, len(candles)):
        value = _value_at(condition, candles, lines, at)
        if value is not None and isfinite(value):
            yield ends[at], round(Decimal(value), PRECISION)


def _value_at(
    condition: CandleCondition, candles: Sequence[Candle], lines: Sequence[Sequence[float]], at: int
) -> float | None:
    match condition:
        case AverageCross():
            return lines[0][at] - lines[1][at]
        case StrengthLevel():
            return lines[0][at]
        case RangeMultiple():
            average = lines[0][at - 1] if at else 0.0
            if not average > 0:  # NaN is not
                return None
            before = candles[at - 1].close
            return (max(candles[at].high, before) - min(candles[at].low, before)) / average
