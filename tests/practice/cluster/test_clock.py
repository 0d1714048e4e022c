"""The clock of a cluster follows one pace on every node, stops at the same instant, and never goes back."""

import pytest

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.broker.clock import SECOND
from keydesk_practice.cluster.clock import ClusterClock, DatabaseWallClock
from keydesk_practice.cluster.database import MarketTime

PACE = MarketTime(market=1_000, wall=500, speed=2.0, stops=None, number=1)


class Wall:
    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def test_two_nodes_show_the_same_time() -> None:
    walls = Wall(600), Wall(600)
    assert [ClusterClock(PACE, wall)() for wall in walls] == [1_200, 1_200]


def test_a_pause_ends_at_the_same_time_however_late_it_is_heard() -> None:
    early, late = (ClusterClock(PACE, Wall(600)) for _ in range(2))
    paused = early.changed(stops=1_300)
    early.follow(paused)
    late.follow(paused)
    assert not early.running
    late._wall = Wall(10_000)
    early._wall = Wall(800)
    assert (early(), late()) == (1_300, 1_300)


def test_the_time_never_goes_back() -> None:
    wall = Wall(700)
    clock = ClusterClock(PACE, wall)
    assert clock() == 1_400
    wall.now = 600
    assert clock() == 1_400
    clock.at_least(2_000)
    assert clock() == 2_000


def test_a_new_speed_goes_on_from_the_present() -> None:
    wall = Wall(600)
    clock = ClusterClock(PACE, wall)
    clock.follow(clock.changed(speed=10.0))
    wall.now = 610
    assert clock() == 1_300
    assert clock.pace.number == 2


def test_the_most_exact_measurement_of_the_wall_clock_counts() -> None:
    wall = DatabaseWallClock(offset=100, error=50, steady=lambda: 1_000)
    wall.add(offset=110, error=5)
    wall.add(offset=300, error=90)
    assert wall() == 1_110


def test_after_the_clock_of_the_database_was_set_no_earlier_measurement_counts() -> None:
    wall = DatabaseWallClock(offset=7_200 * SECOND, error=5, steady=lambda: 1_000)
    wall.add(offset=3_600 * SECOND, error=90)
    assert wall() == 3_600 * SECOND + 1_000


@pytest.mark.parametrize(("lead", "is_ahead"), [(SECOND // 4, False), (4 * SECOND, True)])
def test_a_clock_that_would_stand_still_is_ahead(*, lead: int, is_ahead: bool) -> None:
    clock = ClusterClock(PACE, Wall(600))
    clock.at_least(clock() + lead)
    assert clock.is_ahead == is_ahead
