"""A change that concerns one account waits until that account has arrived at this node."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from keydesk_practice.http.errors import HttpError

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster.control import ClusterControl
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.peers import Peers


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
