"""The ticket's rarely changed members, an entry order that is moved, and the pages, in a real terminal."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.confirming import confirm, see_a_form_that_can_be_sent
from support.terminal import Terminal, keydesk


@pytest.fixture(scope="module")
def terminal(module_folder: Path) -> Iterator[Terminal]:
    """One desk on the practice market for both: each test leaves it without a form and without a trade."""
    env = {"KEYDESK_HOME": str(module_folder / "home"), "XDG_RUNTIME_DIR": str(module_folder)}
    with Terminal(keydesk("--practice"), (80, 24), env) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        yield terminal


def test_an_order_with_expiry_guarantee_and_tag_rests_and_is_moved(terminal: Terminal) -> None:
    terminal.press("B")
    terminal.see("more fields")
    terminal.press("o")
    terminal.see("p price")
    terminal.press("g", *"4h")
    terminal.see("Enter ends the text")
    terminal.press("Enter", "w", "k", *"yes", "Enter")
    terminal.see("premium 1.2")
    terminal.press("s", "Backspace")
    terminal.see("guarantee: it needs a stop")
    terminal.press(*"40")
    see_a_form_that_can_be_sent(terminal)
    confirm(terminal)
    terminal.see("RESTING BUY 10,000 EUR/USD limit")
    terminal.press("g", "o", "M")
    terminal.see("MOVE BUY 10,000")
    terminal.press("u", *"2000")
    terminal.see("10,000 → 2,000")
    confirm(terminal)
    terminal.until(
        lambda: "2,000" in terminal.text and "Esc drops" not in terminal.text,
        what="the smaller order",
    )


def test_the_pages_of_account_and_exposure_open_by_their_chords(terminal: Terminal) -> None:
    for key, text in (
        ("x", "none: no position is open"),
        ("a", "NAV at mid prices"),
        ("n", "spread"),
        ("i", "Order outcomes"),
    ):
        terminal.press("g")
        terminal.press(key)
        terminal.see(text)
        terminal.see("Esc closes")
        terminal.press("Escape")
        terminal.see_no_more("Esc closes")
