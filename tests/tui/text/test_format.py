"""Numbers read as a dealer reads them, and none is rounded away unseen."""

from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from keydesk.text import format as show
from keydesk.text.sanitize import safe

D = Decimal
NOON = 1_772_459_002_123_456_789  # 2026-03-02 13:43:22 UTC


@pytest.mark.parametrize(
    ("value", "pip_location", "precision", "parts"),
    [
        ("1.08431", -4, 5, ("1.08", "43", "1")),
        ("151.322", -2, 3, ("151.", "32", "2")),
        ("2314.55", -2, 2, ("2314.", "55", "")),
        ("18102.4", 0, 1, ("181", "02", ".4")),
        ("5203.2", 0, 1, ("52", "03", ".2")),
        ("27.412", -1, 3, ("2", "7.4", "12")),
        ("0.85", -4, 5, ("0.85", "00", "0")),
        ("7", 0, 0, ("", "7", "")),
        ("61250", 1, 0, ("61", "25", "0")),
    ],
)
def test_a_price_splits_into_big_figure_pips_and_fraction(
    value: str, pip_location: int, precision: int, parts: tuple[str, str, str]
) -> None:
    assert show.split_price(D(value), pip_location, precision) == parts


@given(
    st.decimals(min_value=0, max_value=10**9, places=6, allow_nan=False),
    st.integers(-5, 2),
    st.integers(0, 6),
)
def test_the_parts_joined_are_the_price(value: Decimal, pip_location: int, precision: int) -> None:
    parts = show.split_price(value, pip_location, precision)
    assert "".join(parts) == show.price(value, precision)


@given(
    st.decimals(
        places=5, allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12
    )
)
def test_a_price_shown_with_its_own_decimals_reads_back_exactly(value: Decimal) -> None:
    assert D(show.price(value, 5).replace("−", "-")) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("10214.55", "10,214.55"),
        ("-4.2", "−4.20"),
        ("0", "0.00"),
        ("-0.004", "0.00"),
        ("1234567.891", "1,234,567.89"),
    ],
)
def test_money_is_grouped_and_nothing_carries_no_sign(value: str, text: str) -> None:
    assert show.money(D(value)) == text


def test_profit_and_loss_always_carry_their_sign() -> None:
    assert show.money(D("5.1"), signed=True) == "+5.10"
    assert show.money(D("-12.7"), 1, signed=True) == "−12.7"
    assert show.money(D(0), signed=True) == "0.00"


def test_an_empty_value_is_a_dash() -> None:
    dashes = (show.price(None, 5), show.money(None), show.units(None), show.percent(None))
    assert set(dashes) == {"–"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("10000", "10,000"),
        ("0.50", "0.5"),
        ("-5000", "−5,000"),
        ("1E+3", "1,000"),
        ("100.00", "100"),
    ],
)
def test_units_have_no_more_decimals_than_they_need(value: str, text: str) -> None:
    assert show.units(D(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [("10000", "+10.0k"), ("-15800", "−15.8k"), ("760000", "+0.76M"), ("0", "0"), ("950", "+950")],
)
def test_exposure_is_told_in_a_few_characters(value: str, text: str) -> None:
    assert show.short_units(D(value)) == text


@given(
    st.decimals(
        places=8, allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9
    )
)
def test_units_read_back_exactly(value: Decimal) -> None:
    assert D(show.units(value).replace("−", "-").replace(",", "")) == value


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (59, "59s"),
        (61, "1m"),
        (13_200, "3h40"),
        (720, "12m"),
        (190_800, "2d05h"),
        (-3, "0s"),
    ],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert show.duration(seconds) == text


def test_freshness_has_tenths_while_they_matter() -> None:
    assert show.short_age(0.42) == "0.4s"
    assert show.short_age(41.9) == "41s"


def test_a_time_names_its_zone() -> None:
    assert show.clock(NOON, named=True) == "13:43:22 UTC"
    assert show.clock(NOON, ZoneInfo("America/New_York"), named=True) == "08:43:22 EST"
    assert show.date_and_time(NOON) == "2026-03-02 13:43:22 UTC"


def test_a_number_of_things_has_their_word_in_the_right_number() -> None:
    said = [
        f"{show.counted(n, 'trade')}, {show.counted(n, 'entry', 'entries')}" for n in (0, 1, 5200)
    ]
    assert said == ["0 trades, 0 entries", "1 trade, 1 entry", "5,200 trades, 5,200 entries"]


def test_of_an_accounts_number_the_end_is_shown() -> None:
    assert [show.account_tail(each) for each in ("101-001-1000007-001", "12", "")] == [
        "7-001",
        "12",
        "",
    ]


@pytest.mark.parametrize("unit", ["%", "R", "pips", "USD"])
@pytest.mark.parametrize("arrow", ["->", "→"])
def test_a_line_is_never_broken_between_a_number_and_its_unit(unit: str, arrow: str) -> None:
    text = f"risk 0.00 {arrow} 20.00, {arrow} 12.5 {unit} of NAV: 3 {unit} less"
    for width in range(9, 40):
        lines = show.lines_of(safe(text), width)
        assert " ".join(lines) == text
        assert all(not line.startswith(unit) for line in lines), (width, lines)
        assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("Market buy 10,000 SL 1.13312", 28, "Market buy 10,000 SL 1.13312"),
        ("Market buy 10,000 SL 1.13312", 27, "Market buy 10,000 SL …"),
        ("Market buy 10,000 SL 1.13312", 12, "Market buy …"),
        ("Market buy 10,000", 4, "Mar…"),
    ],
)
def test_text_is_shortened_at_a_word(text: str, width: int, shown: str) -> None:
    """A price of which digits are missing would be another price."""
    assert show.shorten_text(safe(text), width) == shown


def test_a_level_stays_with_its_name_and_a_number_with_its_unit() -> None:
    text = safe(
        "FILLED 400,000 EUR/USD @ 1.13493 no slippage 25 ms #5 SL 1.13243 TP 1.14243 realized −64.00 USD"
    )
    for width in range(24, len(text)):
        lines = show.lines_of(text, width)
        assert " ".join(lines) == text
        for line in lines:
            assert not line.endswith((" SL", " TP", "@", "realized", " 25")), lines
