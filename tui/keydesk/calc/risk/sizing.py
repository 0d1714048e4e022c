"""Caps of a position's size, allowed slippage and typical spreads.

The size from risk and the formulas of margin are the client library's: `keydesk_client.arithmetic.risk`, `margin`. Worked numbers: `docs/formulas.md`.
"""

from collections import deque
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal, TypeVar

from msgspec import Struct

from keydesk_client.arithmetic.profit import whole_units

EVERY = 10.0  # seconds between two samples
HOUR_SAMPLES = 360
ENOUGH = 12  # two minutes; before that nothing is called usual
WIDE = 2  # times the median
MAX_VALUES = 2000  # spreads that samples share
Number = TypeVar("Number", Decimal, float)
CapName = Literal["", "margin", "order limit", "position limit", "own limit"]


def slippage_allowed(bid: Decimal, ask: Decimal, pip: Decimal) -> Decimal:
    """Return the allowed distance of a market fill from the price seen: two spreads, at least one pip."""
    return max(2 * (ask - bid), pip)


class TypicalSpreads:
    """Samples every instrument's spread each ten seconds, for an hour."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[Decimal | None]] = {}  # None: no price came in that time
        self._medians: dict[str, Decimal] = {}
        self._sampled: dict[str, float] = {}
        self._interned: dict[Decimal, Decimal] = {}  # 25,000 samples are a few hundred values

    def note(self, instrument: str, spread: Decimal, now: float) -> None:
        """Add a sample if one is due; `now` in monotonic seconds."""
        since = now - self._sampled.get(instrument, now - EVERY)
        if since < EVERY:
            return
        self._sampled[instrument] = now
        samples = self._samples.setdefault(instrument, deque(maxlen=HOUR_SAMPLES))
        samples.extend([None] * min(HOUR_SAMPLES, int(since / EVERY) - 1))
        if len(self._interned) > MAX_VALUES:
            self._interned.clear()
        samples.append(self._interned.setdefault(spread, spread))
        known = [each for each in samples if each is not None]
        if len(known) >= ENOUGH:
            self._medians[instrument] = median(known)
        else:
            self._medians.pop(instrument, None)

    def times_usual(self, instrument: str, spread: Decimal) -> Decimal | None:
        """Return the spread as a multiple of its median; None while the median is unknown or nothing."""
        usual = self._medians.get(instrument)
        return spread / usual if usual else None

    def is_wide(self, instrument: str, spread: Decimal) -> bool:
        """Return whether a spread is more than twice its median; False while the median is unknown."""
        usual = self._medians.get(instrument)
        return usual is not None and spread > WIDE * usual


def median(samples: Iterable[Number]) -> Number:
    """Return the median; the module `statistics` would cost 0.2 MB."""
    ordered = sorted(samples)
    half = len(ordered) // 2
    return (ordered[half] + ordered[-1 - half]) / 2


class Caps(Struct, frozen=True):
    """Upper limits of units; None means no limit."""

    margin: Decimal | None = None
    order: Decimal | None = None
    position: Decimal | None = None  # room that is left
    own: Decimal | None = None


class Size(Struct, frozen=True):
    """The units to send, and the cap that limited them."""

    units: Decimal
    bound_by: CapName = ""


def size(units: Decimal, precision: int, caps: Caps) -> Size:
    """Limit units by the tightest cap and round down."""
    limits: list[tuple[Decimal, CapName]] = [(units, "")]
    for limit, name in _limits(caps):
        if limit is not None:
            limits.append((max(limit, Decimal(0)), name))
    least, bound_by = min(limits, key=lambda each: each[0])
    return Size(whole_units(least, precision), bound_by)


def _limits(caps: Caps) -> tuple[tuple[Decimal | None, CapName], ...]:
    return (
        (caps.margin, "margin"),
        (caps.order, "order limit"),
        (caps.position, "position limit"),
        (caps.own, "own limit"),
    )


def part(units: Decimal, percent: Decimal, precision: int) -> Decimal:
    """Return a percentage of open units, rounded down; 0 if that is less than one step."""
    return whole_units(abs(units) * percent / 100, precision)
