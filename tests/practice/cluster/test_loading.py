"""Accounts that were taken over are loaded some at a time, those first that a request waits for."""

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from keydesk_practice.broker.broker import Broker
from keydesk_practice.ledger.records import LedgerAccount

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster.clock import ClusterClock
from keydesk_practice.cluster.database import TakenAccount
from keydesk_practice.cluster.loading import LOADED_AT_ONCE, AccountLoader
from keydesk_practice.cluster.watched_accounts import WatchedAccounts
from keydesk_practice.errors import LedgerUnreachable
from keydesk_practice.ledger.postgres import PostgresLedger

IDS = [f"101-001-1000001-{number:03}" for number in range(1, 3 * LOADED_AT_ONCE + 1)]
TAKEN = [TakenAccount(LedgerAccount(id_, 0, "USD", hedging=False), 1, 0) for id_ in IDS]


def loader_with(load: Callable[[list[str]], Any]) -> AccountLoader:
    """Return a loader without database, whose accounts are loaded by a function of their ids."""
    ledger: Any = SimpleNamespace(text="")
    broker = cast(Broker, None)
    loader = AccountLoader(
        broker,
        cast(PostgresLedger, ledger),
        WatchedAccounts(broker, ledger),
        cast(ClusterClock, None),
        begin=lambda _: None,
        is_away=lambda: False,
    )

    async def load_some(taken: Sequence[TakenAccount]) -> None:
        load([one.account.id for one in taken])
        await asyncio.sleep(0)

    loader._load_some = load_some  # type: ignore[method-assign]
    return loader


async def test_the_account_that_a_request_waits_for_is_loaded_next() -> None:
    loaded: list[list[str]] = []
    waiting: list[asyncio.Task[None]] = []

    def load(ids: list[str]) -> None:
        if not loaded:
            waiting.append(asyncio.create_task(loader.wait_for(IDS[-1], 60.0)))
        loaded.append(ids)

    loader = loader_with(load)
    await loader.load(TAKEN)
    assert [IDS[-1] in ids for ids in loaded] == [False, True, False]
    assert sorted(id_ for ids in loaded for id_ in ids) == IDS
    await waiting[0]


async def test_a_request_for_an_account_that_does_not_come_goes_on_at_once() -> None:
    loader = loader_with(lambda _: None)
    await loader.wait_for(IDS[0], 60.0)


async def test_requests_go_on_when_the_database_is_lost_while_accounts_are_loaded() -> None:
    waiting: list[asyncio.Task[None]] = []

    def load(_: list[str]) -> None:
        waiting.append(asyncio.create_task(loader.wait_for(IDS[-1], 60.0)))
        raise LedgerUnreachable("away")

    loader = loader_with(load)
    with pytest.raises(LedgerUnreachable):
        await loader.load(TAKEN)
    await waiting[0]
