"""The market stops at the same instant on every node, also on one that was past the stop when it heard of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from keydesk_practice.engine.wire_form import SECOND
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster import database
from keydesk_practice.cluster.node import Node
from keydesk_practice.ledger.postgres_connection import BoundedConnection
from support.cluster_node import opened_node


@pytest_asyncio.fixture
async def nodes(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[list[Node]]:
    """Three nodes that know nothing of each other but what the database says."""
    address = postgres.new_database()
    nodes = [opened_node(address, tmp_path / str(number)) for number in range(3)]
    yield nodes
    for node in nodes:
        await node.stop()
        node.broker.close()


async def stop_market(node: Node) -> int:
    """Stop the market at once, and return the time."""
    clock = node.clock
    await node.change_pace(lambda: clock.changed(stops=clock()))
    return clock()


async def test_every_node_stops_where_the_one_that_was_ahead_is(nodes: list[Node]) -> None:
    first, ahead, third = nodes
    stopped = await stop_market(first)
    ahead.clock.at_least(stopped + SECOND)
    third.clock.at_least(stopped + SECOND // 2)
    for node in (third, ahead, first, third):
        await node.follow_control()
    assert [node.clock() for node in nodes] == [stopped + SECOND] * 3
    assert {node.clock.pace.stops for node in nodes} == {stopped + SECOND}


async def test_a_node_that_was_ahead_does_not_stop_a_market_that_runs_on(nodes: list[Node]) -> None:
    first, ahead, _ = nodes
    stopped = await stop_market(first)
    await first.change_pace(first.clock.changed)
    ahead.clock.at_least(stopped + SECOND)
    await ahead.follow_control()
    assert first.clock.running
    assert ahead.clock.running


async def test_no_node_stands_still_when_the_market_goes_on_more_slowly(nodes: list[Node]) -> None:
    first, ahead, third = nodes
    await first.change_pace(lambda: first.clock.changed(speed=1.0))
    lead = first.clock() + 3_600 * SECOND  # reached at a high speed before it heard of this one
    ahead.clock.at_least(lead)
    for node in (ahead, first, third):
        await node.follow_control()
    times = [node.clock() for node in nodes]
    assert min(times) > lead
    assert max(times) - min(times) < SECOND


async def test_the_market_goes_on_when_the_clock_of_the_database_is_set_back(
    nodes: list[Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = nodes
    shown = [node.clock() for node in nodes]
    measure = database.wall_offset

    def set_back(connection: BoundedConnection) -> tuple[int, int]:
        offset, error = measure(connection)
        return offset - 3_600 * SECOND, error

    monkeypatch.setattr(database, "wall_offset", set_back)
    for number in range(2):
        await nodes[number].start(f"http://127.0.0.1:{number + 1}")
    async with asyncio.timeout(60):
        while min(first.clock(), second.clock()) <= max(shown) + 6 * SECOND:  # noqa: ASYNC110 - of time itself
            await asyncio.sleep(0.2)
    assert abs(first.clock() - second.clock()) < SECOND


async def test_a_node_moves_the_stop_when_an_account_brings_it_past_it(nodes: list[Node]) -> None:
    first, second, _ = nodes
    stopped = await stop_market(first)
    await second.follow_control()
    assert second.clock() == stopped
    second.clock.at_least(stopped + SECOND)
    await second.start("http://127.0.0.1:1")
    while first.clock() == stopped:
        await first.follow_control()
    assert first.clock() == second.clock() == stopped + SECOND
