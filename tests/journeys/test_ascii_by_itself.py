"""A locale without UTF-8: the desk draws in ASCII by itself; the doctor says so in `test_doctor`."""

from pathlib import Path

from support.terminal import Terminal, keydesk


def test_a_desk_without_utf8_and_colours_stays_in_sight_behind_a_form(
    practice_folder: Path,
) -> None:
    home = {"KEYDESK_HOME": str(practice_folder / "home")}
    with Terminal(
        keydesk("--practice"), (120, 35), {**home, "LC_ALL": "C", "NO_COLOR": "1"}
    ) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        assert terminal.text.isascii()
        terminal.press("B")
        terminal.see("Esc drops")
        for text in ("NAV", "uPL", "prices ok", "EUR/USD M5", "No trades."):
            terminal.see(text)
        assert terminal.text.isascii()
        terminal.press("Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
