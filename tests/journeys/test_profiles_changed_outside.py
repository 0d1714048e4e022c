"""Profiles that another program changes while a desk is open: signed in, signed out, and a settings file that is wrong."""

from pathlib import Path

import pytest

from keydesk.config.settings import delete_profile, load_settings
from keydesk_client.auth.vault import ALLOWED_WORK, VaultKeyring
from support.broker import PracticeServer, SharedPractice
from support.signing_in import PASSPHRASE, Home
from support.terminal import Terminal, keydesk

SIZE = (120, 35)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def other(shared_practice: SharedPractice) -> PracticeServer:
    """Another token of a broker, with accounts of its own."""
    return shared_practice.open_first_desk()


def command(terminal: Terminal, line: str) -> None:
    """Type a line of the command line."""
    terminal.press(":")
    terminal.see("Command  ")
    terminal.write(line.encode())
    terminal.see(line)
    terminal.press("Enter")


def paste(terminal: Terminal, text: str) -> None:
    """Paste a text into a field, and take it."""
    terminal.pause()
    terminal.write(b"\x1b[200~" + text.encode() + b"\x1b[201~")
    terminal.pause()
    terminal.press("Enter")


def see_in_messages(terminal: Terminal, text: str) -> None:
    """Look for a message on the page of all: the lines at the bottom have room for the newest ones alone."""
    command(terminal, "messages")
    terminal.see("Esc closes")
    terminal.see(text)
    terminal.press("Escape")
    terminal.see_no_more("Esc closes")


def test_profiles_of_another_program_are_opened_and_missed_at_once(
    home: Home, desk_of_my_own: PracticeServer, other: PracticeServer
) -> None:
    home.signed_in("lab", desk_of_my_own, practice_money=True)
    with Terminal(keydesk("--profile", "lab", *home.unlocked), SIZE, home.env) as terminal:
        terminal.see("prices ok")
        command(terminal, "accounts")
        terminal.see("Accounts")
        home.sign_in("second", other, "--practice-money")
        terminal.see("PRACTICE  second")
        theirs = other.account_id
        terminal.see(theirs)
        while "▶" not in terminal.line_with(theirs):
            terminal.press("j")
        terminal.press("Enter")
        terminal.see(f"Opened PRACTICE second …{other.account_id[-5:]}")
        terminal.see("prices ok")
        delete_profile(home.folder, "lab")
        command(terminal, "profile lab")
        terminal.see("there is no profile lab; sign in: :login lab")
        command(terminal, "profile")
        terminal.see("● PRACTICE  second")
        assert "lab" not in "".join(row for row in terminal.rows if "PRACTICE  " in row)
        terminal.press("Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0


def test_a_settings_file_that_is_wrong_stops_sign_in_and_sign_out_before_anything_is_changed(
    home: Home, desk_of_my_own: PracticeServer
) -> None:
    home.signed_in("lab", desk_of_my_own, practice_money=True)
    config = home.folder / "config.toml"
    right = config.read_text()
    with Terminal(keydesk("--profile", "lab", *home.unlocked), SIZE, home.env) as terminal:
        terminal.see("prices ok")
        command(terminal, "login lab")
        terminal.see("Token for lab")
        config.write_text("theme = dark\n" + right)
        paste(terminal, desk_of_my_own.token)
        terminal.see_no_more("Token for lab")
        see_in_messages(terminal, "NOT SIGNED IN: ")
        command(terminal, "logout")
        see_in_messages(terminal, "NOT SIGNED OUT: ")
        config.write_text(right)
        command(terminal, "logout")
        terminal.see("until you revoke it there")
        config.write_bytes(right.encode() + b"# caf\xe9\n")
        terminal.press("j", "Enter")
        terminal.see("exit only")
        see_in_messages(terminal, "UTF-8")  # one word: where the text folds depends on the path
        config.write_text(right)
        command(terminal, "profile lab")
        terminal.see("Opened PRACTICE lab")
        terminal.see("prices ok")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    assert list(load_settings(home.folder).profiles) == ["lab"]
    status = home.run("status", "--profile", "lab", *home.unlocked)
    assert status.returncode == 0, status.stderr
    assert PASSPHRASE not in status.stdout


@pytest.mark.parametrize("line", ["login lab", pytest.param("logout", marks=pytest.mark.soak)])
def test_a_passphrase_that_another_program_has_changed_is_asked_for_again(
    home: Home, desk_of_my_own: PracticeServer, line: str
) -> None:
    home.signed_in("lab", desk_of_my_own, practice_money=True)
    with Terminal(keydesk("--profile", "lab", *home.unlocked), SIZE, home.env) as terminal:
        terminal.see("prices ok")
        vault = VaultKeyring(
            home.folder / "tokens" / "tokens.vault", lambda: PASSPHRASE, work=min(ALLOWED_WORK)
        )
        vault.change_passphrase(lambda: "another one of mine")
        command(terminal, line)
        if line == "logout":
            terminal.see("until you revoke it there")
            terminal.press("j", "Enter")
        else:
            terminal.see("Token for lab")
            paste(terminal, desk_of_my_own.token)
        terminal.see("Passphrase of the token vault")
        paste(terminal, PASSPHRASE)
        terminal.see("That passphrase does not open the vault")
        paste(terminal, "another one of mine")
        terminal.see("Signed out of lab" if line == "logout" else "Opened PRACTICE lab")
        terminal.see("exit only")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    assert list(load_settings(home.folder).profiles) == ([] if line == "logout" else ["lab"])
