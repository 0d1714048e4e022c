"""Forwarding a request to the process that owns its account: what goes with it, and what comes back.

Nodes of a cluster and workers of one machine forward alike: plain HTTP on an internal interface, authenticated by a shared secret.
"""

import asyncio
import json
import re
from urllib.parse import unquote

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from keydesk_practice.cluster.peers import PeerAnswer, PeerRequest
from keydesk_practice.errors import NotExecuted, NotStored, OutcomeUnknown
from keydesk_practice.http.errors import HttpError
from keydesk_practice.http.requests import MAX_BODY_BYTES

SECRET, OWNER, REQUEST, OUTCOME = (
    b"keydesk-cluster",
    b"keydesk-owner",
    b"keydesk-request",
    b"keydesk-outcome",
)
UNKNOWN, NOT_EXECUTED, NOT_STORED = b"unknown", b"not-executed", b"not-stored"
_ACCOUNT = re.compile(r"/v3/accounts/([^/]+)(/.*)?")
# Headers of the client's connection, which the connection between the processes has of its own, and the token.
OF_CONNECTION = frozenset({b"connection", b"content-length", b"transfer-encoding", b"expect"})
_KEPT_HERE = OF_CONNECTION | {b"authorization"}
_RETRY = {"Retry-After": "1"}
Headers = list[tuple[bytes, bytes]]


def account_of(path: str) -> str | None:
    """Return the account id in a path, None when it concerns no account."""
    match = _ACCOUNT.fullmatch(path)
    return None if match is None else unquote(match[1])


def forwarded_request(scope: Scope, body: bytes) -> PeerRequest:
    """Return the request that asks the owner of the account to answer a client's request."""
    query = scope["query_string"]
    target = scope["raw_path"] + (b"?" + query if query else b"")
    headers = [(name, value) for name, value in scope["headers"] if name not in _KEPT_HERE]
    return PeerRequest(scope["method"], target, headers, body)


def internal_headers(secret: bytes, scope: Scope) -> Headers:
    """Return what goes with a forwarded request: the secret, whose token it came with, and its request id."""
    return [
        (SECRET, secret),
        (OWNER, b"%d" % scope["state"]["owner"]),
        (REQUEST, scope["state"]["request_id"].encode()),
    ]


def check_outcome(answer: PeerAnswer) -> PeerAnswer:
    """Return an answer for the client.

    Raises:
        NotExecuted: the asked process did not and will not execute the request.
        NotStored: nor can any other process now, since the database cannot store it.
        OutcomeUnknown: it may have executed it, or may still do so.
    """
    match answer.header(OUTCOME):
        case b"":
            return answer
        case outcome if outcome == UNKNOWN:
            raise OutcomeUnknown("the owner does not know whether it is stored")
        case outcome if outcome == NOT_STORED:
            raise NotStored(_reason(answer.body))
        case _:
            raise NotExecuted(_reason(answer.body))


def _reason(body: bytes) -> str:
    """Return why the asked process did not execute a request."""
    try:
        return str(json.loads(body)["errorMessage"])
    except (ValueError, LookupError, TypeError):
        return "the account has moved from the node that was asked"


def unavailable(reason: str) -> HttpError:
    """Return the 503 for a request that was certainly not executed."""
    return HttpError(503, f"The request was not executed: {reason}. Send it again.", headers=_RETRY)


def unknown_outcome(reason: str) -> HttpError:
    """Return the 504 for a request that may have been executed."""
    return HttpError(
        504,
        f"Whether the request was executed is not known: {reason}."
        " Read the account's transactions before you send it again.",
    )


async def read_body(receive: Receive) -> bytes:
    """Return the body of a request; of one above the limit, the first `MAX_BODY_BYTES` + 1 bytes."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return bytes(body[: MAX_BODY_BYTES + 1])
        if not message.get("more_body"):
            return bytes(body)


def replayed(body: bytes, then: Receive | None = None) -> Receive:
    """Return a `receive` with a body that was read already, and what the connection sends after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        if then is not None:
            return await then()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    return receive


async def send_answer(answer: PeerAnswer, send: Send) -> None:
    """Send an answer of another process to the client."""
    head = {
        "type": "http.response.start",
        "status": answer.status,
        "headers": list(answer.headers),
    }
    await send(head)
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})
