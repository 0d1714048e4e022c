"""A shell without UTF-8 and colours, and with a size of its own: the desk draws in ASCII, in the size of its terminal.

What the doctor says of the locale is in `test_doctor`.
"""

from pathlib import Path

from support.terminal import Terminal, keydesk

SHELL = ["env", "COLUMNS=40", "LINES=12", "NO_COLOR=1", "LC_ALL=C"]


def test_a_desk_without_utf8_and_colours_has_its_terminals_size_and_stays_in_sight_behind_a_form(
    practice_folder: Path,
) -> None:
    home = {"KEYDESK_HOME": str(practice_folder / "home")}
    with Terminal([*SHELL, *keydesk("--practice")], (120, 35), home) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        assert terminal.text.isascii()
        assert "ARMED" in terminal.rows[0][100:]
        terminal.see("; replay")  # in the footer, which 40 columns do not have
        terminal.press("B")
        terminal.see("Esc drops")
        for text in ("NAV", "uPL", "prices ok", "GBP/USD"):
            terminal.see(text)
        assert terminal.text.isascii()
        terminal.press("Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
