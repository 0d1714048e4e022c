"""Accidents at the keyboard of the real program in a real terminal: nothing is sent, the keys come back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.confirming import send
from support.terminal import Terminal, keydesk

PASTE, END = b"\x1b[200~", b"\x1b[201~"


@pytest.fixture
def terminal(practice_folder: Path) -> Iterator[Terminal]:
    """The desk on the practice market, prices on the screen."""
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (100, 30), env) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD")
        terminal.see("No trades.")
        yield terminal


def nothing_was_sent(terminal: Terminal) -> None:
    terminal.pause(0.8)
    assert "FILLED" not in terminal.text
    assert "No trades" in terminal.text


@pytest.mark.parametrize("burst", [b"By", b"B\ry", b"ByByByBy"])
def test_keys_of_one_read_are_dropped_and_disarm(terminal: Terminal, burst: bytes) -> None:
    terminal.write(burst)
    terminal.see("Keys dropped")
    terminal.see("exit only")
    nothing_was_sent(terminal)


def test_a_bracketed_paste_is_swallowed(terminal: Terminal) -> None:
    terminal.write(PASTE + b"By\r" + END)
    terminal.see("pasted")
    nothing_was_sent(terminal)


def test_a_paste_with_an_end_in_it_sends_nothing(terminal: Terminal) -> None:
    terminal.write(PASTE + b"harmless" + END + b"By\r" + END)
    terminal.see("Keys dropped")
    nothing_was_sent(terminal)


def test_a_paste_that_never_ends_gives_the_keys_back(terminal: Terminal) -> None:
    terminal.write(PASTE + b"B")
    terminal.see("pasted")
    nothing_was_sent(terminal)
    terminal.press("X")
    terminal.see("FLATTEN EVERYTHING")


def test_a_confirm_on_the_heels_of_its_form_sends_nothing(terminal: Terminal) -> None:
    terminal.write(b"B")
    terminal.pause(0.1)
    terminal.write(b"y")
    terminal.until(lambda: "Esc drops" in terminal.text or "Keys dropped" in terminal.text)
    terminal.pause(0.8)
    assert "FILLED" not in terminal.text
    stays = "Esc drops" in terminal.text  # to be read; a slow machine heard both keys as one
    assert stays or "Keys dropped" in terminal.text


def test_escape_and_a_key_in_one_drop_the_ticket(terminal: Terminal) -> None:
    terminal.press("B")
    terminal.see("Esc drops")
    terminal.pause()
    terminal.write(b"\x1by")
    terminal.see_no_more("Esc drops")
    nothing_was_sent(terminal)


def test_a_hand_sends(terminal: Terminal) -> None:
    send(terminal, "B")
    terminal.see("FILLED")
