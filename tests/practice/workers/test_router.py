"""A worker answers for its own accounts and asks the others for theirs, each command once."""

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import pytest
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.cluster.forwarding import OUTCOME, SECRET, UNKNOWN
from keydesk_practice.cluster.peers import Headers, PeerAnswer, PeerRequest, Peers
from keydesk_practice.errors import LedgerWriteFailed, NotExecuted, OutcomeUnknown
from keydesk_practice.http.errors import HttpError
from keydesk_practice.ledger.records import LedgerAccount
from keydesk_practice.workers.router import WorkerRouter

HERE = LedgerAccount("101-001-1000001-001", 0, "USD", hedging=False)
THERE = LedgerAccount("101-001-1000001-002", 0, "EUR", hedging=True)


class FakeStream:
    """A stream of two pieces, cut off after them when `cut` is set."""

    status, headers = 200, ((b"content-type", b"application/json"),)

    def __init__(self, *, cut: bool) -> None:
        self.cut = cut
        self.closed = asyncio.Event()

    async def pieces(self) -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"
        if self.cut:
            raise EOFError

    def close(self) -> None:
        self.closed.set()


class FakePeers:
    """Another worker with one outcome."""

    def __init__(self, outcome: PeerAnswer | Exception | FakeStream) -> None:
        self.outcome = outcome
        self.asked: list[tuple[str, PeerRequest, Headers]] = []

    async def send(
        self, address: str, request: PeerRequest, inner: Headers, _: float
    ) -> PeerAnswer:
        self.asked.append((address, request, inner))
        if isinstance(self.outcome, Exception):
            raise self.outcome
        assert isinstance(self.outcome, PeerAnswer)
        return self.outcome

    async def stream(self, address: str, request: PeerRequest, inner: Headers) -> FakeStream:
        self.asked.append((address, request, inner))
        assert isinstance(self.outcome, FakeStream)
        return self.outcome


async def local(_scope: Scope, receive: Receive, send: Send) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b"here " + body})


def router_with(peers: FakePeers) -> WorkerRouter:
    router = WorkerRouter(
        local, HERE.id.__eq__, lambda id_: f"at {id_}", cast(Peers, peers), b"secret"
    )
    router.accounts = {one.id: one for one in (HERE, THERE)}
    return router


async def ask(
    peers: FakePeers, account: str, method: str = "POST", end: str = "orders", owner: int = 0
) -> tuple[int, bytes]:
    path = f"/v3/accounts/{account}/{end}"
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"a=b",
        "headers": [(b"authorization", b"Bearer t"), (b"accept-encoding", b"gzip")],
        "state": {"owner": owner, "request_id": "42"},
    }
    messages: list[Message] = []
    requests = [{"type": "http.request", "body": b"{}", "more_body": False}]

    async def receive() -> Message:
        if requests:
            return requests.pop()
        return await asyncio.Queue[Message]().get()  # the client stays

    async def send(message: Message) -> None:
        messages.append(message)

    await router_with(peers)(scope, receive, send)
    return messages[0]["status"], b"".join(message.get("body", b"") for message in messages)


async def refusal(peers: FakePeers, method: str = "POST", owner: int = 0) -> HttpError:
    with pytest.raises(HttpError) as refused:
        await ask(peers, THERE.id, method, owner=owner)
    return refused.value


async def test_its_own_accounts_and_unknown_ones_are_answered_here() -> None:
    peers = FakePeers(NotExecuted(""))
    assert await ask(peers, HERE.id) == (201, b"here {}")
    assert await ask(peers, "101-001-9-001") == (201, b"here {}")
    assert peers.asked == []


async def test_an_account_of_another_worker_is_answered_there_without_the_token() -> None:
    peers = FakePeers(PeerAnswer(201, (), b"there"))
    assert await ask(peers, THERE.id) == (201, b"there")
    ((address, request, inner),) = peers.asked
    assert address == f"at {THERE.id}"
    assert (request.method, request.body) == ("POST", b"{}")
    assert request.target == f"/v3/accounts/{THERE.id}/orders?a=b".encode()
    assert request.headers == [(b"accept-encoding", b"gzip")]
    assert (SECRET, b"secret") in inner


async def test_the_account_of_another_token_is_refused_before_anybody_is_asked() -> None:
    peers = FakePeers(PeerAnswer(201, (), b"there"))
    assert (await refusal(peers, owner=1)).status == 403
    assert peers.asked == []


async def test_a_worker_that_is_being_restarted_is_503_with_retry_after() -> None:
    refused = await refusal(FakePeers(NotExecuted("refused")))
    assert (refused.status, refused.headers) == (503, {"Retry-After": "1"})


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_a_command_that_may_have_been_executed_is_504_and_sent_once(method: str) -> None:
    peers = FakePeers(OutcomeUnknown("cut"))
    assert (await refusal(peers, method)).status == 504
    assert len(peers.asked) == 1


async def test_a_read_that_was_cut_off_may_be_sent_again() -> None:
    assert (await refusal(FakePeers(OutcomeUnknown("cut")), "GET")).status == 503


async def test_an_owner_that_does_not_know_is_504() -> None:
    answer = PeerAnswer(503, ((OUTCOME, UNKNOWN),), b"")
    assert (await refusal(FakePeers(answer))).status == 504


async def test_a_stream_of_another_worker_is_sent_on_piece_by_piece() -> None:
    stream = FakeStream(cut=False)
    found = await ask(FakePeers(stream), THERE.id, "GET", "transactions/stream")
    assert found == (200, b"onetwo")
    assert stream.closed.is_set()


async def test_a_stream_that_is_cut_off_is_closed_here_too() -> None:
    stream = FakeStream(cut=True)
    assert await ask(FakePeers(stream), THERE.id, "GET", "pricing/stream") == (200, b"onetwo")
    assert stream.closed.is_set()


async def test_what_is_not_its_own_is_never_executed_for_another_worker() -> None:
    router = router_with(FakePeers(NotExecuted("")))
    with pytest.raises(NotExecuted):
        await router.execute(THERE.id, {"type": "http"}, b"", lambda _: asyncio.sleep(0))


async def test_a_ledger_that_cannot_be_written_is_503_for_another_worker() -> None:
    async def failing(*_: object) -> None:
        raise LedgerWriteFailed("disk full")

    router = WorkerRouter(
        failing, HERE.id.__eq__, str, cast(Peers, FakePeers(NotExecuted(""))), b"secret"
    )
    with pytest.raises(HttpError, match="disk full"):
        await router.execute(HERE.id, {"type": "http"}, b"", lambda _: asyncio.sleep(0))
