"""A broker whose answers get lost: it keeps a ledger of transactions, and a test says what happens to each write.

broker = LossyBroker(Fate.LOST_ANSWER, Fate.ANSWERED)      # in this order, then ANSWERED
async with broker.client() as client: ...
broker.ledger                                              # what really happened
"""

import asyncio
import itertools
import json
from enum import Enum, auto
from typing import Any

import httpx

from keydesk_client.client import Client
from keydesk_client.http.retry import Retries
from keydesk_client.resources._defaults import TimeFormat

Members = dict[str, Any]

ACCOUNT = "001"


class Fate(Enum):
    """What happens to a write on its way."""

    ANSWERED = auto()
    LOST_REQUEST = auto()
    LOST_ANSWER = auto()
    FAILED_YET_DONE = auto()
    UNREADABLE_YET_DONE = auto()
    TACITURN_YET_DONE = auto()
    """A good answer that lacks its transactions."""
    BUSY = auto()
    UNREACHABLE = auto()
    REFUSED = auto()
    REFUSAL_LOST = auto()
    PAGE = auto()
    LATE = auto()
    SILENT = auto()
    """Acted on, and no answer for as long as anybody waits."""
    HALF_REPLACED = auto()
    """A replacement of which only the cancel took effect; the refusal of the rest is the answer."""


