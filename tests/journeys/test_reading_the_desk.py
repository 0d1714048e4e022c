"""What a trader reads after an act: the outcome whole on the smallest screen, and the row behind Enter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.confirming import WRONG_LETTER, send, take_as_seen
from support.terminal import Terminal, keydesk


@pytest.fixture
def terminal(practice_folder: Path) -> Iterator[Terminal]:
    """The desk on the practice market, on the smallest screen."""
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (80, 24), env) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD")
        terminal.see("No trades.")
        yield terminal


def bottom(terminal: Terminal) -> str:
    """The last lines, their ends as spaces."""
    return " ".join(" ".join(terminal.rows[-4:]).split())


def test_a_fill_is_told_whole_and_its_line_in_the_log_opens_as_itself(terminal: Terminal) -> None:
    send(terminal, "B")
    terminal.until(lambda: "FILLED 10,000 EUR/USD" in bottom(terminal))
    terminal.until(lambda: bottom(terminal).count(" set") == 1)
    assert " stop 1." in bottom(terminal)
    assert " target 1." in bottom(terminal)

    terminal.press("g", "l")
    target_or_stop = terminal.see("Stop 1.")
    terminal.press("g", "g", "Enter")
    terminal.see("Transaction")
    what = terminal.line_with("what")
    assert what.split("what")[1].split("│")[0].strip() in target_or_stop
    terminal.press("Escape")


def answers_wrong_again(terminal: Terminal) -> bool:
    """The letter is another one each time, and one that comes too early does not count; the third closes the form."""
    terminal.press("y")
    return WRONG_LETTER in terminal.text


def test_what_was_not_sent_stays_until_escape(terminal: Terminal) -> None:
    terminal.press("B", "s", "Backspace", "t", "Backspace")
    terminal.see("to send")
    terminal.until(lambda: answers_wrong_again(terminal), what="the third wrong letter")
    terminal.see("Esc: seen")
    take_as_seen(terminal, "NOT SENT")


@pytest.mark.soak  # the usual run has it in `tui/screens/test_one_instrument`
def test_the_chart_and_the_ticket_turn_with_the_row_that_keys_act_on(terminal: Terminal) -> None:
    for _ in range(2):  # one trade in the first instrument, one in the second
        send(terminal, "B")
        terminal.see("FILLED")
        terminal.see_no_more("Esc drops")
        terminal.press("j")
    terminal.see("Trades 2")
    terminal.see("GBP/USD M5")
    terminal.press("g", "t", "k")
    terminal.see("USD/JPY M5")
    terminal.press("j")
    terminal.see("EUR/USD M5")
    terminal.press("S")
    terminal.see("SELL 10,000 EUR/USD")
    terminal.press("Escape", "k")
    terminal.see("USD/JPY M5")
