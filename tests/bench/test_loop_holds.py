"""How long others wait while one client reads a large account, and what TCP costs against a unix socket; figures are printed."""

import json
import os
import statistics
import sys
import time
from pathlib import Path

import pytest

from support.broker import PracticeServer, practice_server
from support.data.large_account import large_ledger
from support.latency_probe import LatencyProbe, ask, connect

pytestmark = pytest.mark.bench
FAST = ("--rate-limit", "1000000", "--start", "2024-03-06T12:00Z")
TRANSACTIONS = 200_000
MAX_HOLD_S = 0.05
ASKED = 300


def say(figure: str) -> None:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n    {figure} [load {load}]", file=sys.stderr)  # noqa: T201 - a bench speaks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("kd")
    large_ledger(found / "data", TRANSACTIONS, trades=1000, orders=1000)
    return found


def paths(account: str, last: int, instruments: str) -> dict[str, str]:
    """Everything that reads much."""
    a = f"/v3/accounts/{account}"
    candles = "/v3/instruments/EUR_JPY/candles?count=5000&price=MBA&granularity="
    return {
        "account details": a,
        "summary": f"{a}/summary",
        "instruments": f"{a}/instruments",
        "prices of everything": f"{a}/pricing?instruments={instruments}",
        "open trades": f"{a}/openTrades",
        "500 orders of any state": f"{a}/orders?state=ALL&count=500",
        "orders of an instrument without any": f"{a}/orders?state=ALL&instrument=EUR_GBP",
        "an old order by its id": f"{a}/orders?state=ALL&ids=4",
        "500 trades of any state": f"{a}/trades?state=ALL&count=500",
        "pages of a rare type": f"{a}/transactions?type=ADMIN",
        "5,000 transactions": f"{a}/transactions/idrange?from=1&to=5000",
        "a rare type since 1": f"{a}/transactions/sinceid?id=1&type=CREATE",
        "1,000 changes": f"{a}/changes?sinceTransactionID={last - 1000}",
        "changes from id 1": f"{a}/changes?sinceTransactionID=1",
        **{f"5,000 candles {one}": candles + one for one in ("S5", "M1", "H1", "D")},
    }


async def test_nothing_that_is_asked_holds_the_others(folder: Path) -> None:
    held = {}
    async with practice_server(folder, *FAST) as practice:
        last = int((await practice.get("{a}/summary")).json()["lastTransactionID"])
        found = (await practice.get("{a}/instruments")).json()["instruments"]
        names = ",".join(one["name"] for one in found)
        idle = LatencyProbe(practice.rest_url, practice.token)
        time.sleep(2)  # noqa: ASYNC251 - what the machine itself does is measured
        say(f"idle: others wait {idle.stop() * 1e3:.1f} ms at most")
        for what, path in paths(practice.account_id, last, names).items():
            held[what] = _held_by(practice, what, path)
        another = f"/v3/accounts/{practice.accounts[1].id}/summary"
        for instrument, of, asked in (
            ("EUR_USD", "of another account", another),
            ("USD_JPY", "of the account itself", f"/v3/accounts/{practice.account_id}/orders/4"),
        ):
            what = f"closing 500 trades with 500 orders, others {of}"
            held[what] = _held_by_closing(practice, what, instrument, asked)
    assert max(held.values()) < 4 * MAX_HOLD_S, held  # what a loaded machine still reaches


def _held_by(
    practice: PracticeServer, what: str, path: str, body: bytes = b"", asked: str = "/v3/accounts"
) -> float:
    probe = LatencyProbe(practice.rest_url, practice.token, asked)
    connection = connect(practice.rest_url)
    began = time.perf_counter()
    answer = ask(connection, practice.token, path, body)
    took = time.perf_counter() - began
    connection.close()
    held = probe.stop()
    say(f"{what}: {took * 1e3:.0f} ms, {len(answer) / 1e6:.2f} MB; others wait {held * 1e3:.1f} ms")
    return held


def _held_by_closing(practice: PracticeServer, what: str, instrument: str, asked: str) -> float:
    order = {"type": "MARKET", "instrument": instrument, "units": "-50000"}
    body = json.dumps({"order": order}).encode()
    path = f"/v3/accounts/{practice.account_id}/orders"
    return _held_by(practice, what, path, body, asked)


async def test_tcp_costs_little_more_than_a_unix_socket(practice_folder: Path) -> None:
    took = {}
    for name, place in (("unix", ()), ("tcp", ("--port", "0"))):
        async with practice_server(practice_folder, *FAST, *place) as practice:
            took[name] = _median_of(practice)
    say(
        f"an answer on a busy connection: unix {took['unix'] * 1e3:.2f} ms, TCP {took['tcp'] * 1e3:.2f} ms"
    )
    assert took["tcp"] < 5 * took["unix"]


def _median_of(practice: PracticeServer) -> float:
    connection = connect(practice.rest_url)
    path = f"/v3/accounts/{practice.account_id}/summary"
    seconds = []
    for _ in range(ASKED):
        began = time.perf_counter()
        ask(connection, practice.token, path)
        seconds.append(time.perf_counter() - began)
    connection.close()
    return statistics.median(seconds)
