"""A locale without UTF-8: the desk draws in ASCII by itself, and the doctor says so."""

from pathlib import Path

from support.terminal import Terminal, keydesk


def test_the_desk_and_the_doctor_agree_on_a_locale_without_utf8(practice_folder: Path) -> None:
    home = {"KEYDESK_HOME": str(practice_folder / "home")}
    with Terminal(keydesk("--practice"), (100, 30), {**home, "LC_ALL": "C"}) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        assert terminal.text.isascii()
        terminal.press("B")
        terminal.see("Esc drops")
        assert terminal.text.isascii()
        terminal.press("Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    with Terminal(keydesk("doctor", "--practice"), (160, 30), {**home, "LC_ALL": "C"}) as doctor:
        doctor.wait_for_exit()
        assert "LC_ALL=C: the desk draws in ASCII" in doctor.text
        assert bytes(doctor.raw).isascii()