class LossyBroker:
    """Market orders fill, limit orders rest; trades and orders are not checked for existence."""

    def __init__(self, *fates: Fate, late_s: float = 60.0, first_id: int = 1) -> None:
        self.fates = list(fates)
        self.ledger: list[Members] = []
        self.late_s = late_s
        self.writes: list[httpx.Request] = []
        self.look_ups_to_fail = 0
        self.look_ups_to_meet: list[Fate] = []
        """What look-ups meet first: PAGE or BUSY."""
        self.looked_up_at: list[float] = []
        self.reads_take_s = 0.0
        """From the look into the ledger to the answer."""
        self.orders_read: list[str] = []
        self.orders_unread = 0
        """Reads of an order that are answered 404 first: a copy of the ledger that lags behind."""
        self._next_id = first_id
        self._request_ids = itertools.count(7001)

    def client(self, datetime_format: TimeFormat = "RFC3339") -> Client:
        return Client(
            token="token-1234",
            rest_url="https://rest.test",
            stream_url="https://stream.test",
            account_id=ACCOUNT,
            datetime_format=datetime_format,
            transport=httpx.MockTransport(self._answered),
            retries=Retries(max_retries=0),
        )

    @property
    def last_id(self) -> int:
        return self._next_id - 1

    def resync(self) -> None:
        """Go on with an empty ledger, as for another replay: the ids of transactions come again."""
        self.ledger, self._next_id = [], 1

    async def has_met(self, writes: int) -> None:
        """Wait until so many requests that change something have come."""
        while len(self.writes) < writes:  # noqa: ASYNC110 - a list, not an event; the clock is a virtual one
            await asyncio.sleep(0.01)

    def batch(self, *members: Members) -> list[Members]:
        """Write one batch into the ledger."""
        first = str(self._next_id)
        made = []
        for each in members:
            number = str(self._next_id)
            self._next_id += 1
            made.append(
                {
                    "id": number,
                    "accountID": ACCOUNT,
                    "userID": 1,
                    "batchID": first,
                    "time": "2026-11-20T10:00:00.000000000Z",
                    **each,
                }
            )
        self.ledger += made
        return made

    async def _answered(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            answer = self._read(request)
            await asyncio.sleep(self.reads_take_s)
            return answer
        self.writes.append(request)
        fate = self.fates.pop(0) if self.fates else Fate.ANSWERED
        body = json.loads(request.content) if request.content else {}
        if fate is Fate.SILENT:
            self._acted(request.url.path, body)
            await asyncio.sleep(3600)
        return self._fated(fate, request.url.path, body)

    def _read(self, request: httpx.Request) -> httpx.Response:
        if "/orders/" in request.url.path:
            return self._order_read(request.url.path.rsplit("/", 1)[1])
        if request.url.path.endswith("/summary"):
            return httpx.Response(200, json={"account": {}, "lastTransactionID": str(self.last_id)})
        self.looked_up_at.append(asyncio.get_running_loop().time())
        if self.look_ups_to_fail:
            self.look_ups_to_fail -= 1
            raise httpx.ReadError("cut")
        if self.look_ups_to_meet:
            return self._fated(self.look_ups_to_meet.pop(), "", {})
        since = int(request.url.params["id"])
        if since > self.last_id:
            return httpx.Response(416, json={"errorMessage": "no such transaction"})
        found = [each for each in self.ledger if int(each["id"]) > since]
        return httpx.Response(
            200, json={"transactions": found, "lastTransactionID": str(self.last_id)}
        )

    def _order_read(self, order_id: str) -> httpx.Response:
        self.orders_read.append(order_id)
        if self.orders_unread:
            self.orders_unread -= 1
            return httpx.Response(404, json={"errorMessage": "The order ID does not exist"})
        return httpx.Response(200, json=self._order(order_id))

    def _order(self, order_id: str) -> Members:
        made = next(each for each in self.ledger if each["id"] == order_id)
        order = {**made, "type": made["type"].removesuffix("_ORDER"), "state": "CANCELLED"}
        return {"order": order, "lastTransactionID": str(self.last_id)}

    def _fated(self, fate: Fate, path: str, body: Members) -> httpx.Response:
        match fate:
            case Fate.ANSWERED:
                made = self._acted(path, body)
                return self._said(201, made, {_member_of(each, body): each for each in made})
            case Fate.TACITURN_YET_DONE:
                return self._said(201, self._acted(path, body)[:1], {})
            case Fate.LOST_REQUEST:
                raise httpx.ReadError("cut before it arrived")
            case Fate.UNREACHABLE:
                raise httpx.ConnectError("refused")
            case Fate.BUSY:
                return httpx.Response(
                    429,
                    json={"errorMessage": "slow down"},
                    headers={"Retry-After": "3", "RequestID": self._request_id()},
                )
            case Fate.PAGE:
                return httpx.Response(403, text="<html>a proxy</html>")
            case Fate.REFUSED | Fate.REFUSAL_LOST | Fate.HALF_REPLACED:
                return self._refused(fate, path, body)
            case Fate.LATE:
                loop = asyncio.get_running_loop()
                loop.call_later(self.late_s, self._acted, path, body)
                raise httpx.ReadTimeout("no answer")
            case _:
                return self._acted_unseen(fate, path, body)

    def _acted_unseen(self, fate: Fate, path: str, body: Members) -> httpx.Response:
        self._acted(path, body)
        if fate is Fate.LOST_ANSWER:
            raise httpx.RemoteProtocolError("cut half way")
        if fate is Fate.FAILED_YET_DONE:
            return httpx.Response(502, text="bad gateway")
        return httpx.Response(201, content=b'{"orderCreateTransac')

    def _refused(self, fate: Fate, path: str, body: Members) -> httpx.Response:
        asked = self._asked(path, body)
        refused = {**asked, "type": f"{asked['type']}_REJECT", "rejectReason": "UNITS_INVALID"}
        if fate is Fate.HALF_REPLACED:
            refused["intendedReplacesOrderID"] = path.split("/")[5]
        made = self.batch(*(_ending(path) if fate is Fate.HALF_REPLACED else []), refused)
        if fate is Fate.REFUSAL_LOST:
            raise httpx.ReadError("cut")
        members = {"orderRejectTransaction": made[-1], "errorCode": "UNITS_INVALID"}
        return self._said(400, made, members | {"errorMessage": "Units are invalid"})

    def _said(self, status: int, made: list[Members], members: Members) -> httpx.Response:
        return httpx.Response(
            status,
            json=members
            | {
                "relatedTransactionIDs": [each["id"] for each in made],
                "lastTransactionID": str(self.last_id),
            },
            headers={"RequestID": self._request_id()},
        )

    def _request_id(self) -> str:
        return str(next(self._request_ids))

    def _acted(self, path: str, body: Members) -> list[Members]:
        asked = self._asked(path, body)
        if asked["type"] == "ORDER_CANCEL":
            return self.batch(asked)
        if asked["type"] != "MARKET_ORDER":
            return self.batch(*_ending(path), asked)
        order_id = str(self._next_id)
        return self.batch(asked, _fill(order_id, asked))

    def _asked(self, path: str, body: Members) -> Members:
        """The transaction that a request asks for."""
        parts = path.split("/")[4:]
        match parts:
            case ["orders", target, "cancel"]:
                return {"type": "ORDER_CANCEL", "orderID": target, "reason": "CLIENT_REQUEST"}
            case ["orders", *_]:
                order = body["order"]
                return {**order, "type": f"{order['type']}_ORDER", "reason": "CLIENT_ORDER"}
            case ["trades", target, "close"]:
                close = {"tradeClose": {"tradeID": target, "units": body["units"]}}
                return _market("TRADE_CLOSE") | close
            case ["positions", target, "close"]:
                side = "long" if "longUnits" in body else "short"
                closeout = {"instrument": target, "units": body[f"{side}Units"]}
                order = _market("POSITION_CLOSEOUT") | {f"{side}PositionCloseout": closeout}
                extensions = body.get(f"{side}ClientExtensions")
                return order if extensions is None else order | {"clientExtensions": extensions}
            case ["trades", target, "orders"]:
                return self._protection(target, body)
            case _:
                raise AssertionError(path)

    def _protection(self, trade_id: str, body: Members) -> Members:
        details = body["stopLoss"]
        if details is not None:
            reason = {"reason": "CLIENT_ORDER"}
            return {"type": "STOP_LOSS_ORDER", "tradeID": trade_id, **details, **reason}
        standing = next(each for each in self.ledger if each["type"] == "STOP_LOSS_ORDER")
        return {"type": "ORDER_CANCEL", "orderID": standing["id"], "reason": "CLIENT_REQUEST"}


def _ending(path: str) -> list[Members]:
    parts = path.split("/")[4:]
    if parts[0] != "orders" or len(parts) == 1:
        return []
    return [{"type": "ORDER_CANCEL", "orderID": parts[1], "reason": "CLIENT_REQUEST_REPLACED"}]


def _market(reason: str) -> Members:
    return {"type": "MARKET_ORDER", "instrument": "EUR_USD", "units": "-100", "reason": reason}


def _fill(order_id: str, asked: Members) -> Members:
    money = {"pl": "0", "financing": "0", "commission": "0", "accountBalance": "100"}
    return {
        "type": "ORDER_FILL",
        "orderID": order_id,
        "instrument": asked["instrument"],
        "units": asked["units"],
        "reason": "MARKET_ORDER",
        **money,
    }


def _member_of(made: Members, body: Members) -> str:
    if "longUnits" in body:
        return {"MARKET_ORDER": "longOrderCreateTransaction"}.get(
            made["type"], "longOrderFillTransaction"
        )
    return {
        "ORDER_FILL": "orderFillTransaction",
        "ORDER_CANCEL": "orderCancelTransaction",
        "STOP_LOSS_ORDER": "stopLossOrderTransaction",
    }.get(made["type"], "orderCreateTransaction")
