"""Whether an account is linked to a third-party platform decides whether orders carry ids of ours, and how they are found."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from keydesk.config import Profile
from keydesk.connection import Connection, opened
from keydesk.store.store import Store
from keydesk.targets import SignedIn, Target
from keydesk_client.models import MarketOrderRequest
from keydesk_client.outcome import Became, Done
from keydesk_client.secret import Secret
from support.broker import PracticeServer
from support.talking_server import talking_server


@dataclass
class Relay:
    """Stands before the practice broker: says which account is linked, and may lose the answers to orders."""

    practice: PracticeServer
    linked: bool = True
    loses_answers: bool = False
    knows_accounts: bool = True
    orders: list[dict[str, object]] = field(default_factory=list)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target = head.split(" ", 2)[:2]
            sizes = (line for line in head.lower().split("\r\n") if "content-length:" in line)
            body = await reader.readexactly(int(next(sizes, ":0").partition(":")[2]))
            answer = await self.practice.http.request(method, target, content=body)
            if method == "POST":
                self.orders.append(json.loads(body)["order"])
                if self.loses_answers:
                    return
            self._say(writer, target, answer)

    def _say(self, writer: asyncio.StreamWriter, target: str, answer: httpx.Response) -> None:
        status, content = answer.status_code, answer.content
        if target == "/v3/accounts":
            found = answer.json()
            for account in found["accounts"] if self.linked else []:
                account["mt4AccountID"] = 7001
            status, content = (
                (200, json.dumps(found).encode()) if self.knows_accounts else (503, b"")
            )
        head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)


@asynccontextmanager
async def desk_behind(relay: Relay, folder: Path, *, asked: bool) -> AsyncIterator[Connection]:
    """A desk behind the relay; with `asked`, the broker was asked for the accounts before it opened."""
    practice = relay.practice
    folder.mkdir(mode=0o700)
    async with talking_server(relay.talk) as rest_url:
        profile = Profile("main", "custom", practice.account_id, rest_url, practice.stream_url)
        account = SignedIn(profile, Secret(practice.token))
        target: Target = await account.target() if asked else account.unasked()
        journal, audit = folder / "journal", folder / "audit"
        async with opened(target, Store(), journal, audit) as connection:
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
    assert outcome.became is Became.FILLED
    return outcome


@pytest.mark.parametrize("asked", [True, False], ids=["known before", "learned at the desk"])
@pytest.mark.parametrize("linked", [True, False], ids=["linked", "its own"])
async def test_only_orders_of_an_account_of_its_own_carry_an_id(
    desk_of_my_own: PracticeServer, tmp_path: Path, linked: bool, asked: bool
) -> None:
    relay = Relay(desk_of_my_own, linked=linked)
    async with desk_behind(relay, tmp_path / "orders", asked=asked) as connection:
        await bought(connection)
    (order,) = relay.orders
    assert ("clientExtensions" in order) is not linked


async def test_an_order_of_a_linked_account_is_found_by_its_terms_when_its_answer_is_lost(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    relay = Relay(desk_of_my_own, loses_answers=True)
    async with desk_behind(relay, tmp_path / "orders", asked=True) as connection:
        done = await bought(connection)
        assert done.looked_up
        assert len(relay.orders) == 1


async def test_where_nobody_says_orders_go_without_an_id_of_ours(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    relay = Relay(desk_of_my_own, linked=False, knows_accounts=False)
    async with desk_behind(relay, tmp_path / "orders", asked=False) as connection:
        await bought(connection)
    (order,) = relay.orders
    assert "clientExtensions" not in order
