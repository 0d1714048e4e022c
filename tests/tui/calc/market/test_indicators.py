"""A worked vector of twelve candles, other people's indicators as an oracle, and updates that equal recomputing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan, sin
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talipp.indicators import ATR, BB, EMA, MACD, RSI
from talipp.ohlcv import OHLCV

from keydesk.calc.market.indicator_specs import parse_indicator
from keydesk.calc.market.indicators import Indicators, PreviousDay, compute, warm_up
from support.walks import sampled


@dataclass(frozen=True)
class Bar:
    open: float
    high: float
    low: float
    close: float


HIGHS = (10.2, 10.5, 10.9, 10.8, 11.2, 11.5, 11.4, 11.1, 11.3, 11.8, 12.0, 11.9)
LOWS = (9.8, 10.0, 10.4, 10.3, 10.7, 11.0, 10.9, 10.6, 10.8, 11.2, 11.5, 11.3)
CLOSES = (10.0, 10.4, 10.6, 10.5, 11.1, 11.2, 11.0, 10.8, 11.2, 11.7, 11.6, 11.4)
VECTOR = [
    Bar(close, high, low, close) for high, low, close in zip(HIGHS, LOWS, CLOSES, strict=True)
]


def lines_of(text: str, candles: Sequence[Bar] = VECTOR) -> dict[str, list[float]]:
    return {line.name: line.values for line in compute(parse_indicator(text), candles).lines}


def printed_values(values: Sequence[float], digits: int = 4) -> list[str]:
    """Return values as the vectors print them, without those that are not there yet."""
    return [f"{value:.{digits}f}" for value in values if not isnan(value)]


def first_value(values: Sequence[float]) -> int:
    return next(i for i, value in enumerate(values) if not isnan(value))


def test_the_average_true_range_has_the_values_of_the_vector() -> None:
    values = lines_of("atr 5")["ATR"]
    assert first_value(values) == 5
    assert printed_values(values) == [
        "0.5400",
        "0.5320",
        "0.5256",
        "0.5205",
        "0.5364",
        "0.5291",
        "0.5433",
    ]


def test_the_exponential_average_has_the_values_of_the_vector() -> None:
    values = lines_of("ema 5")["EMA"]
    assert first_value(values) == 4
    expected = "10.5200 10.7467 10.8311 10.8207 10.9472 11.1981 11.3321 11.3547"
    assert printed_values(values) == expected.split()


def test_the_relative_strength_has_the_values_of_the_vector() -> None:
    values = lines_of("rsi 5")["RSI"]
    assert first_value(values) == 5
    expected = "92.8571 78.7879 66.2420 75.8542 83.2890 77.3358 65.6117"
    assert printed_values(values) == expected.split()


def test_macd_signal_and_histogram_have_the_values_of_the_vector() -> None:
    lines = lines_of("macd 3 6 3")
    assert first_value(lines["MACD"]) == 5
    assert printed_values(lines["MACD"]) == [
        "0.3458",
        "0.2515",
        "0.1390",
        "0.1647",
        "0.2575",
        "0.2324",
        "0.1474",
    ]
    assert first_value(lines["signal"]) == 7
    assert printed_values(lines["signal"]) == ["0.2454", "0.2051", "0.2313", "0.2318", "0.1896"]
    assert printed_values(lines["histogram"])[-1] == "-0.0422"


def test_bollinger_bands_have_the_values_of_the_vector() -> None:
    lines = lines_of("bb 5 2")
    middle, upper, lower = (lines[name][-1] for name in ("middle", "upper", "lower"))
    assert printed_values((middle, upper, lower), 2) == ["11.34", "11.98", "10.70"]
    assert f"{(CLOSES[-1] - lower) / (upper - lower):.4f}" == "0.5469"
    assert f"{(upper - lower) / middle:.4f}" == "0.1129"


def test_a_simple_average_is_the_mean_of_the_last_closes() -> None:
    values = lines_of("sma 5")["SMA"]
    assert first_value(values) == 4
    assert printed_values((values[4], values[-1]), 2) == ["10.52", "11.34"]


def test_the_channel_is_the_highest_high_and_the_lowest_low() -> None:
    lines = lines_of("donchian 5")
    assert (lines["upper"][-1], lines["lower"][-1]) == (12.0, 10.6)
    assert lines["middle"][-1] == pytest.approx(11.3)
    assert first_value(lines["upper"]) == 4


def test_pivots_come_from_the_previous_day() -> None:
    day = PreviousDay(high=1.0900, low=1.0800, close=1.0880)
    series = compute(parse_indicator("pivots"), VECTOR, day)
    assert {each.name: f"{each.price:.4f}" for each in series.levels} == {
        "P": "1.0860",
        "R1": "1.0920",
        "R2": "1.0960",
        "R3": "1.1020",
        "S1": "1.0820",
        "S2": "1.0760",
        "S3": "1.0720",
    }


def test_the_previous_day_is_its_high_low_and_close() -> None:
    day = PreviousDay(high=1.0900, low=1.0800, close=1.0880)
    series = compute(parse_indicator("prevday"), VECTOR, day)
    assert {each.name: each.price for each in series.levels} == {
        "prev high": 1.0900,
        "prev low": 1.0800,
        "prev close": 1.0880,
    }


def test_levels_are_left_out_while_the_previous_day_is_unknown() -> None:
    assert compute(parse_indicator("pivots"), VECTOR).levels == ()


def test_there_is_no_value_without_enough_candles() -> None:
    for text in ("ema 20", "sma 20", "bb 20 2", "donchian 20", "rsi 14", "macd 12 26 9", "atr 14"):
        for values in lines_of(text).values():
            assert len(values) == len(VECTOR)
            assert all(isnan(value) for value in values)


def test_a_market_that_only_rises_has_a_relative_strength_of_100() -> None:
    rising = [Bar(n, n, n, float(n)) for n in range(1, 30)]
    assert lines_of("rsi 14", rising)["RSI"][-1] == 100


# An oracle that is not ours.


def walk(count: int, seed: int = 1) -> list[Bar]:
    """Return candles of a random walk around 1.1, its steps in tenths of a pip."""
    rng, price, bars = Random(seed), 110_000, list[Bar]()
    for _ in range(count):
        first = price
        prices = [price := max(1, price + rng.randint(-60, 60)) for _ in range(5)]
        low, high = min(first, *prices), max(first, *prices)
        bars.append(Bar(first / 1e5, high / 1e5, low / 1e5, price / 1e5))
    return bars


def assert_same(ours: Sequence[float], theirs: Sequence[float | None]) -> None:
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert isnan(mine) if other is None else mine == pytest.approx(other, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("period", [1, 2, 20, 200])
def test_the_exponential_average_equals_the_oracle(period: int) -> None:
    candles = walk(600)
    theirs = EMA(period, input_values=[each.close for each in candles])
    assert_same(lines_of(f"ema {period}", candles)["EMA"], list(theirs))


@pytest.mark.parametrize("period", [2, 14, 50])
def test_the_relative_strength_equals_the_oracle(period: int) -> None:
    candles = walk(600)
    theirs = RSI(period, input_values=[each.close for each in candles])
    assert_same(lines_of(f"rsi {period}", candles)["RSI"], list(theirs))


@pytest.mark.parametrize("periods", [(3, 6, 3), (12, 26, 9), (5, 35, 5)])
def test_macd_equals_the_oracle(periods: tuple[int, int, int]) -> None:
    candles = walk(600)
    theirs = list(MACD(*periods, input_values=[each.close for each in candles]))
    ours = lines_of("macd " + " ".join(map(str, periods)), candles)
    for name in ("macd", "signal", "histogram"):
        own = ours["MACD" if name == "macd" else name]
        assert_same(own, [None if each is None else getattr(each, name) for each in theirs])


@pytest.mark.parametrize(("period", "width"), [(2, 1), (20, 2), (50, 2.5)])
def test_bollinger_bands_equal_the_oracle(period: int, width: float) -> None:
    candles = walk(600)
    theirs = list(BB(period, width, input_values=[each.close for each in candles]))
    ours = lines_of(f"bb {period} {width}", candles)
    for name, their_name in (("middle", "cb"), ("upper", "ub"), ("lower", "lb")):
        values = [None if each is None else getattr(each, their_name) for each in theirs]
        assert_same(ours[name], values)


def test_the_average_true_range_comes_to_equal_the_oracle() -> None:
    """The oracle averages in the range of the first candle, which has none before it."""
    candles = walk(600)
    theirs = list(ATR(14, input_values=[OHLCV(c.open, c.high, c.low, c.close) for c in candles]))
    assert lines_of("atr 14", candles)["ATR"][-1] == pytest.approx(theirs[-1], rel=1e-9)


# Warm-up.


@pytest.mark.parametrize(
    "text",
    sampled(
        [
            "ema 20",
            "ema 200",
            "sma 50",
            "bb 20 2",
            "donchian 20",
            "rsi 14",
            "macd 12 26 9",
            "atr 14",
        ],
        3,
    ),
)
def test_after_the_warm_up_a_value_hardly_depends_on_where_the_candles_begin(text: str) -> None:
    candles, spec = walk(6000), parse_indicator(text)
    needed = warm_up([spec])
    whole = compute(spec, candles).lines
    for first in range(1000, 6000, 250):
        part = compute(spec, candles[first - needed :]).lines
        for line, settled in zip(part, whole, strict=True):
            spread = max(x for x in settled.values if not isnan(x)) - min(
                x for x in settled.values if not isnan(x)
            )
            assert line.values[needed] == pytest.approx(settled.values[first], abs=0.01 * spread)


def test_the_warm_up_of_several_is_the_longest() -> None:
    specs = [parse_indicator(text) for text in ("ema 20", "macd 12 26 9", "rsi 14", "pivots")]
    assert [warm_up([each]) for each in specs] == [80, 140, 112, 0]
    assert warm_up(specs) == 140
    assert warm_up([]) == 0


# Updates.

ALL = ("ema 3", "sma 4", "bb 4 2", "donchian 3", "rsi 3", "macd 2 4 3", "atr 3")
PRICES = st.integers(50, 150).map(float)


@st.composite
def bars(draw: st.DrawFn) -> Bar:
    first, *rest = draw(st.lists(PRICES, min_size=2, max_size=4))
    return Bar(first, max(first, *rest), min(first, *rest), rest[-1])


CHANGED: dict[str, Callable[[list[Bar], Bar], list[Bar]]] = {
    "move": lambda candles, bar: [*candles[:-1], bar],
    "append": lambda candles, bar: [*candles, bar],
    "prepend": lambda candles, bar: [bar, *candles],
    "drop oldest": lambda candles, _: candles[1:],
    "replace third": lambda candles, bar: [*candles[:-3], bar, *candles[-2:]],
    "shorten": lambda candles, _: candles[:-2],
    "equal ones": lambda candles, _: [replace(each) for each in candles],
}
CHANGES = st.lists(st.tuples(st.sampled_from(sorted(CHANGED)), bars()), max_size=12)


@given(start=st.lists(bars(), max_size=12), changes=CHANGES)
def test_an_update_equals_computing_everything_again(
    start: list[Bar], changes: list[tuple[str, Bar]]
) -> None:
    specs = [parse_indicator(text) for text in ALL]
    kept, candles = Indicators(specs), start
    kept.refresh(candles)
    for how, bar in changes:
        candles = CHANGED[how](candles, bar)
        for series in kept.refresh(candles):
            fresh = compute(series.spec, candles)
            for line, other in zip(series.lines, fresh.lines, strict=True):
                assert repr(line.values) == repr(other.values)


class CountingCandle(Bar):
    """A candle that counts how often its close is read."""

    reads = 0

    def __getattribute__(self, name: str) -> object:
        if name == "close":
            CountingCandle.reads += 1
        return super().__getattribute__(name)


def test_a_price_computes_the_last_candle_only() -> None:
    candles = [CountingCandle(1.0, 2.0, 0.5, 1 + sin(n) / 2) for n in range(500)]
    kept = Indicators([parse_indicator(text) for text in ALL])
    kept.refresh(candles)
    CountingCandle.reads = 0
    kept.refresh([*candles[:-1], CountingCandle(1.0, 2.0, 0.5, 1.9)])
    assert CountingCandle.reads <= 4  # the old and the new last candle: compared, then read


def test_candles_may_be_any_sequence() -> None:
    kept = Indicators([parse_indicator("ema 5")])
    for count in (10, 12, 12, 11):
        values = kept.refresh(tuple(VECTOR[:count]))[0].lines[0].values
        assert values[4:] == lines_of("ema 5", VECTOR[:count])["EMA"][4:]


def test_a_new_day_brings_new_levels_on_the_same_candles() -> None:
    kept = Indicators([parse_indicator("pivots")])
    first = kept.refresh(VECTOR, PreviousDay(3, 1, 2))[0].levels
    second = kept.refresh(VECTOR, PreviousDay(6, 2, 4))[0].levels
    assert [each.price for each in second] == [2 * each.price for each in first]


def test_levels_are_in_order_of_price() -> None:
    day = PreviousDay(1.09, 1.08, 1.088)
    by_name = {each.name: each.price for each in compute(parse_indicator("pivots"), [], day).levels}
    prices = [by_name[name] for name in ("S3", "S2", "S1", "P", "R1", "R2", "R3")]
    assert all(low < high for low, high in pairwise(prices))
