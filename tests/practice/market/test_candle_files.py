"""Candles of a file are replayed as they are, and nothing trades where there are none."""

from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_practice.errors import CandleFileError
from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.market.candle_files import read_candle_file
from keydesk_practice.market.practice_market import PracticeMarket
from support.data.practice_market import another_market, instant, practice_market

ROWS = """time,open,high,low,close,volume
2024-05-15T08:00:00Z,1.08000,1.08150,1.07950,1.08100,100
2024-05-15T09:00:00Z,1.08120,1.08200,1.08050,1.08060,90
2024-05-15T12:00:00Z,1.07900,1.07990,1.07850,1.07950,80
"""


@pytest.fixture
def market(tmp_path: Path) -> PracticeMarket:
    file = tmp_path / "eurusd.csv"
    file.write_text(ROWS)
    return another_market(replayed=[read_candle_file("EUR_USD", file)])


def test_replayed_candles_equal_those_of_the_file(market: PracticeMarket) -> None:
    found = market.candles(
        "EUR_USD", CandleSpec("H1"), Range(count=9), instant("2024-05-16T00:00Z")
    )
    mids = [candle.prices[Component.MID] for candle in found]
    assert [candle.time for candle in found] == [
        instant(f"2024-05-15T{hour}:00Z") for hour in ("08", "09", "12")
    ]
    assert mids[0] == ("1.08000", "1.08150", "1.07950", "1.08100")
    assert mids[1] == ("1.08120", "1.08200", "1.08050", "1.08060")
    assert mids[2] == ("1.07900", "1.07990", "1.07850", "1.07950")


def test_the_path_goes_through_low_then_high_when_the_candle_rose(market: PracticeMarket) -> None:
    low = market.at(instant("2024-05-15T08:20:00Z")).quote("EUR_USD").mid
    high = market.at(instant("2024-05-15T08:40:00Z")).quote("EUR_USD").mid
    assert abs(low - Decimal("1.07950")) <= Decimal("0.00001")
    assert abs(high - Decimal("1.08150")) <= Decimal("0.00001")


def test_nothing_trades_where_there_is_no_candle(market: PracticeMarket) -> None:
    assert market.at(instant("2024-05-15T09:59:59Z")).quote("EUR_USD").tradeable
    assert not market.at(instant("2024-05-15T11:00:00Z")).quote("EUR_USD").tradeable
    assert not market.at(instant("2024-05-15T13:00:00Z")).quote("EUR_USD").tradeable


def test_an_instrument_that_the_rates_lack_can_be_traded(tmp_path: Path) -> None:
    file = tmp_path / "gold.csv"
    file.write_text("1715760000,2358.1,2361.5,2350.2,2355.0\n1715760060,2355.0,2356,2354,2355.5\n")
    market = another_market(replayed=[read_candle_file("XAU_USD", file)])
    now = market.at(instant("2024-05-15T08:01:30Z"))
    specification = now.specification("XAU_USD")
    assert specification is not None
    assert specification.type == "METAL"
    quote = now.quote("XAU_USD")
    assert quote.tradeable
    assert Decimal(2354) <= quote.bid < quote.ask <= Decimal(2357)
    assert abs(now.conversion("XAU", "USD").value - quote.mid) < Decimal("0.1")
    assert len(now.instruments()) == 71


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no candles"),
        ("2024-05-15T08:00:00Z,1,2,3\n", "line 1"),
        ("2024-05-15T08:00:00Z,1.5,1.4,1.3,1.35\n", "not in order"),
        ("yesterday,1,1,1,1\n", "line 1"),
        ("2024-05-15T08:00:01Z,1,1,1,1\n", "five seconds"),
        ("2024-05-15T08:00:00Z,1,1,1,1\n2024-05-15T08:00:05Z,1,1,1,1\n", "15 seconds"),
        ("2024-05-15T08:00:00Z,1,1,1,nan\n", "not in order"),
    ],
)
def test_the_error_of_an_invalid_file_names_the_place(
    text: str, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "own.csv"
    file.write_text(text)
    with pytest.raises(CandleFileError, match=words):
        read_candle_file("EUR_USD", file)


def test_a_missing_file_and_an_unknown_quote_currency_raise(tmp_path: Path) -> None:
    with pytest.raises(CandleFileError):
        read_candle_file("EUR_USD", tmp_path / "absent.csv")
    file = tmp_path / "own.csv"
    file.write_text("2024-05-15T08:00:00Z,1,1,1,1\n")
    with pytest.raises(CandleFileError, match="quote currency"):
        read_candle_file("BTC_XYZ", file)


def test_conversion_uses_the_replayed_prices(tmp_path: Path) -> None:
    file, stock = tmp_path / "eurusd.csv", tmp_path / "dna.csv"
    file.write_text(
        "2024-05-15T08:00:00Z,2,2,2,2\n2024-05-15T09:00:00Z,2,2,2,2\n"  # nowhere near the reference
    )
    stock.write_text("2024-05-15T08:00:00Z,5,5,5,5\n2024-05-15T09:00:00Z,5,5,5,5\n")
    own = [read_candle_file("EUR_USD", file), read_candle_file("DNA_USD", stock)]
    market = another_market(replayed=own)
    now = market.at(instant("2024-05-15T08:30:00Z"))
    for currency, home, value in (("USD", "EUR", "0.5"), ("EUR", "USD", "2"), ("DNA", "EUR", "2.5"), ("DNA", "USD", "5")):  # fmt: skip
        assert now.conversion(currency, home).value == pytest.approx(
            Decimal(value), abs=Decimal("1e-9")
        )
    reference = practice_market().at(now.now)
    assert now.conversion("GBP", "USD") == reference.conversion("GBP", "USD")
    before = market.at(instant("2024-05-13T07:30:00Z"))
    assert before.conversion("USD", "EUR").value > Decimal("0.8")  # nothing is replayed yet


def test_prices_stand_still_where_there_is_no_candle(market: PracticeMarket) -> None:
    last = market.at(instant("2024-05-15T10:00:00Z") - 1).quote("EUR_USD")
    for time in ("10:00:00", "10:30:00", "11:59:59.999999"):
        quote = market.at(instant(f"2024-05-15T{time}Z")).quote("EUR_USD")
        assert (quote.bids, quote.asks, quote.tradeable) == (last.bids, last.asks, False)
    assert market.at(instant("2024-05-15T12:00:00Z")).quote("EUR_USD").mid < Decimal("1.07950")
