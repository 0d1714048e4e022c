"""What a client is answered when the account's node, the link to it or the database does not answer: never a second order."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.errors import LedgerUnreachable, NotExecuted, NotStored, OutcomeUnknown
from keydesk_practice.http.errors import NO_SUCH_ACCOUNT, HttpError, not_found
from keydesk_practice.http.responses import Response, ResponseFormat, stored_answer
from keydesk_practice.ledger.records import LedgerAccount, WireTransaction

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.cluster.database import Owner, StoredRequest
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.peers import PeerAnswer, Peers
from keydesk_practice.cluster.router import ClusterRouter

ACCOUNT = LedgerAccount("101-001-1000001-001", 0, "USD", hedging=False)
FILL = WireTransaction({"id": "7", "type": "ORDER_FILL"})
ANSWER = stored_answer(Response({"orderFillTransaction": FILL, "lastTransactionID": "7"}, 201))
ELSEWHERE = Owner(2, "http://other:1")


class FakeNode:
    """A node without database and market; each wait lets the test's time go on."""

    def __init__(self, *, owner: Owner | None = None, here: bool = False) -> None:
        self.number = 1
        self.accounts = {ACCOUNT.id: ACCOUNT}
        self.owners = {ACCOUNT.id: owner}
        self.away = False
        self.unreachable_reason = "the database does not answer"
        self.here = here
        self.time = 0.0
        self.requests: dict[str, str | None] = {}  # stored; None: given up
        self.seen: set[str] = set()
        self.broker = self
        self.loader = self
        self.budget = WorkBudget()
        self.ledger = self
        self.is_database_away = False
        self.arrives = False  # the account has been taken and is on its way
        self.is_damaged = False  # it could not be loaded

    def is_unloadable(self, _: str) -> bool:
        return self.is_damaged

    def owns(self, _: str) -> bool:
        return self.here

    def begin_request(self, _: str, request: str) -> bool:
        is_new = request not in self.seen
        self.seen.add(request)
        return is_new

    def end_request(self, _: str, request: str) -> None:
        self.seen.discard(request)

    async def find_request(self, _: str, request: str) -> StoredRequest | None:
        if self.is_database_away:
            raise LedgerUnreachable("away")
        return StoredRequest(self.requests[request]) if request in self.requests else None

    async def give_up(self, account: str, request: str) -> StoredRequest:
        if not self.is_database_away:
            self.requests.setdefault(request, None)
        found = await self.find_request(account, request)
        assert found is not None
        return found

    async def wait_for(self, _: str, seconds: float) -> None:
        if self.arrives:
            self.here, self.arrives = True, False
            self.time += seconds / 2

    async def wait_for_owner(self, _: str, _known: Owner | None, seconds: float) -> None:
        self.time += seconds

    def bodies(self, _account: str, first: int, _last: int) -> list[str]:
        return [json.dumps({"id": str(first), "type": "ORDER_FILL"})]

    def connection_lost(self, _: LedgerUnreachable) -> None:
        self.away = True


class FakePeers:
    """Answers each request of a node with the next of some outcomes, then with the last one again."""

    def __init__(self, *outcomes: PeerAnswer | Exception) -> None:
        self.outcomes = list(outcomes)
        self.sent = 0

    async def send(self, *_: object) -> PeerAnswer:
        self.sent += 1
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


async def nothing_here(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError("the request is not for this node")


Local = Callable[[Scope, Receive, Send], Any]


async def ask(
    node: FakeNode, peers: FakePeers, local: Local = nothing_here, method: str = "POST"
) -> tuple[int, bytes]:
    router = ClusterRouter(
        cast(Node, node), cast(Peers, peers), local, b"secret", clock=lambda: node.time
    )
    path = f"/v3/accounts/{ACCOUNT.id}/orders"
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [],
        "state": {
            "owner": 0,
            "request_id": "42",
            "response_format": ResponseFormat(unix_times=False, gzip=False),
        },
    }
    messages: list[Message] = []

    async def receive() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Message) -> None:
        await asyncio.sleep(0)
        messages.append(message)

    await router(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in messages)
    return messages[0]["status"], body


