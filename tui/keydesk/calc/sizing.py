"""Position size from risk, margin and closeout, spread cost and allowed slippage (TRADER.md 2.2, 2.4, features 1 and 14).

The broker's margin figures are authoritative; these are used between two of its answers and for previews.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from keydesk.calc.profit import whole_units

NOTHING = Decimal(0)
CLOSEOUT = Decimal(1)  # the closeout percent at which the broker closes everything
HALF = Decimal("0.5")
EVERY = 10.0  # seconds between two samples
HOUR = 360  # samples
ENOUGH = 12  # two minutes; before that nothing is called usual
WIDE = 2  # times the median
MOST_VALUES = 2000  # spreads that samples share
MARGIN_SHARE = Decimal("0.98")  # of the margin available: the price moves before the fill
CapName = Literal["", "margin", "order limit", "position limit", "own limit"]


def effective_rate(instrument_rate: Decimal, account_rate: Decimal | None) -> Decimal:
    """Return the effective margin rate: the greater of the instrument's and the account's."""
    return instrument_rate if account_rate is None else max(instrument_rate, account_rate)


def required_margin(
    units: Decimal, rate: Decimal, mid: Decimal, position_value: Decimal
) -> Decimal:
    """Return the margin of signed units in home currency; `position_value` converts quote to home currency."""
    return abs(units) * rate * mid * position_value


def position_units(long_units: Decimal, short_units: Decimal) -> Decimal:
    """Return the units that need margin: of a long and a short side the larger."""
    return max(abs(long_units), abs(short_units))


def margin_available(nav: Decimal, used: Decimal) -> Decimal:
    """Return the margin for new positions, never negative."""
    return max(NOTHING, nav - used)


def closeout_percent(used: Decimal, mid_nav: Decimal) -> Decimal:
    """Return the margin closeout fraction: at 1 the broker closes all trades.

    Args:
        used: The margin in use.
        mid_nav: The balance with open trades valued at mid prices; with nothing left it is closeout.
    """
    if not used:
        return NOTHING
    return HALF * used / mid_nav if mid_nav > 0 else CLOSEOUT


def spread_cost(units: Decimal, bid: Decimal, ask: Decimal, loss_factor: Decimal) -> Decimal:
    """Return the cost of opening and closing `units` at the same quote, in home currency."""
    return abs(units) * (ask - bid) * loss_factor


def slippage_allowed(bid: Decimal, ask: Decimal, pip: Decimal) -> Decimal:
    """Return the allowed distance of a market fill from the price seen: two spreads, at least one pip."""
    return max(2 * (ask - bid), pip)


class TypicalSpreads:
    """Samples every instrument's spread each ten seconds, for an hour."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[Decimal | None]] = {}  # None: no price came in that time
        self._medians: dict[str, Decimal] = {}
        self._sampled: dict[str, float] = {}
        self._seen: dict[Decimal, Decimal] = {}  # 25,000 samples are a few hundred values

    def note(self, instrument: str, spread: Decimal, now: float) -> None:
        """Add a sample if one is due; `now` in monotonic seconds."""
        since = now - self._sampled.get(instrument, now - EVERY)
        if since < EVERY:
            return
        self._sampled[instrument] = now
        samples = self._samples.setdefault(instrument, deque(maxlen=HOUR))
        samples.extend([None] * min(HOUR, int(since / EVERY) - 1))
        if len(self._seen) > MOST_VALUES:
            self._seen.clear()
        samples.append(self._seen.setdefault(spread, spread))
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


def median(samples: Iterable[Decimal]) -> Decimal:
    """Return the median; the module `statistics` would cost 0.2 MB."""
    ordered = sorted(samples)
    half = len(ordered) // 2
    return (ordered[half] + ordered[-1 - half]) / 2


@dataclass(frozen=True, slots=True)
class Caps:
    """Upper limits of units; None means no limit."""

    margin: Decimal | None = None
    order: Decimal | None = None
    position: Decimal | None = None  # room that is left
    own: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """The units to send, and the cap that limited them."""

    units: Decimal
    bound_by: CapName = ""


def units_for_risk(
    risk: Decimal, distance: Decimal, loss_factor: Decimal, premium: Decimal = Decimal(0)
) -> Decimal:
    """Return the exact units whose loss over the distance (plus a guarantee's premium) equals the risk."""
    return risk / ((distance + premium) * loss_factor)


def margin_cap(
    available: Decimal, margin_rate: Decimal, mid: Decimal, position_value: Decimal
) -> Decimal:
    """Return the exact units that 98 % of the available margin carries."""
    return available * MARGIN_SHARE / (margin_rate * mid * position_value)


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
