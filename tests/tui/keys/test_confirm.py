"""The confirmation matrix walked from end to end."""

import itertools
import random

import pytest

from keydesk.keys.confirm import (
    EXITS,
    MATRIX,
    Action,
    Confirmation,
    KeyEffect,
    Letters,
    Step,
    required_step,
)
from keydesk.keys.guard import CHALLENGE_LETTERS

OPENING = {
    Action.OPEN,
    Action.OPEN_AGAINST_WARNING,
    Action.REPLACE_ENTRY,
    Action.REVERSE,
    Action.LOOSEN,
}


def test_every_deed_stands_in_the_matrix() -> None:
    for action in Action:
        assert action in MATRIX


def test_no_exit_is_ever_refused() -> None:
    for level in ["ARMED", "DISARMED"]:
        for action in [action for action in Action if action in EXITS]:
            assert (
                required_step(action, "ARMED" if level == "ARMED" else "DISARMED")
                is not Step.REFUSED
            )


def test_nothing_opens_risk_while_disarmed() -> None:
    for action in [action for action in Action if action in OPENING]:
        assert required_step(action, "DISARMED") is Step.REFUSED


def test_read_only_sends_nothing() -> None:
    for action in Action:
        assert required_step(action, "READ-ONLY") is Step.REFUSED


@pytest.mark.parametrize("action", [Action.REVERSE, Action.LOOSEN, Action.OPEN_AGAINST_WARNING])
def test_what_can_hurt_asks_for_a_letter(action: Action) -> None:
    assert required_step(action, "ARMED") is Step.CHALLENGE


def test_flatten_asks_for_a_letter_at_both_levels() -> None:
    assert required_step(Action.FLATTEN, "ARMED") is Step.CHALLENGE
    assert required_step(Action.FLATTEN, "DISARMED") is Step.CHALLENGE


def test_nothing_goes_over_a_hard_limit() -> None:
    assert required_step(Action.OVER_LIMIT, "ARMED") is Step.REFUSED


def test_letters_are_of_the_five_and_never_the_same_twice_running() -> None:
    letters = Letters(random.Random(1).choice)
    drawn = [letters.draw() for _ in range(200)]
    assert set(drawn) == set(CHALLENGE_LETTERS)
    assert all(one != next_one for one, next_one in itertools.pairwise(drawn))


def test_the_send_key_is_lower_case_y_only() -> None:
    ask = Confirmation(Step.SEND_KEY)
    assert ask.answer("y") is KeyEffect.SENDS
    assert ask.answer("Y") is KeyEffect.NOTHING
    assert ask.answer("enter") is KeyEffect.NOTHING


def test_a_challenge_is_met_by_its_letter_and_by_no_other() -> None:
    ask = Confirmation(Step.CHALLENGE, letter="v")
    assert ask.answer("v") is KeyEffect.SENDS
    assert ask.answer("y") is KeyEffect.WRONG
    assert ask.answer("c") is KeyEffect.WRONG
    assert ask.answer("enter") is KeyEffect.NOTHING


def test_between_two_letters_no_key_sends() -> None:
    ask = Confirmation(Step.CHALLENGE)
    assert {ask.answer(key) for key in ("", "y", *CHALLENGE_LETTERS)} == {KeyEffect.NOTHING}


def test_a_letter_where_the_send_key_is_asked_for_is_wrong() -> None:
    assert Confirmation(Step.SEND_KEY).answer("c") is KeyEffect.WRONG


def test_what_is_refused_is_sent_by_no_key() -> None:
    ask = Confirmation(Step.REFUSED, reason="the price is stale")
    assert {ask.answer(key) for key in ("y", *CHALLENGE_LETTERS, "enter")} == {KeyEffect.NOTHING}
