"""Open an account, linked to a third-party platform or not, and end the desk on signals."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from keydesk.app.account_connection import Connection, open_account
from keydesk.app.account_sources import AccountAddress, ProfileAccount
from keydesk.app.lifecycle import (
    CODES,
    WAKE,
    ForcedExit,
    leave_on_signals,
)
from keydesk.store.store import Store
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.secret import Secret
from keydesk_client.models import MarketOrderRequest
from keydesk_client.orders.outcome import Done, OrderResult
from support.broker import PracticeServer
from support.fakes.talking_server import talking_server
from support.proxies.losing_relay import LosingRelay
from support.walks import crossed


@asynccontextmanager
async def desk_behind(
    relay: LosingRelay, folder: Path, *, asked: bool
) -> AsyncIterator[Connection]:
    """A desk behind the relay; with `asked`, the broker was asked for the accounts before it opened."""
    practice = relay.practice
    folder.mkdir(mode=0o700)
    async with talking_server(relay.talk) as rest_url:
        profile = Profile("main", "custom", practice.account_id, rest_url, practice.stream_url)
        account = ProfileAccount(profile, Secret(practice.token), "keydesk login main")
        target: AccountAddress = await account.target() if asked else account.address_offline()
        journal, audit = folder / "journal", folder / "audit"
        async with open_account(target, Store(), journal, audit) as connection:
            running = asyncio.create_task(connection.run())
            try:
                await asyncio.wait_for(connection.recovered.wait(), 20.0)
                yield connection
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


async def bought(connection: Connection) -> Done:
    outcome = await connection.sender.create(MarketOrderRequest(instrument="EUR_USD", units=100))
    assert isinstance(outcome, Done)
    assert outcome.result is OrderResult.FILLED
    return outcome


@pytest.mark.parametrize(("linked", "asked"), crossed([True, False], [True, False]))
async def test_only_orders_of_an_account_of_its_own_carry_an_id(
    desk_of_my_own: PracticeServer, tmp_path: Path, linked: bool, asked: bool
) -> None:
    relay = LosingRelay(desk_of_my_own, linked=linked)
    async with desk_behind(relay, tmp_path / "orders", asked=asked) as connection:
        await bought(connection)
    (order,) = relay.writes
    assert ("clientExtensions" in order) is not linked


async def test_an_order_of_a_linked_account_is_found_by_its_terms_when_its_answer_is_lost(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    relay = LosingRelay(desk_of_my_own, loses=True, linked=True)
    async with desk_behind(relay, tmp_path / "orders", asked=True) as connection:
        done = await bought(connection)
        assert done.looked_up
        assert len(relay.writes) == 1


@pytest.mark.e2e
async def test_where_nobody_says_orders_go_without_an_id_of_ours(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    relay = LosingRelay(desk_of_my_own, knows_accounts=False)
    async with desk_behind(relay, tmp_path / "orders", asked=False) as connection:
        await bought(connection)
    (order,) = relay.writes
    assert "clientExtensions" not in order


class RecordingLastResort(ForcedExit):
    """Records the exit codes instead of ending the process."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.armed: list[int] = []

    def arm(self, code: int, seconds: float = 0.0, *, reason: str = "") -> None:
        del seconds, reason
        self.armed.append(code)


@pytest.fixture
def restored_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in CODES}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.mark.usefixtures("restored_handlers")
async def test_a_signal_of_another_process_asks_the_desk_to_leave() -> None:
    forced_exit, codes = RecordingLastResort(), asyncio.Queue[int]()
    leave_on_signals(codes.put_nowait, forced_exit)
    os.kill(os.getpid(), WAKE)
    assert await codes.get() == CODES[WAKE]
    assert forced_exit.armed == [CODES[WAKE]]


@pytest.mark.usefixtures("restored_handlers")
async def test_the_signal_that_interrupts_a_blocked_write_does_not_change_the_exit_code() -> None:
    forced_exit, codes = RecordingLastResort(), asyncio.Queue[int]()
    leave_on_signals(codes.put_nowait, forced_exit)
    with forced_exit._ending:
        os.kill(os.getpid(), WAKE)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await codes.get() == CODES[signal.SIGTERM]
    assert forced_exit.armed == [CODES[signal.SIGTERM]]
