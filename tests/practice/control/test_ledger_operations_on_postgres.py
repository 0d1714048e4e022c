"""Replays, checkpoints, kept ledgers and clones on PostgreSQL are as they are in a folder, and a change is made whole or not at all."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from support.controlled_broker import ACCOUNT, ControlledBroker, controlled_broker
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
from keydesk_practice.errors import LedgerFull, LedgerUnreachable
from keydesk_practice.ledger.postgres_connection import connect
from keydesk_practice.ledger.postgres_ledger import PostgresLedger
from keydesk_practice.ledger.records import Entry, LedgerAccount

pytestmark = pytest.mark.e2e

START = "2019-06-05T10:00Z"


@pytest.fixture
def database(postgres: PostgresServer) -> str:
    return postgres.new_database()


def opened(
    folder: Path, database: str, start: str = START
) -> AbstractAsyncContextManager[ControlledBroker]:
    return controlled_broker(folder, start, database=database)


@pytest.fixture
async def market(tmp_path: Path, database: str) -> AsyncIterator[ControlledBroker]:
    async with opened(tmp_path, database) as found:
        yield found


async def names(market: ControlledBroker) -> list[str]:
    return [one["name"] for one in (await market.control("GET", "/ledgers"))["ledgers"]]


async def test_a_replay_has_fresh_accounts_and_the_way_back_leads_to_those_that_were_left(
    market: ControlledBroker,
) -> None:
    await market.buy("EUR_USD")
    left = market.ledger_lines()
    state = await market.control("POST", "/replay", scenario="brexit", balance="5000")
    assert [one["balance"] for one in state["accounts"]] == ["5000.0000", "5000.0000"]
    await market.buy("GBP_USD")
    assert await names(market) == ["home"]
    state = await market.control("POST", "/replay", present=True, running=False)
    assert state.get("replay") is None
    assert market.ledger_lines()[: len(left)] == left
    assert len(await names(market)) == 1


async def test_a_restart_goes_on_in_the_replay(tmp_path: Path, database: str) -> None:
    async with opened(tmp_path, database) as market:
        await market.control("POST", "/replay", random=True, draw=3, blind=True)
        await market.control("POST", "/clock/step", candles=3)
        before = await market.control("GET", "/state")
    async with opened(tmp_path, database, "") as market:
        assert await market.control("GET", "/state") == before | {"ledgerNumber": 0}


async def test_a_checkpoint_is_restored_as_often_as_one_likes(market: ControlledBroker) -> None:
    await market.buy("EUR_USD")
    saved = market.ledger_lines()
    assert (await market.control("POST", "/checkpoints", name="a.b"))["checkpoints"] == ["a.b"]
    for _ in range(2):
        await market.buy("EUR_USD")
        state = await market.control("POST", "/checkpoints/restore", name="a.b")
        assert market.ledger_lines() == saved
        assert state["running"] is False
    await market.control("POST", "/checkpoints", name="a.b")
    unknown = await market.control("POST", "/checkpoints/restore", 404, name="none")
    assert "no checkpoint 'none'; saved are: a.b" in unknown["errorMessage"]


async def test_a_kept_ledger_is_opened_under_its_name_and_another_is_deleted(
    market: ControlledBroker,
) -> None:
    await market.control("POST", "/replay", scenario="franc")
    await market.buy("EUR_CHF")
    played = market.ledger_lines()
    await market.control("POST", "/replay", scenario="brexit")
    (newest,) = [one for one in await names(market) if one != "home"]
    await market.control("POST", "/ledgers/name", name=newest, newName="franc")
    listed = (await market.control("GET", "/ledgers"))["ledgers"]
    assert [(one["name"], one["what"]) for one in listed] == [
        ("home", "account"),
        ("franc", "replay franc"),
    ]
    assert all(one["bytes"] > 0 for one in listed)
    await market.control("POST", "/ledgers/open", name="franc")
    assert market.ledger_lines() == played
    (brexit,) = [one for one in await names(market) if one != "home"]
    await market.control("DELETE", f"/ledgers/{brexit}")
    assert await names(market) == ["home"]
    await market.control("POST", "/ledgers/open", 404, name=brexit)


async def test_an_account_is_cloned(market: ControlledBroker) -> None:
    await market.buy("EUR_USD")
    id_ = ACCOUNT.rpartition("/")[2]
    copy = await market.control("POST", f"/accounts/{id_}/clone")
    assert copy["openTrades"] == 1
    assert len(market.ledger_lines(copy["id"])) == len(market.ledger_lines())


@pytest.mark.parametrize("request_body", [{"scenario": "franc"}, {"name": "saved"}])
async def test_a_change_that_fails_leaves_the_market_as_it_was(
    market: ControlledBroker, monkeypatch: pytest.MonkeyPatch, request_body: dict[str, Any]
) -> None:
    await market.buy("EUR_USD")
    await market.control("POST", "/checkpoints", name="saved")
    await market.buy("EUR_USD")
    before = market.ledger_lines(), await market.control("GET", "/state")
    path = "/checkpoints/restore" if "name" in request_body else "/replay"
    whole = PostgresLedger.set_fact

    def full(self: PostgresLedger, name: str, value: str) -> None:
        if name == "replays_begun":  # the last one of a change
            raise LedgerFull("no space left")
        whole(self, name, value)

    with monkeypatch.context() as full_disk:
        full_disk.setattr(PostgresLedger, "set_fact", full)
        refused = await market.control("POST", path, 503, **request_body)
    assert "no space left" in refused["errorMessage"]
    assert before[0] == market.ledger_lines()
    assert await market.control("GET", "/state") | {"ledgerNumber": 0} == before[1]
    assert await names(market) == []
    await market.buy("EUR_USD")
    await market.control("POST", path, **request_body)
    assert market.stopped == []


async def test_a_change_whose_connection_is_lost_is_not_made(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, database) as market:
        await market.buy("EUR_USD")
        before = market.ledger_lines()
        whole = PostgresLedger.create_account

        def lost(self: PostgresLedger, account: LedgerAccount, history: Iterable[Entry]) -> None:
            connection = connect(database)
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.close()
            whole(self, account, history)

        with monkeypatch.context() as patched:
            patched.setattr(PostgresLedger, "create_account", lost)
            await market.control("POST", "/replay", 504, scenario="franc")
        assert market.stopped == []
        with pytest.raises(LedgerUnreachable):
            market.ledger_lines()
    async with opened(tmp_path, database) as market:
        assert market.ledger_lines() == before
        assert await names(market) == []
