"""What prices cost and how soon it listens: it prints the figures, and holds only what a loaded machine can still reach.

Orders and those who listen to them: `test_practice_scale.py`.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from support.broker import practice_server
from support.processor_time import cpu_of

pytestmark = pytest.mark.bench
FAST = ("--rate-limit", "1000000")


def say(figure: str) -> None:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n    {figure} [load {load}]", file=sys.stderr)  # noqa: T201 - a bench speaks


@pytest.mark.parametrize(("rate", "clients"), [("4", 1), ("4", 50), ("72", 1)])
async def test_prices_cost_little(practice_folder: Path, rate: str, clients: int) -> None:
    async with practice_server(practice_folder, *FAST, "--price-rate", rate) as practice:
        found = (await practice.get("{a}/instruments")).json()["instruments"]
        names = ",".join(one["name"] for one in found)
        path = f"/v3/accounts/{practice.account_id}/pricing/stream"
        lines = 0

        async def read() -> None:
            nonlocal lines
            async with practice.http.stream("GET", path, params={"instruments": names}) as answer:
                async for piece in answer.aiter_raw():
                    lines += piece.count(b"\n")

        readers = [asyncio.create_task(read()) for _ in range(clients)]
        await asyncio.sleep(1)
        assert practice.process is not None
        before, began, counted = cpu_of(practice.process.pid), time.perf_counter(), lines
        await asyncio.sleep(5)
        passed = time.perf_counter() - began
        share = (cpu_of(practice.process.pid) - before) / passed
        for reader in readers:
            reader.cancel()
    per_second = (lines - counted) / passed
    say(
        f"{clients} clients x {len(found)} instruments at {rate}/s: {per_second:,.0f} lines/s, {share:.1%} of a core"
    )
    assert share < 0.9


async def test_it_listens_within_600_ms(practice_folder: Path) -> None:
    took = []
    for _ in range(5):
        began = time.perf_counter()
        async with practice_server(practice_folder):
            took.append(time.perf_counter() - began)
    say(f"from the command to listening: best {min(took):.2f} s, worst {max(took):.2f} s")
    assert min(took) < 2
