"""The end of the market's week at the real desk: a trade without a stop is named, and an instrument that is halted says so."""

import re
from pathlib import Path

import pytest

from support.confirming import FORM, form_text, send
from support.terminal import Terminal, keydesk


def command(terminal: Terminal, line: str) -> None:
    terminal.press(":")
    terminal.see("Tab completes")
    terminal.type(line)
    terminal.press("Enter")
    terminal.see_no_more("Tab completes")


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


@pytest.mark.soak
def test_a_trade_without_a_stop_is_named_on_friday_and_a_halted_instrument_opens_nothing(
    practice_folder: Path,
) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        command(terminal, "replay start 2015-01-16 20:30")
        terminal.see("y starts it")
        terminal.pause()
        terminal.press("y")
        paused = re.compile("Fri 16 Jan 2015 20:30:00 UTC +PAUSED")
        terminal.until(lambda: paused.search(terminal.text) is not None, what="the pause")
        send(terminal, "B", "s", "Backspace", "t", "Backspace")
        terminal.see("FILLED 10,000")
        terminal.see("1 trade has no stop over the weekend: EUR/USD #")
        terminal.press("g", "u")
        for text in ("Market hours", "The week", "No stop over the weekend:", "LONG 10,000"):
            terminal.see(text)
        terminal.press("Escape")
        terminal.see_no_more("Market hours")

        terminal.press(";", "p")  # a shock is part of what is still to come
        command(terminal, "replay shock halt eurusd 3600s")
        terminal.press("S")  # an exit is never refused
        see_in_form(terminal, "of LONG 10,000, never opens a trade")
        terminal.see("y sends")
        terminal.press("Escape")
        terminal.see_no_more(FORM)
        terminal.press("B")
        see_in_form(terminal, "the broker does not say until when")
        terminal.press("y")
        terminal.see(FORM)
        terminal.press("Escape")
        terminal.see_no_more(FORM)

        command(terminal, "replay jump +4h")
        terminal.see("Sat 17 Jan 2015")
        terminal.press("g", "u")
        terminal.see("this practice market goes on")
        terminal.press("Escape")
        terminal.quit()
        terminal.see("Trades without a stop")
        terminal.pause(1)  # until it could be read
        terminal.press("Enter")
        assert terminal.wait_for_exit() == 0
