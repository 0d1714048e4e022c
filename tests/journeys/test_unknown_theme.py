"""A theme that does not exist is told in one line, with those that do."""

from pathlib import Path

from support.terminal import Terminal, keydesk


def test_an_unknown_theme_is_refused_in_one_line(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home")}
    with Terminal(keydesk("--theme", "nope"), (80, 24), env) as terminal:
        assert terminal.wait_for_exit() == 1
        assert "there is no theme nope (known: colour-blind, dark, light" in terminal.text
        assert "Traceback" not in terminal.text
