"""Compare this client with fivetwenty, v20, oandapyV20 and bare httpx: one server, one run, a process for each client.

    pip install -c constraints.txt -e '.[test,bench]'
    pytest -m bench tests/bench/test_beside_other_clients.py -s

All figures are CPU time of the client's process, the best of three rounds, in which the clients take turns.
"""

# ruff: noqa: T201 - the figures are the result

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.client_under_bench import CLIENTS, NOT_INSTALLED
from support.data.bench_bodies import (
    candles_body,
    order_body,
    price_lines,
    summary_body,
    trades_body,
)

pytestmark = pytest.mark.bench

TESTS = Path(__file__).parents[1]
ROUNDS = 3
OURS, FIVETWENTY, V20, BARE = "keydesk_client", "fivetwenty", "v20", "bare httpx"

BODIES = {
    "accounts+1+summary": summary_body,
    "accounts+1+orders": order_body,
    "accounts+1+trades": trades_body,
    "accounts+1+pricing+stream": price_lines,
    "instruments+EUR_USD+candles": candles_body,
}

Figures = dict[str, float]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server's address."""
    folder = tmp_path_factory.mktemp("bodies")
    for name, body in BODIES.items():
        (folder / f"+v3+{name}").write_bytes(body())
    process = subprocess.Popen(
        [sys.executable, "-m", "support.fakes.fixed_server", str(folder)],
        cwd=TESTS,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    process.stdin.close()
    process.wait()
    process.stdout.close()


@pytest.fixture(scope="module")
def figures(url: str) -> dict[str, Figures]:
    """Return the costs of each client that is installed."""
    costs: dict[str, Figures] = {}
    for round_ in range(ROUNDS):
        for name in CLIENTS:
            measured = _measured(name, url)
            if measured is not None:
                costs[name] = _better(costs.get(name, measured), measured)
            elif round_ == 0:
                print(f"\n{name} is not installed: pip install -c constraints.txt -e '.[bench]'")
    _print_table(costs)
    return costs


def _measured(name: str, url: str) -> Figures | None:
    command = [sys.executable, "-m", "support.client_under_bench", name, url]
    ran = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    if ran.returncode == NOT_INSTALLED:
        return None
    assert ran.returncode == 0, ran.stderr
    measured: Figures = json.loads(ran.stdout)
    return measured


def _better(one: Figures, other: Figures) -> Figures:
    return {what: min(one[what], other[what]) for what in one}


def _print_table(costs: dict[str, Figures]) -> None:
    names = list(costs)
    print("\n" + " " * 28 + "".join(f"{name:>22}" for name in names))
    for what, ours in costs[OURS].items():
        cells = [
            f"{costs[name][what]:9.2f} ({costs[name][what] / ours:5.2f}x ours)" for name in names
        ]
        print(f"{what:28}" + "".join(f"{cell:>22}" for cell in cells))
    rates = "".join(f"{1e6 / costs[name]['stream us a line']:22,.0f}" for name in names)
    print(f"{'stream lines a CPU second':28}{rates}")


def figures_of(name: str, figures: dict[str, Figures]) -> Figures:
    """Return the figures of another client; skip the test if it is not installed."""
    if name not in figures:
        pytest.skip(f"{name} is not installed: pip install -c constraints.txt -e '.[bench]'")
    return figures[name]


def ratio_to(name: str, what: str, figures: dict[str, Figures]) -> float:
    """Print and return our figure divided by that of another client."""
    ratio = figures[OURS][what] / figures_of(name, figures)[what]
    print(f"\n{what}: {ratio:.2f} of {name}")
    return ratio


@pytest.mark.parametrize(
    ("what", "most"), [("5,000 candles read ms", 0.75), ("500 trades read ms", 0.6)]
)
def test_large_answers_are_read_in_less_time_than_with_fivetwenty(
    figures: dict[str, Figures], what: str, most: float
) -> None:
    """Numbers and times of trades are converted when they are asked for (0.46 measured)."""
    assert ratio_to(FIVETWENTY, what, figures) <= most


def test_five_thousand_candles_take_five_megabytes_at_most(figures: dict[str, Figures]) -> None:
    assert figures[OURS]["5,000 candles held MB"] <= 5


def test_an_order_takes_at_most_four_fifths_of_the_time_with_fivetwenty(
    figures: dict[str, Figures],
) -> None:
    assert ratio_to(FIVETWENTY, "order ms", figures) <= 0.8


@pytest.mark.parametrize("name", [FIVETWENTY, V20])
def test_five_thousand_candles_are_asked_for_in_less_time_than_with_any_typed_client(
    name: str, figures: dict[str, Figures]
) -> None:
    assert ratio_to(name, "5,000 candles asked for ms", figures) <= 1


def test_typed_prices_take_at_most_the_time_with_fivetwenty(figures: dict[str, Figures]) -> None:
    """Both read the same lines from a socket, each line a chunk of its own."""
    assert ratio_to(FIVETWENTY, "stream us a line", figures) <= 1
