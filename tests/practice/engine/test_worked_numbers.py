"""The worked numbers of the trader's specification, to the digit."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk_practice.engine import views
from keydesk_practice.engine.commands import CloseTrade, Finance
from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.state.account import Terms
from keydesk_practice.engine.transactions import DailyFinanced, OrderFilled
from keydesk_practice.engine.wire_form import parse_time
from support.fakes.still_market import StillMarket, currency_pair, example_market
from support.practised_account import PractisedAccount, only

D = Decimal
CENT = D("0.01")


def index(name: str, precision: int) -> Specification:
    """An index or gold: margin of 5 %."""
    return replace(
        currency_pair(name, 3),
        type="CFD",
        display_precision=precision,
        trade_units_precision=1,
        minimum_trade_size=D("0.1"),
        margin_rate=D("0.05"),
    )


def whole_market() -> StillMarket:
    market = example_market({("EUR", "USD"): "1.08495"})
    market.offer(replace(index("XAU_USD", 2), type="METAL"), "2345.20", "2345.60")
    market.offer(index("SPX500_USD", 1), "5300.2", "5300.8")
    market.offer(index("DE30_EUR", 1), "18500.0", "18501.2")
    return market


@pytest.mark.parametrize(
    ("home", "instrument", "units", "notional", "margin"),
    [
        ("USD", "EUR_USD", "50000", "54247.50", "1806.44"),
        ("USD", "USD_JPY", "-38608", "38608.00", "1285.65"),
        ("USD", "EUR_GBP", "39255", "42589.67", "1418.24"),
        ("USD", "XAU_USD", "10", "23454.00", "1172.70"),
        ("USD", "SPX500_USD", "-5", "26502.50", "1325.12"),
        ("USD", "DE30_EUR", "0.9", "18065.00", "903.25"),
        ("EUR", "EUR_USD", "53977", "53977.00", "1797.43"),
        ("EUR", "USD_JPY", "-41889", "38608.43", "1285.66"),
        ("EUR", "EUR_GBP", "42590", "42590.00", "1418.25"),
        ("EUR", "XAU_USD", "10", "21617.59", "1080.88"),
        ("EUR", "SPX500_USD", "-5.3", "25893.04", "1294.65"),
        ("EUR", "DE30_EUR", "1", "18500.60", "925.03"),
    ],
)
def test_value_and_margin_of_the_sizing_table(
    home: str, instrument: str, units: str, notional: str, margin: str
) -> None:
    account = PractisedAccount(Terms(currency=home), market=whole_market())
    account.trade(instrument, units)
    summary = account.summary()
    assert D(summary["positionValue"]).quantize(CENT) == D(notional)
    assert D(summary["marginUsed"]).quantize(CENT) == D(margin)


@pytest.mark.parametrize(
    ("bid", "ask", "pl"),
    [("154.386", "154.400", "204.38"), ("155.586", "155.600", "-103.22")],
)
def test_a_short_in_yen_realises_by_gain_and_loss_factor(bid: str, ask: str, pl: str) -> None:
    account = PractisedAccount()
    trade = account.trade("USD_JPY", -39850)
    account.market.price("USD_JPY", bid, ask)
    fill = only(OrderFilled, account.do(CloseTrade(specifier=str(trade.id))))
    assert fill.pl.quantize(CENT) == D(pl)
    assert fill.account_balance == D("10000.0000") + fill.pl


@pytest.mark.parametrize(
    ("home", "day", "amount"),
    [
        ("USD", "2024-03-07", "-3.20"),
        ("USD", "2024-03-06", "-9.59"),
        ("EUR", "2024-03-07", "-2.96"),
    ],
)
def test_financing_on_the_value_in_the_quote_currency(home: str, day: str, amount: str) -> None:
    account = PractisedAccount(Terms(currency=home, financing_in="QUOTE"))
    trade = account.trade("EUR_USD", 50000)
    account.market.now = parse_time(f"{day}T22:00:00Z")
    booked = only(DailyFinanced, account.do(Finance()))
    assert booked.financing.quantize(CENT) == D(amount)
    assert account.state.trades[trade.id].financing == booked.financing
    assert account.state.balance == D("10000.0000") + booked.financing
    position = views.position(account.state, "EUR_USD", account.market)
    assert position["financing"] == format(booked.financing, "f")


def test_financing_on_base_units_converts_the_base_currency() -> None:
    account = PractisedAccount()
    account.trade("EUR_USD", 50000)
    account.market.now = parse_time("2024-03-07T22:00:00Z")
    booked = only(DailyFinanced, account.do(Finance()))
    base = D(50000) * D("-0.0215") / 365
    assert booked.financing == (base * D("1.09037475")).quantize(D("0.0001"))
    assert booked.position_financings[0].base_financing == D("-2.94520548")


def test_the_recorded_rate_of_the_us_page_comes_out() -> None:
    account = PractisedAccount(Terms(currency="USD", financing_in="QUOTE"))
    account.market.specifications["EUR_USD"] = currency_pair("EUR_USD", long_rate=D("-0.03"))
    account.market.price("EUR_USD", "1.15821", "1.15831")
    account.trade("EUR_USD", 100_000)
    account.market.now = parse_time("2024-03-07T22:00:00Z")
    assert only(DailyFinanced, account.do(Finance())).financing.quantize(CENT) == D("-9.52")


def test_no_day_is_charged_at_the_weekend_and_nothing_when_nothing_is_open() -> None:
    account = PractisedAccount()
    account.market.now = parse_time("2024-03-07T22:00:00Z")
    assert account.do(Finance()) == ()
    account.trade("EUR_USD", 1000)
    account.market.now = parse_time("2024-03-09T22:00:00Z")
    assert account.do(Finance()) == ()


def test_the_average_price_is_weighted_by_units() -> None:
    account = PractisedAccount()
    account.market.price("EUR_USD", "1.08490", "1.08500")
    account.trade("EUR_USD", 30000)
    account.market.price("EUR_USD", "1.08290", "1.08300")
    account.trade("EUR_USD", 20000)
    shown = views.position(account.state, "EUR_USD", account.market)
    assert shown["long"]["averagePrice"] == "1.08420"


def test_the_largest_size_is_what_the_margin_pays_for() -> None:
    account = PractisedAccount(deposit="9800")  # 10,000 with 2 % kept back
    quote = account.market.quote("EUR_USD")
    shown = views.client_price(account.state, quote, account.market)
    assert shown["unitsAvailable"]["default"] == {"long": "271251", "short": "271251"}
