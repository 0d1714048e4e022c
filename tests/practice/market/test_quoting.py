"""Quotes of an instant: sides, depth, crosses, hours, conversion and determinism."""

from decimal import Decimal

import pytest

from keydesk_practice.errors import TimeOutsideRates
from keydesk_practice.market.practice_market import Instant
from support.data.practice_market import another_market, instant, practice_market

NOW = instant("2024-05-15T14:31:02Z")
SECOND = 1_000_000_000
HOUR = 3600 * SECOND


def test_every_bid_is_below_its_ask_and_every_level_worse_than_the_one_before() -> None:
    for hours in range(0, 24 * 8, 5):
        now = practice_market().at(NOW + hours * HOUR)
        for name in now.instruments():
            quote = now.quote(name)
            bids = [level.price for level in quote.bids]
            asks = [level.price for level in quote.asks]
            assert bids == sorted(set(bids), reverse=True)
            assert asks == sorted(set(asks))
            assert bids[0] < asks[0]
            assert min(level.liquidity for level in (*quote.bids, *quote.asks)) > 0
            assert quote.closeout_bid <= bids[-1]
            assert quote.closeout_ask >= asks[-1]


def test_prices_carry_all_decimals_of_their_instrument() -> None:
    now = practice_market().at(NOW)
    for name in now.instruments():
        specification = now.specification(name)
        assert specification is not None
        assert now.quote(name).bid.as_tuple().exponent == -specification.display_precision


def step(now: Instant, name: str) -> Decimal:
    specification = now.specification(name)
    assert specification is not None
    return specification.price_step


@pytest.mark.parametrize(
    ("one", "other", "cross"),
    [
        ("EUR_USD", "USD_JPY", "EUR_JPY"),
        ("GBP_USD", "USD_CHF", "GBP_CHF"),
        ("EUR_GBP", "GBP_AUD", "EUR_AUD"),
        ("USD_ZAR", "ZAR_JPY", "USD_JPY"),
    ],
)
def test_crosses_agree(one: str, other: str, cross: str) -> None:
    for hours in range(0, 400, 17):
        now = practice_market().at(NOW + hours * HOUR)
        product = now.quote(one).mid * now.quote(other).mid
        rounding = sum(step(now, name) / now.quote(name).mid for name in (one, other, cross))
        assert abs(product / now.quote(cross).mid - 1) <= rounding


def test_the_same_instant_has_the_same_price_whatever_was_requested_before() -> None:
    again = another_market()
    again.at(instant("2031-01-01T00:00Z")).quote("EUR_USD")
    for name in ("EUR_USD", "TRY_JPY", "USD_HKD"):
        assert again.at(NOW).quote(name) == practice_market().at(NOW).quote(name)


def test_a_peg_stays_a_peg_within_the_day() -> None:
    mids = [
        practice_market().at(NOW + minutes * 60 * SECOND).quote("USD_HKD").mid
        for minutes in range(0, 1440, 10)
    ]
    assert max(mids) / min(mids) - 1 < Decimal("0.002")


def test_the_market_goes_on_after_the_last_published_day() -> None:
    market = practice_market()
    last, later = market.at(instant("2026-10-30T13:15Z")), market.at(instant("2028-10-30T13:15Z"))
    assert last.quote("EUR_USD").mid.quantize(Decimal("0.001")) == Decimal("1.117")
    assert later.quote("EUR_USD").mid != last.quote("EUR_USD").mid
    assert Decimal("0.6") < later.quote("EUR_USD").mid / last.quote("EUR_USD").mid < Decimal("1.6")


def test_spreads_widen_around_seventeen_hours_in_new_york() -> None:
    def spread(time: str) -> Decimal:
        quote = practice_market().at(instant(time)).quote("EUR_USD")
        return quote.ask - quote.bid

    london, roll = spread("2024-05-15T13:00Z"), spread("2024-05-15T21:00Z")
    assert Decimal("0.00005") < london < Decimal("0.00030")
    assert roll > 3 * london
    assert spread("2024-05-15T03:00Z") > london


@pytest.mark.parametrize(
    "evening", ["2024-05-18T20", "2024-05-18T21", "2024-05-19T20", "2024-05-19T21"]
)
def test_nothing_is_rolled_at_the_weekend_of_a_market_that_is_always_open(evening: str) -> None:
    for minute in range(0, 60, 5):
        quote = practice_market().at(instant(f"{evening}:{minute:02}Z")).quote("EUR_USD")
        assert quote.ask - quote.bid < Decimal("0.00025")


