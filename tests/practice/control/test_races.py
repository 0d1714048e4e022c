"""Requests that meet a change of the whole market: a replay, a jump, a reset, and many control requests at once."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from keydesk_practice.ledger.sqlite_ledger import SqliteLedger
from support.controlled_broker import (
    ACCOUNT,
    CONTROL_TOKEN,
    TOKEN,
    ControlledBroker,
    controlled_broker,
)

TURNS = range(0, 40, 3)  # of the event loop, after each of which an order is sent
CLIENTS = 100
FIRST_ACCOUNT = ACCOUNT.rpartition("/")[2]
Change = Callable[[ControlledBroker], Coroutine[Any, Any, None]]


async def replay(market: ControlledBroker) -> None:
    await market.control("POST", "/replay", start="2016-06-23T20:00Z")


async def restore(market: ControlledBroker) -> None:
    await market.control("POST", "/checkpoints/restore", name="before")


async def jump(market: ControlledBroker) -> None:
    await market.control("POST", "/clock/jump", time="2019-06-05T10:20Z")


async def reset(market: ControlledBroker) -> None:
    await market.control("POST", f"/accounts/{FIRST_ACCOUNT}/reset")


async def answer_after(market: ControlledBroker, turns: int) -> tuple[int, dict[str, Any]]:
    """Send an order after so many turns of the event loop; return status and body of its answer."""
    for _ in range(turns):
        await asyncio.sleep(0)
    named = {"id": f"order-{turns}"}
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": "1", "clientExtensions": named}
    async with market.client(TOKEN) as http:
        answer = await http.post(f"{ACCOUNT}/orders", json={"order": order})
    return answer.status_code, answer.json()


def fills_in(lines: list[str]) -> dict[str, str]:
    """Return the fill's id of each named order whose creation is among some transactions."""
    read = [json.loads(line) for line in lines]
    names = {
        one["id"]: one["clientExtensions"]["id"] for one in read if one["type"] == "MARKET_ORDER"
    }
    return {names[one["orderID"]]: one["id"] for one in read if one["type"] == "ORDER_FILL"}


def kept_ledgers(folder: Path) -> list[list[str]]:
    """Return the transactions of the first account in each ledger that was moved aside."""
    kept = []
    for path in (*folder.glob("home.sqlite3"), *folder.glob("ledger-*.sqlite3")):
        alone = folder / f"read-{path.stem}"
        alone.mkdir()
        path.rename(alone / "ledger.sqlite3")
        ledger = SqliteLedger.open(alone)
        kept.append(ledger.bodies(FIRST_ACCOUNT, 1, ledger.last_id(FIRST_ACCOUNT)))
        ledger.close()
    return kept


@pytest.mark.parametrize("change", [replay, restore, jump, reset])
async def test_an_order_that_meets_a_change_of_the_market_is_filled_once_or_refused_in_words(
    tmp_path: Path, change: Change
) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/checkpoints", name="before")
        sent = [asyncio.create_task(answer_after(market, turns)) for turns in TURNS]
        streamed: list[str] = []  # a reset removes what the account had
        market.broker.sessions[FIRST_ACCOUNT].transactions.publish = streamed.extend  # type: ignore[method-assign, assignment]
        changed = asyncio.create_task(change(market))
        answers = await asyncio.gather(*sent)
        await changed
        ledgers = [market.ledger_lines(), streamed if change is reset else []]
    fills = [fills_in(lines) for lines in [*ledgers, *kept_ledgers(tmp_path / "data")]]
    assert {status for status, _ in answers} <= {201, 409, 503}
    for turns, (status, body) in zip(TURNS, answers, strict=True):
        found = [one[f"order-{turns}"] for one in fills if f"order-{turns}" in one]
        if status == 201:
            assert found == [body["orderFillTransaction"]["id"]]
        else:
            assert not found
            assert body["errorMessage"]


async def test_a_jump_that_waited_for_a_replay_is_one_of_the_new_market(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.buy("EUR_USD")  # so that a jump takes steps
        first = asyncio.create_task(jump(market))
        begun = asyncio.create_task(replay(market))
        late = asyncio.create_task(
            market.control("POST", "/clock/jump", 400, time="2019-06-06T10:00Z")
        )
        await asyncio.gather(first, begun)
        assert "more than a year ahead" in (await late)["errorMessage"]
        state = await market.control("GET", "/state")
    assert state["time"].startswith("2016-06-23T20:00:00")


@pytest.mark.e2e
async def test_a_hundred_control_clients_at_once_are_answered_and_leave_a_whole_market(
    tmp_path: Path,
) -> None:
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/state", {}),
        ("POST", "/clock/pause", {}),
        ("POST", "/clock/play", {"speed": 60}),
        ("POST", "/clock/speed", {"speed": 2}),
        ("POST", "/clock/step", {"candles": 1}),
        ("POST", f"/accounts/{FIRST_ACCOUNT}/transfer", {"amount": "10"}),
        ("POST", f"/accounts/{FIRST_ACCOUNT}/reset", {}),
        ("POST", "/shocks", {"kind": "gap", "instrument": "EUR_USD", "size": "0.001"}),
        ("POST", "/replay", {"start": "2016-06-23T20:00Z", "keepLedger": False}),
        ("POST", "/checkpoints", {"name": "one"}),
    ]
    async with controlled_broker(tmp_path) as market:

        async def ask(number: int) -> tuple[int, dict[str, Any]]:
            method, path, body = asked[number % len(asked)]
            async with market.client(CONTROL_TOKEN) as http:
                answer = await http.request(method, f"/control/v1{path}", json=body or None)
            return answer.status_code, answer.json()

        answers = await asyncio.gather(*map(ask, range(CLIENTS)))
        refused = [body for status, body in answers if status != 200]
        assert not refused
        ids = [json.loads(line)["id"] for line in market.ledger_lines()]
        assert ids == [str(number) for number in range(1, len(ids) + 1)]
        fill = await market.buy("EUR_USD")
        assert int(fill["id"]) == len(ids) + 2
        assert not market.stopped
