"""Size, pips and margin of an instrument: the worked numbers of `docs/formulas.md`."""

from decimal import Decimal

import pytest

from keydesk_client import HOME, Factors
from keydesk_client.errors import InvalidRequest
from keydesk_client.models import HomeConversions, Instrument, Reader
from support.data.trading_contexts import FACTORS, MARKET

D = Decimal
_instruments = Reader(Instrument)


def instrument(name: str) -> Instrument:
    """An instrument of the example market."""
    _, _, pip, precision, units_precision, rate = MARKET[name]
    return _instruments.read(
        f'{{"name":"{name}","pipLocation":{D(pip).adjusted()},"displayPrecision":{precision},'
        f'"tradeUnitsPrecision":{units_precision},"marginRate":"{rate}"}}'.encode()
    )


def conversion(name: str, home: str) -> HomeConversions:
    """The factors of an instrument's quote currency, as the service sends them."""
    currency = name.rpartition("_")[2]
    value, gain, loss = FACTORS[currency, home]
    return HomeConversions(
        currency=currency,
        account_gain=D(gain),
        account_loss=D(loss),
        position_value=D(value),
    )


@pytest.mark.parametrize(
    ("home", "name", "distance", "units", "margin"),
    [
        ("USD", "EUR_USD", "0.00200", "50000", "1806.44"),
        ("USD", "USD_JPY", "0.400", "38608", "1285.65"),
        ("USD", "EUR_GBP", "0.00200", "39255", "1418.24"),
        ("USD", "XAU_USD", "10.00", "10", "1172.70"),
        ("USD", "SPX500_USD", "20.0", "5.0", "1325.12"),
        ("USD", "DE30_EUR", "100.0", "0.9", "903.25"),
        ("EUR", "EUR_USD", "0.00200", "53977", "1797.43"),
        ("EUR", "USD_JPY", "0.400", "41889", "1285.66"),
        ("EUR", "EUR_GBP", "0.00200", "42590", "1418.25"),
        ("EUR", "XAU_USD", "10.00", "10", "1080.88"),
        ("EUR", "SPX500_USD", "20.0", "5.3", "1294.65"),
        ("EUR", "DE30_EUR", "100.0", "1.0", "925.03"),
    ],
)
def test_one_percent_of_ten_thousand_buys_these_units(
    home: str, name: str, distance: str, units: str, margin: str
) -> None:
    pair, factors = instrument(name), conversion(name, home)
    sized = pair.units_for_risk(D(100), D(distance), factors)
    assert str(sized) == units
    bid, ask = (D(price) for price in MARKET[name][:2])
    assert abs(pair.margin(sized, (bid + ask) / 2, factors) - D(margin)) <= D("0.006")


def test_pips_keep_their_sign_and_are_not_rounded() -> None:
    assert instrument("EUR_USD").pips(D("0.00205")) == D("20.5")
    assert instrument("USD_JPY").pips(D("-0.400")) == -40


@pytest.mark.parametrize(
    ("name", "base", "quote"), [("EUR_USD", "EUR", "USD"), ("SPX500_USD", "SPX500", "USD")]
)
def test_the_name_tells_base_and_quote(name: str, base: str, quote: str) -> None:
    pair = instrument(name)
    assert (pair.base, pair.quote) == (base, quote)


def test_home_currency_needs_no_conversion() -> None:
    assert instrument("EUR_USD").units_for_risk(D(100), D("0.00200"), HOME) == 50_000


def test_own_factors_serve_as_those_of_the_service() -> None:
    factors = Factors(gain=D("0.99"), loss=D("1.01"), value=D(1))
    assert instrument("EUR_USD").units_for_risk(D(100), D("0.00200"), factors) == 49_504


def test_the_accounts_own_margin_rate_only_raises_the_margin() -> None:
    pair = instrument("EUR_USD")
    assert pair.margin(D(1000), D(1), HOME, account_rate=D("0.05")) == 50
    assert pair.margin(D(-1000), D(1), HOME, account_rate=D("0.01")) == D("33.3")


@pytest.mark.parametrize("distance", ["0", "-0.002"])
def test_a_stop_without_distance_is_refused(distance: str) -> None:
    with pytest.raises(
        InvalidRequest, match=f"stop_distance: {distance} is not above 0"
    ) as refused:
        instrument("EUR_USD").units_for_risk(D(100), D(distance), HOME)
    assert refused.value.field == "stop_distance"


def test_a_float_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"amount: '0\.1' is a float"):
        instrument("EUR_USD").units_for_risk(0.1, D("0.002"), HOME)  # type: ignore[arg-type]
