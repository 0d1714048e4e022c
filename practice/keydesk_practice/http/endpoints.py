"""From a routed request to a response: the steps that every endpoint has in common.

An endpoint's handler is a function from a `Call` to a `Response`. Before it runs, the account is found and authorized and
the body is read; its response is held back until every transaction it may show is committed to the ledger.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from msgspec import Struct, field
from starlette.datastructures import QueryParams
from starlette.types import ASGIApp, Receive, Scope, Send

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.broker.broker import Broker
from keydesk_practice.engine.commands import Command, MarketRequest, PlaceOrder
from keydesk_practice.engine.views import AccountValuation, trade_valuations
from keydesk_practice.engine.wire_form import in_unix_form
from keydesk_practice.http.error_responses import (
    NO_SUCH_ACCOUNT,
    forbidden,
    invalid_value,
    method_not_allowed,
    not_found,
    unknown_path,
)
from keydesk_practice.http.requests import Query, public_url, read_json_object
from keydesk_practice.http.responses import (
    CommandResult,
    EncodedList,
    Response,
    ResponseFormat,
    json_text,
    render,
)

UNITS_PER_PORTION = 4  # of work: a range of ids read from the ledger
CHARACTERS_PER_UNIT = 2_000  # of JSON, in a text that is longer than that


class Call(Struct):
    """One authenticated request to one endpoint; `body` is set once it is read."""

    broker: Broker
    scope: Scope
    parameters: Mapping[str, str]  # of the path, as sent
    query: Query
    request_id: str
    owner: int
    response_format: ResponseFormat
    body: Mapping[str, Any] = field(default_factory=dict)

    def path(self, name: str) -> str:
        """Return a path parameter, percent-decoded: a client id may hold a slash."""
        return unquote(self.parameters[name])

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing."""
        return bool(self.scope["method"] == "GET")

    @property
    def session(self) -> AccountSession:
        """The account of the path; a read request gets it as it is in the ledger.

        Raises:
            HttpError: 400 for a malformed id, 404 for an unknown one, 403 for another token's account.
        """
        id_ = self.path("accountID")
        session = self.broker.sessions.get(id_)
        if session is None:
            parts = id_.split("-")
            if len(parts) != 4 or not all(part.isascii() and part.isdecimal() for part in parts):  # noqa: PLR2004
                raise invalid_value("accountID")
            raise not_found("account", NO_SUCH_ACCOUNT)
        if session.account.owner != self.owner:
            raise forbidden()
        return session.committed_view() if self.is_read else session

    def frozen_session(self) -> AccountSession:
        """Return the account of the path at the prices of this moment, to be read over several loop iterations."""
        return self.session.frozen()

    def execute(self, session: AccountSession, command: Command) -> CommandResult:
        """Execute a command on an account and return the transactions it made."""
        is_market = isinstance(command, PlaceOrder) and isinstance(command.order, MarketRequest)
        faults = self.scope["state"]["faults"]
        thin = is_market and faults.active and faults.requotes()
        transactions = self.broker.execute(session, command, without_liquidity=thin)
        return CommandResult(transactions, session.last_transaction_id)

    async def wait_until_committed(self) -> None:
        """Return when nothing that the response may show can still be lost.

        A read does not wait for a long batch: it shows the account before it.

        Raises:
            LedgerWriteFailed: the ledger could not be written, now or earlier.
        """
        account = self.parameters.get("accountID", "")
        if self.is_read:
            await self.broker.commits.wait_one_turn(account)
        else:
            await self.broker.commits.wait_until_committed(account)

    async def valuation(self, session: AccountSession) -> AccountValuation:
        """Return the valuation of an account, computed within the work budget."""
        trades = self.budget.iterate(trade_valuations(session.state, session.board))
        return AccountValuation(
            session.state, session.board, {id_: one async for id_, one in trades}
        )

    @property
    def budget(self) -> WorkBudget:
        """The work that all requests together may do in one iteration of the event loop."""
        return self.broker.budget

    async def encoded(self, items: Iterable[Any], units: int = 1) -> EncodedList:
        """Return the JSON texts of some values, each made and encoded for `units` of the work budget."""
        texts = EncodedList()
        unix_times = self.response_format.unix_times
        async for item in self.budget.iterate(items, 2 * units if unix_times else units):
            texts.append(json_text(in_unix_form(item) if unix_times else item))
            await self._spend_on(texts[-1])
        return texts

    async def ledger_text(self, text: str) -> str:
        """Return a JSON text of the ledger in the client's date format."""
        if not self.response_format.unix_times:
            return text
        await self.budget.spend()
        await self._spend_on(text)
        return json_text(in_unix_form(json.loads(text)))

    async def _spend_on(self, text: str) -> None:
        if len(text) > CHARACTERS_PER_UNIT:
            await self.budget.spend(len(text) // CHARACTERS_PER_UNIT)

    @property
    def base_url(self) -> str:
        """The address that the client used, for links in responses."""
        return public_url(self.scope, trusts_proxy=self.scope["state"]["trusts_proxy"])


Handler = Callable[[Call], Response | Awaitable[Response]]
StreamHandler = Callable[[Call], ASGIApp]


class Endpoint(Struct, frozen=True):
    """One operation: its handler, and whether it reads a JSON body; an optional body may be empty."""

    handler: Handler
    reads_body: bool = False
    optional_body: bool = False

    async def respond(self, call: Call, receive: Receive) -> ASGIApp:
        """Return the response of one call."""
        if self.reads_body:
            call.body = await read_json_object(call.scope, receive, optional=self.optional_body)
        await call.wait_until_committed()  # a response shows committed transactions only
        made = self.handler(call)
        response = made if isinstance(made, Response) else await made
        await call.wait_until_committed()
        return await render(response, call.response_format, call.budget)


class StreamEndpoint(Struct, frozen=True):
    """An operation that responds with a stream."""

    handler: StreamHandler

    async def respond(self, call: Call, _receive: Receive) -> ASGIApp:
        """Return the stream of one call."""
        await call.wait_until_committed()
        return self.handler(call)


Methods = Mapping[str, Endpoint | StreamEndpoint]


class _PathNode(Struct):
    """What may follow a part of a path: parts by name, or one parameter; and the operations of a path that ends here."""

    parts: "dict[str, _PathNode]" = field(default_factory=dict)
    parameter: "tuple[str, _PathNode] | None" = None
    methods: Methods | None = None

    def after(self, part: str) -> "_PathNode":
        """Return the node after a part of a pattern, which is added when it is new."""
        if not part.startswith("{"):
            return self.parts.setdefault(part, _PathNode())
        if self.parameter is None:
            self.parameter = (part[1:-1], _PathNode())
        return self.parameter[1]


class Router:
    """Finds the operation of a request by path and method: 404 for another path, 405 with `Allow` for another method."""

    def __init__(self, broker: Broker, paths: Mapping[str, Methods]) -> None:
        self._broker = broker
        self._root = _PathNode()
        for pattern, methods in paths.items():
            node = self._root
            for part in pattern.split("/"):
                node = node.after(part)
            node.methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request."""
        methods, parameters = self._find(scope["path"])
        endpoint = methods.get(scope["method"])
        if endpoint is None:
            raise method_not_allowed(", ".join(sorted(methods)))
        state, text = scope["state"], scope["query_string"]
        call = Call(
            self._broker,
            scope,
            parameters,
            Query(QueryParams(text) if text else {}),
            state["request_id"],
            state["owner"],
            state["response_format"],
        )
        response = await endpoint.respond(call, receive)
        await response(scope, receive, send)

    def _find(self, path: str) -> tuple[Methods, dict[str, str]]:
        node, parameters = self._root, dict[str, str]()
        for part in path.split("/"):
            following = node.parts.get(part)
            if following is None:
                if node.parameter is None or not part:
                    raise unknown_path()
                name, following = node.parameter
                parameters[name] = part
            node = following
        if node.methods is None:
            raise unknown_path()
        return node.methods, parameters
