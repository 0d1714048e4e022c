"""The control interface over two workers acts on both, and both are at the same time of the market afterwards.

The workers are brokers in this process, asked without sockets.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from starlette.types import Message, Scope

from keydesk_practice.broker.clock import Clock
from keydesk_practice.broker.startup import LocalBroker, open_broker
from keydesk_practice.cluster.peers import Headers, PeerAnswer, PeerRequest, Peers
from keydesk_practice.control.application import ControlApplication, answer_operation
from keydesk_practice.control.context import LocalControl
from keydesk_practice.errors import NotExecuted, OutcomeUnknown
from keydesk_practice.http.application import make_application
from keydesk_practice.http.errors import HttpError
from keydesk_practice.ledger.ledger_file import make_private
from keydesk_practice.ledger.placement import worker_folder, worker_of
from keydesk_practice.options import Options
from keydesk_practice.workers import group
from keydesk_practice.workers.control import WorkersControl
from keydesk_practice.workers.group import WorkerGroup
from keydesk_practice.workers.operations import WORKER_OPERATIONS
from keydesk_practice.workers.pool import Worker
from support.data.practice_market import instant

CONTROL_TOKEN = "token-of-the-control"
FIRST, SECOND = "101-001-1000001-001", "101-001-1000001-002"


class PeersInProcess:
    """Asks the workers of this process; `outcomes` holds what happens to the next requests instead."""

    def __init__(self, controls: list[LocalControl]) -> None:
        self.controls = controls
        self.outcomes: list[Exception] = []
        self.before: list[Exception] = []  # raised before the request is executed

    async def send(self, address: str, request: PeerRequest, _: Headers, __: float) -> PeerAnswer:
        path = request.target.decode()
        if self.before:
            raise self.before.pop(0)

        async def receive() -> Message:
            return {"type": "http.request", "body": request.body, "more_body": False}

        scope: Scope = {
            "type": "http",
            "method": request.method,
            "path": path,
            "query_string": b"",
            "headers": [],
        }
        try:
            control = self.controls[int(address)]
            body = await answer_operation(control, WORKER_OPERATIONS, scope, receive)
        except HttpError as error:
            return PeerAnswer(error.status, (), json.dumps(error.body()).encode())
        if self.outcomes:
            raise self.outcomes.pop(0)
        return PeerAnswer(200, (), json.dumps(body).encode())


class TwoWorkers:
    """Two workers and the control interface over both."""

    def __init__(self, folder: Path) -> None:
        make_private(folder)
        options = Options("serve", folder, start=instant("2019-06-05T10:00Z"), paused=True)
        self.brokers: list[LocalBroker] = []
        controls = []
        for number in range(2):
            here = replace(options, data=worker_folder(folder, number))
            broker = open_broker(here, 1, lambda id_, number=number: worker_of(id_, 2) == number)  # type: ignore[misc]
            broker.all_accounts = {}
            controls.append(
                LocalControl(broker, here, make_application(broker, ["a-token-1"], 1000))
            )
            self.brokers.append(broker)
        self.peers = PeersInProcess(controls)
        clock = Clock(self.brokers[0].now(), 1.0, running=False)
        workers = [Worker(0), Worker(1)]
        self.group = WorkerGroup(clock, cast(Peers, self.peers), b"", str, workers)
        self.control = WorkersControl(self.group, 1, owners=(0,))
        for worker in workers:
            worker.up.set()
        self.application = ControlApplication(
            self.control, CONTROL_TOKEN, operations=self.control.operations()
        )

    async def ask(self, method: str, path: str, expect: int = 200, **body: Any) -> Any:  # noqa: ANN401 - JSON
        transport = httpx.ASGITransport(self.application, client=("127.0.0.1", 1))
        headers = {"Authorization": f"Bearer {CONTROL_TOKEN}"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://b", headers=headers
        ) as http:
            answer = await http.request(method, f"/control/v1{path}", json=body or None)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def times(self) -> set[int]:
        """Return the times of both markets and of the supervisor."""
        return {*(one.now() for one in self.brokers), self.group.clock()}


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[TwoWorkers]:
    """Two workers that agree, paused."""
    found = TwoWorkers(tmp_path / "data")
    await found.group.publish()
    yield found
    for broker in found.brokers:
        broker.close()


def shown(state: dict[str, Any]) -> list[str]:
    return [one["id"] for one in state["accounts"]]


async def test_the_state_is_that_of_both_and_steps_take_both_to_the_same_time(
    two: TwoWorkers,
) -> None:
    state = await two.ask("GET", "/state")
    assert shown(state) == [FIRST, SECOND]
    assert (state["running"], state["speed"], state["seed"]) == (False, "1", 1)
    assert [list(one.sessions) for one in two.brokers] == [[FIRST], [SECOND]]
    state = await two.ask("POST", "/clock/step", candles=3)
    assert state["time"] == "2019-06-05T10:03:00.000000000Z"
    assert len(two.times()) == 1
    await two.ask("POST", "/clock/jump", time="2019-06-05T18:00Z")
    assert two.times() == {instant("2019-06-05T18:00Z")}
    refused = await two.ask("POST", "/clock/jump", 409, time="2019-06-05T10:00Z")
    assert "does not go back" in refused["errorMessage"]


async def test_pace_shocks_and_faults_are_the_same_on_both(two: TwoWorkers) -> None:
    state = await two.ask("POST", "/clock/play", speed=50)
    assert (state["running"], state["speed"]) == (True, "50")
    assert all(one.clock.running and one.clock.speed == 50 for one in two.brokers)
    await two.ask("POST", "/clock/speed", speed=7)
    assert all(one.clock.running and one.clock.speed == 7 for one in two.brokers)
    assert not (await two.ask("POST", "/clock/pause"))["running"]
    assert len(two.times()) == 1

    state = await two.ask("POST", "/shocks", kind="gap", instrument="EUR_USD")
    assert len(state["shocks"]) == 1
    assert two.brokers[0].shocks == two.brokers[1].shocks != ()
    refused = await two.ask("POST", "/shocks", 400, kind="gap", instrument="EUR_USD", size=5)
    assert "size" in refused["errorMessage"]
    assert (await two.ask("DELETE", "/shocks"))["shocks"] == []
    assert [one.shocks for one in two.brokers] == [(), ()]

    assert (await two.ask("PUT", "/faults", name="bad-line"))["faults"]
    assert all(one.interface.faults.active for one in two.peers.controls)
    assert (await two.ask("DELETE", "/faults"))["faults"] == []
    assert not any(one.interface.faults.active for one in two.peers.controls)


async def test_a_random_replay_is_the_same_on_both_and_a_refused_one_changes_nothing(
    two: TwoWorkers,
) -> None:
    state = await two.ask("POST", "/replay", random=True, blind=True)
    assert state["replay"] == {"blind": True, "finished": False}
    assert (state["ledgerNumber"], len(two.times())) == (1, 1)
    assert two.brokers[0].disguise == two.brokers[1].disguise is not None
    assert (await two.ask("POST", "/replay/finish"))["replay"]["finished"]
    assert len(shown(await two.ask("GET", "/state"))) == 2
    await two.ask("POST", "/clock/play")
    await two.ask("POST", "/replay", 400, scenario="no such one")
    state = await two.ask("GET", "/state")
    assert (state["running"], state["ledgerNumber"]) == (True, 1)


async def test_a_checkpoint_brings_accounts_and_time_of_both_back(two: TwoWorkers) -> None:
    before = two.times()
    assert (await two.ask("POST", "/checkpoints", name="here"))["checkpoints"] == ["here"]
    await two.ask("POST", "/clock/step", candles=5)
    for account in (FIRST, SECOND):
        await two.ask("POST", f"/accounts/{account}/transfer", amount=-5)
    state = await two.ask("POST", "/checkpoints/restore", name="here")
    assert {one["balance"] for one in state["accounts"]} == {"100000.0000"}
    assert two.times() == before
    refused = await two.ask("POST", "/checkpoints/restore", 404, name="there")
    assert "here" in refused["errorMessage"]


async def test_a_checkpoint_that_is_damaged_at_one_worker_is_restored_at_none(
    two: TwoWorkers, tmp_path: Path
) -> None:
    await two.ask("POST", "/checkpoints", name="here")
    await two.ask("POST", "/clock/step", candles=5)
    await two.ask("POST", f"/accounts/{FIRST}/transfer", amount=-5)
    before = await two.ask("GET", "/state")
    copy = worker_folder(tmp_path / "data", 1) / "checkpoints" / "here.sqlite3"
    copy.write_bytes(copy.read_bytes()[:-5_000])
    refused = await two.ask("POST", "/checkpoints/restore", 409, name="here")
    assert "'here' is damaged" in refused["errorMessage"]
    assert await two.ask("GET", "/state") == before


async def test_each_account_is_changed_at_its_worker(two: TwoWorkers) -> None:
    for account in (FIRST, SECOND):
        changed = await two.ask("POST", f"/accounts/{account}/transfer", amount=500)
        assert (changed["id"], changed["balance"]) == (account, "100500.0000")
    await two.ask("POST", f"/accounts/{SECOND}/reset", currency="GBP", balance=7)
    known = two.group.shared.accounts
    assert [(one.id, one.currency) for one in known] == [(FIRST, "USD"), (SECOND, "GBP")]
    refused = await two.ask("POST", "/accounts/101-001-9-001/transfer", 404, amount=1)
    assert FIRST in refused["errorMessage"]


async def test_added_accounts_clones_and_tokens_are_at_their_workers_and_known_to_both(
    two: TwoWorkers,
) -> None:
    for number in (3, 4):
        added = await two.ask("POST", "/accounts", currency="CHF")
        assert added["id"] == f"101-001-1000001-{number:03}"
        assert added["id"] in two.brokers[worker_of(added["id"], 2)].sessions
    for broker in two.brokers:
        assert [one.id for one in broker.accounts_of(0)][-1] == "101-001-1000001-004"
    await two.ask("POST", "/accounts", 400, owner=77)
    cloned = await two.ask("POST", f"/accounts/{FIRST}/clone")
    assert worker_of(cloned["id"], 2) == worker_of(FIRST, 2)
    assert cloned["id"] in two.brokers[0].sessions
    added = await two.ask("POST", "/tokens", token="a-further-token")
    for id_ in added["accounts"]:
        assert id_ in two.brokers[worker_of(id_, 2)].sessions
    for one in two.peers.controls:
        assert added["owner"] in one.authenticator.owners()
    await two.ask("POST", "/tokens", 409, token="a-further-token")
    await two.ask("POST", "/tokens", 400, token="short")
    again = await two.ask("POST", "/tokens")
    assert again["owner"] == added["owner"] + 1


async def test_what_a_worker_missed_it_learns_when_it_joins(two: TwoWorkers) -> None:
    missed = two.group.workers[1]
    await two.ask("POST", "/clock/step", candles=2)
    missed.up.clear()
    two.group.clock.set(instant("2019-06-05T10:09:30Z"))
    await two.group.publish()
    assert len(two.times()) == 2
    await two.group.join(missed)
    assert missed.up.is_set()
    assert two.times() == {instant("2019-06-05T10:09:30Z")}


async def test_what_may_be_done_twice_is_asked_again_and_a_transfer_is_made_once(
    two: TwoWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "PAUSE_SECONDS", 0.0)
    two.peers.before = [NotExecuted("refused"), NotExecuted("refused")]
    assert shown(await two.ask("GET", "/state")) == [FIRST, SECOND]

    two.peers.outcomes = [OutcomeUnknown("cut")]
    await two.ask("POST", f"/accounts/{FIRST}/transfer", 504, amount=500)
    state = await two.ask("GET", "/state")
    assert state["accounts"][0]["balance"] == "100500.0000"

    monkeypatch.setattr(group, "WAIT_SECONDS", 0.0)
    two.group.workers[1].up.clear()
    refused = await two.ask("GET", "/state", 503)
    assert "try again" in refused["errorMessage"]
