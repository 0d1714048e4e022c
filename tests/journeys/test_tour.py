"""The first run: five steps in the notice line lead to a first trade, opened and closed, and never come back."""

from pathlib import Path

from support.confirming import confirm
from support.terminal import Terminal, keydesk

SMALL = (80, 24)


def test_a_new_trader_is_led_through_the_first_trade(tmp_path: Path) -> None:
    home = {"KEYDESK_HOME": str(tmp_path / "home")}
    with Terminal(keydesk(), SMALL, home) as terminal:
        terminal.see("Tour 1/5: j k choose an instrument")
        terminal.press("5")
        terminal.see("size 5: 50,000")
        terminal.see("Tour 1/5")  # a key that chose nothing
        terminal.press("j")
        terminal.see("Tour 2/5: 0 sizes by risk")
        terminal.press("0")
        terminal.see("Tour 3/5: B opens the buy ticket of")
        terminal.press("B")
        terminal.see("at stop")
        confirm(terminal)
        terminal.see("FILLED")
        terminal.see("Tour 5/5: gt goes to your trade")
        terminal.press("g", "t", "C")
        confirm(terminal)
        terminal.see("No trades.")
        terminal.see("Tour done: gj has the trade. Your own account: ")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    with Terminal(keydesk(), SMALL, home) as terminal:
        terminal.see("round trip")
        assert "Tour" not in terminal.text


def test_esc_ends_it_for_good_and_a_command_brings_it_back(tmp_path: Path) -> None:
    home = {"KEYDESK_HOME": str(tmp_path / "home")}
    with Terminal(keydesk(), SMALL, home) as terminal:
        terminal.see("Tour 1/5")
        terminal.press("Escape")
        terminal.see("The tour is over; :tour brings it back")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    with Terminal(keydesk(), SMALL, home) as terminal:
        terminal.see("round trip")
        assert "Tour" not in terminal.text
        terminal.press(*":tour", "Enter")
        terminal.see("Tour 1/5")
