"""Orders a second with one process and with several workers, in turns, and the processor time of an order.

    pytest -m bench -n0 -p no:randomly -s tests/bench/test_worker_speed.py

The orders come from another process on the same cores, so the rates are those of a machine that does this, too.
"""

import os
import statistics
from collections import defaultdict
from pathlib import Path

import pytest

from support.broker import practice_server
from support.order_load import Load, run_apart
from support.processor_time import cpu_of
from support.worker_kills import children_of

pytestmark = pytest.mark.bench

COUNTS = (1, 2)
TURNS = int(os.environ.get("KEYDESK_WORKER_TURNS", "3"))
DESKS, CONNECTIONS, ORDERS = 16, 32, 4_000
MAX_CPU_S = 0.003  # of the broker, an order, on a machine of any load


async def test_orders_with_one_process_and_with_workers(practice_folder: Path) -> None:
    found: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for turn in range(TURNS):
        for workers in COUNTS:
            folder = practice_folder / f"{workers}-{turn}"
            folder.mkdir(mode=0o700)
            found[workers].append(await _run(folder, workers))
    print("\n| processes | orders a second | processor time of an order |")  # noqa: T201 - the figures
    for workers, runs in found.items():
        rate = statistics.median(rate for rate, _ in runs)
        cpu = min(cpu for _, cpu in runs)
        best = max(rate for rate, _ in runs)
        print(f"| {workers} | {rate:,.0f} (best {best:,.0f}) | {cpu * 1e3:.2f} ms |")  # noqa: T201
        assert cpu < MAX_CPU_S


async def _run(folder: Path, workers: int) -> tuple[float, float]:
    tokens = [f"token-{number:05}" for number in range(DESKS)]
    words = [word for token in tokens for word in ("--token", token)]
    fast = ("--port", "0", "--rate-limit", "1000000", "--workers", str(workers))
    async with practice_server(folder, *fast, *words) as practice:
        assert practice.process is not None
        pids = [practice.process.pid, *children_of(practice.process.pid)]
        accounts = [f"101-001-{1_000_001 + number}-001" for number in range(DESKS)]
        port = int(practice.rest_url.rpartition(":")[2])
        desks = list(zip(tokens, accounts, strict=True))
        await run_apart(Load(port, desks, orders=500, connections=CONNECTIONS))
        before = sum(map(cpu_of, pids))
        result = await run_apart(Load(port, desks, orders=ORDERS, connections=CONNECTIONS))
        return ORDERS / result.passed, (sum(map(cpu_of, pids)) - before) / ORDERS
