"""A node opens the market of its ledger, whatever it was started with, and none beside nodes that show other prices."""

import asyncio
from pathlib import Path

import pytest

from keydesk_practice.engine.wire_form import parse_time
from keydesk_practice.errors import LedgerUnavailable
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice import cluster_server
from keydesk_practice.broker import startup
from keydesk_practice.cluster.node import Node
from support.cluster_node import opened_node

SATURDAY = parse_time("2026-11-21T12:00:00Z")


async def stop(node: Node) -> None:
    await node.stop()
    node.broker.close()


async def test_the_hours_are_those_of_the_first_node(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.new_database()
    for number, words in enumerate((["--hours", "fx"], [], ["--hours", "always"])):
        node = opened_node(address, tmp_path / str(number), *words)
        quote = node.broker.market_at(SATURDAY).quote("EUR_USD")
        assert not quote.tradeable
        await stop(node)


async def test_a_node_does_not_join_those_of_another_market_model(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.new_database()
    running = opened_node(address, tmp_path / "running")
    await running.start("http://127.0.0.1:1")
    for module in (cluster_server, startup):
        monkeypatch.setattr(module, "MARKET_MODEL", 1_000)
    with pytest.raises(LedgerUnavailable, match="stop all of them"):
        await asyncio.to_thread(opened_node, address, tmp_path / "newer")
    await stop(running)
    node = opened_node(address, tmp_path / "newer")
    assert node.broker.earlier_model is not None
    await stop(node)


def candles(file: Path, close: str) -> list[str]:
    """The arguments that replay two candles of a pair."""
    rows = (f"2026-01-05T0{hour}:00:00Z,1.1000,1.2000,1.0500,{close}" for hour in (1, 2))
    file.write_text("\n".join(("time,open,high,low,close", *rows)))
    return ["--candles", f"EUR_USD={file}"]


async def test_a_node_does_not_join_those_with_other_candles(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.new_database()
    own = candles(tmp_path / "own.csv", "1.1500")
    others: tuple[list[str], ...] = ([], candles(tmp_path / "others.csv", "1.1501"))
    running = opened_node(address, tmp_path / "running", *own)
    await running.start("http://127.0.0.1:1")
    for words in others:
        with pytest.raises(LedgerUnavailable, match=r"other candles of EUR_USD: .* --candles"):
            await asyncio.to_thread(opened_node, address, tmp_path / "other", *words)
    same = await asyncio.to_thread(
        opened_node, address, tmp_path / "same", *candles(tmp_path / "copy.csv", "1.1500")
    )
    await stop(same)
    await stop(running)
    for words in others:  # alone it may
        await stop(opened_node(address, tmp_path / "other", *words))


async def test_a_node_whose_task_fails_ends_as_failed(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = asyncio.Event()
    node = opened_node(postgres.new_database(), tmp_path / "node")
    node.commits.on_failure = stopped.set

    async def fail() -> None:
        raise ValueError("a fault")

    await node.start("http://127.0.0.1:1")
    monkeypatch.setattr(node, "_renew", fail)
    await asyncio.wait_for(stopped.wait(), 10)
    assert node.failed
    await stop(node)
