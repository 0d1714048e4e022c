"""Kept connections to other processes: each answer belongs to its request, whatever the client's request held."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.types import Receive, Scope, Send

from keydesk_practice.cluster.forwarding import forwarded_request, read_body
from keydesk_practice.cluster.peers import PeerAnswer, PeerRequest, Peers
from keydesk_practice.server import Server, listen_on_port

SECONDS = 5.0


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the method and the body of a request."""
    text = scope["method"].encode() + b" " + await read_body(receive)
    length = (b"content-length", b"%d" % len(text))
    await send({"type": "http.response.start", "status": 201, "headers": [length]})
    await send({"type": "http.response.body", "body": text})


@contextlib.asynccontextmanager
async def process() -> AsyncIterator[str]:
    """Yield the address of a server such as the one on which nodes and workers ask each other."""
    listener, listening = listen_on_port("127.0.0.1", 0), asyncio.Event()
    server = Server(echo, listener, listening.set)
    serving = asyncio.create_task(server.serve_listener())
    await listening.wait()
    try:
        yield listener.url
    finally:
        server.stop()
        await serving


def client_request(method: str, body: bytes, *headers: tuple[bytes, bytes]) -> PeerRequest:
    scope = {"method": method, "raw_path": b"/v3", "query_string": b"", "headers": headers}
    return forwarded_request(scope, body)


async def answers(*requests: PeerRequest) -> list[PeerAnswer]:
    """Return the answers to requests on one kept connection."""
    peers = Peers()
    async with process() as address:
        found = [await peers.send(address, one, (), SECONDS) for one in requests]
        peers.close()
    return found


async def test_an_order_that_awaits_a_continue_gets_its_own_answer_and_so_does_the_next() -> None:
    expects = (b"expect", b"100-continue")
    first, second = await answers(
        client_request("POST", b"one", expects), client_request("POST", b"two")
    )
    assert (first.status, first.body) == (201, b"POST one")
    assert (second.status, second.body) == (201, b"POST two")


async def test_an_informational_response_is_not_taken_for_the_answer() -> None:
    expecting = PeerRequest("POST", b"/v3", ((b"expect", b"100-continue"),), b"one")
    first, second = await answers(expecting, client_request("POST", b"two"))
    assert (first.status, first.body) == (201, b"POST one")
    assert (second.status, second.body) == (201, b"POST two")


async def test_the_answer_to_head_has_no_body_to_wait_for() -> None:
    first, second = await answers(client_request("HEAD", b""), client_request("GET", b""))
    assert (first.status, first.body) == (201, b"")
    assert second.body == b"GET "
