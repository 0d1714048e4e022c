from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.calc.trade_journal.trades import Costs, Execution
from keydesk.trade_journal.csv_rows import TRADE_COLUMNS, RowContext, number, trade_row
from support.data.journal_trades import HOUR, MONDAY, closed_trade

D = Decimal
PIPS = {"EUR_USD": D("0.0001")}
TRADE = replace(
    closed_trade("61.3000", 7, opened_ns=MONDAY),
    costs=Costs(financing=D("-1.2000"), commission=D("0.5000")),
    initial_stop=D("1.08300"),
)


def test_a_row_has_every_column_and_the_amounts_with_all_their_decimals() -> None:
    context = RowContext({"7": TradeNote(("news",), rating=3)}, PIPS, ZoneInfo("Europe/Berlin"))
    row = trade_row(TRADE, context)
    assert list(row) == list(TRADE_COLUMNS)
    assert (row["profit"], row["financing"], row["result"]) == ("61.3000", "-1.2000", "59.6000")
    assert (row["R"], row["pips"], row["holdSeconds"]) == ("0.60", "10.00", "3600")
    assert (row["opened"], row["closed"][:16]) == (
        "2024-03-04T13:00:00+01:00",
        "2024-03-04T14:00",
    )
    assert (row["tags"], row["rating"], row["setup"]) == ("news", "3", "")
    assert row["maePips"] == ""


@pytest.mark.parametrize("value", [D("-1.2E+28"), D("9E+40"), D("0.005"), D("-0.001"), D(7)])
def test_a_number_of_any_size_is_written(value: Decimal) -> None:
    assert D(number(value, D("0.01"))) == D(f"{value:.2f}")
    assert abs(D(number(value, rounded=True)) - value) <= D("1E-10")
    assert number(D("0.125"), D("0.01")) == "0.12"
    assert number(D("12.7"), D(1)) == "13"


def test_excursions_stand_in_pips_and_in_r() -> None:
    found = Excursion(D("0.0010"), D("0.0030"), D("0.0020"))
    row = trade_row(TRADE, RowContext(pips=PIPS, excursions={"7": found}))
    assert (row["maePips"], row["mfePips"]) == ("10.00", "30.00")
    assert (row["maeR"], row["mfeR"]) == ("0.50", "1.50")


def test_an_average_price_between_two_prices_has_one_decimal_more() -> None:
    exits = tuple(
        Execution(MONDAY + HOUR, D(-5000), D(price), "") for price in ("1.08600", "1.08601")
    )
    row = trade_row(replace(TRADE, exits=exits), RowContext())
    assert (row["entryPrice"], row["exitPrice"]) == ("1.08500", "1.086005")


def test_what_is_not_known_is_empty_and_never_zero() -> None:
    row = trade_row(replace(closed_trade("5", risk=None), exits=()), RowContext())
    unknown = ("closed", "holdSeconds", "exitPrice", "pips", "R", "initialStop", "initialRisk")
    assert [row[name] for name in unknown] == [""] * len(unknown)
    assert number(None) == ""
    assert number(D("Infinity")) == "∞"


@pytest.mark.parametrize(("is_provisional", "said"), [(False, "final"), (True, "provisional")])
def test_a_row_says_whether_its_excursion_may_still_grow(is_provisional: bool, said: str) -> None:
    found = Excursion(D("0.001"), D("0.002"), is_provisional=is_provisional)
    trade = closed_trade("1")
    assert trade_row(trade, RowContext(excursions={trade.id: found}))["maeMfe"] == said
    assert trade_row(trade, RowContext())["maeMfe"] == ""
