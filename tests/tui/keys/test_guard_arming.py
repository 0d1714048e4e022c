"""Arming: who starts how, and what takes it away."""

import pytest

from keydesk.keys.guard import Cause, armed_by_hand, arming_after, arming_at_start, arming_text
from keydesk.store.state import Arming


def test_live_starts_disarmed_and_practice_armed() -> None:
    assert arming_at_start("LIVE").level == "DISARMED"
    assert arming_at_start("PRACTICE").level == "ARMED"
    assert arming_at_start("PRACTICE", read_only=True).level == "READ-ONLY"


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_disarms_live_and_says_why(cause: Cause) -> None:
    now = arming_after(cause, Arming("ARMED"), "LIVE")
    assert (now.level, now.reason) == ("DISARMED", cause.value.text)


@pytest.mark.parametrize("cause", [Cause.IDLE, Cause.FOCUS_OUT, Cause.RECONNECT, Cause.RESUME])
def test_practice_stays_armed_when_the_trader_only_looked_away(cause: Cause) -> None:
    assert arming_after(cause, Arming("ARMED"), "PRACTICE").level == "ARMED"


@pytest.mark.parametrize("cause", [Cause.BURST, Cause.PASTE, Cause.BY_HAND, Cause.DAILY_LOSS])
def test_accidents_at_the_keys_disarm_practice_too(cause: Cause) -> None:
    assert arming_after(cause, Arming("ARMED"), "PRACTICE").level == "DISARMED"


def test_read_only_is_never_left() -> None:
    assert armed_by_hand(Arming("READ-ONLY")).level == "READ-ONLY"
    assert arming_after(Cause.IDLE, Arming("READ-ONLY"), "LIVE").level == "READ-ONLY"


def test_live_is_armed_by_the_last_three_of_the_account() -> None:
    assert arming_text("001-004-1234567-042", "LIVE") == "042"
    assert arming_text("101-000-1-001", "PRACTICE") == "y"
