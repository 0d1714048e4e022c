"""Nothing is jumped over: every grid point is looked at, and a sleep is made up for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk_practice.broker.market_clock import (
    COARSE_STEP,
    GRID,
    MAX_SLEEP,
    Clock,
    coarse_time_steps,
    end_of_grid_cell,
    time_steps,
)
from keydesk_practice.engine.wire_form import SECOND

NOW = 1_421_312_400_000_000_000


@given(st.integers(NOW, NOW + 10 * GRID), st.integers(1, 50 * GRID))
def test_every_grid_point_between_two_looks_is_seen_once_in_order(after: int, passed: int) -> None:
    seen = list(time_steps(after, after + passed))
    assert seen == sorted(set(seen))
    assert seen[-1] == after + passed
    points = [at for at in range(after // GRID * GRID, after + passed + 1, GRID) if at > after]
    assert set(points) <= set(seen)


def test_no_time_passed_means_nothing_to_see() -> None:
    assert list(time_steps(NOW, NOW)) == []


def test_a_sleep_is_looked_at_every_five_minutes_of_a_month_at_most() -> None:
    hour = list(coarse_time_steps(NOW, NOW + 12 * COARSE_STEP + 1))
    assert len(hour) == 13
    year = list(coarse_time_steps(NOW, NOW + 12 * MAX_SLEEP))
    assert year[0] >= NOW + 11 * MAX_SLEEP
    assert year[-1] == NOW + 12 * MAX_SLEEP


@given(st.integers(0, 10**19))
def test_a_command_stays_before_the_next_grid_point(instant: int) -> None:
    last = end_of_grid_cell(instant)
    assert last >= instant
    assert (last + 1) % GRID == 0


def test_the_clock_runs_at_its_speed_and_never_back() -> None:
    wall = [10**10]
    clock = Clock(NOW, 60.0, lambda: wall[0], lambda: 0)
    assert clock() == NOW
    wall[0] += 10
    assert clock() == NOW + 600
    wall[0] -= 5000
    assert clock() == NOW + 600


class Machine:
    """A machine whose clock can be set."""

    def __init__(self) -> None:
        self.wall, self.monotonic = NOW, 17 * SECOND

    def pass_time(self, seconds: float, *, asleep: bool = False) -> None:
        self.wall += round(seconds * SECOND)
        self.monotonic += 0 if asleep else round(seconds * SECOND)


@pytest.mark.parametrize("speed", [1.0, 60.0])
def test_the_market_goes_on_when_the_wall_clock_is_set_back(
    speed: float, caplog: pytest.LogCaptureFixture
) -> None:
    machine = Machine()
    clock = Clock(NOW, speed, lambda: machine.wall, lambda: machine.monotonic)
    machine.pass_time(10)
    assert clock() == NOW + 10 * speed * SECOND
    machine.wall -= 3600 * SECOND
    machine.pass_time(5)
    assert clock() == NOW + 15 * speed * SECOND
    assert "set back by 3600 s" in caplog.text
    machine.wall -= 60 * SECOND
    machine.pass_time(1)
    assert clock() == NOW + 16 * speed * SECOND
    machine.wall += 3660 * SECOND  # put right again
    machine.pass_time(1)
    assert clock() == NOW + 17 * speed * SECOND


def test_time_that_the_machine_slept_passes_in_the_market() -> None:
    machine = Machine()
    clock = Clock(NOW, 1.0, lambda: machine.wall, lambda: machine.monotonic)
    machine.pass_time(7200, asleep=True)
    assert clock() == NOW + 7200 * SECOND
    machine.wall -= 3600 * SECOND
    machine.pass_time(1)
    assert clock() == NOW + 7201 * SECOND


def test_a_clock_that_is_set_ahead_is_followed() -> None:
    machine = Machine()
    clock = Clock(NOW, 1.0, lambda: machine.wall, lambda: machine.monotonic)
    machine.wall += 600 * SECOND
    machine.pass_time(1)
    assert clock() == NOW + 601 * SECOND


def test_at_usual_speed_the_clock_is_exact_to_the_nanosecond() -> None:
    wall = [0]
    clock = Clock(NOW, 1.0, lambda: wall[0], lambda: wall[0])
    wall[0] = 9_007_199_254_740_993  # more than a float can tell apart
    assert clock() == NOW + 9_007_199_254_740_993