async def refusal(node: FakeNode, peers: FakePeers, local: Local = nothing_here) -> HttpError:
    with pytest.raises(HttpError) as refused:
        await ask(node, peers, local)
    return refused.value


async def test_the_owner_answers() -> None:
    node = FakeNode(owner=ELSEWHERE)
    assert await ask(node, FakePeers(PeerAnswer(201, (), b"{}"))) == (201, b"{}")


async def test_an_account_without_a_node_is_503_with_retry_after_and_nothing_is_stored() -> None:
    node = FakeNode()
    refused = await refusal(node, FakePeers(NotExecuted("-")))
    assert (refused.status, refused.headers) == (503, {"Retry-After": "1"})
    assert node.requests == {}


async def test_a_lost_answer_is_found_again_and_the_order_is_not_repeated() -> None:
    node = FakeNode(owner=ELSEWHERE)
    node.requests["42"] = ANSWER
    peers = FakePeers(OutcomeUnknown("cut"))
    status, body = await ask(node, peers)
    assert (status, peers.sent) == (201, 1)
    assert json.loads(body) == {"orderFillTransaction": dict(FILL), "lastTransactionID": "7"}


async def test_what_was_never_stored_is_given_up_and_answered_with_503() -> None:
    node = FakeNode(owner=ELSEWHERE)
    refused = await refusal(node, FakePeers(OutcomeUnknown("cut")))
    assert (refused.status, refused.headers) == (503, {"Retry-After": "1"})
    assert node.requests == {"42": None}


async def test_what_was_stored_in_the_last_moment_gets_its_answer() -> None:
    node = FakeNode(owner=ELSEWHERE)

    class Late(FakePeers):
        async def send(self, *_: object) -> PeerAnswer:
            if node.time > 5.0:
                node.requests["42"] = ANSWER
            raise OutcomeUnknown("cut")

    assert (await ask(node, Late()))[0] == 201


async def test_with_the_database_away_after_sending_the_outcome_is_unknown() -> None:
    node = FakeNode(owner=ELSEWHERE)
    node.is_database_away = True
    refused = await refusal(node, FakePeers(OutcomeUnknown("cut")))
    assert (refused.status, refused.headers) == (504, {})


async def test_with_the_database_away_before_sending_nothing_is_tried_twice() -> None:
    node = FakeNode()
    node.away = True
    refused = await refusal(node, FakePeers(NotExecuted("-")))
    assert refused.status == 503
    assert node.time == 0.0


async def test_a_node_that_moved_the_account_is_not_asked_for_the_outcome() -> None:
    node = FakeNode(owner=ELSEWHERE)
    moved = PeerAnswer(503, ((b"keydesk-outcome", b"not-executed"),), b"{}")
    peers = FakePeers(moved, moved, PeerAnswer(201, (), b"{}"))
    assert (await ask(node, peers))[0] == 201
    assert peers.sent == 3


async def test_a_refused_commit_is_executed_again_and_a_lost_one_is_not() -> None:
    for error, executed, status in ((NotExecuted("-"), 2, 201), (OutcomeUnknown("-"), 1, 503)):
        node = FakeNode(here=True)
        calls: list[str] = []

        async def local(
            scope: Scope,
            _receive: Receive,
            send: Send,
            calls: list[str] = calls,
            error: Exception = error,
        ) -> None:
            calls.append(scope["path"])
            if len(calls) == 1:
                raise error
            await send({"type": "http.response.start", "status": 201, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

        try:
            found, _ = await ask(node, FakePeers(NotExecuted("-")), local)
        except HttpError as refused:
            found = refused.status
        assert (found, len(calls)) == (status, executed)


async def test_an_account_that_leaves_while_an_order_waits_is_not_called_unknown() -> None:
    node, served = FakeNode(), list[str]()
    node.here = True

    async def gone_at_first(_scope: Scope, _receive: Receive, send: Send) -> None:
        served.append("asked")
        if len(served) == 1:
            raise not_found("account", NO_SUCH_ACCOUNT)
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"filled"})

    assert await ask(node, FakePeers(NotExecuted("")), gone_at_first) == (201, b"filled")


