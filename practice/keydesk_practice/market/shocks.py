"""Shocks on demand: what is laid over the market's own paths from an instant on.

    spike     a currency moves by a fraction within one cell, and back with exponential decay
    gap       a currency moves by a fraction in one step, and stays there
    halt      instruments have no prices for a while
    spread    half-spreads are multiplied for a while
    depth     the units behind the prices are multiplied for a while

A shock begins at a grid point and changes nothing before it, so candles, stream and fills still come from one path, and
what was answered before it stays true. Moves are of currencies, not of pairs: crosses keep agreeing.
"""

from collections.abc import Sequence
from math import log
from typing import Literal, Protocol

import numpy as np
from msgspec import Struct

from keydesk_practice.market.hours import CELL, Mask, cells_in, first_cell
from keydesk_practice.market.paths import Curve
from keydesk_practice.market.reference import Floats, Integers
from keydesk_practice.market.rng import Lru

ShockKind = Literal["spike", "gap", "halt", "spread", "depth"]
SPIKE_CELLS = 24.0  # time constant of the way back: two minutes
_CACHED_CURVES = 96
_WHOLE_SPIKE = 12.0  # time constants after which nothing of a spike is left
_MINOR = ("USD", "EUR")  # of a pair, the other currency is taken to move


class Shock(Struct, frozen=True):
    """One shock; `size` is a fraction of the price for moves, and a factor for spread and depth."""

    kind: ShockKind
    cell: int  # at whose start it begins
    instruments: tuple[str, ...] = ()  # empty: all of them
    currency: str = ""  # which moves
    size: float = 1.0
    cells: int = 0  # how long it lasts, for halt, spread and depth

    @property
    def begins(self) -> int:
        """When it begins, in nanoseconds since 1970."""
        return self.cell * CELL

    @property
    def ends(self) -> int | None:
        """When it is over; None for a gap, which is for good."""
        if self.kind == "gap":
            return None
        cells = self.cells if self.kind != "spike" else int(SPIKE_CELLS * _WHOLE_SPIKE)
        return (self.cell + cells) * CELL

    def concerns(self, name: str) -> bool:
        """Return whether it concerns an instrument."""
        return not self.instruments or name in self.instruments


def moving_currency(instrument: str) -> str:
    """Return the currency of a pair that a move of its price is taken for: not the dollar or euro, if it has another."""
    base, _, quote = instrument.partition("_")
    return quote if base in _MINOR and quote not in _MINOR else base


class Paths(Protocol):
    """The log rates of currencies, by day."""

    def curve(self, day: int, column: int) -> Curve:
        """Return the log rate of a currency over a market day."""

    def cross(self, day: int, base: int, quote: int) -> Curve:
        """Return the log rate of one currency against another over a market day."""

    def jump_size(self, day: int, column: int) -> float:
        """Return the log size of a currency's own jump within a market day."""

    def excursions(self, day: int, column: int) -> list[tuple[int, float]]:
        """Return grid point and log size of the known extremes of a currency within a market day."""


class Shocks:
    """The shocks of one market, and what they do to each of its quantities."""

    def __init__(self, shocks: Sequence[Shock] = ()) -> None:
        self.all = tuple(shocks)
        self._moves = [one for one in self.all if one.kind in {"spike", "gap"}]

    def paths(self, paths: Paths, currencies: Sequence[str]) -> Paths:
        """Return the paths with the moves laid over them."""
        return _ShockedPaths(paths, self._moves, currencies) if self._moves else paths

    def half(self, name: str, day: int, half: Curve) -> Curve:
        """Return the half-spread curve of an instrument with its widenings."""
        return _multiplied(half, day, self._lasting("spread", name))

    def half_factor(self, name: str, cell: int, from_left: int) -> float:
        """Return the factor of the half-spread at a grid point; with `from_left` 1 at the end of the cell before it."""
        return _factor(self._lasting("spread", name), cell - from_left)

    def depth(self, name: str, day: int, shares: Floats) -> Floats:
        """Return the share of the full depth in each cell of a day."""
        shocks = self._lasting("depth", name)
        if not shocks:
            return shares
        start = first_cell(day)
        return np.array([share * _factor(shocks, start + i) for i, share in enumerate(shares)])

    def depth_factor(self, name: str, cell: int) -> float:
        """Return the factor of the depth in a cell."""
        return _factor(self._lasting("depth", name), cell)

    def open_cells(self, name: str, day: int, mask: Mask | None) -> Mask | None:
        """Return which cells of a day have prices; None when all have."""
        start, count = first_cell(day), cells_in(day)
        for halt in self._lasting("halt", name):
            low, high = max(halt.cell - start, 0), min(halt.cell + halt.cells - start, count)
            if low < high:
                mask = np.ones(count, dtype=np.bool_) if mask is None else mask.copy()
                mask[low:high] = False
        return mask

    def any_known(self, name: str, starts: Integers, ends: Integers, known: Mask) -> Mask:
        """Return which of the spans [start, end) of cells have prices: those within a halt have none."""
        for halt in self._lasting("halt", name):
            known = known & ~((starts >= halt.cell) & (ends <= halt.cell + halt.cells))
        return known

    def last_open(self, name: str, at: int) -> int:
        """Return the last instant up to `at` that is not within a halt."""
        for halt in sorted(self._lasting("halt", name), key=lambda one: -one.cell):
            if halt.cell <= at // CELL < halt.cell + halt.cells:
                at = halt.begins - 1
        return at

    def is_halted(self, name: str, cell: int) -> bool:
        """Return whether an instrument is halted in a cell."""
        return any(
            halt.cell <= cell < halt.cell + halt.cells for halt in self._lasting("halt", name)
        )

    def _lasting(self, kind: ShockKind, name: str) -> list[Shock]:
        return [one for one in self.all if one.kind == kind and one.concerns(name)]


