"""A pause stops the market at the same instant on every node, also when one of them hears of it late."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from keydesk_practice.errors import NotExecuted
from keydesk_practice.http.errors import HttpError

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster import control
from keydesk_practice.cluster.clock import ClusterClock
from keydesk_practice.cluster.control import ClusterControl
from keydesk_practice.cluster.database import Owner, Pace
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.peers import PeerAnswer, PeerRequest, Peers
from keydesk_practice.control.context import Control
from keydesk_practice.control.records import Nothing, State

OTHER, LATE, GONE = (Owner(number, f"http://node{number}:1") for number in (2, 3, 4))


class OtherNodes:
    """Answers with the market's time of each node; one of them cannot be reached."""

    def __init__(self, times: dict[str, int]) -> None:
        self._times = times

    async def send(self, address: str, request: PeerRequest, *_: object) -> PeerAnswer:
        if address == GONE.address:
            raise NotExecuted("gone")
        if request.target == control.ACCOUNTS_HERE.encode():
            return PeerAnswer(200, (), b'{"accounts": []}')
        return PeerAnswer(200, (), json.dumps({"time": self._times[address]}).encode())


@pytest.mark.parametrize(("late", "stopped"), [(1_300, 1_300), (1_000, 1_000)])
async def test_a_pause_ends_at_the_latest_time_of_any_node(
    monkeypatch: pytest.MonkeyPatch, late: int, stopped: int
) -> None:
    monkeypatch.setattr(control, "PAUSE_AHEAD", 0.0)
    clock = ClusterClock(Pace(1_000, 0, 1.0, None, 1), lambda: 0)

    async def change_pace(make: Callable[[], Pace]) -> None:
        clock.follow(make())

    node: Any = SimpleNamespace(
        number=1,
        clock=clock,
        change_pace=change_pace,
        owners={"one": OTHER, "two": LATE, "three": GONE, "four": None},
    )
    others: Any = OtherNodes({OTHER.address: 1_000, LATE.address: late})
    members: dict[str, Any] = dict.fromkeys(State.__slots__, ())
    stand_in: Any = SimpleNamespace(state=lambda: State(**members))
    cluster = ClusterControl(cast(Node, node), cast(Peers, others), b"secret")
    await cluster._pause(cast(Control, stand_in), Nothing())
    assert (clock.pace_now.stops, clock()) == (stopped, stopped)


@pytest.mark.parametrize(("arrives", "status"), [(True, 200), (False, 503)])
async def test_a_deposit_into_an_account_on_its_way_waits_for_it(
    *, arrives: bool, status: int
) -> None:
    served: list[str] = []

    async def wait_for(account: str, _: float) -> None:
        if arrives:
            served.append(account)

    node: Any = SimpleNamespace(
        accounts={"one": None},
        owns=lambda account: account in served,
        loader=SimpleNamespace(wait_for=wait_for),
    )
    cluster = ClusterControl(cast(Node, node), cast(Peers, None), b"secret")

    async def transfer(_control: object, _request: object, account: str) -> str:
        return f"deposited into {account}"

    operation: Any = SimpleNamespace(name="transfer", handler=transfer)
    found = 200
    try:
        answer = await cluster._here(operation)(None, None, account="one")
        assert answer == "deposited into one"
    except HttpError as refused:
        found = refused.status
    assert found == status
