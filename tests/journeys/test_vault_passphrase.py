"""The vault's passphrase at a terminal: Ctrl-C ends the question, and one may have forgotten it."""

from pathlib import Path

import pytest

from keydesk.config.settings import load_settings
from support.broker import PracticeServer
from support.signing_in import Home
from support.terminal import Terminal, keydesk

SIZE = (160, 24)


@pytest.fixture
def home(tmp_path: Path, desk_of_my_own: PracticeServer) -> Home:
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    return home


@pytest.mark.parametrize(
    "command",
    [["flatten"], *(pytest.param(each, marks=pytest.mark.soak) for each in (["status"], []))],
)
def test_the_first_ctrl_c_ends_the_question(home: Home, command: list[str]) -> None:
    with Terminal(keydesk(*command, "--profile", "main"), SIZE, home.env) as terminal:
        terminal.see("Vault passphrase")
        terminal.write(b"half a pass\x03")
        assert terminal.wait_for_exit() == 130
        assert "Traceback" not in terminal.text


async def test_the_first_ctrl_c_ends_the_confirmation(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": "100"}
    await desk_of_my_own.send("POST", "{a}/orders", {"order": order})
    words = keydesk("flatten", "--profile", "main", *home.unlocked)
    with Terminal(words, SIZE, home.env) as terminal:
        terminal.see("to flatten; anything else")
        terminal.write(b"\x03")
        assert terminal.wait_for_exit() == 130
        assert "Traceback" not in terminal.text
    assert len((await desk_of_my_own.get("{a}")).json()["account"]["trades"]) == 1


def log_out(home: Home, name: str) -> str:
    with Terminal(keydesk("logout", name), SIZE, home.env) as terminal:
        terminal.see("Enter alone signs out without")
        terminal.see("Vault passphrase")
        terminal.write(b"\n")
        assert terminal.wait_for_exit() == 0
        return " ".join(terminal.text.split())


def test_signing_out_needs_no_passphrase_and_takes_the_vault_with_the_last_profile(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.signed_in("second", desk_of_my_own)
    vault = home.folder / "tokens" / "tokens.vault"
    assert "its token stays in the vault" in log_out(home, "main")
    assert vault.exists()
    assert set(load_settings(home.folder).profiles) == {"second"}
    assert "so is the token vault" in log_out(home, "second")
    assert not vault.exists()
    with Terminal(
        keydesk("login", "main", "--environment", "practice"), SIZE, home.env
    ) as terminal:
        terminal.see("Token for main")
