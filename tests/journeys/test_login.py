"""From a token to a desk over it, at a terminal: what is typed in secret is seen nowhere."""

from functools import partial
from pathlib import Path

import pytest

from keydesk.config.settings import load_settings
from support.broker import PracticeServer
from support.signing_in import PASSPHRASE, Home, login_text
from support.terminal import Terminal, keydesk

SIZE = (120, 35)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def answer(terminal: Terminal, question: str, text: str) -> None:
    """Answer a hidden question in one go, as a paste from a password store does."""
    terminal.see(question)
    terminal.write(text.encode() + b"\n")


def process_tells(pid: int, secret: str) -> bool:
    """Whether other programs could see the secret in a process."""
    process = Path(f"/proc/{pid}")
    if not process.exists():
        return False
    shown = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
    return secret.encode() in shown


def asked_so_often(terminal: Terminal, times: int) -> bool:
    return terminal.text.count("Vault passphrase") == times


def leave(terminal: Terminal) -> None:
    terminal.quit()
    assert terminal.wait_for_exit() == 0


def test_a_person_signs_in_and_opens_a_live_desk_after_a_mistyped_passphrase_and_again_without_words(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    token = desk_of_my_own.token.encode()
    with Terminal(keydesk(*login_text("main", desk_of_my_own)), (200, 35), home.env) as terminal:
        answer(terminal, "Token for main", desk_of_my_own.token)
        answer(terminal, "Choose a passphrase", PASSPHRASE)
        assert not process_tells(terminal.pid, desk_of_my_own.token)
        assert not process_tells(terminal.pid, PASSPHRASE)
        answer(terminal, "again", PASSPHRASE)
        terminal.see("Signed in: profile main")
        assert terminal.wait_for_exit() == 0
        assert token not in terminal.raw
        assert PASSPHRASE.encode() not in terminal.raw

    with Terminal(keydesk("--profile", "main"), SIZE, home.env) as terminal:
        answer(terminal, "Vault passphrase", "mistyped")
        terminal.see("does not open the vault")
        terminal.until(partial(asked_so_often, terminal, 2))
        terminal.write(PASSPHRASE.encode() + b"\n")
        terminal.see("prices ok")
        terminal.see("LIVE real money")
        terminal.see("exit only")
        assert not process_tells(terminal.pid, desk_of_my_own.token)
        leave(terminal)
        assert token not in terminal.raw
        assert PASSPHRASE.encode() not in terminal.raw

    assert load_settings(home.folder).last_profile == "main"
    with Terminal(keydesk(*home.unlocked), SIZE, home.env) as terminal:
        terminal.see("LIVE real money")
        terminal.see("prices ok")
        leave(terminal)
    for name, content in home.files().items():
        assert token not in content, name
    records = {path.name for path in (home.folder / "orders").iterdir()}
    assert f"main.{desk_of_my_own.account_id}.journal" in records


def test_a_broker_that_does_not_answer_still_lets_the_desk_open(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.signed_in("main", desk_of_my_own)
    settings = home.folder / "config.toml"
    settings.write_text(settings.read_text().replace(desk_of_my_own.rest_url, "http://127.0.0.1:1"))
    with Terminal(keydesk("--profile", "main", *home.unlocked), SIZE, home.env) as terminal:
        terminal.see("LIVE real money")
        terminal.see("events DOWN")
        leave(terminal)


def test_a_desk_with_a_wrong_certificate_variable_is_refused_at_the_prompt(home: Home) -> None:
    Path(home.env["KEYDESK_HOME"]).mkdir(mode=0o700, exist_ok=True)
    Path(home.env["KEYDESK_HOME"], "config.toml").write_text(
        '[profiles.main]\nenvironment = "custom"\naccount = "1-2"\ntoken_store = "vault"\n'
        'rest_url = "https://127.0.0.1:9"\nstream_url = "https://127.0.0.1:9"\n'
    )
    env = {**home.env, "SSL_CERT_FILE": "/no/such/file.pem"}
    with Terminal(keydesk("--profile", "main"), (200, 35), env) as terminal:
        terminal.see("keydesk: SSL_CERT_FILE: '/no/such/file.pem' has no certificates")
        terminal.see("name a PEM file, or unset the variable")
        assert terminal.wait_for_exit() == 1
