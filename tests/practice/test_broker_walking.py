"""Nothing is jumped over: every grid point is looked at, and a sleep is made up for."""

from hypothesis import given
from hypothesis import strategies as st

from keydesk_practice.clock import Clock
from keydesk_practice.walking import (
    ASLEEP,
    GRID,
    LONGEST_SLEEP,
    instants,
    last_before_next_grid_point,
    missed_instants,
)

NOW = 1_421_312_400_000_000_000


@given(st.integers(NOW, NOW + 10 * GRID), st.integers(1, 50 * GRID))
def test_every_grid_point_between_two_looks_is_seen_once_in_order(after: int, passed: int) -> None:
    seen = list(instants(after, after + passed))
    assert seen == sorted(set(seen))
    assert seen[-1] == after + passed
    points = [at for at in range(after // GRID * GRID, after + passed + 1, GRID) if at > after]
    assert set(points) <= set(seen)


def test_no_time_passed_means_nothing_to_see() -> None:
    assert list(instants(NOW, NOW)) == []


def test_a_sleep_is_looked_at_every_five_minutes_of_a_month_at_most() -> None:
    hour = list(missed_instants(NOW, NOW + 12 * ASLEEP + 1))
    assert len(hour) == 13
    year = list(missed_instants(NOW, NOW + 12 * LONGEST_SLEEP))
    assert year[0] >= NOW + 11 * LONGEST_SLEEP
    assert year[-1] == NOW + 12 * LONGEST_SLEEP


@given(st.integers(0, 10**19))
def test_a_command_stays_before_the_next_grid_point(instant: int) -> None:
    last = last_before_next_grid_point(instant)
    assert last >= instant
    assert (last + 1) % GRID == 0


def test_the_clock_runs_at_its_speed_and_never_back() -> None:
    wall = [1000]
    clock = Clock(NOW, 60.0, lambda: wall[0])
    assert clock() == NOW
    wall[0] += 10
    assert clock() == NOW + 600
    wall[0] -= 5000
    assert clock() == NOW + 600


def test_at_usual_speed_the_clock_is_exact_to_the_nanosecond() -> None:
    wall = [0]
    clock = Clock(NOW, 1.0, lambda: wall[0])
    wall[0] = 9_007_199_254_740_993  # more than a float can tell apart
    assert clock() == NOW + 9_007_199_254_740_993
