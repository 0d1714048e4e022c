"""The prices of a draft as lines of the chart; a separate module because three forms draw them."""

from collections.abc import Sequence
from decimal import Decimal

from keydesk.calc.orders.field_draft import Reading
from keydesk.chart.price_axis import PriceLine, Rank


def planned_lines(
    *,
    entry: Reading = None,
    bound: Reading = None,
    stop: Reading = None,
    target: Reading = None,
    trail: Reading = None,
) -> Sequence[PriceLine]:
    """Return a line for each price; text that cannot be read has none."""
    levels = (
        (entry, "new entry", "entry"),
        (bound, "new bound", "pending"),
        (stop, "new stop", "stop"),
        (target, "new target", "target"),
        (trail, "new trail", "stop"),
    )
    return [
        PriceLine(float(level), text, role, Rank.PLANNED, in_scale=True)
        for level, text, role in levels
        if isinstance(level, Decimal) and level > 0
    ]


def behind(price: Reading, distance: Reading, direction: int) -> Reading:
    """Return the price of a trailing stop at a distance from a price; None while one of them is not known."""
    if isinstance(price, Decimal) and isinstance(distance, Decimal):
        return price - direction * distance
    return None
