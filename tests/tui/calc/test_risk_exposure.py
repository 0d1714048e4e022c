"""The worked numbers of currency exposure."""

from decimal import Decimal

from keydesk.calc.profit import HOME, estimated_factors
from keydesk.calc.risk import Holding, exposures, gross

FEE = Decimal("0.005")
FACTORS = {
    "USD": HOME,
    "EUR": estimated_factors(Decimal("1.08495"), FEE),
    "GBP": estimated_factors(Decimal("1.26736"), FEE),
    "JPY": estimated_factors(1 / Decimal("155.207"), FEE),
}
HELD = [
    Holding("EUR_USD", Decimal(50000), Decimal("1.08495")),
    Holding("USD_JPY", Decimal(-38608), Decimal("155.207")),
    Holding("EUR_GBP", Decimal(39255), Decimal("0.85607")),
]


def cents(value: Decimal | None) -> Decimal:
    assert value is not None
    return value.quantize(Decimal("0.01"))


def test_three_pairs_net_into_four_currencies() -> None:
    rows = {row.name: row for row in exposures(HELD, FACTORS)}
    assert rows["EUR"].units == Decimal(89255)
    assert cents(rows["EUR"].home) == Decimal("96837.21")
    assert rows["USD"].units == Decimal("-92855.5")
    assert rows["JPY"].units.quantize(Decimal("0.1")) == Decimal("5992231.9")
    assert cents(rows["JPY"].home) == Decimal("38608.00")
    assert rows["GBP"].units.quantize(Decimal("0.1")) == Decimal("-33605.0")
    assert cents(rows["GBP"].home) == Decimal("-42589.67")


def test_pairs_hold_as_much_as_they_owe() -> None:
    rows = exposures(HELD, FACTORS)
    assert abs(sum((row.home or Decimal(0) for row in rows), Decimal(0))) < Decimal("0.05")
    assert gross(rows).quantize(Decimal(1)) == Decimal(135445)


def test_the_largest_exposure_comes_first() -> None:
    assert [row.name for row in exposures(HELD, FACTORS)] == ["EUR", "USD", "GBP", "JPY"]


def test_an_index_stands_by_itself() -> None:
    rows = exposures([Holding("DE30_EUR", Decimal(2), Decimal(18500), is_pair=False)], FACTORS)
    assert [(row.name, row.units, cents(row.home)) for row in rows] == [
        ("DE30_EUR", Decimal(2), Decimal("40143.15"))
    ]


def test_currencies_that_cancel_out_are_left_out() -> None:
    held = [
        Holding("EUR_USD", Decimal(100), Decimal("1.1")),
        Holding("EUR_USD", Decimal(-100), Decimal("1.1")),
    ]
    assert exposures(held, FACTORS) == []


def test_an_unknown_conversion_is_said_not_guessed() -> None:
    rows = {
        row.name: row.home
        for row in exposures([Holding("USD_SEK", Decimal(10), Decimal(10))], FACTORS)
    }
    assert rows == {"USD": Decimal(10), "SEK": None}
