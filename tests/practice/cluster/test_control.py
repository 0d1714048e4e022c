"""A change that concerns one account waits until that account has arrived at this node."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from keydesk_practice.broker.replay import load_shocks
from keydesk_practice.control.context import Control
from keydesk_practice.control.records import AddShock, State, Step
from keydesk_practice.engine.wire_form import SECOND
from keydesk_practice.http.errors import HttpError
from keydesk_practice.http.faults import Faults
from keydesk_practice.options import read_arguments
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster.control import ClusterControl
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.peers import Peers
from support.cluster_node import opened_node


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


async def test_a_step_of_years_is_refused_for_time_does_not_go_back() -> None:
    paces: list[object] = []
    node: Any = SimpleNamespace(
        clock=Mock(running=False, speed=1, return_value=0),
        broker=SimpleNamespace(ticked_until=0),
        change_pace=paces.append,
        owners={},
    )
    cluster = ClusterControl(cast(Node, node), cast(Peers, None), b"secret")
    state = State(time=0, running=False, speed="1", seed=1)
    broker = SimpleNamespace(now=lambda: 0)
    control: Any = SimpleNamespace(broker=broker, real=int, shown=int, state=lambda: state)
    with pytest.raises(HttpError) as refused:
        await cluster._step(control, Step(candles=2_000, granularity="W"))
    assert refused.value.status == 400
    assert paces == []


async def test_shocks_that_two_nodes_change_at_once_are_all_kept(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    address = postgres.new_database()
    no_faults: Any = SimpleNamespace(faults=Faults())
    nodes = [opened_node(address, tmp_path / name) for name in ("one", "two")]
    for node, instrument in zip(nodes, ("EUR_USD", "USD_JPY"), strict=True):  # neither is notified
        control = Control(node.broker, read_arguments(["serve"]), no_faults)
        cluster = ClusterControl(node, Peers(), b"secret")
        later = node.clock() + 3_600 * SECOND
        request = AddShock(kind="halt", instrument=instrument, time=later)
        await cluster._add_shock(control, request)
    stored = [one.instruments for one in load_shocks(nodes[0].ledger)]
    assert stored == [("EUR_USD",), ("USD_JPY",)]
    for node in nodes:
        await node.stop()
        node.broker.close()
