"""Prices onto rows: the range that a plot shows, and the round prices of its axis."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from keydesk.store.state import Candle

EIGHTHS = 8  # of a row
REACH = 0.5  # own prices within this share of the candles' range beyond it widen the range
NEAR = EIGHTHS // 4
EDGE_ROWS = 3  # at most, for far prices on each side
ROOMY = 7  # rows for each further one
LEAST_SHARE = 1 / 1.5  # of the range shown: what candles keep of it beside own prices
EVERY_SHARE = 1 / 4  # likewise where every own price is asked for
FEWEST_ROWS = 3  # of candles likewise
KEPT = 1.5 / 1.7  # of a share, for prices that the range includes already, so that it stands still
LABELS_SHARE = 0.4  # likewise where labels lack rows beside the last price
LOOSE = 1.6  # a range this much too wide is chosen anew
HEADROOM = 0.5  # rows left free beyond the highest and lowest price
FEWEST_LABELS = 4
MAX_LABELS = 1000
SMALLEST_RANGE = 4.0  # pips shown where a market stood still
STEPS = (1, 2, 5)


class Scale:
    """Prices onto eighths of rows, counted from the lower edge."""

    __slots__ = ("_highest", "factor", "high", "is_crowded", "low", "rows")

    def __init__(self, low: float, high: float, rows: int) -> None:
        self.is_crowded = False  # labels lack rows beside the last price
        self.low, self.high, self.rows = low, high, max(1, rows)
        span = high - low
        self.factor = self.rows * EIGHTHS / span if span > 0 else 0.0
        self._highest = self.rows * EIGHTHS - 1

    def at(self, price: float) -> int:
        """Return the eighths above the lower edge, within the plot."""
        eighths = int((price - self.low) * self.factor)
        if eighths < 0:
            return 0
        return min(eighths, self._highest)

    def row(self, price: float) -> int:
        """Return the row of a price, counted from the top; beyond the edges the first or the last."""
        return self.rows - 1 - self.at(price) // EIGHTHS

    def is_about(self, price: float, row: int) -> bool:
        """Return whether a price is in a row or so near that its label may stay: a quarter of a row."""
        level = (price - self.low) * self.factor - (self.rows - 1 - row) * EIGHTHS
        return self.holds(price) and -NEAR <= level < EIGHTHS + NEAR

    def holds(self, price: float) -> bool:
        """Return whether the price is between the edges."""
        return self.low <= price <= self.high


def range_of(candles: Sequence[Candle], pip: float) -> tuple[float, float]:
    """Return the lowest and highest price of the candles, some pips apart at least."""
    low, high = min(each.low for each in candles), max(each.high for each in candles)
    lacking = SMALLEST_RANGE * pip - (high - low)
    if lacking > 0:
        low, high = low - lacking / 2, high + lacking / 2
    return low, high


def edge_rows(rows: int) -> int:
    """Return the rows at each edge that far prices may have in a plot this high."""
    return min(EDGE_ROWS, 1 + rows // ROOMY, rows // 3)


def is_near(price: float, low: float, high: float) -> bool:
    """Return whether an own price may widen the candles' range: farther ones would squeeze the candles."""
    reach = (high - low) * REACH
    return low - reach <= price <= high + reach


def scale_for(
    candles: Sequence[Candle],
    prices: Collection[float],
    last: float,
    rows: int,
    *,
    pip: float,
    wanted: Sequence[float] = (),
    cursor: float | None = None,
    everything: bool = False,
    before: Scale | None = None,
) -> Scale:
    """Return a scale that holds the candles, the `wanted` prices and the other own prices near the candles.

    Wanted ones come in the order of their importance; one that would make the range more than 1.5 times that of the
    candles is left beyond the edge. Where `everything` is wanted, all own prices are held, up to 4 times that range.

    Rows are left free at the edges for far prices, and enough above and below the last price for the labels on its
    either side. `before` is kept while it fits well, so that the picture stands still.
    """
    candles_low, candles_high = range_of(candles, pip)
    near = sorted(
        (price for price in prices if everything or is_near(price, candles_low, candles_high)),
        key=lambda price: abs(price - last),
    )
    share = min(LEAST_SHARE, max(EVERY_SHARE, FEWEST_ROWS / rows)) if everything else LEAST_SHARE
    low, high = _with_wanted(candles_low, candles_high, [*wanted, *near], share, before)
    if cursor is not None and is_near(cursor, candles_low, candles_high):
        low, high = min(low, cursor), max(high, cursor)
    far_above = sum(price > high for price in prices)
    far_below = sum(price < low for price in prices)
    above, below = (min(edge_rows(rows), count) for count in (far_above, far_below))
    row = (high - low) / max(1.0, rows - above - below - 2 * HEADROOM)
    fresh = Scale(low - row * (below + HEADROOM), high + row * (above + HEADROOM), rows)
    fresh = _with_room_for_labels(fresh, prices, last, candles_high - candles_low)
    if before is None or before.rows != fresh.rows:
        return fresh
    fits = before.low <= low - row * below and before.high >= high + row * above
    too_loose = before.high - before.low > LOOSE * (fresh.high - fresh.low)
    has_room = before.is_crowded or not _lacking_rows(before, prices, last)[0]
    if fits and not too_loose and has_room and before.is_crowded == fresh.is_crowded:
        return before
    return fresh


