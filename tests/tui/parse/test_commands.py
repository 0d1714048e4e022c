"""A command is declared once: its example is read, says what it does, and is completed."""

import pytest

from keydesk.calc.market.market_state import ControlledMarket
from keydesk.keys.keymap import KEYMAP
from keydesk.parse.commands import COMMANDS, DeskCommand, completions, parse_command
from keydesk.parse.pages import PAGES
from keydesk.parse.parsed_commands import ShowMessage

NAMES = ("EUR_USD", "GBP_USD")
MARKET = ControlledMarket()
LISTED = [each for each in COMMANDS if each.text and each.parse is not None]
TAKEN_BY_THE_LIST = {"profile"}  # the names of profiles are chosen in the list of the command line


@pytest.mark.parametrize("command", LISTED, ids=lambda command: command.name)
def test_the_example_of_a_command_is_read_and_says_what_it_does(command: DeskCommand) -> None:
    line = command.name if command.name in TAKEN_BY_THE_LIST else command.example or command.name
    meaning = parse_command(f":{line}", NAMES, "EUR_USD", MARKET)
    assert not isinstance(meaning, ShowMessage)
    assert meaning.text
    for alias in command.aliases:
        assert (
            parse_command(line.replace(command.name, alias, 1), NAMES, "EUR_USD", MARKET) == meaning
        )


@pytest.mark.parametrize("command", LISTED, ids=lambda command: command.name)
def test_a_command_is_completed(command: DeskCommand) -> None:
    assert command.name in completions(command.name[:2], NAMES)


def test_the_keys_that_do_the_same_are_keys_of_the_desk() -> None:
    ids = {key.id for key in KEYMAP.keys}
    named = {each.key or each.acts_with for each in COMMANDS} | {
        page.key for page in PAGES.values()
    }
    assert named - {""} <= ids


def test_a_word_is_one_command() -> None:
    words = [*PAGES, *(word for each in COMMANDS for word in (each.name, *each.aliases))]
    assert sorted(words) == sorted(set(words))
