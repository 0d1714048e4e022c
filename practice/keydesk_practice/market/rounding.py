"""From log prices to prices as they are shown: the bid rounded down, the ask up, the mid to the nearest.

Rounding outwards keeps bid below ask whatever the spread, and keeps order: the highest log price is the highest price.
"""

import numpy as np

from keydesk_practice.market.blocks import Component
from keydesk_practice.market.reference import Floats, Integers


def points(logs: Floats, component: Component, precision: int) -> Integers:
    """Return prices as whole numbers of the last decimal."""
    exact = np.exp(logs) * 10.0**precision
    if component is Component.MID:
        return np.rint(exact).astype(np.int64)
    rounded = np.floor(exact) if component is Component.BID else np.ceil(exact)
    return rounded.astype(np.int64)


def price_texts(logs: Floats, component: Component, precision: int) -> list[str]:
    """Return prices as text with all their decimals, row by row."""
    scale = 10.0**precision
    return [f"{price / scale:.{precision}f}" for price in points(logs, component, precision).flat]
