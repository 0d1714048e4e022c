"""From a routed request to a response: the steps that every endpoint has in common.

An endpoint's handler is a function from a `Call` to a `Response`. Before it runs, the account is found and authorized and
the body is read; its response is held back until every transaction it may show is committed to the ledger.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.broker.broker import Broker
from keydesk_practice.engine.commands import Command, MarketRequest, PlaceOrder
from keydesk_practice.engine.views import AccountValuation, trade_valuations
from keydesk_practice.engine.wire_form import in_unix_form, parse_time
from keydesk_practice.http.errors import (
    HttpError,
    forbidden,
    invalid_value,
    method_not_allowed,
    not_found,
)
from keydesk_practice.http.public_address import public_url
from keydesk_practice.http.responses import (
    CommandResult,
    EncodedList,
    Response,
    ResponseFormat,
    json_text,
    render,
    stored_answer,
)

MAX_BODY_BYTES = 256 * 1024  # far larger than any order; a larger body is refused before it is read
MAX_DIGITS = 18  # of an id or a count
UNITS_PER_PORTION = 4  # of work: a range of ids read from the ledger
CHARACTERS_PER_UNIT = 2_000  # of JSON, in a text that is longer than that


@dataclass(frozen=True, slots=True)
class Query:
    """The query string of a request; each method returns a parameter as its type or raises a 400 `HttpError`."""

    values: Mapping[str, str]

    def text(self, name: str) -> str | None:
        """Return a parameter as sent, None when it is absent or empty."""
        return self.values.get(name) or None

    def words(self, name: str) -> list[str] | None:
        """Return the parts of a comma-separated parameter, None when it is absent."""
        text = self.text(name)
        return None if text is None else [word.strip() for word in text.split(",") if word.strip()]

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""
        text = self.text(name)
        if text is None:
            return default
        number = whole_number(text, name)
        if number > high:
            raise HttpError(400, f"Maximum value for '{name}' exceeded")
        if number < low:
            raise invalid_value(name)
        return number

    def time(self, name: str) -> int | None:
        """Return a time in nanoseconds since 1970, None when it is absent."""
        text = self.text(name)
        return None if text is None else read_time(text, name)

    def flag(self, name: str, default: bool) -> bool:
        """Return a boolean: `true` or `false` in any case."""
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in {"true", "false"}:
            raise invalid_value(name)
        return text.lower() == "true"

    def choice(self, name: str, default: str, allowed: frozenset[str]) -> str:
        """Return one of the allowed words."""
        text = self.text(name)
        if text is None:
            return default
        if text not in allowed:
            raise invalid_value(name)
        return text


@dataclass(slots=True)
class Call:
    """One authenticated request to one endpoint; `body` is set once it is read."""

    broker: Broker
    request: Request
    request_id: str
    owner: int
    response_format: ResponseFormat
    query: Query
    body: Mapping[str, Any] = field(default_factory=dict)
    given_session: AccountSession | None = None  # of an account that belongs to another node

    def path(self, name: str) -> str:
        """Return a path parameter, percent-decoded: a client id may hold a slash."""
        return unquote(str(self.request.path_params[name]))

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing."""
        return self.request.method == "GET"

    @property
    def session(self) -> AccountSession:
        """The account of the path; a read request gets it as it is in the ledger.

        Raises:
            HttpError: 400 for a malformed id, 404 for an unknown one, 403 for another token's account.
        """
        id_ = self.path("accountID")
        session = self.given_session or self.broker.sessions.get(id_)
        if session is None:
            parts = id_.split("-")
            if len(parts) != 4 or not all(part.isascii() and part.isdecimal() for part in parts):  # noqa: PLR2004
                raise invalid_value("accountID")
            raise not_found("account", "NO_SUCH_ACCOUNT")
        if session.account.owner != self.owner:
            raise forbidden()
        return session.committed_view() if self.is_read else session

    def frozen_session(self) -> AccountSession:
        """Return the account of the path at the prices of this moment, to be read over several loop iterations."""
        return self.session.frozen()

    def execute(self, session: AccountSession, command: Command) -> CommandResult:
        """Execute a command on an account and return the transactions it made."""
        is_market = isinstance(command, PlaceOrder) and isinstance(command.order, MarketRequest)
        thin = is_market and self.request.scope["state"]["faults"].requotes()
        transactions = self.broker.execute(session, command, without_liquidity=thin)
        return CommandResult(transactions, session.last_transaction_id)

    def note_answer(self, response: Response) -> None:
        """Let the answer be found again with the transactions of the request, in a ledger that several nodes share."""
        account = self.request.path_params.get("accountID", "")
        self.broker.commits.note_answer(account, self.request_id, lambda: stored_answer(response))

    async def wait_until_committed(self) -> None:
        """Return when nothing that the response may show can still be lost.

        A read does not wait for a long batch: it shows the account before it.

        Raises:
            LedgerWriteFailed: the ledger could not be written, now or earlier.
        """
        account = self.request.path_params.get("accountID", "")
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
        return public_url(self.request, trusts_proxy=self.request.scope["state"]["trusts_proxy"])


