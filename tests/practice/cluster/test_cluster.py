"""Several nodes on one ledger: any node answers any client, and shows the same market, accounts and streams."""

import asyncio
import contextlib
import json

import pytest

from support.cluster import ANSWER_SECONDS, Cluster
from support.cluster_prices import identical_prices

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.asyncio(loop_scope="module")

USD = "101-001-1000001-001"
ORDER = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "100"}}
LIMIT = {"order": {"type": "LIMIT", "instrument": "EUR_USD", "units": "100", "price": "0.5"}}


async def test_any_node_answers_and_shows_the_same_market(cluster: Cluster) -> None:
    token = cluster.tokens[0]
    made = [
        await cluster.send(node, token, "POST", f"/v3/accounts/{USD}/orders", LIMIT)
        for node in cluster.nodes
    ]
    assert [answer.status for answer in made] == [201, 201, 201]
    ids = [json.loads(answer.body)["lastTransactionID"] for answer in made]
    for node in cluster.nodes:
        answer = await cluster.send(node, token, "GET", f"/v3/accounts/{USD}/summary")
        assert json.loads(answer.body)["lastTransactionID"] == ids[-1]
        listed = await cluster.send(node, token, "GET", "/v3/accounts")
        assert len(json.loads(listed.body)["accounts"]) == 2
        strange = await cluster.send(node, cluster.tokens[1], "GET", f"/v3/accounts/{USD}/summary")
        assert strange.status == 403
    states = [await cluster.control(node, "GET", "/state") for node in cluster.nodes]
    accounts = [[one["id"] for one in state["accounts"]] for state in states]
    assert accounts[0] == accounts[1] == accounts[2]
    assert len(accounts[0]) == 2 * len(cluster.tokens)
    assert len(await identical_prices(cluster)) == 3


async def test_a_stream_at_any_node_has_what_was_ordered_at_another(cluster: Cluster) -> None:
    token = cluster.tokens[0]
    async with contextlib.AsyncExitStack() as streams:
        heard = [
            await streams.enter_async_context(cluster.stream(node, token, USD))
            for node in cluster.nodes
        ]
        ids: list[list[str]] = [[] for _ in heard]
        for node in cluster.nodes:
            answer = await cluster.send(node, token, "POST", f"/v3/accounts/{USD}/orders", ORDER)
            made = json.loads(answer.body)["relatedTransactionIDs"]
            for lines, seen in zip(heard, ids, strict=True):
                while made[-1] not in seen:
                    line = await lines.readline()
                    if line.startswith(b"{") and b'"HEARTBEAT"' not in line:
                        seen.append(json.loads(line)["id"])
    assert ids[0] == ids[1] == ids[2]
    assert len(ids[0]) == 2 * len(cluster.nodes)


async def test_a_deposit_and_a_reset_reach_the_owner_through_any_node(cluster: Cluster) -> None:
    account = "101-001-1000002-001"
    await cluster.balanced()
    fresh = await cluster.control(
        cluster.nodes[0], "POST", f"/accounts/{account}/reset", {"balance": "5000"}
    )
    assert float(fresh["balance"]) == 5000
    await cluster.balanced()
    for node in cluster.nodes:
        found = await cluster.control(
            node, "POST", f"/accounts/{account}/transfer", {"amount": "100"}
        )
    assert float(found["balance"]) == 5300


async def test_a_reset_ends_the_streams_of_every_node_and_the_next_ones_have_the_new_account(
    cluster: Cluster,
) -> None:
    token, orders = cluster.tokens[0], f"/v3/accounts/{USD}/orders"
    await cluster.send(cluster.nodes[0], token, "POST", orders, ORDER)
    async with contextlib.AsyncExitStack() as streams:
        opened = [
            await streams.enter_async_context(cluster.stream(node, token, USD))
            for node in cluster.nodes
        ]
        await cluster.control(cluster.nodes[0], "POST", f"/accounts/{USD}/reset", {})
        await asyncio.wait_for(asyncio.gather(*(one.read() for one in opened)), ANSWER_SECONDS)
    async with contextlib.AsyncExitStack() as streams:
        opened = [
            await streams.enter_async_context(cluster.stream(node, token, USD))
            for node in cluster.nodes
        ]
        answer = await cluster.send(cluster.nodes[0], token, "POST", orders, ORDER)
        first = json.loads(answer.body)["relatedTransactionIDs"][0]
        for lines in opened:
            async with asyncio.timeout(ANSWER_SECONDS):
                while f'"id":"{first}"'.encode() not in await lines.readline():
                    pass


async def test_the_inner_listener_refuses_who_does_not_know_the_secret(cluster: Cluster) -> None:
    from keydesk_practice.cluster.peers import PeerRequest  # noqa: PLC0415 - needs the extra

    node = cluster.nodes[0]
    for inner in ((), ((b"keydesk-cluster", b"guessed"),)):
        request = PeerRequest("GET", f"/v3/accounts/{USD}/summary".encode(), (), b"")
        answer = await cluster.peers.send(node.link_url, request, inner, 20.0)
        assert answer.status == 401
