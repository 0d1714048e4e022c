"""Responses: JSON bodies in the format the client asked for, and the results of commands."""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.background import WorkBudget
from keydesk_practice.engine.wire_form import in_unix_form
from keydesk_practice.http.error_responses import reject_message
from keydesk_practice.ledger.records import WireTransaction

# A smaller body arrives in one round trip anyway, and compressing an order's took a tenth of its CPU.
MIN_GZIP_BYTES = 8192
GZIP_LEVEL = 1
GZIP_WINDOW = 31  # zlib's number for the largest window with a gzip header and trailer
PIECE_CHARACTERS = 65_536  # joined, compressed and sent in one iteration of the event loop
UNITS_PER_PIECE = 16
NOT_FOUND_REASONS = frozenset(
    {"ORDER_DOESNT_EXIST", "TRADE_DOESNT_EXIST", "CLOSEOUT_POSITION_DOESNT_EXIST"}
)
DEPENDENT_MEMBERS = {
    "TAKE_PROFIT": "takeProfitOrder",
    "STOP_LOSS": "stopLossOrder",
    "TRAILING_STOP_LOSS": "trailingStopLossOrder",
    "GUARANTEED_STOP_LOSS": "guaranteedStopLossOrder",
}
FILLABLE = frozenset({"TAKE_PROFIT", "STOP_LOSS"})  # only these may fill in the creating request

Wire = Mapping[str, Any]
OrderType = Callable[[str], str | None]  # from an order's id
_encode = json.JSONEncoder(separators=(",", ":")).encode


class EncodedList(list[str]):
    """A JSON array whose items are JSON texts already, their times in the client's format."""


class Response(Struct, frozen=True):
    """What an endpoint returns: the body's members, the status, and headers of its own."""

    body: Mapping[str, Any]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    always_gzip: bool = False


class ResponseFormat(Struct, frozen=True):
    """The date format and content encoding that the request headers ask for."""

    unix_times: bool
    gzip: bool


class AsgiResponse(Struct, frozen=True):
    """A rendered response; a long body is sent in pieces, as fast as the client reads."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    pieces: Sequence[bytes]
    budget: WorkBudget

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the response."""
        head = {"type": "http.response.start", "status": self.status, "headers": self.headers}
        await send(head)
        last = len(self.pieces) - 1
        for number, piece in enumerate(self.pieces):
            if number:
                await self.budget.spend(UNITS_PER_PIECE)
            more = number < last
            await send({"type": "http.response.body", "body": piece, "more_body": more})


