"""A shock changes the market from its instant on, everywhere alike, and nothing before it."""

from decimal import Decimal

import numpy as np
import pytest

from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import Range
from keydesk_practice.market.hours import CELL
from keydesk_practice.market.practice_market import PracticeMarket
from keydesk_practice.market.shocks import Shock, ShockKind, moving_currency
from support.data.practice_market import another_market, candles, instant, practice_market

AT = instant("2019-06-05T10:00Z")
MINUTE = 60 * 1_000_000_000
EVERY_KIND: tuple[Shock, ...] = (
    Shock("spike", AT // CELL, currency="JPY", size=0.02),
    Shock("gap", AT // CELL, currency="EUR", size=-0.03),
    Shock("halt", AT // CELL, ("USD_JPY",), cells=60),
    Shock("spread", AT // CELL, ("USD_JPY",), size=8.0, cells=60),
    Shock("depth", AT // CELL, (), size=0.1, cells=60),
)


def shocked(*shocks: Shock) -> PracticeMarket:
    return another_market(shocks=shocks)


def mid(market: PracticeMarket, name: str, at: int) -> float:
    return float(market.at(at).quote(name).mid)


@pytest.mark.parametrize("shock", EVERY_KIND, ids=lambda one: one.kind)
def test_nothing_before_a_shock_changes(shock: Shock) -> None:
    market = shocked(shock)
    for before in (AT - 1, AT - CELL, AT - 60 * MINUTE):
        for name in ("USD_JPY", "EUR_USD", "EUR_JPY"):
            assert market.at(before).quote(name) == practice_market().at(before).quote(name)
    asked = Range(count=50)
    found = candles("USD_JPY", "M1", "2019-06-05T09:59:59Z", asked, market=market)
    assert found == candles("USD_JPY", "M1", "2019-06-05T09:59:59Z", asked)


def test_a_gap_is_one_step_and_stays() -> None:
    market = shocked(Shock("gap", AT // CELL, currency="EUR", size=-0.03))
    before, after = mid(market, "EUR_USD", AT - 1), mid(market, "EUR_USD", AT)
    assert after / before == pytest.approx(0.97, abs=1e-3)
    for later in (AT + MINUTE, AT + 86_400_000_000_000, AT + 40 * 86_400_000_000_000):
        plain = mid(practice_market(), "EUR_USD", later)
        assert mid(market, "EUR_USD", later) / plain == pytest.approx(0.97, abs=1e-4)


def test_a_spike_goes_there_and_back() -> None:
    market = shocked(Shock("spike", AT // CELL, currency="JPY", size=0.02))
    ratios = [
        mid(market, "USD_JPY", at) / mid(practice_market(), "USD_JPY", at)
        for at in (AT, AT + CELL, AT + 3 * MINUTE, AT + 60 * MINUTE)
    ]
    assert ratios[0] == pytest.approx(1.0, abs=1e-5)
    assert ratios[1] == pytest.approx(1 / 1.02, abs=1e-4)
    assert ratios[1] < ratios[2] < ratios[3] == pytest.approx(1.0, abs=1e-4)


def test_crosses_still_agree_after_a_move() -> None:
    market = shocked(Shock("gap", AT // CELL, currency="JPY", size=0.05)).at(AT + MINUTE)
    direct = float(market.quote("EUR_JPY").mid)
    through = float(market.quote("EUR_USD").mid) * float(market.quote("USD_JPY").mid)
    assert direct / through == pytest.approx(1.0, abs=3e-5)
    assert np.isclose(float(market.conversion("JPY", "USD").value) * float(
        market.quote("USD_JPY").mid), 1.0, atol=3e-5)  # fmt: skip


def test_candles_show_the_move_that_the_prices_made() -> None:
    market = shocked(Shock("gap", AT // CELL, currency="EUR", size=-0.03))
    hour = candles("EUR_USD", "H1", "2019-06-05T11:00Z", Range(count=1), market=market)[0]
    prices = hour.prices[Component.MID]
    assert Decimal(prices.h) / Decimal(prices.l) < Decimal("1.01")  # it begins after the step
    minutes = candles("EUR_USD", "M1", "2019-06-05T10:00:30Z", Range(count=2), market=market)
    closed, opened = (one.prices[Component.MID] for one in minutes)
    assert float(opened.o) / float(closed.c) == pytest.approx(0.97, abs=1e-4)


def test_a_halted_instrument_keeps_its_last_price_and_makes_no_candles() -> None:
    market = shocked(Shock("halt", AT // CELL, ("USD_JPY",), cells=60))
    during = market.at(AT + 2 * MINUTE)
    assert not during.quote("USD_JPY").tradeable
    assert during.quote("EUR_USD").tradeable
    assert during.quote("USD_JPY").bids == market.at(AT - 1).quote("USD_JPY").bids
    assert market.at(AT + 5 * MINUTE).quote("USD_JPY").tradeable
    found = candles("USD_JPY", "M1", "2019-06-05T10:10Z", Range(count=10), market=market)
    assert not [one for one in found if AT <= one.time < AT + 5 * MINUTE]


def test_spread_and_depth_change_for_a_while() -> None:
    market = shocked(EVERY_KIND[3], EVERY_KIND[4])
    for at, widened in ((AT - 1, 1.0), (AT + MINUTE, 8.0), (AT + 6 * MINUTE, 1.0)):
        quote, plain = (one.at(at).quote("USD_JPY") for one in (market, practice_market()))
        width = float(quote.ask - quote.bid) / float(plain.ask - plain.bid)
        assert width == pytest.approx(widened, rel=0.25)
        thin = quote.bids[0].liquidity / plain.bids[0].liquidity
        assert thin == pytest.approx(0.1 if widened > 1 else 1.0, abs=0.01)


@pytest.mark.parametrize("kind", ["halt", "spread", "depth"])
def test_stream_and_candles_agree_within_a_shock(kind: ShockKind) -> None:
    market = shocked(Shock(kind, AT // CELL, ("EUR_USD",), size=3.0, cells=24))
    found = candles("EUR_USD", "S5", "2019-06-05T10:03Z", Range(count=36), market=market)
    for candle in found:
        quote = market.at(candle.time).quote("EUR_USD")
        assert quote.tradeable
        prices = candle.prices
        assert (str(quote.bid), str(quote.ask)) == (
            prices[Component.BID].o, prices[Component.ASK].o)  # fmt: skip


@pytest.mark.parametrize(
    ("instrument", "currency"),
    [("EUR_CHF", "CHF"), ("USD_JPY", "JPY"), ("GBP_USD", "GBP"), ("EUR_USD", "EUR"), ("AUD_NZD", "AUD")],
)  # fmt: skip
def test_the_move_of_a_pair_is_that_of_its_smaller_currency(instrument: str, currency: str) -> None:
    assert moving_currency(instrument) == currency
