"""A broker with one trade and one resting order, and a note of which request made which transactions.

broker = SharedTradeBroker({"a-1": Journey(answered_after=None)}, units=40)
Requests and journeys are named by the ClientRequestID: when it arrives, and what becomes of its answer. `broker.made` is
the truth.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from keydesk_client.client import Client
from keydesk_client.http.retry import Retries
from keydesk_client.models import Transaction
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models.responses import TransactionsResponse
from keydesk_client.resources.resource_client import PRACTICE

Members = dict[str, Any]
ACCOUNT = "001"
TRADE = "5"
ORDER = "7"
READ = Reader(TransactionsResponse)


@dataclass(frozen=True)
class Journey:
    """What happens to one request: seconds until it arrives, then until its answer does; None: never."""

    arrives_after: float | None = 0.0
    answered_after: float | None = 0.0
    is_cut: bool = False
    """The answer's headers arrive, its body does not."""
    lost_after: float = 0.0
    """Seconds until the sender learns that no answer comes."""


class SharedTradeBroker:
    """Closes the trade and cancels or replaces the order for as long as there is something left of them."""

    def __init__(
        self, journeys: Mapping[str, Journey], *, units: int = 40, tells_request_ids: bool = False
    ) -> None:
        self.journeys = journeys
        self.units = Decimal(units)
        self.order: str | None = ORDER
        self.ledger: list[Members] = []
        self.made: dict[str, tuple[str, ...]] = {}
        """Ids of the transactions that each request made, by its ClientRequestID."""
        self.sent: list[tuple[str, float]] = []
        """The ClientRequestID of each request and when it left its sender."""
        self.tells_request_ids = tells_request_ids
        self.hidden_from_reads = 0
        """How many of the newest transactions a read does not show: a copy of the ledger that lags behind."""
        self.lag_s = 0.0
        """Seconds until a read shows a transaction."""
        self._written_at: list[float] = []
        self._next_id = 10

    def client(self) -> Client:
        return Client(
            token="token-1234",
            rest_url=PRACTICE[0],
            stream_url="https://stream.test",
            account_id=ACCOUNT,
            transport=httpx.MockTransport(self._answered),
            retries=Retries(max_retries=0),
        )

    @property
    def last_id(self) -> int:
        return self._next_id - 1

    async def has_met(self, requests: int) -> None:
        """Wait until so many requests have come."""
        while len(self.sent) < requests:  # noqa: ASYNC110 - a list, not an event; the clock is a virtual one
            await asyncio.sleep(0.01)

    def transactions(self) -> tuple[Transaction, ...]:
        return READ.read(json.dumps(self._listed(0))).transactions

    def changed(self, name: str) -> bool:
        """Whether a request changed anything."""
        kinds = {each["type"] for each in self.ledger if each["id"] in self.made.get(name, ())}
        return bool(kinds & {"ORDER_FILL", "ORDER_CANCEL"})

    async def _answered(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=self._listed(int(request.url.params["id"])))
        name = request.headers["ClientRequestID"]
        journey = self.journeys.get(name, Journey())
        self.sent.append((name, asyncio.get_running_loop().time()))
        if journey.arrives_after is None:
            await asyncio.sleep(journey.lost_after)
            raise httpx.ReadError("cut on its way")
        arrived: asyncio.Future[list[Members]] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(
            journey.arrives_after, lambda: arrived.set_result(self._acted(name, request))
        )
        if journey.answered_after is None:
            await asyncio.sleep(journey.lost_after)
            raise httpx.ReadTimeout("no answer")
        made = await asyncio.shield(arrived)  # it arrives though its sender gave up
        await asyncio.sleep(journey.answered_after)
        return self._told(name, made, is_cut=journey.is_cut)

    def _listed(self, since: int) -> Members:
        newest = asyncio.get_running_loop().time() - self.lag_s
        old_enough = sum(written <= newest for written in self._written_at)
        shown = self.ledger[: min(old_enough, len(self.ledger) - self.hidden_from_reads)]
        found = [each for each in shown if int(each["id"]) > since]
        return {"transactions": found, "lastTransactionID": str(self.last_id)}

    def _told(self, name: str, made: list[Members], *, is_cut: bool) -> httpx.Response:
        headers = {"RequestID": _request_id(name)}
        if is_cut:
            return httpx.Response(200, content=b'{"relatedTransac', headers=headers)
        refused = made[-1]["type"].endswith("_REJECT")
        ids = {
            "relatedTransactionIDs": list(self.made[name]),
            "lastTransactionID": str(self.last_id),
        }
        if refused:
            said = {"errorMessage": "refused", "errorCode": made[-1]["rejectReason"]}
            key = f"order{'Cancel' if 'CANCEL' in made[-1]['type'] else ''}RejectTransaction"
            return httpx.Response(404, json=ids | said | {key: made[-1]}, headers=headers)
        return httpx.Response(
            200, json=ids | {_member(each): each for each in made}, headers=headers
        )

    def _acted(self, name: str, request: httpx.Request) -> list[Members]:
        body = json.loads(request.content) if request.content else {}
        match request.url.path.split("/")[4:]:
            case ["trades", _, "close"]:
                asked = self._closed(body["units"])
            case ["orders", _, "cancel"]:
                asked = self._cancelled("CLIENT_REQUEST")
            case _:
                asked = self._replaced(body["order"])
        return self._written(name, asked)

    def _closed(self, units: str) -> list[Members]:
        size = self.units if units == "ALL" else Decimal(units)
        order = {
            "type": "MARKET_ORDER",
            "instrument": "EUR_USD",
            "units": f"-{size}",
            "reason": "TRADE_CLOSE",
            "tradeClose": {"tradeID": TRADE, "units": units},
        }
        if not self.units or size > self.units:
            reason = "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE" if self.units else "TRADE_DOESNT_EXIST"
            return [order | {"type": "MARKET_ORDER_REJECT", "rejectReason": reason}]
        self.units -= size
        part = {"tradeID": TRADE, "units": f"-{size}", "price": "1.1", "realizedPL": "0"}
        part["financing"] = "0"
        closed = {"tradeReduced": part} if self.units else {"tradesClosed": [part]}
        return [order, _fill(str(self._next_id), f"-{size}") | closed]

    def _cancelled(self, reason: str) -> list[Members]:
        if self.order is None:
            refusal = {"type": "ORDER_CANCEL_REJECT", "orderID": ORDER}
            return [refusal | {"rejectReason": "ORDER_DOESNT_EXIST"}]
        self.order = None
        return [{"type": "ORDER_CANCEL", "orderID": ORDER, "reason": reason}]

    def _replaced(self, order: Members) -> list[Members]:
        made = self._cancelled("CLIENT_REQUEST_REPLACED")
        if made[0]["type"] == "ORDER_CANCEL":
            fresh = {**order, "type": f"{order['type']}_ORDER", "reason": "REPLACEMENT"}
            made[0]["replacedByOrderID"] = str(self._next_id + 1)
            made.append(fresh | {"replacesOrderID": ORDER})
        return made

    def _written(self, name: str, asked: list[Members]) -> list[Members]:
        first = str(self._next_id)
        for each in asked:
            each |= {
                "id": str(self._next_id),
                "accountID": ACCOUNT,
                "userID": 1,
                "batchID": first,
                "time": "2026-11-20T10:00:00.000000000Z",
            }
            if self.tells_request_ids:
                each["requestID"] = _request_id(name)
            self._next_id += 1
        self.ledger += asked
        self._written_at += [asyncio.get_running_loop().time()] * len(asked)
        self.made[name] = tuple(each["id"] for each in asked)
        return asked


def _request_id(name: str) -> str:
    return str(int.from_bytes(name.encode()))


def _fill(order_id: str, units: str) -> Members:
    return {
        "type": "ORDER_FILL",
        "orderID": order_id,
        "instrument": "EUR_USD",
        "units": units,
        "reason": "MARKET_ORDER_TRADE_CLOSE",
        "fullVWAP": f"1.1{order_id}",
        "pl": "0",
        "financing": "0",
        "commission": "0",
        "accountBalance": "100",
    }


def _member(each: Members) -> str:
    return {
        "MARKET_ORDER": "orderCreateTransaction",
        "ORDER_FILL": "orderFillTransaction",
        "ORDER_CANCEL": "orderCancelTransaction",
    }.get(each["type"], "orderCreateTransaction")
