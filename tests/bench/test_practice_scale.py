"""The scale that one practice broker is asked to hold: orders by the second, and listeners beside them.

The load comes from a process of its own, so that the broker is what is measured.
"""

import contextlib
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.broker import PracticeServer, practice_server
from support.order_load import Found, Load, run_apart
from support.processor_time import cpu_of

pytestmark = pytest.mark.bench


def say(figure: str) -> None:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n    {figure} [load {load}]", file=sys.stderr)  # noqa: T201 - a bench speaks


@contextlib.asynccontextmanager
async def broker_of(folder: Path, desks: int) -> AsyncIterator[tuple[PracticeServer, Load]]:
    """Run a broker with so many tokens, and return the beginning of a load for it."""
    tokens = [f"token-{number:05}" for number in range(desks)]
    words = [word for token in tokens for word in ("--token", token)]
    async with practice_server(folder, "--rate-limit", "1000000", *words) as practice:
        accounts = [f"101-001-{1_000_001 + number}-001" for number in range(desks)]
        socket = practice.rest_url.removeprefix("http+unix://")
        yield practice, Load(socket, list(zip(tokens, accounts, strict=True)), orders=0)


async def measured(practice: PracticeServer, load: Load) -> tuple[Found, float]:
    """Return what was found and the broker's processor time in seconds."""
    assert practice.process is not None
    before = cpu_of(practice.process.pid)
    found = await run_apart(load)
    return found, cpu_of(practice.process.pid) - before


def spread(times: list[float]) -> str:
    middle, most = times[len(times) // 2], times[len(times) * 99 // 100]
    return f"p50 {middle * 1e3:.1f} ms, p99 {most * 1e3:.1f} ms, worst {times[-1] * 1e3:.1f} ms"


@pytest.mark.parametrize("connections", [8, 32, 128])
async def test_as_many_orders_as_it_takes(practice_folder: Path, connections: int) -> None:
    async with broker_of(practice_folder, desks=4) as (practice, load):
        await run_apart(replace(load, orders=500, connections=connections))
        found, cpu = await measured(practice, replace(load, orders=8_000, connections=connections))
    orders = len(found.answered)
    say(
        f"{orders / found.passed:,.0f} orders/s over {connections} connections, {spread(found.answered)}; "
        f"{cpu / orders * 1e3:.2f} ms of the broker's processor time an order, {cpu / found.passed:.0%} of a core; "
        f"the load took {found.processor / orders * 1e3:.2f} ms"
    )
    assert cpu / orders < 0.003  # wall time on a busy machine says little


@pytest.mark.parametrize(("desks", "listeners"), [(1, 1), (10, 200), (1, 200)])
async def test_two_hundred_orders_a_second_are_heard(
    practice_folder: Path, desks: int, listeners: int
) -> None:
    async with broker_of(practice_folder, desks) as (practice, load):
        asked = replace(load, orders=2_000, connections=20, rate=200.0, listeners=listeners)
        found, cpu = await measured(practice, asked)
    orders = len(found.answered)
    say(
        f"{listeners} transaction streams on {desks} accounts, {orders / found.passed:,.0f} orders/s: "
        f"{len(found.heard) / found.passed:,.0f} fills heard a second, order to fill on the stream {spread(found.heard)}; "
        f"{cpu / found.passed:.0%} of a core; the load took {found.processor / found.passed:.0%}"
    )
    assert len(found.heard) == orders * listeners // desks
