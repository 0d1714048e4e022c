"""Candles of all granularities agree with each other, with the quotes, and with the same request later."""

import itertools
from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import Alignment, CandleSpec, Range
from keydesk_practice.market.candles import GRANULARITIES, Candle, TooManyCandles
from keydesk_practice.market.instruments import LISTINGS
from support.data.practice_market import (
    ALL_PRICES,
    another_market,
    between,
    candles,
    close_of,
    high_of,
    instant,
    low_of,
    open_of,
    practice_market,
)

NOW = "2024-05-16T11:22:33Z"
SECOND = 1_000_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR


def spans(found: list[Candle]) -> list[timedelta]:
    times = [candle.time for candle in found]
    return [timedelta(microseconds=(b - a) // 1000) for a, b in itertools.pairwise(times)]


def assert_same_prices(whole: Candle, parts: list[Candle]) -> None:
    for component in ALL_PRICES:
        prices = whole.prices[component]
        assert Decimal(prices.o) == open_of(parts, component)
        assert Decimal(prices.h) == high_of(parts, component)
        assert Decimal(prices.l) == low_of(parts, component)
        assert Decimal(prices.c) == close_of(parts, component)
    assert whole.volume == sum(part.volume for part in parts)


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("instrument", ["EUR_USD", pytest.param("TRY_JPY", marks=pytest.mark.soak)])
def test_a_day_is_made_of_its_parts(instrument: str, granularity: str) -> None:
    large = granularity if granularity in {"W", "M"} else "D"
    small = "D" if granularity in {"W", "M"} else granularity
    limit = 7200 if granularity in {"S5", "S10", "S15"} else None  # 5,000 candles are an answer
    assert_parts_make_the_whole(instrument, small, large, limit)


def assert_parts_make_the_whole(
    instrument: str, small: str, large: str, piece: int | None, hours: str = "always"
) -> None:
    market = practice_market(hours)
    whole, after = candles(instrument, large, NOW, Range(count=3), market=market)[:2]
    assert whole.complete
    edges = range(whole.time, after.time, piece * SECOND) if piece else [whole.time]
    ends = [*list(edges)[1:], after.time]
    parts = [
        candle
        for begin, end in zip(edges, ends, strict=True)
        for candle in candles(instrument, small, NOW, between(begin, end), market=market)
    ]
    assert_same_prices(whole, parts)


@pytest.mark.soak
def test_every_instrument_is_made_of_its_parts() -> None:
    for instrument in [listing.name for listing in LISTINGS[::3]]:
        for granularity in GRANULARITIES:
            for hours in ["always", "fx"]:
                large = granularity if granularity in {"W", "M"} else "D"
                small = "D" if granularity in {"W", "M"} else granularity
                assert_parts_make_the_whole(
                    instrument, small, large, 7200 if small[0] == "S" else None, hours
                )


@pytest.mark.parametrize("granularity", ["M1", "H1"])
def test_a_day_with_closed_hours_is_made_of_its_parts(granularity: str) -> None:
    assert_parts_make_the_whole("GBP_USD", granularity, "D", None, "fx")


def test_a_day_with_a_jump_and_closed_hours_is_made_of_its_hours() -> None:
    market, now = practice_market("fx"), "2015-01-20T00:00Z"
    (day,) = candles(
        "EUR_CHF", "D", now, Range(begin=instant("2015-01-15T00:00Z"), count=1), market=market
    )
    hours = candles("EUR_CHF", "H1", now, between(day.time, day.time + DAY), market=market)
    assert_same_prices(day, hours)


@pytest.mark.parametrize("granularity", ["S5", "M1", "M10", "H1", "H4", "D", "W", "M"])
def test_a_candle_requested_twice_is_the_same_to_the_byte(granularity: str) -> None:
    complete = [
        candle for candle in candles("EUR_JPY", granularity, NOW, Range(count=6)) if candle.complete
    ]
    asked_otherwise = candles(
        "EUR_JPY",
        granularity,
        "2024-05-18T00:00:00Z",
        Range(begin=complete[0].time, count=len(complete)),
        market=another_market(),
    )
    assert complete == asked_otherwise


def test_another_seed_is_another_market_with_the_same_fixings() -> None:
    fixing = instant("2024-05-15T12:15Z")
    minute = between(fixing - 60 * SECOND, fixing)
    [one] = candles("EUR_USD", "M1", NOW, minute)
    [other] = candles("EUR_USD", "M1", NOW, minute, market=another_market(2))
    assert one.prices[Component.MID].c == other.prices[Component.MID].c == "1.08320"
    assert one.prices[Component.MID].o != other.prices[Component.MID].o


def test_the_last_price_before_each_fixing_is_the_published_rate() -> None:
    market = practice_market()
    rates = market.rates
    usd, jpy = rates.currencies.index("USD"), rates.currencies.index("JPY")
    for row in range(-300, -1, 13):
        day = np.datetime64(int(rates.days[row]), "D").item()
        local = f"{day}T14:15"
        fixing = instant_in_frankfurt(local)
        [euro] = candles("EUR_USD", "S5", "2026-10-30T20:00Z", between(fixing - 5 * SECOND, fixing))
        [yen] = candles("USD_JPY", "S5", "2026-10-30T20:00Z", between(fixing - 5 * SECOND, fixing))
        published = np.exp(rates.logs[row])
        assert float(euro.prices[Component.MID].c) == pytest.approx(published[usd], abs=0.6e-5)
        assert float(yen.prices[Component.MID].c) == pytest.approx(
            published[jpy] / published[usd], abs=0.6e-3
        )


def instant_in_frankfurt(local: str) -> int:
    return (
        int(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo("Europe/Berlin")).timestamp())
        * SECOND
    )


def test_every_quote_lies_within_its_candle() -> None:
    market = practice_market()
    [minute] = candles("GBP_JPY", "M1", NOW, Range(begin=instant("2024-05-15T14:30Z"), count=1))
    for part in range(240):
        quote = market.at(minute.time + part * SECOND // 4).quote("GBP_JPY")
        assert Decimal(minute.prices[Component.BID].l) <= quote.bid
        assert quote.bid <= Decimal(minute.prices[Component.BID].h)
        assert Decimal(minute.prices[Component.ASK].l) <= quote.ask
        assert quote.ask <= Decimal(minute.prices[Component.ASK].h)


def test_the_forming_candle_grows_into_the_complete_one() -> None:
    begin = instant("2024-05-15T14:00Z")
    [complete] = candles("EUR_USD", "H1", NOW, Range(begin=begin, count=1))
    market, volume = practice_market(), 0
    for minutes in (0, 1, 17, 44, 59):
        now = begin + minutes * 60 * SECOND + 1_234_567_890
        [forming] = market.candles("EUR_USD", CandleSpec("H1"), Range(count=1), now)
        mid = forming.prices[Component.MID]
        assert not forming.complete
        assert mid.o == complete.prices[Component.MID].o
        assert Decimal(mid.h) <= Decimal(complete.prices[Component.MID].h)
        assert Decimal(mid.l) >= Decimal(complete.prices[Component.MID].l)
        quote = market.at(now).quote("EUR_USD")
        assert abs(Decimal(mid.c) - quote.mid) <= Decimal("0.00001")
        assert volume < forming.volume <= complete.volume
        volume = forming.volume


@pytest.mark.parametrize(
    ("around", "hours"), [("2024-03-12T12:00Z", [24, 23, 24]), ("2024-11-05T12:00Z", [24, 25, 24])]
)
def test_days_of_a_clock_change_have_23_or_25_hours(around: str, hours: list[int]) -> None:
    days = candles("EUR_USD", "D", around, Range(count=4))
    assert [span // timedelta(hours=1) for span in spans(days)] == hours
    assert_hours_make_the_day(days, around)


def assert_hours_make_the_day(days: list[Candle], now: str) -> None:
    for day, following in itertools.pairwise(days):
        assert_same_prices(day, candles("EUR_USD", "H1", now, between(day.time, following.time)))


def test_days_begin_at_seventeen_hours_in_new_york() -> None:
    summer = candles("EUR_USD", "D", "2024-07-03T12:00Z", Range(count=1))
    winter = candles("EUR_USD", "D", "2024-01-03T12:00Z", Range(count=1))
    assert summer[0].time == instant("2024-07-02T21:00Z")
    assert winter[0].time == instant("2024-01-02T22:00Z")


def test_weeks_begin_on_friday_and_months_on_the_first() -> None:
    [week] = candles("EUR_USD", "W", NOW, Range(count=1))
    [month] = candles("EUR_USD", "M", NOW, Range(count=1))
    assert week.time == instant("2024-05-10T21:00Z")
    assert month.time == instant("2024-05-01T21:00Z")


def test_days_can_be_aligned_elsewhere() -> None:
    cut = CandleSpec("H4", alignment=Alignment(hour=9, zone=ZoneInfo("Asia/Tokyo")))
    found = candles("USD_JPY", "H4", NOW, Range(count=6), cut=cut)
    assert {candle.time // HOUR % 24 for candle in found} == {0, 4, 8, 12, 16, 20}
    monday = CandleSpec("W", alignment=Alignment(hour=0, zone=ZoneInfo("UTC"), weekday=0))
    [week] = candles("USD_JPY", "W", NOW, Range(count=1), cut=monday)
    assert week.time == instant("2024-05-13T00:00Z")


def test_a_count_alone_returns_the_last_candles() -> None:
    found = candles("EUR_USD", "M5", NOW, Range(count=3))
    assert [candle.time for candle in found] == [
        instant(f"2024-05-16T11:{minute}Z") for minute in (10, 15, 20)
    ]
    assert [candle.complete for candle in found] == [True, True, False]


def test_from_returns_candles_from_the_one_that_covers_it() -> None:
    begin = instant("2024-05-16T10:02:30Z")
    found = candles("EUR_USD", "M5", NOW, Range(begin=begin, count=2))
    assert found[0].time == instant("2024-05-16T10:00Z")
    later = candles("EUR_USD", "M5", NOW, Range(begin=begin, count=2, include_first=False))
    assert [candle.time for candle in later] == [
        instant("2024-05-16T10:05Z"),
        instant("2024-05-16T10:10Z"),
    ]


def test_to_returns_candles_that_start_before_it() -> None:
    found = candles("EUR_USD", "M5", NOW, Range(end=instant("2024-05-16T10:10Z"), count=2))
    assert [candle.time for candle in found] == [
        instant("2024-05-16T10:00Z"),
        instant("2024-05-16T10:05Z"),
    ]


def test_more_than_five_thousand_are_too_many() -> None:
    begin, end = instant("2024-05-01T00:00Z"), instant("2024-05-04T11:20Z")
    assert len(candles("EUR_USD", "M1", NOW, between(begin, end))) == 5000
    with pytest.raises(TooManyCandles):
        candles("EUR_USD", "M1", NOW, between(begin, end + 60 * SECOND))
    with pytest.raises(TooManyCandles):
        candles("EUR_USD", "S5", NOW, between(instant("1999-05-01T00:00Z"), end))


def test_smooth_candles_open_where_the_one_before_closed() -> None:
    plain = candles("EUR_USD", "M1", NOW, Range(count=9), market=practice_market("fx"))
    cut = CandleSpec("M1", ALL_PRICES, smooth=True)
    smooth = candles("EUR_USD", "M1", NOW, Range(count=8), cut=cut)
    for before, candle in zip(plain, smooth, strict=False):
        prices = candle.prices[Component.BID]
        assert prices.o == before.prices[Component.BID].c
        assert Decimal(prices.l) <= Decimal(prices.o) <= Decimal(prices.h)


def test_a_large_size_pays_deeper_prices() -> None:
    asked = Range(count=5)
    one = candles("EUR_USD", "M5", NOW, asked)
    many = candles(
        "EUR_USD", "M5", NOW, asked, cut=CandleSpec("M5", ALL_PRICES, units=15_000_000.0)
    )
    for small, large in zip(one, many, strict=True):
        assert large.prices[Component.MID] == small.prices[Component.MID]
        assert Decimal(large.prices[Component.ASK].h) > Decimal(small.prices[Component.ASK].h)
        assert Decimal(large.prices[Component.BID].l) < Decimal(small.prices[Component.BID].l)


def test_candles_begin_with_the_first_published_rate() -> None:
    found = candles("USD_MXN", "D", "2008-02-01T00:00Z", Range(begin=0, count=3))
    assert found[0].time == instant("2008-01-01T22:00Z")
    assert len(found) == 3
    assert candles("USD_MXN", "D", "2007-06-01T00:00Z") == []


def test_the_weekend_has_no_candles_in_the_real_week() -> None:
    weekend = between(instant("2024-05-10T20:00Z"), instant("2024-05-13T00:00Z"))
    found = candles("EUR_USD", "H1", NOW, weekend, market=practice_market("fx"))
    assert [candle.time for candle in found] == [
        instant("2024-05-10T20:00Z"),
        *(instant(f"2024-05-12T{hour}:00Z") for hour in (21, 22, 23)),
    ]
    minutes = candles("EUR_USD", "M1", NOW, weekend, market=practice_market("fx"))
    assert instant("2024-05-10T20:58Z") in {candle.time for candle in minutes}
    assert instant("2024-05-10T20:59Z") not in {candle.time for candle in minutes}
    assert instant("2024-05-12T21:04Z") not in {candle.time for candle in minutes}
    assert instant("2024-05-12T21:05Z") in {candle.time for candle in minutes}


def test_a_count_of_candles_reaches_over_the_weekend() -> None:
    found = candles(
        "EUR_USD", "M15", "2024-05-12T23:00Z", Range(count=20), market=practice_market("fx")
    )
    assert len(found) == 20
    assert found[0].time < instant("2024-05-10T21:00Z")
