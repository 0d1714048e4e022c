"""From a routed request to an answer: what every endpoint has in common.

A handler is a plain function from a `Call` to an `Answer`. Here its account is found and checked, its body read, and the
answer held back until everything it may speak of is in the ledger.

One request as the routes see it: its token's owner, its account, its parameters and its body.

Reading a parameter or a member returns a value of the right type or refuses the request with the name of what is wrong.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.broker.broker import Broker
from keydesk_practice.engine.commands import Command
from keydesk_practice.engine.views import Worth
from keydesk_practice.engine.wire_form import in_unix_form, parse_time
from keydesk_practice.http.errors import HttpError, invalid_value, method_not_allowed, not_found
from keydesk_practice.http.middleware import check_owner
from keydesk_practice.http.responses import (
    CommandResult,
    EncodedList,
    Response,
    ResponseFormat,
    json_text,
    render,
)

MAX_BODY_BYTES = 256 * 1024  # far above any order; what is larger is refused unread


def path_parameter(request: Request, name: str) -> str:
    """Return a path parameter, percent-decoded: a client id may hold a slash."""
    return unquote(str(request.path_params[name]))


async def read_json_object(request: Request, *, may_be_missing: bool = False) -> dict[str, Any]:
    """Return the JSON object in the body of a request; refuses a missing, huge or malformed one."""
    raw = await _read_body(request)
    if not raw.strip():
        if may_be_missing:
            return {}
        raise HttpError(400, "Missing JSON body")
    try:
        found = json.loads(raw, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise HttpError(400, "Malformed JSON body") from None
    if not isinstance(found, dict):
        raise HttpError(400, "The JSON body is not an object")
    return found


async def _read_body(request: Request) -> bytes:
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > MAX_BODY_BYTES:
        raise _too_large()
    pieces = bytearray()
    async for piece in request.stream():
        pieces += piece
        if len(pieces) > MAX_BODY_BYTES:
            raise _too_large()
    return bytes(pieces)


def _too_large() -> HttpError:
    message = f"The request body is larger than {MAX_BODY_BYTES} bytes"
    return HttpError(400, message, headers={"Connection": "close"})


def _no_constant(name: str) -> None:
    raise ValueError(name)


@dataclass(frozen=True, slots=True)
class Query:
    """The query string of a request."""

    values: Mapping[str, str]

    def text(self, name: str) -> str | None:
        """Return a parameter as it came, None when it is absent or empty."""
        return self.values.get(name) or None

    def words(self, name: str) -> list[str] | None:
        """Return the parts of a comma-separated parameter, None when it is absent."""
        text = self.text(name)
        return None if text is None else [word.strip() for word in text.split(",") if word.strip()]

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number between two bounds."""
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
        """Return a point in time, None when it is absent."""
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


def read_time(text: str, name: str) -> int:
    """Return the nanoseconds since 1970 of a text in either form."""
    try:
        return parse_time(text)
    except ValueError:
        raise invalid_value(name) from None


def whole_number(text: str, name: str) -> int:
    """Return the number of a text of ASCII digits, of a size that an id or a count can have."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 18:  # noqa: PLR2004
        raise invalid_value(name)
    return sign * int(digits)


UNITS_OF_A_PORTION = 4  # a range of ids read from the ledger
LONG_TEXT = 2_000  # characters of JSON that cost a unit


@dataclass(frozen=True, slots=True)
class Call:
    """One request to one endpoint, checked at the door."""

    broker: Broker
    request: Request
    request_id: str
    owner: int
    response_format: ResponseFormat
    query: Query
    body: Mapping[str, Any] = field(default_factory=dict)

    def path(self, name: str) -> str:
        """Return a path parameter, decoded."""
        return path_parameter(self.request, name)

    @property
    def session(self) -> AccountSession:
        """The account of the path; whoever only reads it is given what is in the ledger.

        Raises:
            Refused: 400 for a malformed id, 404 for an unknown one, 403 for somebody else's.
        """
        id_ = self.path("accountID")
        parts = id_.split("-")
        if len(parts) != 4 or not all(part.isascii() and part.isdecimal() for part in parts):  # noqa: PLR2004
            raise invalid_value("accountID")
        session = self.broker.sessions.get(id_)
        if session is None:
            raise not_found("account", "NO_SUCH_ACCOUNT")
        check_owner(self.owner, session.account.owner)
        return session.committed_view() if self.is_read else session

    def execute(self, session: AccountSession, command: Command) -> CommandResult:
        """Carry out a command for an account and return the transactions it made."""
        batch = self.broker.execute(session, command)
        return CommandResult(batch, session.last_transaction_id)

    @property
    def is_read(self) -> bool:
        """Whether the request changes nothing."""
        return self.request.method == "GET"

    async def frozen_session(self) -> AccountSession:
        """Return the account of the path as it is on disk now, to be read over several turns of the loop."""
        return self.session.frozen()

    async def wait_until_committed(self) -> None:
        """Return when the answer speaks of nothing that may yet be lost; who only reads waits for no long batch.

        Raises:
            LedgerWriteFailed: the disk refused, now or earlier.
        """
        account = self.request.path_params.get("accountID", "")
        if self.is_read:
            await self.broker.readable(account)
        else:
            await self.broker.wait_until_committed(account)

    async def worth(self, session: AccountSession) -> Worth:
        """Return what an account is worth, worked out over as many turns of the loop as it takes."""
        return session.worth(
            {id_: one async for id_, one in self.budget.over(session.trade_worths())}
        )

    @property
    def budget(self) -> WorkBudget:
        """What may be done in one turn of the loop."""
        return self.broker.budget

    async def encoded(self, items: Iterable[Any], units: int = 1) -> EncodedList:
        """Return the JSON texts of some values, each made and encoded when it may be, for `units` of work."""
        texts = EncodedList()
        async for item in self.budget.over(
            items, 2 * units if self.response_format.unix_times else units
        ):
            texts.append(json_text(in_unix_form(item) if self.response_format.unix_times else item))
            await self._pay_for(texts[-1])
        return texts

    async def ledger_text(self, text: str) -> str:
        """Return a text of the ledger in the form of times that the client asked for."""
        if not self.response_format.unix_times:
            return text
        await self.budget.take()
        await self._pay_for(text)
        return json_text(in_unix_form(json.loads(text)))

    async def _pay_for(self, text: str) -> None:
        if len(text) > LONG_TEXT:
            await self.budget.take(len(text) // LONG_TEXT)

    @property
    def base_url(self) -> str:
        """The address that the client used, for links in answers."""
        return str(self.request.base_url).rstrip("/")


Handler = Callable[[Call], Response | Awaitable[Response]]
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
        await call.wait_until_committed()  # nobody is shown what may yet be lost
        made = self.handler(call)
        answer = made if isinstance(made, Response) else await made
        await call.wait_until_committed()
        return await render(answer, call.response_format, call.broker.budget)


@dataclass(frozen=True, slots=True)
class StreamEndpoint:
    """An operation that answers with a stream."""

    handler: StreamHandler

    async def respond(self, call: Call) -> ASGIApp:
        """Return the stream of one call."""
        await call.wait_until_committed()
        return self.handler(call)


class PathEndpoints:
    """The operations of one path, by method; any other method is answered 405 with `Allow`."""

    def __init__(self, broker: Broker, methods: Mapping[str, Endpoint | StreamEndpoint]) -> None:
        self._broker = broker
        self._methods = dict(methods)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._methods.get(scope["method"])
        if endpoint is None:
            raise method_not_allowed(", ".join(sorted(self._methods)))
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
