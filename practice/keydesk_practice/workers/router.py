"""The router of a worker: answers requests for its own accounts, and forwards all others to the worker that owns the account.

A command is sent to the owner once and never repeated, so it is executed at most once. When the owner ends before it
answers, whether it was executed is unknown, as it is to the client of a broker that is killed.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping

from starlette.types import Receive, Scope, Send

from keydesk_practice.cluster.forwarding import (
    account_of,
    check_outcome,
    forwarded_request,
    internal_headers,
    read_body,
    replayed,
    send_answer,
    unavailable,
    unknown_outcome,
)
from keydesk_practice.cluster.peers import Peers, PeerStream
from keydesk_practice.errors import LedgerWriteFailed, NotExecuted, OutcomeUnknown
from keydesk_practice.http.errors import HttpError, forbidden
from keydesk_practice.http.middleware import Application
from keydesk_practice.ledger.records import LedgerAccount

FORWARD_SECONDS = 30.0
AWAY = "the process of this account is being restarted"


class WorkerRouter:
    """The router of a worker: knows the accounts of all workers."""

    def __init__(
        self,
        local: Application,
        belongs_here: Callable[[str], bool],
        address_of: Callable[[str], str],
        peers: Peers,
        secret: bytes,
    ) -> None:
        self.accounts: Mapping[str, LedgerAccount] = {}
        self._local = local
        self._belongs_here = belongs_here
        self._address_of = address_of
        self._peers = peers
        self._secret = secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request of a client."""
        account = self.accounts.get(account_of(scope["path"]) or "")
        if account is None or self._belongs_here(account.id):
            await self._local(scope, receive, send)
            return
        if account.owner != scope["state"]["owner"]:
            raise forbidden()
        try:
            if scope["path"].endswith("/stream"):
                await self._relay(self._address_of(account.id), scope, receive, send)
            else:
                await self._forward(self._address_of(account.id), scope, receive, send)
        except NotExecuted:
            raise unavailable(AWAY) from None
        except OutcomeUnknown:
            reason = "the process of this account ended before it answered"
            raise (unavailable if scope["method"] == "GET" else unknown_outcome)(reason) from None

    async def execute(
        self, account: str, scope: Scope, body: bytes, send: Send, then: Receive | None = None
    ) -> None:
        """Answer a request that another worker forwards; raise `NotExecuted` for an account that is not here."""
        if not self._belongs_here(account):
            raise NotExecuted("the account is not here")
        try:
            await self._local(scope, replayed(body, then), send)
        except sqlite3.ProgrammingError:  # its ledger was replaced by that of another replay
            raise HttpError(503, "Another replay has begun: send the request again") from None
        except LedgerWriteFailed as error:
            raise HttpError(503, f"The practice broker is stopping: {error}") from None

    async def _forward(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        request = forwarded_request(scope, await read_body(receive))
        inner = internal_headers(self._secret, scope)
        answer = await self._peers.send(address, request, inner, FORWARD_SECONDS)
        await send_answer(check_outcome(answer), send)

    async def _relay(self, address: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a stream of another worker on, until either end closes it."""
        request = forwarded_request(scope, await read_body(receive))
        stream = await self._peers.stream(address, request, internal_headers(self._secret, scope))
        leaving = asyncio.create_task(_close_with_client(stream, receive))
        try:
            head = {"type": "http.response.start", "status": stream.status}
            await send({**head, "headers": list(stream.headers)})
            async for piece in stream.pieces():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (OSError, EOFError):  # a stream that is cut off has no end: the connection is closed
            scope.get("extensions", {}).get("keydesk.abort", lambda: None)()
        finally:
            leaving.cancel()
            stream.close()


async def _close_with_client(stream: PeerStream, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.close()
