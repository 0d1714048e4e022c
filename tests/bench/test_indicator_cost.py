"""What a price costs the indicators of two charts, and what replacing all candles costs."""

import sys
from dataclasses import dataclass
from math import sin
from time import process_time

import pytest

from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.calc.market.indicators import Indicators

pytestmark = pytest.mark.bench

CHOSEN = {
    "usual": ("ema 20", "bb 20 2", "rsi 14"),
    "long": ("ema 200", "bb 50 2", "macd 12 26 9"),
}
ROUNDS = 300


@dataclass(frozen=True, slots=True)
class Bar:
    high: float
    low: float
    close: float


def candles(count: int) -> list[Bar]:
    middles = [1.1 + sin(n / 7) / 100 + n % 13 / 1e4 for n in range(count)]
    return [Bar(each + 0.0006, each - 0.0005, each + 0.0001) for each in middles]


@pytest.mark.parametrize("count", [400, 5000])
@pytest.mark.parametrize("chosen", CHOSEN.values(), ids=CHOSEN)
def test_a_price_with_three_indicators_on_two_charts(chosen: tuple[str, ...], count: int) -> None:
    """The budget of a price update with three indicators on two charts, drawing and all, is 300 µs."""
    charts = [(Indicators(parse_indicators(chosen)), candles(count)) for _ in range(2)]
    began = process_time()
    for indicators, shown in charts:
        indicators.refresh(shown)
    whole = (process_time() - began) * 1e3
    costs = []
    for number in range(ROUNDS):
        newest = Bar(1.2, 1.0, 1.1 + number / 1e5)
        began = process_time()
        for indicators, shown in charts:
            shown[-1] = newest
            indicators.refresh(shown)
        costs.append((process_time() - began) * 1e6)
    text = f"{', '.join(chosen)} on two charts of {count} candles"
    sys.stdout.write(f"{text}: {whole:.1f} ms at first, {min(costs):.0f} µs a price\n")
    assert min(costs) < 300