def json_text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return compact JSON in ASCII: a lone surrogate in a comment is escaped, too."""
    return _encode(value)


def json_bytes(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """Return compact JSON as ASCII bytes."""
    return _encode(value).encode("ascii")


async def render(
    response: Response, response_format: ResponseFormat, budget: WorkBudget
) -> AsgiResponse:
    """Return the ASGI response in the date format and encoding that the client accepts."""
    pieces = await _body_pieces(response.body, response_format.unix_times, budget)
    headers = {"content-type": "application/json", **response.headers}
    size = sum(map(len, pieces))
    if response.always_gzip or (response_format.gzip and size >= MIN_GZIP_BYTES):
        pieces = [await _gzipped(pieces, budget)]
        size = len(pieces[0])
        headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
    headers["content-length"] = str(size)
    encoded = [
        (name.lower().encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()
    ]
    return AsgiResponse(response.status, encoded, pieces, budget)


async def _body_pieces(
    body: Mapping[str, Any], unix_times: bool, budget: WorkBudget
) -> list[bytes]:
    """Return the body as JSON, in pieces of some `PIECE_CHARACTERS`."""
    pieces, texts, size = [], [], 0
    for text in _object_texts(body, unix_times):
        texts.append(text)
        size += len(text)
        if size >= PIECE_CHARACTERS:
            pieces.append("".join(texts).encode("ascii"))
            texts, size = [], 0
            await budget.spend(UNITS_PER_PIECE)
    return [*pieces, "".join(texts).encode("ascii")]


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
    elif isinstance(value, WireTransaction) and not unix_times:
        yield value.text()
    elif isinstance(value, dict) and any(isinstance(one, EncodedList) for one in value.values()):
        yield from _object_texts(value, unix_times)
    else:
        yield json_text(in_unix_form({name: value})[name] if unix_times else value)


async def _gzipped(pieces: Sequence[bytes], budget: WorkBudget) -> bytes:
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_WINDOW)
    compressed = []
    for number, piece in enumerate(pieces):
        if number:
            await budget.spend(UNITS_PER_PIECE)
        compressed.append(compressor.compress(piece))
    return b"".join([*compressed, compressor.flush()])


# --- results of commands ---


class CommandResult(Struct, frozen=True):
    """The transactions that a command made, oldest first, and the account's newest id after them.

    A command that changes nothing makes no transactions.
    """

    transactions: Sequence[Wire]
    last_id: str

    @property
    def first(self) -> Wire:
        """The first transaction: the created object or the reject."""
        return self.transactions[0]

    @property
    def rejects(self) -> list[Wire]:
        """The reject transactions."""
        return [one for one in self.transactions if "rejectReason" in one]

    def of_type(self, type_: str) -> Wire | None:
        """Return the first transaction of a type, None if there is none."""
        return next((one for one in self.transactions if one["type"] == type_), None)

    def fill_of(self, order_id: str) -> Wire | None:
        """Return the fill of an order."""
        return self._of_order(order_id, "ORDER_FILL")

    def cancel_of(self, order_id: str) -> Wire | None:
        """Return the cancel of an order."""
        return self._of_order(order_id, "ORDER_CANCEL")

    def _of_order(self, order_id: str, type_: str) -> Wire | None:
        for one in self.transactions:
            if one["type"] == type_ and one["orderID"] == order_id:
                return one
        return None

    def id_members(self) -> dict[str, object]:
        """Return the two members with which every response to a command ends."""
        ids = [one["id"] for one in self.transactions]
        return {"relatedTransactionIDs": ids, "lastTransactionID": self.last_id}


def without_none(members: Mapping[str, Wire | None]) -> dict[str, Wire]:
    """Return the members that have a transaction: the others are left out, not null."""
    return {name: value for name, value in members.items() if value is not None}


def success_response(
    result: CommandResult,
    members: Mapping[str, Wire | None],
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the response to a command that was accepted."""
    return Response({**without_none(members), **result.id_members()}, status, headers or {})


def reject_response(
    members: Mapping[str, Wire | None],
    reasons: Iterable[str],
    id_members: Mapping[str, object],
    status: int | None = None,
) -> Response:
    """Return the response to a rejected command: 404 when its object does not exist, else 400."""
    reason = next(iter(reasons))
    body = {
        **without_none(members),
        **id_members,
        "errorCode": reason,
        "errorMessage": reject_message(reason),
    }
    return Response(body, status or (404 if reason in NOT_FOUND_REASONS else 400))


def dependents_response(result: CommandResult, type_of: OrderType) -> Response:
    """Return the response to an accepted change of a trade's dependent orders."""
    members: dict[str, Wire | None] = {}
    for kind, prefix in DEPENDENT_MEMBERS.items():
        created = result.of_type(f"{kind}_ORDER")
        members[f"{prefix}CancelTransaction"] = _client_cancel(result, kind, created, type_of)
        members[f"{prefix}Transaction"] = created
        if created is not None and kind in FILLABLE:
            members[f"{prefix}FillTransaction"] = result.fill_of(created["id"])
            members[f"{prefix}CreatedCancelTransaction"] = result.cancel_of(created["id"])
    return success_response(result, members)


def _client_cancel(
    result: CommandResult, kind: str, created: Wire | None, type_of: OrderType
) -> Wire | None:
    """Return the cancel, by request or by replacement, of the order that the trade had before."""
    for one in result.transactions:
        requested = one.get("reason") in {"CLIENT_REQUEST", "CLIENT_REQUEST_REPLACED"}
        if one["type"] != "ORDER_CANCEL" or not requested or type_of(one["orderID"]) != kind:
            continue
        if created is None or one["orderID"] != created["id"]:
            return one
    return None


def dependents_reject_response(result: CommandResult, type_of: OrderType) -> Response:
    """Return the response to a rejected change of a trade's dependent orders."""
    members: dict[str, Wire | None] = {}
    for kind, prefix in DEPENDENT_MEMBERS.items():
        members[f"{prefix}RejectTransaction"] = result.of_type(f"{kind}_ORDER_REJECT")
        members[f"{prefix}CancelRejectTransaction"] = next(
            (one for one in result.rejects
             if one["type"] == "ORDER_CANCEL_REJECT" and type_of(one.get("orderID", "")) == kind),
            None,
        )  # fmt: skip
    reasons = [reject["rejectReason"] for reject in result.rejects]
    return reject_response(members, reasons, result.id_members(), status=400)
