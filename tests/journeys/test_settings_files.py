"""Settings edited under a running desk: a tighter limit refuses the ticket that is open, and half a file changes nothing."""

from pathlib import Path

from support.terminal import Terminal, keydesk


def test_a_file_that_is_edited_while_the_desk_runs_is_in_force(practice_folder: Path) -> None:
    home = practice_folder / "home"
    templates = home / "templates.toml"
    with Terminal(keydesk(), (120, 35), {"KEYDESK_HOME": str(home)}) as terminal:
        terminal.see("round trip")
        terminal.press("B")
        terminal.see("y sends")
        templates.write_text("[limits]\nhard_units = 500\n")
        terminal.see("your own limit of 500 units")  # the ticket that is open is refused
        assert "y sends" not in terminal.text
        terminal.press("Escape")
        templates.write_text("[limits]\nhard_units = 5000")
        terminal.see("Units of a trade: 5,000")
        templates.write_text("[limits]\nhard_uni")
        terminal.see("is not valid TOML")
        (home / "config.toml").write_text('timezone = "Asia/Tokyo"\n')
        terminal.see("zone Asia/Tokyo")
        terminal.see(" JST")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
