"""A wait at a terminal whose program has ended fails at once, and shows the last screen."""

import sys

import pytest

from support.terminal import NeverSeen, Terminal


def test_a_wait_for_what_an_ended_program_did_not_say_fails_at_once_with_its_last_screen() -> None:
    with Terminal([sys.executable, "-c", "print('last words')"], (80, 24), {}) as terminal:
        terminal.see("last words")
        with pytest.raises(NeverSeen, match=r"ended with 0 and without 'more'(?s:.*)last words"):
            terminal.see("more")
