"""Which instants the market passes between two looks at the clock, so that nothing is jumped over.

Between grid points prices run straight, so the extremes lie on the grid: looking at every grid point misses no trigger.
When the broker slept (it was not running, or the laptop was closed) it looks every five minutes of the time it missed;
what was due then is filled at the price of that look, as after a short gap in the market.
"""

from collections.abc import Iterator

SECOND = 1_000_000_000
GRID = 5 * SECOND
ASLEEP = 300 * SECOND
LONGEST_SLEEP = 30 * 86_400 * SECOND


def instants(after: int, until: int, step: int = GRID) -> Iterator[int]:
    """Return the multiples of `step` between two instants, then `until` itself."""
    yield from range((after // step + 1) * step, until, step)
    if until > after:
        yield until


def missed_instants(after: int, until: int) -> Iterator[int]:
    """Return the instants to look at after a sleep, of a month at most."""
    return instants(max(after, until - LONGEST_SLEEP), until, ASLEEP)


def last_before_next_grid_point(instant: int) -> int:
    """Return the last instant that lies in the same cell of the grid."""
    return (instant // GRID + 1) * GRID - 1
