"""An exit plan by the keys of a person: set, seen in the row, refused, taken away; carried out after the desk was killed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.confirming import confirm, form_text, send
from support.terminal import Terminal, keydesk


@contextmanager
def desk(folder: Path) -> Iterator[Terminal]:
    env = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        yield terminal


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


def test_a_plan_is_set_seen_refused_and_taken_away(practice_folder: Path) -> None:
    with desk(practice_folder) as terminal:
        send(terminal, "B")
        terminal.see("Trades 1")
        terminal.press("g", "t", "H")
        see_in_form(terminal, "only tightens the stop")
        terminal.press("t", *"1.5", "k", "5", "h", *"240", "e", "0")
        see_in_form(terminal, "Break-even at no profit")
        terminal.press("1")
        confirm(terminal)
        terminal.see("1 exit plan p: while Keydesk runs")
        terminal.see("EXIT PLAN of #")
        terminal.press(":")
        terminal.see("Tab completes")
        terminal.type("plan")
        terminal.press("Enter")
        see_in_form(terminal, "No change yet")
        terminal.press("w")
        see_in_form(terminal, "This removes the exit plan")
        confirm(terminal)
        terminal.see_no_more("1 exit plan p")


@pytest.mark.soak  # the time stop takes its time
def test_a_time_stop_is_carried_out_by_the_next_desk_after_a_kill(practice_folder: Path) -> None:
    with desk(practice_folder) as terminal:
        send(terminal, "B")
        terminal.see("Trades 1")
        terminal.press("g", "t", "H", "e", "Backspace", "h", *"0.5")
        confirm(terminal)
        terminal.see("1 exit plan p: while Keydesk runs")
        terminal.signal(signal.SIGKILL)
        terminal.wait_for_exit()
    with desk(practice_folder) as terminal:
        terminal.see("Trades 1")
        terminal.see("time stop closes it", 60.0)
        terminal.see("Trades 0")
