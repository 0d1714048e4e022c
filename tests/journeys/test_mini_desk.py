"""A trade is closed in a window of 40x12, where no ticket opens; a smaller window shows one line."""

from pathlib import Path

from support.confirming import confirm, send
from support.terminal import Terminal, keydesk


def test_a_trade_is_closed_at_forty_by_twelve(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD M5")
        send(terminal, "B")
        terminal.see("Trades 1")

        terminal.resize(40, 12)
        terminal.see("uPL")
        terminal.see("C close")
        terminal.press("B")
        terminal.see("No new trade below 80×24")
        terminal.see_no_more("y sends")

        terminal.press("g", "l")
        terminal.see("No log below 80×24")

        terminal.press("C")
        terminal.see("CLOSE LONG")
        terminal.see("realizes")
        confirm(terminal)
        terminal.see("Trades 0")

        terminal.resize(39, 11)
        terminal.see("Keydesk needs 80×24")
        terminal.resize(120, 35)
        terminal.see("EUR/USD M5")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
