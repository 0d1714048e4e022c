"""The order of a table's rows, and the words that leave some of them."""

from decimal import Decimal

import pytest

from keydesk.tables.column import Measured
from keydesk.tables.row_order import TableOrder, held_order
from keydesk.text.search import has_text

WORDS = frozenset({"pair"})
MEASURED: dict[str, dict[str, Measured]] = {
    "pl": {"a": Decimal(3), "b": None, "c": Decimal(-1), "d": Decimal(7)},
    "pair": {"a": "GBP_USD", "b": "AUD_USD", "c": "EUR_USD", "d": None},
}


def measure(row: str, column: str) -> Measured:
    return MEASURED[column][row]


def test_the_largest_is_first_and_the_unknown_last() -> None:
    assert TableOrder("pl").sort("abcd", measure) == ["d", "a", "c", "b"]
    assert TableOrder("pl", descending=False).sort("abcd", measure) == ["c", "a", "d", "b"]


def test_words_are_read_from_a_to_z() -> None:
    order = TableOrder().by("pair", WORDS)
    assert order.sort("abcd", measure) == ["b", "c", "a", "d"]


def test_one_key_turns_from_largest_to_smallest_to_the_own_order() -> None:
    first = TableOrder().with_next_direction("pl", WORDS)
    second = first.with_next_direction("pl", WORDS)
    third = second.with_next_direction("pl", WORDS)
    assert [(each.column, each.descending) for each in (first, second)] == [
        ("pl", True),
        ("pl", False),
    ]
    assert third == TableOrder()


def test_the_column_beside_is_taken_and_before_the_first_is_the_own_order() -> None:
    columns = ["pair", "pl"]
    first = TableOrder().with_adjacent_column(columns, 1, WORDS)
    assert (first.column, first.descending) == ("pair", False)
    assert first.with_adjacent_column(columns, -1, WORDS).column == ""
    assert TableOrder("pl").with_adjacent_column(columns, 1, WORDS).column == ""
    assert TableOrder("gone").with_adjacent_column(columns, 1, WORDS).column == "pair"


def test_live_stays_live_through_every_order() -> None:
    order = TableOrder("pl", live=True)
    for _ in range(3):
        order = order.with_next_direction("pl", WORDS)
        assert order.live


def test_it_is_said_which_column_and_whether_it_is_held() -> None:
    assert TableOrder("pl").text("P/L") == "P/L ▼ held"
    assert TableOrder("pl", descending=False, live=True).text("P/L") == "P/L ▲ live"
    assert TableOrder().text("") == ""


def test_held_rows_stay_and_new_ones_come_on_top() -> None:
    assert held_order(["a", "b", "c"], ["d", "c", "a"]) == ["d", "a", "c"]


@pytest.mark.parametrize("filter_text", ["eurusd", "EUR/USD", "eur long", "fade", "usd FADE", ""])
def test_every_word_is_in_the_row_whatever_its_case(filter_text: str) -> None:
    assert has_text("EUR_USD long fade 6411", filter_text)


@pytest.mark.parametrize("filter_text", ["gbp", "eur short", "eurusdx"])
def test_one_missing_word_leaves_the_row_out(filter_text: str) -> None:
    assert not has_text("EUR_USD long fade 6411", filter_text)
