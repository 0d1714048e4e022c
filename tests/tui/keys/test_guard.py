"""The guard by the table of accidents: who typed it, and what became of it."""

import pytest

from keydesk.keys.guard import ON_THE_DESK, Guard, KeyDecision, KeyTarget, SizeChoice, second_of_alt

CAPITALS = frozenset("BSCOETMPDZRXA")
TICKET = KeyTarget("sends", painted=10.0)
TEXT = KeyTarget("text", painted=10.0)


def guard() -> Guard:
    return Guard(CAPITALS)


def keys(
    guard: Guard, typed: str, start: float, gap: float, front: KeyTarget = ON_THE_DESK
) -> list[KeyDecision]:
    return [guard.key(key, start + n * gap, front) for n, key in enumerate(typed)]


def test_an_order_key_opens_its_form_at_once_and_a_lone_confirm_key_is_held_and_then_passes() -> (
    None
):
    it = guard()
    assert it.key("B", 10.0, ON_THE_DESK) is KeyDecision.PASS
    assert it.key("y", 10.5, TICKET) is KeyDecision.HOLD
    assert it.settled(10.5)
    assert not it.settled(10.5), "it counts once"


@pytest.mark.parametrize("burst", ["By", "B\r", "jB", "BBBB", "Xv"])
def test_keys_of_one_read_trip(burst: str) -> None:
    it = guard()
    verdicts = keys(it, burst, 1.0, 0.001)
    assert verdicts[-1] is KeyDecision.TRIP
    assert not it.settled(1.0)


def test_the_rest_of_a_burst_goes_down_with_it() -> None:
    it = guard()
    keys(it, "BBBB", 1.0, 0.001)
    assert keys(it, "yyyy", 1.004, 0.001, TICKET)[0] is KeyDecision.TRIP


def test_a_held_order_key_trips_when_the_repeat_sets_in() -> None:
    it = guard()
    assert it.key("B", 1.0, ON_THE_DESK) is KeyDecision.PASS
    assert it.key("B", 1.5, KeyTarget("sends", 1.1)) is KeyDecision.PASS
    assert it.key("B", 1.533, KeyTarget("sends", 1.1)) is KeyDecision.TRIP


def test_a_held_j_scrolls() -> None:
    assert keys(guard(), "j" * 30, 1.0, 0.033) == [KeyDecision.PASS] * 30


@pytest.mark.parametrize("key", ["up", "down", ".", ",", "j", "backspace", "tab", "5"])
@pytest.mark.parametrize("front", [ON_THE_DESK, TICKET])
def test_keys_that_move_nudge_or_type_repeat_as_fast_as_they_come(
    key: str, front: KeyTarget
) -> None:
    it = guard()
    assert [it.key(key, 11.0 + n * 0.002, front) for n in range(50)] == [KeyDecision.PASS] * 50


def test_digits_are_typed_as_fast_as_hands_can() -> None:
    assert keys(guard(), "1.0830", 11.0, 0.010, TICKET) == [KeyDecision.PASS] * 6


@pytest.mark.parametrize("gap", [0.001, 0.020, 0.059])
def test_escape_may_come_before_any_key(gap: float) -> None:
    for key, verdict in (("B", KeyDecision.PASS), ("j", KeyDecision.PASS), ("y", KeyDecision.HOLD)):
        it = guard()
        assert it.key("escape", 11.0, TICKET) is KeyDecision.PASS
        assert it.key(key, 11.0 + gap, TICKET) is verdict


@pytest.mark.parametrize("key", ["B", "y"])
def test_what_comes_close_behind_escape_and_a_key_in_one_is_a_burst(key: str) -> None:
    it = guard()
    assert it.key("alt+shift+b", 11.0, TICKET) is KeyDecision.ESCAPE
    assert it.key(key, 11.001, TICKET) is KeyDecision.TRIP


def test_a_nudge_behind_a_held_confirm_trips_as_well() -> None:
    it = guard()
    assert it.key("y", 11.0, TICKET) is KeyDecision.HOLD
    assert it.key("up", 11.03, TICKET) is KeyDecision.TRIP


def test_a_hand_confirms() -> None:
    it = guard()
    it.key("B", 9.9, ON_THE_DESK)
    assert it.key("y", 10.35, TICKET) is KeyDecision.HOLD
    assert it.settled(10.35)