class _ShockedPaths:
    def __init__(self, paths: Paths, moves: Sequence[Shock], currencies: Sequence[str]) -> None:
        self._paths, self._moves, self._currencies = paths, moves, currencies
        self._curve = Lru(_CACHED_CURVES, self._moved_curve)

    def curve(self, day: int, column: int) -> Curve:
        return self._curve((day, column))

    def _moved_curve(self, key: tuple[int, int]) -> Curve:
        day, column = key
        curve = self._paths.curve(day, column)
        for move in self._moves:
            curve = _moved(curve, move, day, _sign(move.currency, self._currencies[column]))
        return curve

    def cross(self, day: int, base: int, quote: int) -> Curve:
        curve = self._paths.cross(day, base, quote)
        for move in self._moves:
            signs = [_sign(move.currency, self._currencies[one]) for one in (base, quote)]
            curve = _moved(curve, move, day, signs[1] - signs[0])
        return curve

    def jump_size(self, day: int, column: int) -> float:
        return self._paths.jump_size(day, column)

    def excursions(self, day: int, column: int) -> list[tuple[int, float]]:
        return self._paths.excursions(day, column)


def _moved(curve: Curve, move: Shock, day: int, sign: int) -> Curve:
    if sign and move.cell <= first_cell(day + 1):
        return curve.plus(_move_curve(move, day, sign))
    return curve


def _sign(moving: str, currency: str) -> int:
    """Return how a currency's rate against the euro (its units per euro) goes when `moving` rises."""
    if moving == "EUR":
        return 1
    return -1 if moving == currency else 0


def _move_curve(move: Shock, day: int, sign: int) -> Curve:
    """Return what a move adds to a log rate over a day."""
    size, point = sign * log(1.0 + move.size), move.cell - first_cell(day)
    points = np.zeros(cells_in(day) + 1)
    since = np.arange(len(points)) - point
    if move.kind == "gap":
        points[since >= 0] = size
        return Curve(points, {point: 0.0} if 0 < point < len(points) else {})
    top = since >= 1  # linear over one cell, then back
    points[top] = size * np.exp(-(since[top] - 1) / SPIKE_CELLS)
    return Curve(points)


def _multiplied(curve: Curve, day: int, shocks: Sequence[Shock]) -> Curve:
    for shock in shocks:
        low, high = shock.cell - first_cell(day), shock.cell + shock.cells - first_cell(day)
        last = len(curve.points) - 1
        if high <= 0 or low > last:
            continue
        factor = np.ones(last + 1)
        factor[max(low, 0) : high] = shock.size
        steps = {*curve.before, *(at for at in (low, high) if 0 < at <= last)}
        before = {at: curve.just_before(at) * float(factor[at - 1]) for at in steps if at > 0}
        curve = Curve(curve.points * factor, before)
    return curve


def _factor(shocks: Sequence[Shock], cell: int) -> float:
    factor = 1.0
    for shock in shocks:
        if shock.cell <= cell < shock.cell + shock.cells:
            factor *= shock.size
    return factor