Handler = Callable[[Call], Response | Awaitable[Response]]
StreamHandler = Callable[[Call], ASGIApp]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One operation: its handler, and whether it reads a JSON body; an optional body may be empty."""

    handler: Handler
    reads_body: bool = False
    optional_body: bool = False

    async def respond(self, call: Call) -> ASGIApp:
        """Return the response of one call."""
        if self.reads_body:
            call.body = await read_json_object(call.request, optional=self.optional_body)
        await call.wait_until_committed()  # a response shows committed transactions only
        made = self.handler(call)
        response = made if isinstance(made, Response) else await made
        if not call.is_read:
            call.note_answer(response)
        await call.wait_until_committed()
        return await render(response, call.response_format, call.budget)


@dataclass(frozen=True, slots=True)
class StreamEndpoint:
    """An operation that responds with a stream."""

    handler: StreamHandler

    async def respond(self, call: Call) -> ASGIApp:
        """Return the stream of one call."""
        await call.wait_until_committed()
        return self.handler(call)


class PathEndpoints:
    """The operations of one path, by method; any other method is answered with 405 and `Allow`."""

    def __init__(self, broker: Broker, methods: Mapping[str, Endpoint | StreamEndpoint]) -> None:
        self._broker = broker
        self._methods = dict(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._methods.get(scope["method"])
        if endpoint is None:
            raise method_not_allowed(", ".join(sorted(self._methods)))
        request = Request(scope, receive)
        query = Query(request.query_params if scope["query_string"] else {})
        state = scope["state"]
        call = Call(
            self._broker,
            request,
            state["request_id"],
            state["owner"],
            state["response_format"],
            query,
            given_session=state.get("session"),
        )
        response = await endpoint.respond(call)
        await response(scope, receive, send)


def read_time(text: str, name: str) -> int:
    """Return the nanoseconds since 1970 of a time in either format; raise a 400 `HttpError` for anything else."""
    try:
        return parse_time(text)
    except ValueError:
        raise invalid_value(name) from None


def whole_number(text: str, name: str) -> int:
    """Return the integer of ASCII digits, at most `MAX_DIGITS`; raise a 400 `HttpError` for anything else."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not digits.isascii() or not digits.isdecimal() or len(digits) > MAX_DIGITS:
        raise invalid_value(name)
    return sign * int(digits)


async def read_json_object(request: Request, *, optional: bool = False) -> dict[str, Any]:
    """Return the JSON object in the body of a request, an empty one for an optional body that is missing.

    Raises:
        HttpError: 400 for a missing, too large or malformed body.
    """
    raw = await _read_body(request)
    if not raw.strip():
        if optional:
            return {}
        raise HttpError(400, "Missing JSON body")
    try:
        body = json.loads(raw, parse_float=Decimal, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise HttpError(400, "Malformed JSON body") from None
    if not isinstance(body, dict):
        raise HttpError(400, "The JSON body is not an object")
    return body


async def _read_body(request: Request) -> bytes:
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > MAX_BODY_BYTES:
        raise _body_too_large()
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise _body_too_large()
    return bytes(body)


def _body_too_large() -> HttpError:
    message = f"The request body is larger than {MAX_BODY_BYTES} bytes"
    return HttpError(400, message, headers={"Connection": "close"})


def _reject_constant(name: str) -> None:
    raise ValueError(name)
