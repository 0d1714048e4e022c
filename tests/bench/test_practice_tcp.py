"""Orders over TCP: how many a second over how many connections, and what listeners and a greedy reader change.

    pytest -m bench -n0 -p no:randomly -s tests/bench/test_practice_tcp.py

It takes some three minutes and prints one table. The bounds are those of a quiet machine: a figure beyond its bound is
marked, and only what a loaded machine must reach, too, fails the run.
"""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from keydesk_practice.market.candles import GRANULARITIES
from support.broker import practice_server
from support.greedy_reader import GreedyReader
from support.order_load import Found, Load, run_apart
from support.postgres import PostgresServer, postgres_programs
from support.processor_time import cpu_of

pytestmark = pytest.mark.bench

DESKS, LISTENERS = 10, 200
RATE = 200.0  # orders a second beside the listeners
MAX_SILENCE_S = 5.5  # a heartbeat is due every five seconds
MAX_CPU_S = 0.003  # of the broker, an order


@dataclass(frozen=True, slots=True)
class Row:
    """One load, what came of it, and the bounds it is held to: orders a second, p99 in ms."""

    name: str
    found: Found
    cpu: float
    least_a_second: float = 0.0
    most_p99: float = float("inf")

    def line(self) -> str:
        """Return the row as it is printed, `!` behind what is beyond its bound."""
        times, orders = self.found.answered, len(self.found.answered)
        rate, p99 = orders / self.found.passed, times[orders * 99 // 100] * 1e3
        slow, late = "!" * (rate < self.least_a_second), "!" * (p99 > self.most_p99)
        heard = self.found.heard
        on_stream = f"{heard[len(heard) * 99 // 100] * 1e3:.1f}" if heard else "-"
        return (
            f"| {self.name:44} | {rate:9,.0f}{slow:1} | {times[orders // 2] * 1e3:6.1f} | {p99:6.1f}{late:1}"
            f" | {times[-1] * 1e3:8.1f} | {on_stream:>10} | {self.found.silence:9.2f} | {self.cpu / orders * 1e3:8.2f} |"
        )


HEAD = (
    f"| {'load':44} | {'orders/s':10} | {'p50 ms':6} | {'p99 ms':7} | {'worst ms':8} | {'stream p99':10}"
    f" | {'silence s':9} | {'CPU ms':8} |"
)


async def test_orders_over_tcp(practice_folder: Path) -> None:
    tokens = [f"token-{number:05}" for number in range(DESKS)]
    words = [word for token in tokens for word in ("--token", token)]
    fast = ("--port", "0", "--rate-limit", "1000000")
    rows: list[Row] = []
    async with practice_server(practice_folder, *fast, *words) as practice:
        assert practice.process is not None
        process = practice.process.pid
        accounts = [f"101-001-{1_000_001 + number}-001" for number in range(DESKS)]
        port = int(practice.rest_url.rpartition(":")[2])
        load = Load(port, list(zip(tokens, accounts, strict=True)), orders=500)

        async def add(name: str, load: Load, least: float = 0.0, p99: float = float("inf")) -> None:
            before = cpu_of(process)
            found = await run_apart(load)
            rows.append(Row(name, found, cpu_of(process) - before, least, p99))

        await run_apart(load)
        for connections, orders, least in (
            (1, 2_000, 500),
            (8, 8_000, 0),
            (32, 8_000, 1_500),
            (96, 8_000, 0),
        ):
            busy = replace(load, orders=orders, connections=connections)
            await add(f"{connections} connections, one order after the other", busy, least)
        paced = replace(load, orders=6_000, connections=32, rate=RATE, listeners=LISTENERS)
        await add("200/s, 200 listeners on 10 accounts", paced, p99=20)
        reader = GreedyReader(practice.rest_url, tokens[0], everything(accounts[0]))
        await add("the same beside one that reads everything", paced, p99=60)
        answers, megabytes = reader.stop()
    load_now = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    table = "\n    ".join([HEAD, *(row.line() for row in rows)])
    print(  # noqa: T201 - a bench speaks
        f"\n    {table}\n    read beside it: {answers} answers, {megabytes:.0f} MB [load {load_now}]",
        file=sys.stderr,
    )
    for row in rows:
        assert row.cpu / len(row.found.answered) < MAX_CPU_S or row.name.startswith("the same")
        assert row.found.silence < 2 * MAX_SILENCE_S, row.name
    assert answers > 0


async def test_orders_over_tcp_with_the_ledger_on_postgresql(practice_folder: Path) -> None:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    server = PostgresServer(programs, durable=True)
    tokens = [f"token-{number:05}" for number in range(DESKS)]
    words = [word for token in tokens for word in ("--token", token)]
    fast = ("--port", "0", "--rate-limit", "1000000", "--ledger", server.new_database())
    rows: list[Row] = []
    try:
        async with practice_server(practice_folder, *fast, *words) as practice:
            assert practice.process is not None
            accounts = [f"101-001-{1_000_001 + number}-001" for number in range(DESKS)]
            port = int(practice.rest_url.rpartition(":")[2])
            load = Load(port, list(zip(tokens, accounts, strict=True)), orders=500)
            await run_apart(load)
            for connections, orders in ((1, 2_000), (32, 8_000), (96, 8_000)):
                before = cpu_of(practice.process.pid)
                found = await run_apart(replace(load, orders=orders, connections=connections))
                cost = cpu_of(practice.process.pid) - before
                rows.append(Row(f"{connections} connections, PostgreSQL", found, cost))
    finally:
        server.remove()
    table = "\n    ".join([HEAD, *(row.line() for row in rows)])
    print(f"\n    {table}", file=sys.stderr)  # noqa: T201 - a bench speaks
    assert all(row.cpu / len(row.found.answered) < MAX_CPU_S for row in rows)


def everything(account: str) -> list[str]:
    """Return the paths of all candles, all changes and all transactions of an account."""
    a = f"/v3/accounts/{account}"
    last = 5_000
    pages = [
        f"{a}/transactions/idrange?from={first}&to={first + 999}" for first in range(1, last, 1000)
    ]
    candles = [
        f"/v3/instruments/{name}/candles?count=5000&price=MBA&granularity={granularity}"
        for name in ("AUD_CAD", "EUR_USD", "GBP_JPY")
        for granularity in GRANULARITIES
    ]
    return [
        *candles,
        f"{a}/changes?sinceTransactionID={last - 1000}",
        f"{a}/transactions/sinceid?id=1",
        *pages,
        a,
    ]
