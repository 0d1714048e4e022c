"""Price levels in their file: read as written, comments kept, and refused in words where they make no sense."""

from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.calc.market.price_levels import MAX_LEVELS, PriceLevel
from keydesk.config.price_levels import FILE, delete_level, load_levels, save_level
from keydesk.settings.toml_text import BadSettings
from keydesk_client.arithmetic.constants import SECOND

HIGH = PriceLevel("weekly-high", Decimal("1.08300"))
RAY = PriceLevel("ray", Decimal("1.07000"), 1_795_000_000 * SECOND)
TABLE = '[[levels]]\ninstrument = "EUR_USD"\nname = "{}"\nprice = "{}"\n'


def test_what_is_saved_is_read_again_to_the_last_digit_and_comments_stay(tmp_path: Path) -> None:
    assert load_levels(tmp_path) == {}
    (tmp_path / FILE).write_text("# my own words\n", encoding="utf-8")
    save_level(tmp_path, "EUR_USD", HIGH)
    save_level(tmp_path, "EUR_USD", RAY)
    save_level(tmp_path, "USD_JPY", HIGH)
    assert load_levels(tmp_path) == {"EUR_USD": [HIGH, RAY], "USD_JPY": [HIGH]}
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert text.startswith("# my own words\n")
    assert 'price = "1.08300"\n\n[[levels]]' in text


def test_a_change_is_of_one_level_and_the_last_one_leaves_no_table(tmp_path: Path) -> None:
    for each in (HIGH, RAY):
        save_level(tmp_path, "EUR_USD", each)
    moved = PriceLevel("top", Decimal("1.09000"))
    save_level(tmp_path, "EUR_USD", moved, before="weekly-high")
    assert load_levels(tmp_path) == {"EUR_USD": [moved, RAY]}
    delete_level(tmp_path, "EUR_USD", "ray")
    delete_level(tmp_path, "EUR_USD", "gone")
    delete_level(tmp_path, "EUR_USD", "top")
    assert load_levels(tmp_path) == {}
    assert "levels]" not in (tmp_path / FILE).read_text(encoding="utf-8")


def test_tables_written_in_one_line_are_changed_too(tmp_path: Path) -> None:
    one = '{instrument = "EUR_USD", name = "weekly-high", price = "1.08300"}'
    (tmp_path / FILE).write_text(f"levels = [{one}]\n", encoding="utf-8")
    save_level(tmp_path, "EUR_USD", RAY)
    delete_level(tmp_path, "EUR_USD", "weekly-high")
    assert load_levels(tmp_path) == {"EUR_USD": [RAY]}


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (TABLE.format("\\u001b[31m", "1.08"), "name must be a letter"),
        (TABLE.format("High", "1.08"), "name must be a letter"),
        (TABLE.format("high", "1e300"), "price must be a price in quotes"),
        (TABLE.format("high", "99999999999"), "price must be a price in quotes"),
        (TABLE.format("high", "-1"), "price must be a price in quotes"),
        (TABLE.format("high", "0"), "price must be a price in quotes"),
        (TABLE.format("high", "1.08") + 'since = "2026-11-27T08:00:00"\n', "since must be a time"),
        (TABLE.format("high", "1.08") * 2, "two levels of EUR_USD are named high"),
        (
            TABLE.replace("EUR_USD", "\\u202e").format("high", "1"),
            "instrument must be an instrument",
        ),
        (
            "".join(TABLE.format(f"l{at}", "1.08") for at in range(MAX_LEVELS + 1)),
            f"EUR_USD has {MAX_LEVELS + 1} levels; at most {MAX_LEVELS} can be",
        ),
    ],
)
def test_a_wrong_member_is_named_and_the_file_is_left_alone(
    tmp_path: Path, text: str, trouble: str
) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(BadSettings) as refusal:
        save_level(tmp_path, "EUR_USD", HIGH)
    assert trouble in str(refusal.value)
    assert str(refusal.value).isprintable()
    assert (tmp_path / FILE).read_text(encoding="utf-8") == text
