"""One meaning for a key wherever nothing forces another: lower case looks, UPPER CASE opens an order form, `y` sends."""

import pytest

from keydesk.keys.guard import CHALLENGE_LETTERS
from keydesk.keys.keymap import (
    BENEATH,
    CLOSE_POSITION,
    DESK,
    EXIT_PLAN,
    FORM,
    KEYMAP,
    KEYS,
    PAGES,
    POSITION_PART,
    REPLAY,
    Key,
)
from keydesk.keys.tasks import task_of
from keydesk.values import Task

SENDS = {FORM, *(context for context, beneath in BENEATH.items() if FORM in beneath)}
CAPITALS = {  # each opens a form that may send, but for the alert: it watches, and arms: it lets others send
    *("buy", "sell", "limit", "close", "scale-out", "break-even", "protect", "modify"),
    *("trailing", "exit-plan", "labels", "cancel", "cancel-entries", "reverse", "flatten"),
    *("arm", "new-alert"),
}
DELETES = {"alerts-delete", "limit-off", "list-remove", "list-gone", "level-remove"}


def keys_with(letter: str) -> list[tuple[Key, str]]:
    return [(key, each) for key in KEYS for each in key.keys if letter in each.split()]


def test_only_y_sends_and_y_does_nothing_else() -> None:
    """The replay that begins anew is sent to the practice broker; a deposit of it is gone then."""
    assert {key.context for key, typed in keys_with("y") if " " not in typed} == {FORM, REPLAY}


def test_no_form_that_sends_has_a_challenge_letter_as_a_key() -> None:
    """The letter that is asked for must send, and do nothing else."""
    wrong = [
        key.id
        for key, typed in (found for each in CHALLENGE_LETTERS for found in keys_with(each))
        if key.context in SENDS and " " not in typed
    ]
    assert wrong == []


def test_upper_case_opens_a_form_on_the_desk_and_does_nothing_anywhere_else() -> None:
    capitals = {key.id: key.context for key in KEYS if key.touches_money}
    assert set(capitals) == CAPITALS
    assert set(capitals.values()) == {DESK}
    tasks = {key.id: task_of(key) for key in KEYS if key.touches_money}
    assert Task.MOVE not in tasks.values()  # where the help lists what has no task


def test_a_step_in_fields_that_count_in_more_than_pips_is_not_called_a_pip() -> None:
    steps = [each for each in KEYMAP.own(EXIT_PLAN) if each.action.startswith("nudge(")]
    assert [each.text for each in steps][:2] == ["One up", "One down"]
    assert not [each for each in steps if "pip" in each.text + each.hint]


def test_enter_accepts_in_every_list_and_form_that_sends_nothing_and_never_sends() -> None:
    accepts = {"take", "keep"}
    wrong = [
        key.id
        for key in KEYS
        if key.context not in SENDS | {REPLAY}
        if key.action in accepts and "enter" not in key.keys
    ]
    assert wrong == []
    assert not any("enter" in key.keys for key in KEYS if key.context in SENDS)


def test_x_deletes_in_every_list() -> None:
    """In a form that sends, `x` shows the lines left out: every other letter picks a field in one of them."""
    found = {key.id for key, typed in keys_with("x") if key.context not in SENDS}
    others = {"exposure-page", "replay-shock", "jump", "bookmark"}  # behind g, ; and in names
    assert found - others == DELETES


def test_w_begins_the_chords_of_tables_everywhere() -> None:
    wrong = [
        key.id
        for key, typed in keys_with("w")
        if key.context not in SENDS and not typed.startswith(("w ", "g ", "; ", "' ", "m "))
    ]
    assert wrong == []


@pytest.mark.parametrize("context", sorted(PAGES - {"help"}))
def test_every_page_closes_with_esc_and_q_and_moves_with_j_and_k(context: str) -> None:
    means = {typed: key for key in KEYMAP.in_force(context) for typed in key.keys}
    assert means["escape"].action in {"drop", "back"}
    assert means["q"].action == "drop"
    assert ("j" in means) == ("k" in means)
    for letter, arrow in (("j", "down"), ("k", "up")):
        if letter in means:
            assert means[letter] is means[arrow], letter


def test_the_sides_of_a_position_have_the_same_letters_in_both_forms() -> None:
    sides = [
        {
            typed: key.action
            for key in KEYMAP.own(context)
            for typed in key.keys
            if "side" in key.action
        }
        for context in (CLOSE_POSITION, POSITION_PART)
    ]
    assert sides[1].items() <= sides[0].items()
