"""An order typed, or pasted, behind `:`: understood on the line, shown in the ticket, sent by `y` alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.terminal import Terminal, keydesk

PASTE, END = b"\x1b[200~", b"\x1b[201~"


@pytest.fixture(scope="module")
def terminal(module_folder: Path) -> Iterator[Terminal]:
    """One desk for all: each test leaves it without a form and without a trade."""
    env = {"KEYDESK_HOME": str(module_folder / "home"), "XDG_RUNTIME_DIR": str(module_folder)}
    with Terminal(keydesk("--practice"), (80, 24), env) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD")
        terminal.see("No trades.")
        yield terminal


def test_a_pasted_order_waits_for_enter_and_then_for_its_own_confirmation(
    terminal: Terminal,
) -> None:
    terminal.press(":")
    terminal.see("Command")
    terminal.write(PASTE + b"b eurusd 50k sl 20p\ny\n" + END)
    terminal.see("ticket: BUY 50,000 EUR/USD")
    terminal.pause()
    assert "▲ BUY" not in terminal.text
    terminal.press("Enter")
    terminal.see("▲ BUY 50,000")
    terminal.press("Escape")
    terminal.see("No trades.")


def test_cutting_in_the_line_leaves_the_clipboard_of_the_terminal_alone(
    terminal: Terminal,
) -> None:
    terminal.press(":")
    terminal.see("Command")
    terminal.write(b"\x18")  # Ctrl-X in an empty line
    terminal.type("eur")
    terminal.write(b"\x18")
    terminal.pause()
    assert b"\x1b]52" not in terminal.raw
    terminal.press("Escape")
    terminal.see_no_more("Tab completes")
