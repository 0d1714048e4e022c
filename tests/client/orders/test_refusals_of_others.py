"""A proxy that answers in the place of the service: what it says of a request that was executed rejects nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from keydesk_client import Retries
from keydesk_client.client import Client
from keydesk_client.errors import HttpStatusError, Refused
from keydesk_client.models import (
    LimitOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    StopLossDetails,
)
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Done, NotSent, Outcome, Rejected
from keydesk_client.orders.sender import Sender
from support.broker import PracticeServer

REQUEST_ID = {"RequestID": "7001"}
SAID = {"errorMessage": "Bad gateway said no"}
CODED = SAID | {"errorCode": "BAD_GATEWAY"}
FOREIGN = {"id": "999999", "type": "MARKET_ORDER_REJECT", "rejectReason": "INSUFFICIENT_MARGIN"}

Shape = Callable[[int], httpx.Response]
SHAPES: dict[str, Shape] = {
    "nothing": httpx.Response,
    "a page": lambda status: httpx.Response(status, html="<html>a proxy</html>"),
    "a page with an id": lambda status: httpx.Response(
        status, html="<html>a proxy</html>", headers=REQUEST_ID
    ),
    "JSON": lambda status: httpx.Response(status, json={"error": "no"}, headers=REQUEST_ID),
    "a list": lambda status: httpx.Response(status, json=["no"], headers=REQUEST_ID),
    "a message": lambda status: httpx.Response(status, json=SAID),
    "a code": lambda status: httpx.Response(status, json=CODED),
    "a code, and the newest transaction": lambda status: httpx.Response(
        status, json=CODED | {"lastTransactionID": "999999"}
    ),
    "the reject of another's order": lambda status: httpx.Response(
        status, json=CODED | {"orderRejectTransaction": FOREIGN}, headers=REQUEST_ID
    ),
}
"""What no answer of the service looks like; a proxy may say it with any status."""
STATUSES = (*range(400, 419), *range(421, 427), 428, 429, 431, 451, 499, 500, 502, 503, 504)

OF_THE_SERVICE: dict[str, Shape] = {
    "a message": lambda status: httpx.Response(status, json=SAID, headers=REQUEST_ID),
    "a code": lambda status: httpx.Response(status, json=CODED, headers=REQUEST_ID),
}
REFUSALS = (400, 401, 403, 404, 405)


class AnsweringProxy(httpx.AsyncBaseTransport):
    """Forwards each request, and answers the next write with what it is told."""

    def __init__(self, practice: PracticeServer) -> None:
        self.practice = practice
        self.forwards = True
        self.answer: httpx.Response | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        replaces = request.method != "GET" and self.answer is not None
        if self.forwards or not replaces:
            answer = await self.practice.http.request(
                request.method, request.url.raw_path.decode(), content=await request.aread()
            )
        if replaces:
            assert self.answer is not None
            answer, self.answer = self.answer, None
            return answer
        kept = {"RequestID": answer.headers["RequestID"]}
        return httpx.Response(answer.status_code, content=answer.content, headers=kept)


@asynccontextmanager
async def behind_a_proxy(
    practice: PracticeServer, folder: Path
) -> AsyncIterator[tuple[AnsweringProxy, Client, Sender]]:
    proxy = AnsweringProxy(practice)
    async with Client(
        token=practice.token,
        rest_url="https://rest.test",
        stream_url="https://stream.test",
        account_id=practice.hedging_id,
        transport=proxy,
        retries=Retries(max_retries=0),
    ) as client:
        newest = int((await client.accounts.summary()).last_transaction_id)
        journal = FileJournal(folder / "private" / "orders.jsonl")
        yield proxy, client, Sender(client, journal, lambda: newest, pauses=(0.0, 0.01, 0.1))


def buy() -> OrderRequest:
    return MarketOrderRequest(instrument="EUR_USD", units=100, position_fill="OPEN_ONLY")


def rest() -> OrderRequest:
    return LimitOrderRequest(instrument="EUR_USD", units=100, price="0.50000")


async def target(sender: Sender, order: OrderRequest) -> str:
    """Return the id of a new trade, or else of the new order."""
    done = await sender.create(order)
    assert isinstance(done, Done)
    return done.trade_id or done.order_id or ""


def check_was_executed(outcome: Outcome, saying: object) -> None:
    assert isinstance(outcome, Done), (saying, outcome)
    assert outcome.looked_up, saying


PARTS = [pytest.param(8, id="an eighth"), pytest.param(1, id="all", marks=pytest.mark.e2e)]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", SHAPES)
async def test_an_executed_order_is_found_whatever_a_proxy_says_with_whichever_status(
    desk_of_my_own: PracticeServer, tmp_path: Path, name: str, part: int
) -> None:
    async with behind_a_proxy(desk_of_my_own, tmp_path) as (proxy, _, sender):
        for status in STATUSES[[*SHAPES].index(name) % part :: part]:
            proxy.answer = SHAPES[name](status)
            check_was_executed(await sender.create(buy()), status)


@pytest.mark.parametrize("status", [402, 406, 409, 410, 418, 422, 451, 499])
async def test_a_status_that_the_interface_does_not_have_needs_a_code(
    desk_of_my_own: PracticeServer, tmp_path: Path, status: int
) -> None:
    async with behind_a_proxy(desk_of_my_own, tmp_path) as (proxy, _, sender):
        proxy.answer = httpx.Response(status, json=SAID, headers=REQUEST_ID)
        check_was_executed(await sender.create(buy()), status)


Write = Callable[[Sender, str], Awaitable[Outcome]]
WRITES: dict[str, tuple[OrderRequest, Write]] = {
    "cancel": (rest(), lambda sender, order: sender.cancel(order)),
    "replace": (rest(), lambda sender, order: sender.replace(order, rest())),
    "close trade": (buy(), lambda sender, trade: sender.close_trade(trade)),
    "close position": (
        buy(),
        lambda sender, _: sender.close_position("EUR_USD", long_units="ALL"),
    ),
    "protect": (
        buy(),
        lambda sender, trade: sender.set_dependent_orders(
            trade, stop_loss=StopLossDetails(distance="0.02")
        ),
    ),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", WRITES)
async def test_so_is_every_other_write(
    desk_of_my_own: PracticeServer, tmp_path: Path, name: str, part: int
) -> None:
    order, write = WRITES[name]
    async with behind_a_proxy(desk_of_my_own, tmp_path) as (proxy, _, sender):
        for place, (said, shape) in enumerate(SHAPES.items()):
            for status in (*REFUSALS, 409, 429)[place % part :: part]:
                wanted = await target(sender, order)
                proxy.answer = shape(status)
                check_was_executed(await write(sender, wanted), (status, said))


@pytest.mark.parametrize("name", OF_THE_SERVICE)
async def test_a_refusal_of_the_service_itself_is_believed_at_once(
    desk_of_my_own: PracticeServer, tmp_path: Path, name: str
) -> None:
    async with behind_a_proxy(desk_of_my_own, tmp_path) as (proxy, _, sender):
        proxy.forwards = False
        for number, status in enumerate((*REFUSALS, 429)):
            proxy.answer = OF_THE_SERVICE[name](status)
            proxy.answer.headers["RequestID"] = f"800{number}"
            outcome = await sender.create(buy())
            assert isinstance(outcome, NotSent if status == 429 else Rejected), (status, outcome)


REFUSED_BY_THE_BROKER: dict[str, tuple[str, Callable[[Client], Awaitable[object]]]] = {
    "an order that is too large": (
        "UNITS_LIMIT_EXCEEDED",
        lambda client: client.orders.create(
            MarketOrderRequest(instrument="EUR_USD", units=10**9, position_fill="OPEN_ONLY")
        ),
    ),
    "an unknown instrument": (
        "",
        lambda client: client.orders.create(MarketOrderRequest(instrument="XXX_USD", units=1)),
    ),
    "the cancel of no order": ("ORDER_DOESNT_EXIST", lambda client: client.orders.cancel("9999")),
    "the replacement of no order": (
        "ORDER_DOESNT_EXIST",
        lambda client: client.orders.replace("9999", rest()),
    ),
    "the close of no trade": ("TRADE_DOESNT_EXIST", lambda client: client.trades.close("9999")),
    "the close of no position": (
        "CLOSEOUT_POSITION_DOESNT_EXIST",
        lambda client: client.positions.close("EUR_USD", long_units="ALL"),
    ),
    "the stop of no trade": (
        "NO_SUCH_TRADE",
        lambda client: client.trades.set_dependent_orders(
            "9999", stop_loss=StopLossDetails(distance="0.02")
        ),
    ),
    "an order in no account": (
        "NO_SUCH_ACCOUNT",
        lambda client: client.orders.create(buy(), account_id="101-001-1-001"),
    ),
    "the name of no account": (
        "NO_SUCH_ACCOUNT",
        lambda client: client.accounts.configure(alias="a", account_id="101-001-1-001"),
    ),
    "a margin rate that is not offered": (
        "MARGIN_RATE_INVALID",
        lambda client: client.accounts.configure(margin_rate=5),
    ),
}


@pytest.mark.parametrize("name", REFUSED_BY_THE_BROKER)
async def test_every_refusal_of_the_broker_settles_the_request(
    desk_of_my_own: PracticeServer, tmp_path: Path, name: str
) -> None:
    reason, refused = REFUSED_BY_THE_BROKER[name]
    async with behind_a_proxy(desk_of_my_own, tmp_path) as (_, client, _):
        with pytest.raises(Refused) as raised:
            await refused(client)
    assert raised.value.settled
    assert (raised.value.reject_reason or "") == reason


RECORDED: dict[int, dict[str, Any]] = {
    401: {"errorMessage": "Insufficient authorization to perform request."},
    403: {"errorMessage": "The provided request was forbidden."},
    400: {"errorMessage": "Missing JSON body"},
    404: {
        "errorCode": "NO_SUCH_TRADE",
        "errorMessage": "The trade ID specified does not exist",
        "lastTransactionID": "6397",
    },
}


@pytest.mark.parametrize("status", RECORDED)
async def test_recorded_refusals_of_the_service_settle_the_request(
    desk_of_my_own: PracticeServer, tmp_path: Path, status: int
) -> None:
    async with behind_a_proxy(desk_of_my_own, tmp_path) as (proxy, client, _):
        proxy.answer = httpx.Response(status, json=RECORDED[status], headers=REQUEST_ID)
        with pytest.raises(HttpStatusError) as raised:
            await client.orders.create(buy())
    assert raised.value.settled
