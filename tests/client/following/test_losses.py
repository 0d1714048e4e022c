"""A followed account whose broker dies, comes back, or comes back with another history; and one behind a bad link."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_client import (
    AccountState,
    Client,
    Done,
    FileJournal,
    FollowSettings,
    SnapshotReloaded,
    StreamInterrupted,
    StreamRestored,
    Timeouts,
)
from keydesk_client.following.events import EventQueue
from keydesk_client.models import MarketOrderRequest
from support.broker import PracticeServer, practice_server
from support.proxies.chaos_proxy import FAULTS, chaos_proxy

pytestmark = pytest.mark.e2e

LONG_S = 60.0
PAIR = "EUR_USD"
QUICK = FollowSettings(check_every_s=0.2, stall_s=6.0, max_backoff_s=0.5)


@asynccontextmanager
async def followed(
    desk: PracticeServer, folder: Path, rest_url: str = ""
) -> AsyncIterator[AccountState]:
    url = rest_url or desk.rest_url
    async with Client(
        token=desk.token,
        rest_url=url,
        stream_url=url,
        account_id=desk.account_id,
        timeouts=Timeouts(connect=2.0, read=1.0, whole=3.0),
    ) as client:
        journal = FileJournal(folder / "private" / "orders.jsonl")
        async with client.follow(journal, instruments=[PAIR], settings=QUICK) as account:
            yield account


async def came(events: EventQueue, *kinds: type) -> None:
    """Wait until an event of each kind came, in this order."""
    async with asyncio.timeout(LONG_S):
        for kind in kinds:
            async for event in events:
                if isinstance(event, kind):
                    break


def buy(units: int) -> MarketOrderRequest:
    return MarketOrderRequest(instrument=PAIR, units=units)


async def test_a_broker_that_comes_back_is_followed_again_without_loss(
    practice_folder: Path, tmp_path: Path
) -> None:
    async with (
        practice_server(practice_folder, "--token", "token-of-this-test") as desk,
        followed(desk, tmp_path) as account,
    ):
        await account.sender.create(buy(100))
        events, before = account.events(), account.newest
        await desk.kill()
        await came(events, StreamInterrupted)
        assert account.interrupted
        assert account.units(PAIR) == 100
        again = ("--token", "token-of-this-test")
        async with practice_server(practice_folder, *again) as restarted:
            await came(events, StreamRestored)
            async with Client(
                token=restarted.token,
                rest_url=restarted.rest_url,
                stream_url=restarted.stream_url,
                account_id=restarted.account_id,
            ) as other:
                await other.orders.create(buy(50))
            assert await account.wait_for(lambda: account.units(PAIR) == 150, LONG_S)
            assert await account.wait_for(lambda: not account.interrupted, LONG_S)
            assert int(account.newest) > int(before)


async def test_another_history_replaces_everything(practice_folder: Path, tmp_path: Path) -> None:
    token = ("--token", "token-of-this-test")
    async with (
        practice_server(practice_folder, *token) as desk,
        followed(desk, tmp_path) as account,
    ):
        for _ in range(3):
            await account.sender.create(buy(100))
        events, newest = account.events(), account.newest
        await desk.kill()
        shutil.rmtree(practice_folder / "data")
        async with practice_server(practice_folder, *token):
            await came(events, SnapshotReloaded)
            assert account.units(PAIR) == 0
            assert not account.trades
            assert int(account.newest) < int(newest)


async def test_behind_a_bad_link_the_account_is_that_of_the_ledger(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    desk = desk_of_my_own
    faults = chaos_proxy(desk.rest_url, seed=14, faulty=0.2, faults=FAULTS, latest_s=0.2)
    async with faults as proxy, followed(desk, tmp_path, proxy.url) as account:
        outcomes = [await account.sender.create(buy(units)) for units in (100, 200, -50, 400)]
        done = [each for each in outcomes if isinstance(each, Done)]
        await proxy.everything_arrived()
        theirs = await _their_units(desk)
        assert done
        assert await account.wait_for(lambda: account.units(PAIR) == theirs, LONG_S)


async def _their_units(desk: PracticeServer) -> Decimal:
    answer = (await desk.get("{a}/positions/EUR_USD")).json()["position"]
    return Decimal(answer["long"]["units"]) + Decimal(answer["short"]["units"])