async def test_a_read_is_repeated_and_never_given_up() -> None:
    node = FakeNode(owner=ELSEWHERE)
    peers = FakePeers(OutcomeUnknown("cut"), PeerAnswer(200, (), b"{}"))
    assert (await ask(node, peers, method="GET"))[0] == 200
    assert node.requests == {}


async def test_an_account_on_its_way_is_awaited_and_answered_here_without_a_retry() -> None:
    async def local(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 201, "headers": []})
        await send({"type": "http.response.body", "body": b"here"})

    node, peers = FakeNode(owner=Owner(1, "http://this:1")), FakePeers(NotExecuted(""))
    node.arrives = True
    assert await ask(node, peers, local) == (201, b"here")
    assert peers.sent == 0


async def test_an_account_that_this_node_could_not_load_is_refused_at_once() -> None:
    node = FakeNode(owner=Owner(1, "http://this:1"))
    node.is_damaged = True
    refused = await refusal(node, FakePeers(NotExecuted("")))
    assert refused.status == 503
    assert "cannot be loaded" in str(refused)
    assert node.time == 0.0


async def test_an_account_that_another_node_could_load_since_is_asked_for_there() -> None:
    node, peers = FakeNode(owner=ELSEWHERE), FakePeers(NotExecuted("refused"))
    node.is_damaged = True
    assert "refused" in str(await refusal(node, peers))
    assert peers.sent > 0


async def test_a_node_that_cannot_be_reached_is_asked_less_and_less_often() -> None:
    node, peers = FakeNode(owner=ELSEWHERE), FakePeers(NotExecuted("refused"))
    assert (await refusal(node, peers)).status == 503
    assert 5 < peers.sent < 12


async def test_a_client_hears_why_another_node_did_not_execute_its_order() -> None:
    body = json.dumps({"errorMessage": "the database cannot store anything: no space left"})
    full = PeerAnswer(503, ((b"keydesk-outcome", b"not-executed"),), body.encode())
    refused = await refusal(FakeNode(owner=ELSEWHERE), FakePeers(full))
    assert refused.status == 503
    assert "no space left" in str(refused)


async def test_what_the_full_disk_of_the_database_refuses_is_answered_at_once() -> None:
    body = json.dumps({"errorMessage": "the database cannot store anything: no space left"})
    full = PeerAnswer(503, ((b"keydesk-outcome", b"not-stored"),), body.encode())
    node, peers = FakeNode(owner=ELSEWHERE), FakePeers(full)
    refused = await refusal(node, peers)
    assert (refused.status, refused.headers, node.time, peers.sent) == (
        503,
        {"Retry-After": "1"},
        0,
        1,
    )
    assert "was not executed" in str(refused)
    assert "no space left" in str(refused)

    async def cannot_store(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise NotStored("no space left")

    node = FakeNode(here=True)
    assert "no space left" in str(await refusal(node, peers, cannot_store))
    assert (node.time, node.seen) == (0, set())


async def test_a_full_disk_after_a_lost_answer_proves_nothing() -> None:
    body = json.dumps({"errorMessage": "no space left"})
    full = PeerAnswer(503, ((b"keydesk-outcome", b"not-stored"),), body.encode())
    node, peers = FakeNode(owner=ELSEWHERE), FakePeers(OutcomeUnknown("cut"), full)
    node.is_database_away = True
    assert (await refusal(node, peers)).status == 504


async def test_a_given_up_order_names_the_node_that_did_not_answer() -> None:
    refused = await refusal(FakeNode(owner=ELSEWHERE), FakePeers(OutcomeUnknown("no answer")))
    assert (refused.status, refused.headers) == (503, {"Retry-After": "1"})
    assert "no answer" in str(refused)
