"""Whatever bytes a terminal sends, the desk stays, says what it dropped, and sends no order."""

import random
import time
from pathlib import Path

import pytest

from support.terminal import Terminal, keydesk

SIZE = (120, 35)
# Ctrl-C twice leaves, and so does `:q` and Enter; with the other bytes there is no way out by accident.
LEAVING = b"\x03:"


def desk(folder: Path) -> Terminal:
    return Terminal(keydesk("--practice"), SIZE, {"KEYDESK_HOME": str(folder / "home")})


def leave(terminal: Terminal) -> None:
    """Leave as a person does, past whatever form the bytes have opened."""
    terminal.press("Escape", "Escape", "Escape", ":", "q", "Enter")
    assert terminal.wait_for_exit() == 0
    assert "Traceback" not in terminal.text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xa3", "a byte that is no UTF-8 (A3)"),
        (b"\xe2\x82", "2 bytes that are no UTF-8 (E2 82)"),
        (b"\xf9", "a byte that is no UTF-8 (F9)"),
        (b"\x1b[1:2u", "a key sequence that could not be read"),
    ],
)
def test_an_unreadable_byte_is_dropped_and_said(
    practice_folder: Path, data: bytes, words: str
) -> None:
    with desk(practice_folder) as terminal:
        terminal.see("prices ok")
        terminal.write(data)
        terminal.see(words)
        terminal.press("j")
        leave(terminal)


def test_all_bytes_one_after_the_other_leave_the_desk_as_it_is(practice_folder: Path) -> None:
    with desk(practice_folder) as terminal:
        terminal.see("prices ok")
        every = bytes(set(range(256)) - set(LEAVING))
        for data in (every, every[::-1]):
            terminal.write(data)
            terminal.see("that are no UTF-8")
            terminal.pause(1.0)
        terminal.press("Escape", "Escape", "g", "t")
        assert "Trades 0" in terminal.text
        leave(terminal)


@pytest.mark.soak
def test_random_bytes_for_a_minute_leave_the_desk_as_it_is(practice_folder: Path) -> None:
    chance = random.Random(21)
    bytes_to_send = bytes(set(range(256)) - set(LEAVING))
    with desk(practice_folder) as terminal:
        terminal.see("prices ok")
        until = time.monotonic() + 60
        while time.monotonic() < until:
            terminal.write(bytes(chance.choices(bytes_to_send, k=chance.randint(1, 200))))
            terminal.pause(chance.choice((0.01, 0.1, 0.3)))
            assert terminal.is_running
        leave(terminal)
