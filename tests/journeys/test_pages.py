"""What is held, seen on its pages by keys alone: account, exposure, instrument, market hours and order outcomes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.confirming import send
from support.terminal import Terminal, keydesk

SIZE = (120, 35)


@contextmanager
def page(terminal: Terminal, key: str, title: str) -> Iterator[None]:
    terminal.press("g", key)
    terminal.see(title)
    yield
    terminal.press("Escape")
    terminal.see_no_more("Esc closes ─")


def test_what_is_held_is_seen_on_its_pages_and_an_empty_page_says_why(
    practice_folder: Path,
) -> None:
    home = practice_folder / "home"
    env = {"KEYDESK_HOME": str(home), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD")
        with page(terminal, "x", "Exposure by currency"):
            terminal.see("none: no position is open")
        with page(terminal, "i", "Order outcomes"):
            terminal.see("No order was sent from here yet")

        terminal.press("3")
        send(terminal, "B")
        terminal.see("Trades 1")
        with page(terminal, "a", "─ Account ─"):
            terminal.see("trades 1, positions 1")
            terminal.see("open risk to the stops")
        with page(terminal, "x", "Exposure by currency"):
            for text in ("EUR long", "+10,000", "USD short", "if all stops are hit"):
                terminal.see(text)
        with page(terminal, "n", "─ Instrument ─"):
            for text in ("trading hours", "margin of 10,000", "10,000 long", "a week"):
                terminal.see(text)
        with page(terminal, "u", "Market hours"):
            for text in ("Sydney", "Tokyo", "London", "New York", "Rollover"):
                terminal.see(text)
        with page(terminal, "i", "Order outcomes"):
            terminal.see("0 open, 1 in all")
            terminal.see("Nothing: its outcome is known.")
            terminal.see("create; market buy 10,000 EUR/USD")
            terminal.press("v")
            terminal.see("Slippage and time to acknowledge")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
