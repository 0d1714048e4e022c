"""What 500 alerts cost for each price; the budget of the desk is 8 % of a core at 1,000 prices a second."""

import random
import sys
from decimal import Decimal
from time import process_time

import pytest

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.conditions import PriceCross, Reading
from keydesk.calc.alerts.engine import AlertEngine

pytestmark = pytest.mark.bench

ALERTS, PRICES = 500, 20_000
BUDGET = 8.0  # percent of a core at 1,000 prices a second
MID = Reading("mid", "EUR_USD")


def path(seed: int) -> list[Decimal]:
    """A random walk in tenths of a pip."""
    rng, tick, prices = random.Random(seed), 108_500, []
    for _ in range(PRICES):
        tick += rng.choice((-3, -2, -1, -1, 0, 1, 1, 2, 3))
        prices.append(Decimal(tick).scaleb(-5))
    return prices


def alerts(apart: int) -> list[Alert]:
    """Alerts on one instrument, so many tenths of a pip apart; they repeat, and so stay."""
    first = 108_500 - apart * ALERTS // 2
    levels = (Decimal(first + apart * number).scaleb(-5) for number in range(ALERTS))
    return [
        Alert(str(n), PriceCross("EUR_USD", "mid", "touch", level), repeat_s=60)
        for n, level in enumerate(levels)
    ]


@pytest.mark.parametrize("apart", [1, 10, 100])
def test_a_price_with_500_alerts_on_its_instrument(apart: int) -> None:
    prices, costs = path(apart), []
    for _ in range(3):
        engine = AlertEngine(alerts(apart))
        began = process_time()
        for at, price in enumerate(prices):
            engine.take(MID, price, at * 1_000_000)
        costs.append((process_time() - began) / PRICES * 1e6)
    cost = sorted(costs)[1]
    share = cost * 1000 / 1e6 * 100
    sys.stdout.write(
        f"500 alerts {apart / 10:g} pips apart: {cost:.2f} µs a price, {share:.2f} % of a core, {share / BUDGET:.1%} of the budget\n"
    )
    assert share < BUDGET / 4
