"""Nothing that the market answers comes from after its time.

Two markets are compared whose histories part: they have the same reference rates up to the fixing that ends the present
interval, and different ones after it. Up to there every byte is the same. (The path between two fixings is drawn to arrive at
the second; that it does not give away where that is, `test_fairness` shows.) Spreads and depth do not depend on the second
fixing either.
"""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.market.books import BOOK_INSTRUMENTS, SNAPSHOT_EVERY, Books
from keydesk_practice.market.candle_files import read_candle_file
from keydesk_practice.market.candles import GRANULARITIES
from keydesk_practice.market.hours import CELL, first_cell, market_day_of
from keydesk_practice.market.instruments import LISTINGS
from keydesk_practice.market.practice_market import PracticeMarket
from keydesk_practice.market.reference import ReferenceRates
from support.data.practice_market import ALL_PRICES, another_market, instant, practice_market
from support.examples import examples

DAY = 86_400 * 1_000_000_000
ROWS = st.integers(5, len(practice_market().rates.days) - 3)
PART = st.floats(0.0, 1.0, exclude_max=True)
INSTRUMENTS = st.sampled_from([listing.name for listing in LISTINGS])


def other_future(rates: ReferenceRates, row: int) -> ReferenceRates:
    """Return rates that are others after a row: no day, no currency goes on as it did."""
    logs = rates.logs.copy()
    drawn = np.random.default_rng(row).normal(0.0, 0.02, logs[row + 1 :].shape)
    logs[row + 1 :] += np.cumsum(drawn, axis=0)
    return ReferenceRates(rates.days, rates.currencies, logs)


@lru_cache(maxsize=2)  # a market keeps the paths that it has drawn: megabytes for each example
def markets(row: int, hours: str = "always") -> tuple[PracticeMarket, PracticeMarket]:
    """Return the market, and one that is another after the fixing of a row."""
    market = practice_market(hours)
    return market, PracticeMarket(1, hours, rates=other_future(market.rates, row))


def instant_before(row: int, part: float) -> int:
    """Return an instant between a fixing and the one before it."""
    days = practice_market().rates.days
    start, end = (first_cell(int(days[one])) * CELL for one in (row - 1, row))
    return start + int((end - start) * part)


@given(ROWS, PART)
@settings(max_examples=examples(3, soak=12), deadline=None)
def test_no_quote_and_no_conversion_knows_a_later_fixing(row: int, part: float) -> None:
    one, other = (market.at(instant_before(row, part)) for market in markets(row))
    assert one.instruments() == other.instruments()
    for name in one.instruments():
        assert one.quote(name) == other.quote(name)
        assert one.specification(name) == other.specification(name)
        home = name.partition("_")[2]
        assert one.conversion("EUR", home) == other.conversion("EUR", home)


@given(ROWS, PART, INSTRUMENTS, st.sampled_from(GRANULARITIES), st.integers(-2, 2))
@settings(max_examples=examples(3, soak=12), deadline=None)
def test_no_candle_knows_a_later_fixing(
    row: int, part: float, instrument: str, granularity: str, ahead: int
) -> None:
    now = instant_before(row, part)
    spec = CandleSpec(granularity, ALL_PRICES, smooth=True)
    for range_ in (Range(count=4), Range(begin=max(now + ahead * DAY, 0), count=4)):
        one, other = (market.candles(instrument, spec, range_, now) for market in markets(row))
        assert one == other
        assert all(candle.time <= now for candle in one)


@given(ROWS, PART, st.sampled_from(BOOK_INSTRUMENTS))
@settings(max_examples=examples(2, soak=8), deadline=None)
def test_no_book_knows_a_later_fixing(row: int, part: float, instrument: str) -> None:
    time = instant_before(row, part) // SNAPSHOT_EVERY * SNAPSHOT_EVERY
    if time < instant_before(row, 0.0):
        return
    one, other = (Books(market) for market in markets(row))
    assert one.order_book(instrument, time) == other.order_book(instrument, time)
    assert one.position_book(instrument, time) == other.position_book(instrument, time)


@given(ROWS, PART)
@settings(max_examples=examples(3, soak=12), deadline=None)
def test_spread_and_depth_do_not_know_the_next_fixing(row: int, part: float) -> None:
    now = instant_before(row, part)
    day = market_day_of(now // CELL)
    one, other = (
        market._pairs.volatility.over(day) for market in (practice_market(), markets(row - 1)[1])
    )
    assert all((a == b).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("granularity", "hours"),
    [("S5", "fx"), ("M1", "always"), ("H1", "fx"), ("D", "always"), ("W", "fx"), ("M", "always")],
)
def test_a_forming_candle_is_what_has_happened_so_far(granularity: str, hours: str) -> None:
    market = practice_market(hours)
    now = instant("2024-05-15T14:31:07Z") + 300_000_000
    [forming] = market.candles("AUD_CAD", CandleSpec(granularity, ALL_PRICES), Range(count=1), now)
    since = [
        candle
        for candle in market.candles(
            "AUD_CAD", CandleSpec("S5", ALL_PRICES), Range(count=5000), now
        )
        if candle.time >= forming.time
    ]
    for component in Component:
        prices = forming.prices[component]
        assert prices.c == since[-1].prices[component].c
        if since[0].time == forming.time:
            assert float(prices.h) == max(float(one.prices[component].h) for one in since)
            assert float(prices.l) == min(float(one.prices[component].l) for one in since)
    assert all(candle.time < now for candle in since)


def test_a_replayed_file_is_read_no_further_than_the_time(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("candles")
    rows = [f"2024-05-15T{hour:02}:00Z,2300,2310,2295,230{hour % 10}" for hour in range(24)]
    changed = [*rows[:12], *(row.replace("2310", "23100") for row in rows[12:])]
    now = instant("2024-05-15T11:40:00Z")
    answers = []
    for name, lines in (("one", rows), ("other", changed)):
        file = folder / f"{name}.csv"
        file.write_text("\n".join(lines))
        market = another_market(replayed=(read_candle_file("XAU_USD", file),))
        answers.append(
            (
                market.at(now).quote("XAU_USD"),
                market.at(now).specification("XAU_USD"),
                market.at(now).conversion("XAU", "EUR"),
                *(
                    market.candles("XAU_USD", CandleSpec(one, ALL_PRICES), Range(count=9), now)
                    for one in ("M1", "H1", "D")
                ),
            )
        )
    assert answers[0] == answers[1]
