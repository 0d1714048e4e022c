"""From a routed request to an answer: what every endpoint has in common.

A handler is a plain function from a `Call` to an `Answer`. Here its account is found and checked, its body read, and the
answer held back until everything it may speak of is in the ledger.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.desks import AccountDesk
from keydesk_practice.broker.turns import Turns
from keydesk_practice.engine.commands import Command
from keydesk_practice.engine.datetimes import in_unix_form
from keydesk_practice.engine.views import Worth
from keydesk_practice.http.access import check_owner
from keydesk_practice.http.answers import Answer, EncodedList, Wishes, response_of, text_of
from keydesk_practice.http.outcomes import Outcome
from keydesk_practice.http.refusals import absent, invalid, not_allowed
from keydesk_practice.http.requests import Query, path_parameter, read_json_object

UNITS_OF_A_PORTION = 4  # a range of ids read from the ledger
LONG_TEXT = 2_000  # characters of JSON that cost a unit


@dataclass(frozen=True, slots=True)
class Call:
    """One request to one endpoint, checked at the door."""

    broker: Broker
    request: Request
    request_id: str
    owner: int
    wishes: Wishes
    query: Query
    body: Mapping[str, Any] = field(default_factory=dict)

    def path(self, name: str) -> str:
        """Return a path parameter, decoded."""
        return path_parameter(self.request, name)

    @property
    def desk(self) -> AccountDesk:
        """The account of the path; whoever only reads it is given what is in the ledger.

        Raises:
            Refused: 400 for a malformed id, 404 for an unknown one, 403 for somebody else's.
        """
        id_ = self.path("accountID")
        parts = id_.split("-")
        if len(parts) != 4 or not all(part.isascii() and part.isdecimal() for part in parts):  # noqa: PLR2004
            raise invalid("accountID")
        desk = self.broker.desks.get(id_)
        if desk is None:
            raise absent("account", "NO_SUCH_ACCOUNT")
        check_owner(self.owner, desk.account.owner)
        return desk.on_disk() if self.only_reads else desk

    def execute(self, desk: AccountDesk, command: Command) -> Outcome:
        """Carry out a command for an account and return the transactions it made."""
        batch = self.broker.execute(desk, command)
        return Outcome(batch, desk.last_transaction_id)

    @property
    def only_reads(self) -> bool:
        """Whether the request changes nothing."""
        return self.request.method == "GET"

    async def frozen_desk(self) -> AccountDesk:
        """Return the account of the path as it is on disk now, to be read over several turns of the loop."""
        return self.desk.frozen()

    async def settled(self) -> None:
        """Return when the answer speaks of nothing that may yet be lost; who only reads waits for no long batch.

        Raises:
            LedgerWriteFailed: the disk refused, now or earlier.
        """
        account = self.request.path_params.get("accountID", "")
        if self.only_reads:
            await self.broker.readable(account)
        else:
            await self.broker.settled(account)

    async def worth(self, desk: AccountDesk) -> Worth:
        """Return what an account is worth, worked out over as many turns of the loop as it takes."""
        return desk.worth({id_: one async for id_, one in self.turns.over(desk.trade_worths())})

    @property
    def turns(self) -> Turns:
        """What may be done in one turn of the loop."""
        return self.broker.turns

    async def encoded(self, items: Iterable[Any], units: int = 1) -> EncodedList:
        """Return the JSON texts of some values, each made and encoded when it may be, for `units` of work."""
        texts = EncodedList()
        async for item in self.turns.over(items, 2 * units if self.wishes.unix_times else units):
            texts.append(text_of(in_unix_form(item) if self.wishes.unix_times else item))
            await self._pay_for(texts[-1])
        return texts

    async def ledger_text(self, text: str) -> str:
        """Return a text of the ledger in the form of times that the client asked for."""
        if not self.wishes.unix_times:
            return text
        await self.turns.take()
        await self._pay_for(text)
        return text_of(in_unix_form(json.loads(text)))

    async def _pay_for(self, text: str) -> None:
        if len(text) > LONG_TEXT:
            await self.turns.take(len(text) // LONG_TEXT)

    @property
    def base_url(self) -> str:
        """The address that the client used, for links in answers."""
        return str(self.request.base_url).rstrip("/")


Handler = Callable[[Call], Answer | Awaitable[Answer]]
StreamHandler = Callable[[Call], ASGIApp]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation: its handler, and whether it needs a JSON body; a missing one may count as empty."""

    handler: Handler
    wants_body: bool = False
    may_lack_body: bool = False

    async def respond(self, call: Call) -> ASGIApp:
        """Return the response of one call."""
        if self.wants_body:
            body = await read_json_object(call.request, may_be_missing=self.may_lack_body)
            call = replace(call, body=body)
        await call.settled()  # nobody is shown what may yet be lost
        made = self.handler(call)
        answer = made if isinstance(made, Answer) else await made
        await call.settled()
        return await response_of(answer, call.wishes, call.broker.turns)


@dataclass(frozen=True, slots=True)
class StreamEndpoint:
    """An operation that answers with a stream."""

    handler: StreamHandler

    async def respond(self, call: Call) -> ASGIApp:
        """Return the stream of one call."""
        await call.settled()
        return self.handler(call)


class PathEndpoints:
    """The operations of one path, by method; any other method is answered 405 with `Allow`."""

    def __init__(self, broker: Broker, methods: Mapping[str, Endpoint | StreamEndpoint]) -> None:
        self._broker = broker
        self._methods = dict(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._methods.get(scope["method"])
        if endpoint is None:
            raise not_allowed(", ".join(sorted(self._methods)))
        request = Request(scope, receive)
        state = scope["state"]
        call = Call(
            self._broker,
            request,
            state["request_id"],
            state["owner"],
            state["wishes"],
            Query(request.query_params),
        )
        response = await endpoint.respond(call)
        await response(scope, receive, send)
