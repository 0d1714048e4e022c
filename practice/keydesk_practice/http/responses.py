"""A stream over HTTP: one JSON object a line, a heartbeat every five seconds, until one side leaves.

The connection's own write buffer is the only queue besides the subscription's mailbox: while the client does not read,
`send` does not return, the mailbox conflates or closes, and nobody else notices.

Answers: JSON bodies with the headers that every one of them carries.
What came of a command, as the members of its answer: the transactions by the names the interface gives them.
The answer to a change of a trade's dependent orders: which transaction belongs to which kind of order.
"""

import asyncio
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.broker.feeds import Subscription
from keydesk_practice.engine.wire_form import in_unix_form
from keydesk_practice.http.errors import reject_message

SMALLEST_ZIPPED = 1400  # below one network packet there is nothing to win
FASTEST = 1
GZIP_WINDOW = 31  # of zlib: the largest window, with the header and trailer of gzip
LARGEST_PIECE = 65_536  # characters that are joined, packed and sent in one turn of the loop
UNITS_OF_A_PIECE = 16


class EncodedList(list[str]):
    """A JSON array whose items are JSON texts already, their times in the form that the client asked for."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a route answers: the body's members, the status, headers of its own."""

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    always_zipped: bool = False


@dataclass(frozen=True, slots=True)
class ResponseFormat:
    """How the client wants its answers, by the headers it sent."""

    unix_times: bool
    zipped: bool


