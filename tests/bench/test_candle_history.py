"""Read long histories of candles, async and sync, beside v20, in turns: a process each, CPU time, the best of three.

pytest -m bench -n0 -p no:randomly -s tests/bench/test_candle_history.py
"""

# ruff: noqa: T201 - the figures are the result

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.bench

TESTS = Path(__file__).parents[1]
CANDLES = 200_000
ROUNDS = 3
MILLION_S = 15.0


def spent(way: str, count: int) -> tuple[float, float]:
    """Return the CPU seconds and the seconds of one reading."""
    command = [sys.executable, "-m", "support.candle_history", way, str(count)]
    ran = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=True)
    cpu, seconds = json.loads(ran.stdout)
    return cpu, seconds


def test_two_hundred_thousand_exact_candles_cost_what_v20_takes_for_floats() -> None:
    """v20 is given the bodies; ours requests them, from a function in its process."""
    if find_spec("v20") is None:
        pytest.skip("v20 is not installed: pip install -c constraints.txt -e '.[bench]'")
    costs: dict[str, list[float]] = {"async": [], "sync": [], "v20": []}
    for _ in range(ROUNDS):
        for way, figures in costs.items():
            figures.append(spent(way, CANDLES)[0])
    best = {way: min(figures) for way, figures in costs.items()}
    print("\nCPU s for 200,000 candles:", {way: round(cost, 2) for way, cost in best.items()})
    assert max(best["async"], best["sync"]) <= best["v20"] * 1.05


@pytest.mark.parametrize("way", ["async", "sync"])
def test_a_million_candles_are_read_in_a_quarter_of_a_minute(way: str) -> None:
    cpu, seconds = spent(way, 1_000_000)
    print(f"\n1,000,000 candles, {way}: {cpu:.1f} s of CPU, {seconds:.1f} s")
    assert cpu <= MILLION_S