@pytest.mark.parametrize("painted", [10.0, None])
def test_a_confirm_before_the_form_was_seen_is_too_early(painted: float | None) -> None:
    assert guard().key("y", 10.249, KeyTarget("sends", painted)) is KeyDecision.TOO_EARLY


@pytest.mark.parametrize(
    ("painted", "at", "verdict"),
    [
        (10.04, 10.229, KeyDecision.TOO_EARLY),
        (10.04, 10.231, KeyDecision.HOLD),  # 250 ms behind `B`, which was read 20 ms late
        (10.04, 10.25, KeyDecision.HOLD),
        (10.099, 10.248, KeyDecision.TOO_EARLY),  # in sight for less than 150 ms
        (10.099, 10.25, KeyDecision.HOLD),
        (10.101, 10.35, KeyDecision.TOO_EARLY),  # painted late: 250 ms from the painting
        (10.101, 10.352, KeyDecision.HOLD),
        (12.0, 12.2, KeyDecision.TOO_EARLY),  # a new letter, or a price asked for again
    ],
)
def test_a_form_painted_at_once_is_confirmed_from_250_ms_behind_its_key(
    painted: float, at: float, verdict: KeyDecision
) -> None:
    it = guard()
    assert it.key("B", 10.0, ON_THE_DESK) is KeyDecision.PASS
    assert it.key("y", at, KeyTarget("sends", painted=painted)) is verdict


def test_a_confirm_key_close_behind_another_key_trips() -> None:
    assert keys(guard(), "2y", 11.0, 0.059, TICKET)[-1] is KeyDecision.TRIP


def test_a_key_behind_a_held_confirm_trips_and_nothing_is_sent() -> None:
    it = guard()
    assert it.key("y", 11.0, TICKET) is KeyDecision.HOLD
    assert it.key("j", 11.05, TICKET) is KeyDecision.TRIP
    assert not it.settled(11.0)


def test_keys_behind_a_paste_trip() -> None:
    it = guard()
    it.pasted(11.0)
    assert it.key("B", 11.001, ON_THE_DESK) is KeyDecision.TRIP


def test_escape_and_a_key_in_one_is_a_step_back() -> None:
    assert guard().key("alt+shift+b", 11.0, TICKET) is KeyDecision.ESCAPE
    assert guard().key("alt+y", 11.0, TICKET) is KeyDecision.ESCAPE


def test_two_escapes_are_no_accident() -> None:
    it = guard()
    assert it.key("escape", 11.0, TICKET) is KeyDecision.PASS
    assert it.key("escape", 11.01, TICKET) is KeyDecision.PASS


def test_text_is_typed_as_fast_as_hands_can() -> None:
    assert keys(guard(), "GBPy", 11.0, 0.005, TEXT) == [KeyDecision.PASS] * 4


def test_three_capitals_in_a_row_look_like_caps_lock() -> None:
    it = guard()
    suspicions = []
    for n, key in enumerate("JJKLjJKL"):
        it.key(key, 1.0 + n * 0.2, ON_THE_DESK)
        suspicions.append(it.caps_lock_suspected)
    assert [n for n, each in enumerate(suspicions) if each] == [2, 7], "once a row"


@pytest.mark.parametrize(
    ("key", "second"), [("alt+shift+b", "B"), ("alt+y", "y"), ("alt+B", "B"), ("alt+up", "up")]
)
def test_the_key_that_came_as_one_with_escape_is_named(key: str, second: str) -> None:
    assert second_of_alt(key) == second


@pytest.mark.parametrize(
    ("typed", "gap", "size"),
    [
        ("9", 0.1, 9),
        ("x9", 0.061, 9),
        ("99", 0.03, 9),
        ("x9x", 0.03, 3),
        ("9x", 0.03, 3),
        ("12", 0.03, 3),
    ],
)
def test_a_size_key_counts_where_it_stands_alone(typed: str, gap: float, size: int) -> None:
    it, choice = guard(), SizeChoice(3)
    for number, key in enumerate(typed):
        it.key(key, 1.0 + number * gap, ON_THE_DESK)
        choice.take_back(it)
        if key.isdecimal():
            choice.choose(int(key), it)
    assert choice.value == size
