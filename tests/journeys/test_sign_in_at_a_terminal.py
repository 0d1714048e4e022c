"""`keydesk login` at a terminal, with nothing but a name: environment, token and account are asked for, the token once."""

from pathlib import Path

import pytest

from keydesk.config.settings import load_settings
from support.broker import PracticeServer
from support.signing_in import PASSPHRASE, Home
from support.terminal import Terminal, keydesk

SIZE = (140, 40)
WRONG = "wrong-" + "0123456789" * 3


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def answer(terminal: Terminal, question: str, text: str) -> None:
    """Answer a question with a line."""
    terminal.see(question)
    terminal.write(text.encode() + b"\n")


def asked_again(terminal: Terminal, question: str, times: int, text: str) -> None:
    """Answer a hidden question once it is on the screen so often: what is typed before it is discarded."""
    terminal.until(lambda: terminal.text.count(question) == times)
    terminal.write(text.encode() + b"\n")


def test_a_person_names_nothing_but_the_profile_mistypes_the_token_and_chooses_the_account(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    chosen = desk_of_my_own.accounts[1]
    with Terminal(keydesk("login", "lab"), SIZE, home.env) as terminal:
        terminal.see("practice money at the broker")
        answer(terminal, "(1-3)", "7")
        answer(terminal, "Type a number from 1 to 3", "3")
        answer(terminal, "Address of the host", "http://broker.example")
        terminal.see("would send the token unencrypted")
        terminal.write(desk_of_my_own.rest_url.encode() + b"\n")
        answer(terminal, "Address of its streams", "")
        answer(terminal, "type practice", "practice")
        terminal.see("will be kept in an encrypted file")
        answer(terminal, "Token for lab", WRONG)
        terminal.see("refuses the token (401)")
        asked_again(terminal, "Token for lab", 2, desk_of_my_own.token)
        row = terminal.see(chosen.id)
        assert "100,000.00 EUR" in row
        answer(terminal, "Which one?", "2")
        answer(terminal, "Choose a passphrase", "short")
        terminal.see("has 8 characters or more")
        asked_again(terminal, "Choose a passphrase", 2, PASSPHRASE)
        answer(terminal, "The same passphrase again", PASSPHRASE)
        terminal.see(f"custom (practice money), account {chosen.id}")
        assert terminal.wait_for_exit() == 0
        assert terminal.text.count("Token for lab") == 2
        for secret in (desk_of_my_own.token, WRONG, PASSPHRASE):
            assert secret.encode() not in terminal.raw
    profile = load_settings(home.folder).profiles["lab"]
    assert (profile.account_id, profile.is_practice) == (chosen.id, True)


def test_a_declared_practice_host_opens_armed_and_says_practice(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.sign_in("lab", desk_of_my_own, "--practice-money")
    with Terminal(keydesk("--profile", "lab", *home.unlocked), (120, 35), home.env) as terminal:
        terminal.see("prices ok")
        terminal.see("PRACTICE")
        assert "LIVE" not in terminal.text
        terminal.quit()
        assert terminal.wait_for_exit() == 0
