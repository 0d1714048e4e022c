"""The price axis: its width, how it writes prices, and the own prices and marks that it names."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from enum import IntEnum

from msgspec import Struct

from keydesk_client.arithmetic.constants import ZERO

ONE_DECIMAL_BELOW, TENTH = 10, Decimal("0.1")  # of pips
NARROWEST_PLOT = 8  # columns: below that there is no price axis


class Rank(IntEnum):
    """Which own prices the scale includes first: the lowest ranks, of one rank the nearest."""

    PLANNED = 0  # of the open form; each has its own label
    WORKING = 1  # orders at the broker
    OTHER = 2
    LEVEL = 3  # the trader's own price levels


class PriceLine(Struct, frozen=True):
    """An own or planned price across the chart: entry, stop, target, trail, resting order, alert, price level.

    `text` names it beside the axis, `role` is a colour of the theme. The scale includes a price that is `in_scale` unless that
    would squeeze the candles.
    """

    price: float
    text: str
    role: str
    rank: Rank = Rank.OTHER
    in_scale: bool = False
    since_ns: int | None = None  # a ray from this time on
    side: str = ""  # "bid" or "ask", which triggers it; else the chart's price
    units: Decimal = ZERO  # of a trade


class PriceMark(Struct, frozen=True):
    """A price of the market with a thin line: day high, day low, previous close, pivot."""

    price: float
    text: str


class Axis(Struct, frozen=True):
    """Columns and decimals of the price axis."""

    width: int  # with one blank column at its left; 0: there is none
    decimals: int
    pip: float

    def price(self, price: float) -> str:
        """Return a price with all its decimals."""
        return f"{price:.{self.decimals}f}".replace("-", "−")

    def far(self, line: PriceLine, now: float, *, above: bool) -> str:
        """Return the text of a price that is not in its row: an arrow and its distance from the price now, in pips.

        Below 10 pips it has one decimal. A planned price is written itself: its form counts from the planned entry.
        """
        arrow = "↑" if above else "↓"
        if line.rank == Rank.PLANNED:
            return arrow + self.padded(self.price(line.price))[1:]
        price, other, pip = (Decimal(str(each)) for each in (line.price, now, self.pip))
        pips = abs(price - other) / pip
        is_near = pips < ONE_DECIMAL_BELOW
        rounded = (
            pips.quantize(TENTH, ROUND_HALF_UP)
            if is_near
            else pips.to_integral_value(ROUND_HALF_UP)
        )
        return self.padded(f"{arrow} {rounded:f}p".rjust(self.width_of_price(now)))

    def width_of_price(self, price: float) -> int:
        """Return the characters of a price."""
        return len(self.price(price))

    def padded(self, text: str) -> str:
        """Return text as wide as the axis."""
        return f" {text}".ljust(self.width)[: self.width]


def axis_for(
    width: int,
    highest: float,
    lines: Sequence[PriceLine],
    *,
    decimals: int,
    pip: float,
) -> Axis:
    """Return the axis of a chart this wide; too narrow a chart has none."""
    size = 1 + max(
        len(f"{each:.{decimals}f}") for each in (highest, *(line.price for line in lines))
    )
    return Axis(size if width - size >= NARROWEST_PLOT else 0, decimals, pip)
