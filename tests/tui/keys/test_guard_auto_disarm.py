"""What disarms by itself, beat by beat."""

from keydesk.keys.guard import IDLE_LIMIT, SUSPENDED_SECONDS, AutoDisarm, Cause


def beats(*moments: tuple[float, float, int], last_key_at: float = 0.0) -> list[list[Cause]]:
    """The causes at each beat of monotonic seconds, wall seconds and losses."""
    auto_disarm = AutoDisarm()
    return [
        list(auto_disarm.causes(now, wall, last_key_at, losses)) for now, wall, losses in moments
    ]


def test_a_desk_that_runs_stays_armed() -> None:
    assert beats((1, 1001, 0), (1.1, 1001.1, 0), (3, 1003, 0)) == [[], [], []]


def test_a_stopped_desk_is_disarmed_at_its_first_beat() -> None:
    assert beats((1, 1001, 0), (2 + SUSPENDED_SECONDS, 1002 + SUSPENDED_SECONDS, 0))[1] == [
        Cause.RESUME
    ]


def test_a_machine_that_slept_is_known_by_its_wall_clock() -> None:
    assert beats((1, 1001, 0), (1.1, 5000, 0), (1.2, 5000.1, 0)) == [[], [Cause.RESUME], []]


def test_a_lost_stream_disarms_once() -> None:
    assert beats((1, 1, 0), (1.1, 1.1, 1), (1.2, 1.2, 1)) == [[], [Cause.RECONNECT], []]


def test_a_quarter_of_an_hour_without_a_key_disarms() -> None:
    assert beats((IDLE_LIMIT - 1, 0, 0), (IDLE_LIMIT + 1, 2, 0)) == [[], [Cause.IDLE]]
