"""What 500 alerts cost for each price, and a whole desk; its budget is 8 % of a core at 1,000 prices a second."""

import random
import statistics
import sys
from decimal import Decimal
from pathlib import Path
from time import process_time

import pytest

from keydesk.alerts.alert_list import AlertList, add_alert
from keydesk.alerts.alert_records import AlertRecords
from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.engine import AlertEngine
from keydesk.calc.alerts.price_conditions import PriceCross
from keydesk.records.desk_records import DeskRecords
from support.processor_time import cpu_of
from support.terminal import Terminal, keydesk

pytestmark = pytest.mark.bench

ALERTS, PRICES = 500, 20_000
BUDGET = 8.0  # percent of a core at 1,000 prices a second
MID = PriceCross(instrument="EUR_USD").reading


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
        Alert(
            str(n),
            PriceCross(instrument="EUR_USD", side="mid", direction="touch", level=level),
            repeat_s=60,
        )
        for n, level in enumerate(levels)
    ]


@pytest.mark.parametrize("apart", [1, 10, 100])
def test_a_price_with_500_alerts_on_its_instrument(apart: int) -> None:
    prices, costs = path(apart), []
    for _ in range(3):
        engine = AlertEngine(alerts(apart))
        began = process_time()
        for at, price in enumerate(prices):
            engine.evaluate(MID, price, at * 1_000_000)
        costs.append((process_time() - began) / PRICES * 1e6)
    cost = sorted(costs)[1]
    share = cost * 1000 / 1e6 * 100
    sys.stdout.write(
        f"500 alerts {apart / 10:g} pips apart: {cost:.2f} µs a price, {share:.2f} % of a core, {share / BUDGET:.1%} of the budget\n"
    )
    assert share < BUDGET / 4


INSTRUMENTS = ("EUR_USD", "GBP_USD", "USD_JPY", "AUD_USD", "USD_CHF")
MIDDLES = ("1.1", "1.3", "150", "0.66", "0.88")
A_THOUSAND = "14"  # prices a second and instrument, of seventy instruments
SETTLING, SECONDS, ROUNDS = (
    20.0,
    8.0,
    3,
)  # settling: what was missed since the last desk is worked out


def with_alerts(book: AlertList) -> AlertList:
    """A hundred levels on each of five instruments, from 10 % below to 10 % above."""
    for name, middle in zip(INSTRUMENTS, map(Decimal, MIDDLES), strict=True):
        for number in range(ALERTS // len(INSTRUMENTS)):
            level = (middle * (900 + 2 * number) / 1000).quantize(Decimal("0.00001"))
            alert = Alert(
                "",
                PriceCross(instrument=name, side="mid", direction="touch", level=level),
                repeat_s=3600,
            )
            book = add_alert(alert)(book)
    return book


def cost_of_a_desk(home: Path) -> float:
    """Percent of a core that a desk takes while prices come."""
    command = keydesk("--practice", "--price-rate", A_THOUSAND)
    with Terminal(command, (200, 50), {"KEYDESK_HOME": str(home)}) as desk:
        desk.see("round trip")
        desk.pause(SETTLING)
        before = cpu_of(desk.pid)
        desk.pause(SECONDS)
        return (cpu_of(desk.pid) - before) / SECONDS * 100


def test_a_whole_desk_with_500_alerts_beside_the_same_without(tmp_path: Path) -> None:
    without, watching = tmp_path / "without", tmp_path / "with"
    for home in (without, watching):
        cost_of_a_desk(home)  # compiles, and makes the account's files
    [audit] = (watching / "orders").glob("*.audit")
    file = AlertRecords(DeskRecords(audit.with_suffix(".sqlite")))
    file.load()
    file.change(with_alerts)
    costs = [(cost_of_a_desk(without), cost_of_a_desk(watching)) for _ in range(ROUNDS)]
    plain, alert = (statistics.median(column) for column in zip(*costs, strict=True))
    sys.stdout.write(
        f"a desk at 1,000 prices a second: {plain:.1f} % of a core, with {ALERTS} alerts {alert:.1f} %, "
        f"{alert / plain:.2f} times\n"
    )
    assert alert < plain * 1.25 + 0.5
