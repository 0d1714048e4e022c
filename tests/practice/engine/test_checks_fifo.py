"""`practice serve --fifo`: the netting account follows the FIFO rules of a US division, for as long as its ledger lives."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.broker import PracticeServer, SharedPractice, practice_server

FIRST, SECOND = "the-first-token", "the-second-token"
STOP = {"distance": "0.0500"}


async def buy(practice: PracticeServer, units: int, **on_fill: object) -> dict[str, Any]:
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": str(units), **on_fill}
    answer = await practice.send("POST", "{a}/orders", {"order": order})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def bought(practice: PracticeServer, units: int) -> str:
    made = await buy(practice, units)
    return str(made["orderFillTransaction"]["tradeOpened"]["tradeID"])


async def close(practice: PracticeServer, trade: str) -> dict[str, Any]:
    return dict((await practice.send("PUT", f"{{a}}/trades/{trade}/close", {})).json())


@pytest.fixture(scope="module")
def fifo_brokers(module_folder: Path) -> Iterator[SharedPractice]:
    """A broker with an account of its own for each test that changes nothing but its account."""
    shared = SharedPractice(module_folder, "--fifo", owners=8)
    yield shared
    shared.close()


@pytest.fixture
async def fifo(fifo_brokers: SharedPractice) -> AsyncIterator[PracticeServer]:
    desk = fifo_brokers.open_desk()
    yield desk
    await desk.close()


async def test_the_older_of_two_equal_trades_closes_first(fifo: PracticeServer) -> None:
    older, newer = await bought(fifo, 1000), await bought(fifo, 1000)
    refused = await close(fifo, newer)
    assert refused["orderCancelTransaction"]["reason"] == "FIFO_VIOLATION"
    assert "orderFillTransaction" in await close(fifo, older)
    assert "orderFillTransaction" in await close(fifo, newer)


async def test_a_trade_of_another_size_closes_at_once(fifo: PracticeServer) -> None:
    await bought(fifo, 1000)
    assert "orderFillTransaction" in await close(fifo, await bought(fifo, 999))


async def test_a_second_equal_trade_cannot_open_with_a_stop(fifo: PracticeServer) -> None:
    await bought(fifo, 1000)
    made = await buy(fifo, 1000, stopLossOnFill=STOP)
    assert made["orderCancelTransaction"]["reason"] == "FIFO_VIOLATION_SAFEGUARD_VIOLATION"
    assert "orderFillTransaction" in await buy(fifo, 999, stopLossOnFill=STOP)


async def test_equal_trades_cannot_get_a_stop_later(fifo: PracticeServer) -> None:
    older, _ = await bought(fifo, 1000), await bought(fifo, 1000)
    answer = await fifo.send("PUT", f"{{a}}/trades/{older}/orders", {"stopLoss": STOP})
    reject = answer.json()["stopLossOrderRejectTransaction"]
    assert answer.status_code == 400
    assert reject["rejectReason"] == "STOP_LOSS_ORDER_WOULD_VIOLATE_FIFO_VIOLATION_SAFEGUARD"


@pytest.mark.e2e
async def test_the_account_keeps_its_rules(practice_folder: Path) -> None:
    async with practice_server(practice_folder, "--fifo") as practice:
        await bought(practice, 1000)
        newer = await bought(practice, 1000)
    for again in ((), ("--fifo",)):
        async with practice_server(practice_folder, *again) as practice:
            refused = await close(practice, newer)
            assert refused["orderCancelTransaction"]["reason"] == "FIFO_VIOLATION"


@pytest.mark.e2e
async def test_an_account_opened_without_is_not_turned_into_one(practice_folder: Path) -> None:
    async with practice_server(practice_folder) as practice:
        data = practice.data
        await bought(practice, 1000)
        assert "orderFillTransaction" in await close(practice, await bought(practice, 1000))
    command = [sys.executable, "-m", "keydesk_practice.__main__", "--fifo", "--port", "0"]
    refused = subprocess.run(  # noqa: ASYNC221 - it ends by itself, nothing else runs here
        [*command, "--data", str(data)], capture_output=True, text=True, check=False
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "keydesk practice: account 101-001-1000001-001 was opened without --fifo and keeps its rules: "
        "leave out --fifo, use another folder with --data, or run `keydesk practice reset`\n"
    )


@pytest.mark.e2e
async def test_a_token_that_comes_later_brings_an_account_of_its_own_rules(
    practice_folder: Path,
) -> None:
    async with practice_server(practice_folder, "--fifo", "--token", FIRST):
        pass
    async with practice_server(practice_folder, "--token", FIRST, "--token", SECOND) as both:
        names = [
            (await both.http.get(f"/v3/accounts/101-001-100000{n}-001/summary", headers=of)).json()
            for n, of in ((1, {}), (2, {"Authorization": f"Bearer {SECOND}"}))
        ]
        assert [one["account"]["alias"] for one in names] == ["Practice, FIFO", "Practice"]
