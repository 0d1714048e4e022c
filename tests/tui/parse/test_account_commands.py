"""What is typed to sign in and out and to change the account; a token typed there is refused and not repeated."""

import pytest

from keydesk.parse.commands import parse_command
from keydesk.parse.pages import ShowPage
from keydesk.parse.parsed_commands import AccountCommand, ParsedCommand, ShowMessage

NAMES = ("EUR_USD", "USD_JPY")


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (":login", AccountCommand("login")),
        ("login Main-2", AccountCommand("login", "Main-2")),
        ("logout", AccountCommand("logout")),
        ("logout main", AccountCommand("logout", "main")),
        ("profile", AccountCommand("profile")),
        ("accounts", ShowPage("accounts")),
    ],
)
def test_a_command_of_the_accounts_is_read(typed: str, command: ParsedCommand) -> None:
    assert parse_command(typed, NAMES, "EUR_USD") == command


@pytest.mark.parametrize(
    "typed", ["login main 0123456789abcdef-secret", "login 0123456789abcdef-secret.x", "logout a b"]
)
def test_what_may_be_a_token_is_refused_and_not_repeated(typed: str) -> None:
    said = parse_command(typed, NAMES, "EUR_USD")
    assert isinstance(said, ShowMessage)
    assert said.level == "warn"
    assert "secret" not in said.text
    assert "never typed here" in said.text
