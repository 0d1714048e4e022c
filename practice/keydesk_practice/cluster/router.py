"""The router of a node: answers requests for accounts of this node, forwards others to the node that owns the account.

A command is executed at most once, however often it is tried. Before it is repeated, and when the time is over, the ledger
is asked for its request id: what was executed gets its original answer, and what was not is given up, so that it can
never be executed later.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from typing import Any

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
from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster.peers import Peers
from keydesk_practice.errors import (
    LedgerUnreachable,
    LedgerWriteFailed,
    NotExecuted,
    NotStored,
    OutcomeUnknown,
)
from keydesk_practice.http.errors import NO_SUCH_ACCOUNT, HttpError, forbidden
from keydesk_practice.http.middleware import Application
from keydesk_practice.http.responses import Response, render, restored_answer
from keydesk_practice.ledger.records import LedgerAccount

TRY_SECONDS = 1.5  # of a command
READ_SECONDS = 3.0
ARRIVAL_SECONDS = 1.0  # for an account that is being loaded: less than a try takes
TOTAL_SECONDS = 6.0
PAUSE_SECONDS = 0.1  # before a command is tried again; twice as long each time, unless the account's owner changes
MAX_PAUSE_SECONDS = 0.8
_ANYWHERE = re.compile(r"/stream$|/candles(/latest)?$")  # the market is the same on every node
log = logging.getLogger("keydesk.practice.cluster")


class ClusterRouter:
    """The router of a node: knows the accounts of all nodes."""

    def __init__(
        self, node: Node, peers: Peers, local: Application, secret: bytes,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._node = node
        self._peers = peers
        self._local = local
        self._secret = secret
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        account = await self._account(scope)
        if account is None:
            await self._answer_here(scope, receive, send)
        elif _ANYWHERE.search(scope["path"]):
            await self._answer_watched(account, scope, receive, send)
        else:
            await self._answer(account, scope, await read_body(receive), send)

    async def _account(self, scope: Scope) -> LedgerAccount | None:
        """Return the account of the path, None when the path has none or it is unknown; raise a 403 `HttpError`."""
        id_ = account_of(scope["path"])
        if id_ is None:
            return None
        account = self._node.accounts.get(id_)
        if account is not None and account.owner != scope["state"]["owner"]:
            raise forbidden()
        return account

    async def _answer_here(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what concerns no account: candles, books, the list of accounts."""
        try:
            await self._local(scope, receive, send)
        except LedgerUnreachable as error:
            self._node.connection_lost(error)
            raise unavailable(self._node.unreachable_reason) from None
        except NotExecuted as error:
            raise unavailable(str(error)) from None

    async def _answer_watched(
        self, account: LedgerAccount, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer what needs no owner: prices and candles, which every node computes, and the transaction stream."""
        try:
            scope["state"]["session"] = self._node.watched.open(account)
            await self._local(scope, receive, send)
        except LedgerUnreachable as error:
            self._node.connection_lost(error)
            raise unavailable(self._node.unreachable_reason) from None
        except NotExecuted as error:
            raise unavailable(str(error)) from None

    async def _answer(self, account: LedgerAccount, scope: Scope, body: bytes, send: Send) -> None:
        deadline = self._clock() + TOTAL_SECONDS
        is_read = scope["method"] == "GET"
        may_be_executed, pause = False, PAUSE_SECONDS
        reason = "the account is moving to another node"
        while self._clock() < deadline:
            owner = self._node.owners.get(account.id)
            try:
                return await self._try(account.id, scope, body, send)
            except NotExecuted as error:
                reason = str(error)
                if isinstance(error, NotStored) and not may_be_executed:
                    break  # another node cannot store it either
            except OutcomeUnknown as error:
                reason, may_be_executed = str(error), not is_read
            if may_be_executed and await self._answer_again(account.id, scope, send):
                return None
            if self._node.away and not may_be_executed:
                reason = self._node.unreachable_reason
                break  # no other node can have it either
            await self._node.wait_for_owner(account.id, owner, pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
        if not may_be_executed:
            raise unavailable(reason)
        return await self._end_unknown_outcome(account.id, scope, send, reason)

    async def _try(self, account: str, scope: Scope, body: bytes, send: Send) -> None:
        """Answer here, or let the owner answer.

        Raises:
            NotExecuted: this try did not and will not execute the request.
            OutcomeUnknown: it may have executed it, or may still do so.
        """
        owner = self._node.owners.get(account)
        if not self._node.owns(account):  # it may have been taken over, and be loading
            await self._node.loader.wait_for(account, ARRIVAL_SECONDS)
        if self._node.owns(account):
            await self.execute(account, scope, body, send)
            return
        if owner is None or owner.node == self._node.number:
            self._check_loadable(account)
            raise NotExecuted("the account belongs to no node at the moment")
        seconds = READ_SECONDS if scope["method"] == "GET" else TRY_SECONDS
        request, inner = forwarded_request(scope, body), internal_headers(self._secret, scope)
        answer = await self._peers.send(owner.address, request, inner, seconds)
        await send_answer(check_outcome(answer), send)

    async def execute(
        self, account: str, scope: Scope, body: bytes, send: Send, then: Receive | None = None
    ) -> None:
        """Answer a request on an account of this node; the errors are those of `_try`."""
        if not self._node.owns(
            account
        ):  # waiting costs less than being asked again and again meanwhile
            await self._node.loader.wait_for(account, ARRIVAL_SECONDS)
        self._check_loadable(account)
        if not self._node.owns(account):
            raise NotExecuted("the account is not here")
        request = scope["state"]["request_id"]
        if scope["method"] != "GET" and not self._node.begin_request(account, request):
            raise OutcomeUnknown("the request was executed before")
        try:
            await self._local(scope, replayed(body, then), send)
        except NotExecuted:
            self._node.end_request(account, request)
            raise
        except HttpError as error:
            if error.code != NO_SUCH_ACCOUNT:
                raise
            # The account was dropped while the request waited for a commit.
            self._node.end_request(account, request)
            raise NotExecuted("the account is moving to another node") from None
        except LedgerUnreachable as error:  # of a read of the ledger
            self._node.connection_lost(error)
            kind = NotExecuted if scope["method"] == "GET" else OutcomeUnknown
            raise kind("the database does not answer") from None

    def _check_loadable(self, account: str) -> None:
        """Raise a 503 `HttpError` when this node has an account that it could not load."""
        if self._node.loader.is_unloadable(account) and not self._node.owns(account):
            raise unavailable("the account cannot be loaded, see the log of the broker")

    async def _answer_again(self, account: str, scope: Scope, send: Send) -> bool:
        """Send the original answer of a request that was executed; return False when the ledger knows nothing of it."""
        try:
            entry = await self._node.find_request(account, scope["state"]["request_id"])
        except LedgerUnreachable:
            return False
        if entry is None or entry.answer is None:
            return False
        return await self._send_stored(account, entry.answer, scope, send)

    async def _end_unknown_outcome(
        self, account: str, scope: Scope, send: Send, reason: str
    ) -> None:
        """Answer a request that may have been executed when the time for it is over."""
        try:
            found = await self._node.give_up(account, scope["state"]["request_id"])
        except LedgerWriteFailed as error:
            raise unknown_outcome(str(error)) from None
        except LedgerUnreachable as error:
            log.warning("%s", error)
            raise unknown_outcome("the database does not answer") from None
        if found.answer is None:
            raise unavailable(reason)
        if not await self._send_stored(account, found.answer, scope, send):
            raise unknown_outcome("its transactions cannot be read")

    async def _send_stored(self, account: str, answer: str, scope: Scope, send: Send) -> bool:
        try:
            response: Response = restored_answer(answer, self._reader(account))
        except LedgerUnreachable:
            return False
        rendered = await render(
            response, scope["state"]["response_format"], self._node.broker.budget
        )
        await rendered(scope, replayed(b""), send)
        return True

    def _reader(self, account: str) -> Callable[[int], Any]:
        watched = self._node.ledger

        def read(id_: int) -> Any:  # noqa: ANN401 - a JSON object
            return json_object(watched.bodies(account, id_, id_)[0])

        return read


def json_object(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the JSON value of a text of the ledger."""
    return json.loads(text)