def test_the_real_week_opens_with_wide_spreads() -> None:
    quote = practice_market("fx").at(instant("2024-05-19T21:06Z")).quote("EUR_USD")
    assert quote.ask - quote.bid > Decimal("0.00040")


def test_depth_is_thinner_at_night() -> None:
    def depth(time: str) -> int:
        quote = practice_market().at(instant(time)).quote("EUR_USD")
        return sum(level.liquidity for level in quote.bids)

    assert depth("2024-05-15T13:00Z") > 2 * depth("2024-05-15T21:30Z")


def test_always_means_open_at_the_weekend_too() -> None:
    saturday = practice_market().at(instant("2024-05-18T12:00Z"))
    assert saturday.quote("EUR_USD").tradeable
    assert not practice_market("fx").at(saturday.now).quote("EUR_USD").tradeable


@pytest.mark.parametrize(
    ("time", "is_open"),
    [
        ("2024-05-17T20:58:59Z", True),
        ("2024-05-17T20:59:00Z", False),
        ("2024-05-19T21:04:59Z", False),
        ("2024-05-19T21:05:00Z", True),
        ("2024-05-15T20:59:00Z", False),
        ("2024-05-15T21:05:00Z", True),
        ("2024-01-17T21:59:00Z", False),
        ("2024-01-17T22:05:00Z", True),
        ("2024-01-17T21:00:00Z", True),
    ],
)
def test_the_real_week_runs_from_sunday_to_friday_with_a_break_a_day(
    time: str, is_open: bool
) -> None:
    assert practice_market("fx").at(instant(time)).quote("EUR_USD").tradeable is is_open


def test_both_kinds_of_week_have_the_same_prices() -> None:
    always, week = (practice_market(hours).at(NOW) for hours in ("always", "fx"))
    assert always.quote("GBP_USD") == week.quote("GBP_USD")


def test_an_instrument_is_offered_once_its_currencies_have_rates() -> None:
    early, late = practice_market().at(instant("2004-06-01T12:00Z")), practice_market().at(NOW)
    assert "EUR_USD" in early.instruments()
    assert "USD_TRY" not in early.instruments()
    assert early.specification("USD_TRY") is None
    assert not early.quote("USD_TRY").tradeable
    assert len(late.instruments()) == 70
    with pytest.raises(KeyError):
        late.quote("EUR_XYZ")


def test_conversion_is_the_mid_with_half_a_percent_for_gains_and_losses() -> None:
    now = practice_market().at(NOW)
    factors = now.conversion("JPY", "USD")
    mid = now.quote("USD_JPY").mid
    assert abs(factors.value * mid - 1) < Decimal("0.00002")
    assert abs(factors.gain - factors.value * Decimal("0.995")) <= Decimal("1e-12")
    assert abs(factors.loss - factors.value * Decimal("1.005")) <= Decimal("1e-12")
    assert now.conversion("EUR", "EUR").gain == now.conversion("EUR", "EUR").value == 1


def test_conversion_there_and_back_is_one() -> None:
    now = practice_market().at(NOW)
    there, back = now.conversion("GBP", "CHF").value, now.conversion("CHF", "GBP").value
    assert abs(there * back - 1) < Decimal("1e-11")


@pytest.mark.parametrize("time", ["1998-12-31T12:00Z", "2300-01-01T12:00Z"])
def test_a_time_without_rates_raises(time: str) -> None:
    with pytest.raises(TimeOutsideRates):
        practice_market().at(instant(time))


@pytest.mark.parametrize(
    ("closes", "opens"),
    [
        ("2024-01-05T21:59:00Z", "2024-01-07T22:05:00Z"),  # the weekend
        ("2024-01-10T21:59:00Z", "2024-01-10T22:05:00Z"),  # the daily break
    ],
)
def test_prices_stand_still_while_the_market_is_closed(closes: str, opens: str) -> None:
    market, start, end = practice_market("fx"), instant(closes), instant(opens)
    last = market.at(start - 1)
    assert last.quote("EUR_USD").tradeable
    for at in (start, start + 60_000_000_000, (start + end) // 2, end - 1):
        now = market.at(at)
        for name in ("EUR_USD", "USD_TRY", "GBP_JPY"):
            quote, before = now.quote(name), last.quote(name)
            assert (quote.bids, quote.asks) == (before.bids, before.asks)
            assert (quote.closeout_bid, quote.closeout_ask) == (before.closeout_bid, before.closeout_ask)  # fmt: skip
            assert not quote.tradeable
        assert now.conversion("JPY", "USD") == last.conversion("JPY", "USD")
    again = market.at(end)
    assert again.quote("EUR_USD").tradeable
    assert again.quote("EUR_USD").bids != last.quote("EUR_USD").bids
