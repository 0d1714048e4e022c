"""Accounts that were taken over are loaded some at a time, those first that a request waits for."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from keydesk_practice.broker.broker import Broker
from keydesk_practice.ledger.records import LedgerAccount

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster.clock import ClusterClock, DatabaseWallClock
from keydesk_practice.cluster.database import TakenAccount
from keydesk_practice.cluster.node import LOADED_AT_ONCE, Node
from keydesk_practice.errors import LedgerAway
from keydesk_practice.ledger.postgres import PostgresLedger

IDS = [f"101-001-1000001-{number:03}" for number in range(1, 3 * LOADED_AT_ONCE + 1)]
TAKEN = [TakenAccount(LedgerAccount(id_, 0, "USD", hedging=False), 1, 0) for id_ in IDS]


def node_that_loads(load: Callable[[list[str]], Any]) -> Node:
    """Return a node without database, whose accounts are loaded by a function of their ids."""
    broker: Any = SimpleNamespace(ticked_until=0, sessions={})
    ledger: Any = SimpleNamespace(fences={}, text="")
    node = Node(
        cast(Broker, broker),
        cast(PostgresLedger, ledger),
        cast(ClusterClock, None),
        cast(DatabaseWallClock, None),
    )

    async def load_some(taken: Sequence[TakenAccount]) -> None:
        load([one.account.id for one in taken])
        await asyncio.sleep(0)

    async def refresh() -> None:
        return

    node._load_some = load_some  # type: ignore[method-assign]
    node.refresh = refresh  # type: ignore[method-assign]
    return node


async def test_the_account_that_a_request_waits_for_is_loaded_next() -> None:
    loaded: list[list[str]] = []
    waiting: list[asyncio.Task[None]] = []

    def load(ids: list[str]) -> None:
        if not loaded:
            waiting.append(asyncio.create_task(node.wait_for_arrival(IDS[-1], 60.0)))
        loaded.append(ids)

    node = node_that_loads(load)
    await node._load(TAKEN)
    assert [IDS[-1] in ids for ids in loaded] == [False, True, False]
    assert sorted(id_ for ids in loaded for id_ in ids) == IDS
    await waiting[0]


async def test_a_request_for_an_account_that_does_not_come_goes_on_at_once() -> None:
    node = node_that_loads(lambda _: None)
    await node.wait_for_arrival(IDS[0], 60.0)


async def test_requests_go_on_when_the_database_is_lost_while_accounts_are_loaded() -> None:
    waiting: list[asyncio.Task[None]] = []

    def load(_: list[str]) -> None:
        waiting.append(asyncio.create_task(node.wait_for_arrival(IDS[-1], 60.0)))
        raise LedgerAway("away")

    node = node_that_loads(load)
    with pytest.raises(LedgerAway):
        await node._load(TAKEN)
    await waiting[0]
