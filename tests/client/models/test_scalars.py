from decimal import Decimal
from random import Random

import pytest

from keydesk_client.models import PriceBucket, Reader, decimal_of, decimal_text
from keydesk_client.models._core.wire_names import wire_name
from support.data.wire_samples import Samples

BUCKET = Reader(PriceBucket)


def unchanged(rounds: int) -> None:
    samples = Samples(Random(5))
    for _ in range(rounds):
        text = samples.decimal()
        bucket = BUCKET.read(f'{{"price":"{text}","liquidity":"{text}"}}')
        assert (decimal_text(bucket.price), bucket.to_wire()["liquidity"]) == (text, text)


def test_decimals_keep_every_digit_both_ways() -> None:
    unchanged(2_000)


@pytest.mark.soak
def test_a_hundred_thousand_decimals_keep_every_digit() -> None:
    unchanged(100_000)


def test_liquidity_stays_a_number_where_it_came_as_one() -> None:
    whole = BUCKET.read('{"price":"1.10","liquidity":1000000}')
    assert whole.liquidity == 1_000_000
    assert whole.to_wire() == {"price": "1.10", "liquidity": 1_000_000}


@pytest.mark.parametrize(
    "bad",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "sNaN",
        "1E+5",
        "1e999999999",
        "",
        ".",
        "1_000",
        " 1",
        "1.5\n",
        "\u0661",
        "1" * 65,
        1.5,
        True,
        None,
        Decimal("NaN"),
        Decimal("1E+900"),
        Decimal("0." + "1" * 5000),
        10**70,
    ],
)
def test_a_value_that_is_not_a_plain_number_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="give a Decimal, an int or decimal text"):
        decimal_of(bad)


def test_a_number_too_long_to_be_printed_is_refused_without_its_digits() -> None:
    with pytest.raises(
        ValueError, match="more than 64 digits is not a valid number: give a Decimal"
    ):
        decimal_of(10**5000)


@pytest.mark.parametrize(
    ("value", "text"), [("1.10", "1.10"), (5, "5"), (Decimal("1E-7"), "0.0000001")]
)
def test_numbers_are_written_without_an_exponent(value: object, text: str) -> None:
    assert decimal_text(decimal_of(value)) == text


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("last_transaction_id", "lastTransactionID"),
        ("unrealized_pl", "unrealizedPL"),
        ("trade_ids", "tradeIDs"),
        ("from_", "from"),
        ("margin_closeout_nav", "marginCloseoutNAV"),
        ("pl", "pl"),
        ("full_vwap", "fullVWAP"),
        ("mt4_account_id", "mt4AccountID"),
    ],
)
def test_a_member_has_its_wire_name(name: str, wire: str) -> None:
    assert wire_name(name) == wire
