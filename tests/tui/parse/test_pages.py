"""Every page that a key opens is opened by its name, too."""

import pytest

from keydesk.parse.commands import complete, completions, parse_command
from keydesk.parse.pages import PAGES, ShowOrders, ShowPage
from keydesk.parse.parsed_commands import ShowMessage

NAMES = ("EUR_USD", "EUR_JPY", "GBP_USD")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_by_its_name_and_says_what_it_shows(name: str) -> None:
    page = parse_command(f":{name}", NAMES, "EUR_USD")
    assert page == ShowPage(name)
    assert page.text.split()[0] in {"shows", "plans", "edits", "changes", "writes"}


@pytest.mark.parametrize("typed", ["eurjpy", "EUR/JPY", "eur_jpy", "eurj"])
def test_the_page_of_another_instrument_is_asked_for_by_its_name(typed: str) -> None:
    page = parse_command(f"instrument {typed}", NAMES, "EUR_USD")
    assert page == ShowPage("instrument", "EUR_JPY")
    assert page.text == "shows the terms of the instrument EUR/JPY"


def test_an_instrument_that_is_none_is_said_with_the_remedy() -> None:
    said = parse_command("instrument zzz", NAMES, "EUR_USD")
    assert said == ShowMessage("warn", "instrument: zzz is not valid; write :instrument eurusd")


def test_orders_open_in_every_state_or_in_the_one_that_is_named() -> None:
    assert parse_command(":orders", NAMES, "") == ShowOrders("ALL")
    assert parse_command(":orders cancelled", NAMES, "") == ShowOrders("CANCELLED")
    said = parse_command("orders lost", NAMES, "")
    states = "all, filled, cancelled, triggered, pending"
    assert said == ShowMessage("warn", f"orders: lost is not a state; use one of {states}")


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("acc", "account"),  # of the account, and of all accounts
        ("aud", "audit "),
        ("exp", "exposure "),
        ("inst", "instrument "),
        ("instrument gb", "instrument gbpusd "),
        ("outc", "outcomes "),
        ("orders tr", "orders triggered "),
    ],
)
def test_tab_completes_a_page_and_its_instrument(typed: str, completed: str) -> None:
    assert complete(typed, NAMES) == completed


def test_what_a_word_may_become_is_listed() -> None:
    assert completions("a", NAMES) == ["account", "accounts", "audit", "alerts", "alert"]
    assert completions("instrument eur", NAMES) == ["eurusd", "eurjpy"]
    assert completions("", NAMES) == []


def test_nothing_typed_names_the_pages() -> None:
    said = parse_command("", NAMES, "EUR_USD")
    assert isinstance(said, ShowMessage)
    assert all(page in said.text for page in PAGES)
