"""Tokens that are added to a cluster: each opens accounts of its own, on every node as soon as the answer is there."""

import asyncio
import json

import pytest

from support.cluster import Cluster
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")


async def test_two_nodes_that_add_a_token_at_the_same_time_give_each_accounts_of_its_own(
    postgres: PostgresServer,
) -> None:
    async with Cluster(postgres, nodes=2, tokens=1) as cluster:
        added = await asyncio.gather(
            *(
                cluster.control(node, "POST", "/tokens", {"token": f"token-added-at-{number}"})
                for number, node in enumerate(cluster.nodes)
            )
        )
        assert len({id_ for one in added for id_ in one["accounts"]}) == 4
        for node in cluster.nodes:
            for one in added:
                listed = await cluster.send(node, one["token"], "GET", "/v3/accounts")
                accounts = json.loads(listed.body)["accounts"]
                assert [found["id"] for found in accounts] == one["accounts"]
