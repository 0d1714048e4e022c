"""Accounts that a node takes: one of a node that was ahead goes on at that time, and one that cannot be loaded keeps no other."""

import json
from pathlib import Path

import pytest

from keydesk_practice.engine.commands import Configure
from keydesk_practice.engine.wire_form import SECOND, parse_time, rfc3339
from keydesk_practice.ledger.records import LedgerBatch, WireTransaction, entry_of
from support.postgres import PostgresServer

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster import loading
from keydesk_practice.cluster.node import Node
from keydesk_practice.ledger.postgres_connection import connect
from support.cluster_node import opened_node

ACCOUNT, OTHER = "101-001-1000001-001", "101-001-1000001-002"


def configure_later(node: Node, seconds: int) -> int:
    """Store a transaction as a node does whose market is some seconds ahead, and return its time."""
    ledger = node.ledger
    last = ledger.last_id(ACCOUNT)
    texts = map(json.loads, ledger.bodies(ACCOUNT, 1, last))
    configured = next(one for one in texts if one["type"] == "CLIENT_CONFIGURE")
    time = (ledger.time_of(ACCOUNT, last) or 0) + seconds * SECOND
    id_ = str(last + 1)
    later = WireTransaction(configured, id=id_, batchID=id_, time=rfc3339(time))
    ledger.commit([LedgerBatch(ACCOUNT, [entry_of(later, time)])])
    return time


async def test_the_time_of_an_account_never_goes_back_when_another_node_takes_it(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    node = opened_node(postgres.new_database(), tmp_path)
    try:
        later = configure_later(node, seconds=60)
        await node.start("http://127.0.0.1:1")
        session = node.broker.sessions[ACCOUNT]
        made = node.broker.execute(session, Configure(alias="after the other node"))
        assert parse_time(made[0]["time"]) >= later
        assert node.broker.ticked_until >= later
    finally:
        await node.stop()
        node.broker.close()


async def test_an_account_that_cannot_be_loaded_keeps_no_other_from_being_served(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "RETRY_SECONDS", 0.0)
    address = postgres.new_database()
    node = opened_node(address, tmp_path)
    rows = "UPDATE transactions SET body = %s || substr(body, 2) WHERE account = %s AND id = 1"
    with connect(node.ledger.text) as connection:
        connection.execute(rows, ("[", ACCOUNT))
    failures: list[BaseException] = []
    node.commits.on_failure = lambda: failures.append(RuntimeError("the node ended"))
    try:
        await node.start("http://127.0.0.1:1")
        assert list(node.broker.sessions) == [OTHER]
        with connect(node.ledger.text) as connection:
            connection.execute(rows, ("{", ACCOUNT))
        while ACCOUNT not in node.broker.sessions:
            await node.refresh()
        assert failures == []
    finally:
        await node.stop()
        node.broker.close()
