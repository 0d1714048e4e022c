"""The average true range as a unit of distance: `1.5a` is one and a half times ATR 14 of hourly candles.

The candle length is fixed: with the chart's own, a key that turns the chart would change the distance of a stop. Only
complete candles count, so the unit changes once an hour.
"""

from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Final

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.market.indicators import Candle, compute, warm_up
from keydesk.calc.orders.field_draft import Entry, Reading, UnreadableText
from keydesk.calc.risk.trading_context import TradingContext
from keydesk_client.arithmetic.profit import round_price

PERIOD = 14
GRANULARITY: Final = "H1"
NAME = f"ATR {PERIOD} {GRANULARITY}"
SPEC = IndicatorSpec("atr", (PERIOD,))
CANDLES = warm_up((SPEC,)) + PERIOD
"""The complete candles to load for a value that has settled."""
NOT_KNOWN = f"needs {NAME}, which is not known"
SPARE_DIGITS = 3  # more than a price has
HUNDREDTH = Decimal("0.01")


def average_range(candles: Sequence[Candle], precision: int) -> Decimal | None:
    """Return the average true range of complete candles, oldest first, in price units.

    None without enough candles, or where the price did not move: a unit of zero measures nothing.
    """
    values = compute(SPEC, candles).lines[0].values
    if not values or not isfinite(values[-1]) or values[-1] <= 0:
        return None
    return round_price(Decimal(values[-1]), precision + SPARE_DIGITS)


def distance(entry: Entry, context: TradingContext) -> Reading:
    """Return the distance typed in a field, in price units: of pips, or of average true ranges.

    `UnreadableText` where the text is not a number or the average true range is not known: that is never an empty field.
    """
    value = entry.value
    if not isinstance(value, Decimal):
        return value
    if entry.unit != "ATR":
        return value * context.rules.pip
    if context.average_range is None:
        return UnreadableText(f"{entry.text}a", NOT_KNOWN)
    return value * context.average_range


def in_unit(length: Decimal, unit: str, context: TradingContext) -> Decimal | None:
    """Return a distance in price units counted in pips or in average true ranges; None while those are not known."""
    if unit != "ATR":
        return length / context.rules.pip
    if context.average_range is None:
        return None
    return (length / context.average_range).quantize(HUNDREDTH)