def still_fits(scale: Scale, newest: Candle, prices: Collection[float], last: float) -> bool:
    """Return whether a scale holds the newest candle, too, with room for the labels beside the last price."""
    return (
        scale.holds(newest.low)
        and scale.holds(newest.high)
        and not (prices and not scale.is_crowded and _lacking_rows(scale, prices, last)[0])
    )


def _with_wanted(
    low: float, high: float, wanted: Iterable[float], share: float, before: Scale | None
) -> tuple[float, float]:
    """Return the range of the candles widened to the wanted prices, as far as the candles keep a share of it."""
    candles = high - low
    for price in wanted:
        lower, higher = min(low, price), max(high, price)
        least = share * KEPT if before is not None and before.holds(price) else share
        if candles >= least * (higher - lower):
            low, high = lower, higher
    return low, high


def _lacking_rows(scale: Scale, prices: Collection[float], last: float) -> tuple[int, int, int]:
    """Return whether labels lack rows beside the last price, and how many above and below it."""
    if not scale.holds(last):
        return 0, 0, 0
    far = sum(price > scale.high for price in prices), sum(price < scale.low for price in prices)
    near = [price >= last for price in prices if scale.holds(price)]
    above = int(any(near)) + min(edge_rows(scale.rows), far[0])
    below = int(not all(near)) + min(edge_rows(scale.rows), far[1])
    row = scale.row(last)
    if above + below >= scale.rows:  # no scale has room for all of them: one row counts the others
        above, below = min(above, 1), min(below, 1)
    lacking = max(0, above - row), max(0, below - (scale.rows - 1 - row))
    return int(any(lacking)), *lacking


def _with_room_for_labels(
    scale: Scale, prices: Collection[float], last: float, candles: float
) -> Scale:
    """Return a scale with rows for the labels beside the last price, unless that would squeeze the candles."""
    for _ in range(3):  # widening moves the last price's row, too
        lacks, above, below = _lacking_rows(scale, prices, last)
        if not lacks:
            return scale
        free = max(1, scale.rows - above - below - 1)
        row = (scale.high - scale.low) / free
        wider = Scale(scale.low - row * below, scale.high + row * above, scale.rows)
        if candles < LABELS_SHARE * (wider.high - wider.low):
            scale.is_crowded = True
            return scale
        scale = wider
    return scale


def grid_step(scale: Scale, pip: float, taken: Collection[int]) -> float:
    """Return the step between round prices on the axis: 1, 2 or 5 times a power of ten.

    They are three rows apart, two where fewer than four would be seen beside own labels in `taken` rows and the last
    price.
    """
    step = pip
    for apart in (3, 2):
        step = round_step(apart * EIGHTHS / scale.factor, pip) if scale.factor else pip
        seen = sum(scale.row(price) not in taken for price in multiples(scale, step))
        if seen > FEWEST_LABELS:
            break
    return step


def multiples(scale: Scale, step: float) -> list[float]:
    """Return the multiples of a step within the scale, without its upper end: that is in the row of what is just below it."""
    first, last = math.ceil(scale.low / step), math.ceil(scale.high / step) - 1
    return [number * step for number in range(first, min(last, first + MAX_LABELS) + 1)]


def round_step(smallest: float, pip: float) -> float:
    """Return the smallest step that is not below `smallest`; a tenth of a pip at least."""
    power = math.floor(math.log10(smallest / pip))
    for exponent in range(max(-1, power), power + 3):
        for multiple in STEPS:
            step = multiple * pip * 10.0**exponent
            if step >= smallest * (1 - 1e-9):
                return step
    return 10.0 ** (power + 3) * pip


def decimals_of(step: float, pip: float) -> int:
    """Return the decimals that the multiples of a step need, those of a pip at least."""
    return max(0, -math.floor(math.log10(min(step, pip)) + 1e-9))
