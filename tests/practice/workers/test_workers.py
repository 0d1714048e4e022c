"""Two real workers behind one address: what a client sees while one is killed, and what is left when they end."""

import asyncio
import contextlib
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from keydesk_practice.__main__ import main
from keydesk_practice.control.client import ControlClient
from keydesk_practice.ledger.ledger import Ledger
from keydesk_practice.ledger.placement import place_accounts
from support.broker import PracticeServer, practice_server
from support.worker_kills import children_of, wait_until

ORDER = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "100"}}


async def buy(practice: PracticeServer, account: str) -> int:
    answer = await practice.send("POST", f"/v3/accounts/{account}/orders", ORDER)
    if answer.status_code == 503:
        assert answer.headers["retry-after"] == "1"
    return answer.status_code


async def test_workers_share_an_address_survive_a_kill_and_leave_nothing(
    practice_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with practice_server(practice_folder, "--workers", "2", "--port", "0") as practice:
        assert practice.process is not None
        supervisor = practice.process.pid
        workers = children_of(supervisor)
        assert len(workers) == 2
        for account in practice.accounts:  # on one connection: one of them is forwarded
            assert await buy(practice, account.id) == 201
        listed = (await practice.get("/v3/accounts")).json()["accounts"]
        assert [one["id"] for one in listed] == [one.id for one in practice.accounts]
        path = f"/v3/accounts/{practice.hedging_id}/transactions/stream"
        async with practice.http.stream("GET", path) as stream:  # relayed, too, or handed over
            async for line in stream.aiter_lines():
                assert json.loads(line)["type"] == "HEARTBEAT"
                break

        for words in (["--workers", "2"], []):
            second = ["serve", "--data", str(practice.data), "--port", "0", *words]
            assert await asyncio.to_thread(main, second) == 1
            assert "is in use by another running practice broker" in capsys.readouterr().err

        await asyncio.to_thread(_pause, practice)
        os.kill(workers[0], signal.SIGKILL)
        await wait_until(lambda: workers[0] not in children_of(supervisor))
        statuses: list[int] = []

        async def is_back() -> bool:
            statuses.append(await buy(practice, practice.account_id))
            return statuses[-1] == 201

        await wait_until(is_back)
        assert set(statuses[:-1]) <= {503}
        assert (await practice.get("/health")).json()["status"] == "ok"
        state = await asyncio.to_thread(_state, practice)
        assert (state["running"], len(state["accounts"])) == (False, 2)
        workers = children_of(supervisor)
        assert await practice.stop() == 0
        await wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    assert main(["check", "--data", str(practice.data)]) == 0
    place_accounts(practice.data, workers=1)
    with contextlib.closing(Ledger.open(practice.data)) as ledger:
        found = {one.id: ledger.last_id(one.id) for one in ledger.accounts()}
    assert found == {practice.account_id: 7, practice.hedging_id: 5}


def _pause(practice: PracticeServer) -> None:
    ControlClient.of_data_folder(practice.data).call("POST", "/clock/pause", {})


def _state(practice: PracticeServer) -> dict[str, Any]:
    return ControlClient.of_data_folder(practice.data).call("GET", "/state")
