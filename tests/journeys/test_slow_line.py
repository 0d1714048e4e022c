"""At the end of a line of 20 kB/s the desk shows fewer pictures, never older ones, and says what helps."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.slow_terminal import SlowTerminal
from support.terminal import keydesk

RATE = 20_000  # bytes a second
HELD = 120  # repeats, thirty a second
PSEUDO_TERMINAL = 20_000  # bytes that Linux takes before a write waits
MOST_BEHIND = RATE * 0.5


@pytest.fixture
def terminal(practice_folder: Path) -> Iterator[SlowTerminal]:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    command = keydesk("--practice", "--price-rate", "14")
    with SlowTerminal(command, (120, 35), env) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        terminal.see("M5")
        yield terminal


def hold(terminal: SlowTerminal) -> int:
    """Hold a key for four seconds, then open the help; returns how many bytes came before it."""
    terminal.bytes_a_second = RATE
    terminal.pause(2)
    for number in range(HELD):
        terminal.write(b"j" if number % 60 < HELD // 4 else b"k")
        terminal.pause(1 / 30)
    before = len(terminal.raw)
    terminal.write(b"?")
    terminal.see("Esc closes")
    return bytes(terminal.raw[before:]).find(b"Esc closes")


def test_a_held_key_leaves_no_old_pictures_behind_and_the_line_is_reported(
    terminal: SlowTerminal,
) -> None:
    assert hold(terminal) <= MOST_BEHIND + 3_000  # the help itself
    terminal.bytes_a_second = float("inf")
    terminal.press("Escape", ":", *"messages", "Enter")
    terminal.see("ssh -C")


def test_a_terminal_that_answers_nothing_has_a_bounded_backlog_too(
    terminal: SlowTerminal,
) -> None:
    terminal.answers = False
    assert hold(terminal) <= PSEUDO_TERMINAL + MOST_BEHIND