def json_bytes(body: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return compact JSON in ASCII: a lone surrogate in a comment is no way to break an answer."""
    return json_text(body).encode("ascii")


def json_text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return compact JSON in ASCII, as text."""
    return json.dumps(value, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class AsgiResponse:
    """The ASGI response of an answer; a long body is sent piece by piece, as the client takes it."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    pieces: Sequence[bytes]
    budget: WorkBudget

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send it."""
        head = {"type": "http.response.start", "status": self.status, "headers": self.headers}
        await send(head)
        last = len(self.pieces) - 1
        for number, piece in enumerate(self.pieces):
            if number:
                await self.budget.take(UNITS_OF_A_PIECE)
            more = number < last
            await send({"type": "http.response.body", "body": piece, "more_body": more})


async def render(
    answer: Response, response_format: ResponseFormat, budget: WorkBudget
) -> AsgiResponse:
    """Return the response of an answer, in the date format and encoding that the client takes."""
    pieces = await _pieces(answer, response_format, budget)
    headers = {"content-type": "application/json", **answer.headers}
    if answer.always_zipped or (
        response_format.zipped and sum(map(len, pieces)) >= SMALLEST_ZIPPED
    ):
        pieces = await _zipped(pieces, budget)
        headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
    headers["content-length"] = str(sum(map(len, pieces)))
    encoded = [
        (name.lower().encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()
    ]
    return AsgiResponse(answer.status, encoded, pieces, budget)


async def _pieces(
    answer: Response, response_format: ResponseFormat, budget: WorkBudget
) -> list[bytes]:
    """Return the body as JSON, in pieces."""
    pieces, group, size = [], [], 0
    for text in _object_texts(answer.body, response_format.unix_times):
        group.append(text)
        size += len(text)
        if size >= LARGEST_PIECE:
            pieces.append("".join(group).encode("ascii"))
            group, size = [], 0
            await budget.take(UNITS_OF_A_PIECE)
    return [*pieces, "".join(group).encode("ascii")]


def _object_texts(body: Mapping[str, Any], unix_times: bool) -> Iterator[str]:
    opening = "{"
    for name, value in body.items():
        yield f'{opening}"{name}":'
        yield from _member_texts(name, value, unix_times)
        opening = ","
    yield "{}" if opening == "{" else "}"


def _member_texts(name: str, value: Any, unix_times: bool) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, EncodedList):
        yield "["
        for number, text in enumerate(value):
            yield f",{text}" if number else text
        yield "]"
    elif isinstance(value, dict) and any(isinstance(one, EncodedList) for one in value.values()):
        yield from _object_texts(value, unix_times)
    else:
        yield json_text(in_unix_form({name: value})[name] if unix_times else value)


async def _zipped(pieces: Sequence[bytes], budget: WorkBudget) -> list[bytes]:
    packer = zlib.compressobj(FASTEST, zlib.DEFLATED, GZIP_WINDOW)
    packed = []
    for number, piece in enumerate(pieces):
        if number:
            await budget.take(UNITS_OF_A_PIECE)
        packed.append(packer.compress(piece))
    return [b"".join([*packed, packer.flush()])]


Wire = Mapping[str, Any]
NOT_THERE = frozenset(
    {"ORDER_DOESNT_EXIST", "TRADE_DOESNT_EXIST", "CLOSEOUT_POSITION_DOESNT_EXIST"}
)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The batch that a request made, as wire transactions, oldest first, and the account's newest id after it.

    A request that changes nothing makes an empty batch.
    """

    batch: Sequence[Wire]
    last_id: str

    @property
    def first(self) -> Wire:
        """The first transaction: what was created, or why nothing was."""
        return self.batch[0]

    @property
    def rejects(self) -> list[Wire]:
        """The transactions that say no."""
        return [transaction for transaction in self.batch if "rejectReason" in transaction]

    def of_type(self, type_: str) -> Wire | None:
        """Return the first transaction of a type."""
        return next((one for one in self.batch if one["type"] == type_), None)

    def fill_of(self, order_id: str) -> Wire | None:
        """Return the fill of an order."""
        return self._about(order_id, "ORDER_FILL")

    def cancel_of(self, order_id: str) -> Wire | None:
        """Return the cancel of an order."""
        return self._about(order_id, "ORDER_CANCEL")

    def _about(self, order_id: str, type_: str) -> Wire | None:
        for one in self.batch:
            if one["type"] == type_ and one["orderID"] == order_id:
                return one
        return None

    def ids(self) -> dict[str, object]:
        """Return the two members that every answer to a write ends with."""
        ids = [one["id"] for one in self.batch]
        return {"relatedTransactionIDs": ids, "lastTransactionID": self.last_id}


def without_none(members: Mapping[str, Wire | None]) -> dict[str, Wire]:
    """Return the members that have a transaction: absent ones are left out, not null."""
    return {name: value for name, value in members.items() if value is not None}


def success_response(
    result: CommandResult,
    members: Mapping[str, Wire | None],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the answer to a command that was carried out."""
    return Response({**without_none(members), **result.ids()}, status, headers or {})


def reject_response(
    members: Mapping[str, Wire | None],
    reasons: Iterable[str],
    ids: Mapping[str, object],
    status: int | None = None,
) -> Response:
    """Return the answer to a command that was rejected: 404 when its object is not there, else 400."""
    reason = next(iter(reasons))
    body = {
        **without_none(members),
        **ids,
        "errorCode": reason,
        "errorMessage": reject_message(reason),
    }
    return Response(body, status or (404 if reason in NOT_THERE else 400))


KINDS = {
    "TAKE_PROFIT": "takeProfitOrder",
    "STOP_LOSS": "stopLossOrder",
    "TRAILING_STOP_LOSS": "trailingStopLossOrder",
    "GUARANTEED_STOP_LOSS": "guaranteedStopLossOrder",
}
FILLABLE = frozenset({"TAKE_PROFIT", "STOP_LOSS"})  # only these may end in the creating request
OrderType = Callable[[str], str | None]


def dependents_response(result: CommandResult, type_of: OrderType) -> Response:
    """Return the answer when everything asked was done."""
    members: dict[str, Wire | None] = {}
    for kind, prefix in KINDS.items():
        created = result.of_type(f"{kind}_ORDER")
        members[f"{prefix}CancelTransaction"] = _cancelled(result, kind, created, type_of)
        members[f"{prefix}Transaction"] = created
        if created is not None and kind in FILLABLE:
            members[f"{prefix}FillTransaction"] = result.fill_of(created["id"])
            members[f"{prefix}CreatedCancelTransaction"] = result.cancel_of(created["id"])
    return success_response(result, members)


def _cancelled(
    result: CommandResult, kind: str, created: Wire | None, type_of: OrderType
) -> Wire | None:
    """Return the cancel of the order that was there before, by request or by its replacement."""
    for one in result.batch:
        asked = one.get("reason") in {"CLIENT_REQUEST", "CLIENT_REQUEST_REPLACED"}
        if one["type"] != "ORDER_CANCEL" or not asked or type_of(one["orderID"]) != kind:
            continue
        if created is None or one["orderID"] != created["id"]:
            return one
    return None


def dependents_reject_response(result: CommandResult, type_of: OrderType) -> Response:
    """Return the answer when something asked was wrong, and so nothing was done."""
    members: dict[str, Wire | None] = {}
    for kind, prefix in KINDS.items():
        members[f"{prefix}RejectTransaction"] = result.of_type(f"{kind}_ORDER_REJECT")
        members[f"{prefix}CancelRejectTransaction"] = next(
            (one for one in result.rejects
             if one["type"] == "ORDER_CANCEL_REJECT" and type_of(one.get("orderID", "")) == kind),
            None,
        )  # fmt: skip
    reasons = [reject["rejectReason"] for reject in result.rejects]
    return reject_response(members, reasons, result.ids(), status=400)


HEARTBEAT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class StreamResponse:
    """The response of a stream endpoint; `release` is called however it ends."""

    subscription: Subscription
    first: bytes
    heartbeat: Callable[[], bytes]
    release: Callable[[], None]
    window: float = 0.0
    heartbeat_seconds: float = HEARTBEAT_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream as an ASGI response."""
        del scope
        watcher = asyncio.ensure_future(_gone(receive))
        watcher.add_done_callback(lambda _: self.subscription.close())
        flow = asyncio.ensure_future(self._flow(send))
        self.subscription.on_overrun = flow.cancel
        try:
            await asyncio.wait({flow})
            if not flow.cancelled():  # else the connection is dropped in the middle: too slow
                flow.result()
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self.release()
            flow.cancel()
            watcher.cancel()

    async def _flow(self, send: Send) -> None:
        await self._open(send)
        clock = asyncio.get_running_loop().time
        next_beat = clock() + self.heartbeat_seconds
        not_before = clock() + self.window if self.first else 0.0
        while not self.subscription.closed:
            await self.subscription.wait(next_beat - clock())
            await asyncio.sleep(max(min(not_before, next_beat) - clock(), 0.0))
            lines = b""
            if clock() >= not_before:
                lines = self.subscription.take()
                not_before = clock() + self.window if lines else 0.0
            else:
                self.subscription.notify()  # a heartbeat came first; what waits goes next
            if clock() >= next_beat:
                lines += self.heartbeat()
                next_beat = max(next_beat + self.heartbeat_seconds, clock())
            await _write(send, lines)

    async def _open(self, send: Send) -> None:
        headers = [(b"content-type", b"application/octet-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _write(send, self.first)


async def _write(send: Send, lines: bytes) -> None:
    if lines:
        await send({"type": "http.response.body", "body": lines, "more_body": True})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
