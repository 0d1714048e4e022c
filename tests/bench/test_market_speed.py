"""Speed of the practice market, measured without caches unless a test says otherwise."""

import subprocess
import sys
from time import perf_counter, process_time

import pytest

from keydesk_practice.market.bar_blocks import Component
from keydesk_practice.market.bar_builder import CandleSpec, Range
from keydesk_practice.market.instruments import LISTINGS
from keydesk_practice.market.practice_market import PracticeMarket
from support.data.practice_market import instant

pytestmark = pytest.mark.bench

NOW = instant("2026-10-21T11:22:33Z")
FIRST_QUOTES = """
from keydesk_practice.market.practice_market import PracticeMarket
now = PracticeMarket(1).at({now})
assert len([now.quote(name) for name in now.instruments()]) == 70
"""


def seconds_for(instrument: str, granularity: str, count: int) -> float:
    market = PracticeMarket(1)
    began = perf_counter()
    found = market.candles(instrument, CandleSpec(granularity), Range(count=count), NOW)
    took = perf_counter() - began
    assert len(found) == count
    print(f"{count} {granularity} of {instrument}: {took * 1e3:.0f} ms")  # noqa: T201
    return took


@pytest.mark.parametrize("instrument", ["EUR_USD", "GBP_JPY", "NZD_JPY"])
@pytest.mark.parametrize(
    ("granularity", "count", "budget"),
    [("D", 500, 0.6), ("H1", 500, 0.3), ("M1", 5000, 0.3), ("S5", 5000, 0.3)],
)
def test_candles_answer_within_their_budget(
    instrument: str, granularity: str, count: int, budget: float
) -> None:
    assert min(seconds_for(instrument, granularity, count) for _ in range(2)) < budget


@pytest.mark.parametrize("instrument", ["CHF_JPY", "GBP_JPY"])
def test_all_three_prices_of_a_cross_since_2005_take_less_than_two_seconds(instrument: str) -> None:
    times = [_seconds_since_2005(instrument) for _ in range(3)]
    took, spent = (min(of_kind) for of_kind in zip(*times, strict=True))
    print(f"5000 D of {instrument} with mid, bid and ask: {took:.2f} s, processor {spent:.2f} s")  # noqa: T201
    assert spent < 2.0  # one thread: on a machine that does nothing else this is the time it takes


def _seconds_since_2005(instrument: str) -> tuple[float, float]:
    market = PracticeMarket(1)
    began, began_processor = perf_counter(), process_time()
    since = Range(begin=instant("2005-01-03T00:00:00Z"), count=5_000)
    found = market.candles(instrument, CandleSpec("D", frozenset(Component)), since, NOW)
    took = perf_counter() - began, process_time() - began_processor
    assert len(found) == since.count
    return took


def test_two_days_of_every_instrument_are_quick() -> None:
    market = PracticeMarket(1)
    began = perf_counter()
    for listing in LISTINGS:
        assert len(market.candles(listing.name, CandleSpec("D"), Range(count=2), NOW)) == 2
    took = perf_counter() - began
    print(f"2 D of 70 instruments: {took * 1e3:.0f} ms")  # noqa: T201
    assert took < 0.15


def test_the_first_quotes_of_a_fresh_process_come_at_once() -> None:
    command = [sys.executable, "-c", FIRST_QUOTES.format(now=NOW)]
    bare = [sys.executable, "-c", "pass"]
    took = min(_run(command) for _ in range(3)) - min(_run(bare) for _ in range(3))
    print(f"first 70 quotes, numpy's import included: {took * 1e3:.0f} ms")  # noqa: T201
    assert took < 0.4


def _run(command: list[str]) -> float:
    began = perf_counter()
    subprocess.run(command, check=True)
    return perf_counter() - began


@pytest.mark.parametrize(("rate", "budget"), [(4, 0.01), (71, 0.08)])
def test_quotes_of_all_instruments_cost_little(rate: int, budget: float) -> None:
    market = PracticeMarket(1)
    began, seconds = process_time(), 10
    for step in range(seconds * rate):
        now = market.at(NOW + step * 1_000_000_000 // rate)
        for name in market.specifications:
            now.quote(name)
    share = (process_time() - began) / seconds
    print(f"70 instruments, {rate} times a second: {share:.1%} of a core")  # noqa: T201
    assert share < budget


def test_all_three_prices_cost_less_than_three_times_one() -> None:
    market = PracticeMarket(1)
    began = perf_counter()
    market.candles("EUR_JPY", CandleSpec("D", frozenset(Component)), Range(count=500), NOW)
    took = perf_counter() - began
    print(f"500 D of EUR_JPY with mid, bid and ask: {took * 1e3:.0f} ms")  # noqa: T201
    assert took < 1.2
