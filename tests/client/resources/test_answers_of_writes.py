"""Every write of the client, without a Sender, takes no other answer for its own: neither a copy nor a forged one.

A broken proxy says the answer to one write twice, or one that nobody asked for: behind the answer in the same segment,
in a segment of its own, or only when the next write has come.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import httpx
import pytest

from keydesk_client import Client, Retries
from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models import (
    ClientExtensions,
    LimitOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    StopLossDetails,
)
from keydesk_client.models._core.record import Response
from support.broker import NO_TLS, PracticeServer
from support.fakes.talking_server import talking_server

Targets = list[str]
"""What the first write, the second and the third are about."""


def buy(client_id: str | None = None, instrument: str = "EUR_USD") -> OrderRequest:
    tags = ClientExtensions(id=client_id) if client_id else None
    return MarketOrderRequest(
        instrument=instrument, units=100, position_fill="OPEN_ONLY", client_extensions=tags
    )


def rest(price: str = "0.50000") -> OrderRequest:
    return LimitOrderRequest(instrument="EUR_USD", units=100, price=price)


async def trades(client: Client) -> Targets:
    made = [await client.orders.create(buy()) for _ in range(3)]
    return [each.last_transaction_id for each in made]


async def stopped_trades(client: Client) -> Targets:
    found = await trades(client)
    for each in found:
        await client.trades.set_dependent_orders(each, stop_loss=StopLossDetails(distance="0.02"))
    return found


async def orders(client: Client) -> Targets:
    made = [await client.orders.create(rest()) for _ in range(3)]
    return [each.last_transaction_id for each in made]


async def positions(client: Client) -> Targets:
    names = ["EUR_USD", "GBP_USD", "AUD_USD"]
    for name in names:
        await client.orders.create(buy(instrument=name))
    return names


NAMES: Final = ("id-1", "id-2", "id-3")


async def names(_: Client) -> Targets:
    return list(NAMES)


Prepare = Callable[[Client], Awaitable[Targets]]
Write = Callable[[Client, str], Awaitable[Response]]
STOP = StopLossDetails(distance="0.03")
TAG = ClientExtensions(tag="swing")
WRITES: dict[str, tuple[Prepare, Write]] = {
    "create": (names, lambda client, _: client.orders.create(buy())),
    "create with a client id": (names, lambda client, name: client.orders.create(buy(name))),
    "market": (names, lambda client, _: client.orders.market("EUR_USD", 100)),
    "limit": (names, lambda client, _: client.orders.limit("EUR_USD", 100, "0.50000")),
    "stop": (names, lambda client, _: client.orders.stop("EUR_USD", 100, "2.50000")),
    "replace": (orders, lambda client, order: client.orders.replace(order, rest("0.40000"))),
    "cancel": (orders, lambda client, order: client.orders.cancel(order)),
    "tag order": (
        orders,
        lambda client, order: client.orders.set_client_extensions(order, client_extensions=TAG),
    ),
    "close trade": (trades, lambda client, trade: client.trades.close(trade)),
    "close part": (trades, lambda client, trade: client.trades.close(trade, units=50)),
    "tag trade": (trades, lambda client, trade: client.trades.set_client_extensions(trade, TAG)),
    "protect": (
        trades,
        lambda client, trade: client.trades.set_dependent_orders(trade, stop_loss=STOP),
    ),
    "take the stop away": (
        stopped_trades,
        lambda client, trade: client.trades.set_dependent_orders(trade, stop_loss=None),
    ),
    "close position": (
        positions,
        lambda client, name: client.positions.close(name, long_units="ALL"),
    ),
    "configure": (names, lambda client, _: client.accounts.configure(alias="mine")),
}
COPIES: Final = ("in the same segment", "in the next segment", "after the next request")
FORGED: Final = COPIES[:2]
"""What names the next request, and comes after it, nobody can tell from its answer."""


@dataclass
class RepeatingProxy:
    """Forwards requests; says one answer more behind the first write of those that are counted."""

    practice: PracticeServer
    place: str
    renames: Callable[[bytes], bytes] = lambda said: said
    own: list[str] | None = None
    """The request ids of the writes that are counted, in the order in which the broker answered; None before."""
    has_all: asyncio.Event = field(default_factory=asyncio.Event)
    is_said: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: bytes = b""

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, target = head.split(" ", 2)[:2]
            sizes = (line for line in head.lower().split("\r\n") if "content-length:" in line)
            body = await reader.readexactly(int(next(sizes, ":0").partition(":")[2]))
            answer = await self.practice.http.request(method, target, content=body)
            said = _encoded(answer)
            if method == "GET" or self.own is None:
                writer.write(said)
                continue
            self.own.append(answer.headers["RequestID"])
            if len(self.own) == len(NAMES):
                self.has_all.set()
            await self._say(said, writer)

    async def _say(self, said: bytes, writer: asyncio.StreamWriter) -> None:
        assert self.own is not None
        is_first = len(self.own) == 1
        more = self.renames(said) if is_first else b""
        match self.place:
            case "in the same segment":
                writer.write(said + more)
            case "in the next segment":
                writer.write(said)
                await writer.drain()
                writer.write(more)
            case _:
                writer.write(self._waiting + said)
                self._waiting = more
        self.is_said.set()


def _encoded(answer: httpx.Response) -> bytes:
    head = f"HTTP/1.1 {answer.status_code} -\r\nContent-Type: application/json\r\n"
    head += f"RequestID: {answer.headers['RequestID']}\r\nContent-Length: {len(answer.content)}"
    return f"{head}\r\n\r\n".encode() + answer.content


def forged(first: str, second: str) -> Callable[[bytes], bytes]:
    """Rewrite the answer to one write as that to another, with an id of the request of its own."""

    def renames(said: bytes) -> bytes:
        head, _, body = said.partition(b"\r\n\r\n")
        body = body.replace(f'"{first}"'.encode(), f'"{second}"'.encode())
        lines = [
            each for each in head.split(b"\r\n") if not each.startswith((b"Req", b"Content-L"))
        ]
        lines += [b"RequestID: 90000001", b"Content-Length: %d" % len(body)]
        return b"\r\n".join(lines) + b"\r\n\r\n" + body

    return renames


async def outcome(answer: Awaitable[Response]) -> Response | UnreadableAnswer:
    try:
        return await answer
    except UnreadableAnswer as error:
        return error


async def check(
    practice: PracticeServer, write: str, place: str, *, stock: bool, is_forged: bool
) -> None:
    """Send three writes; each has its own answer or an error that leaves it unsettled, and the third its own."""
    prepare, send = WRITES[write]
    proxy = RepeatingProxy(practice, place)
    async with (
        talking_server(proxy.talk) as url,
        Client(
            token=practice.token,
            rest_url=url,
            stream_url=practice.stream_url,
            account_id=practice.hedging_id,
            retries=Retries(max_retries=0),
            transport=httpx.AsyncHTTPTransport(verify=NO_TLS) if stock else None,
        ) as client,
    ):
        await client.instrument("EUR_USD")  # reads what `market` needs
        targets = await prepare(client)
        if is_forged:
            proxy.renames = forged(*targets[:2])
        proxy.own = []
        assert (await send(client, targets[0])).request_id == proxy.own[0], write
        await proxy.is_said.wait()
        second = await outcome(send(client, targets[1]))
        if isinstance(second, UnreadableAnswer):
            assert not second.settled
        else:
            assert second.request_id == proxy.own[1], write
        third = (await send(client, targets[2])).request_id
        # The answer to a second write whose connection was closed may come to the proxy after that to the third.
        await proxy.has_all.wait()
        assert third == max(proxy.own, key=int), write
        assert len(proxy.own) == 3, f"{write}: none is sent twice"


RUNS = [
    pytest.param(False, 3, id="own transport, a third"),
    pytest.param(False, 1, id="own transport", marks=pytest.mark.e2e),
    pytest.param(True, 1, id="stock transport", marks=pytest.mark.e2e),  # the desk's is our own
]
"""A third: each write has its copy in one of the places."""


@pytest.mark.parametrize(("stock", "part"), RUNS)
@pytest.mark.parametrize("place", COPIES)
async def test_no_write_takes_the_copy_of_an_earlier_answer(
    desk_of_my_own: PracticeServer, place: str, stock: bool, part: int
) -> None:
    for write in [*WRITES][COPIES.index(place) % part :: part]:
        await check(desk_of_my_own, write, place, stock=stock, is_forged=False)


@pytest.mark.parametrize(("stock", "part"), RUNS)
@pytest.mark.parametrize("place", FORGED)
async def test_no_write_takes_an_answer_that_was_there_before_it(
    desk_of_my_own: PracticeServer, place: str, stock: bool, part: int
) -> None:
    part = min(part, len(FORGED))
    for write in [*WRITES][FORGED.index(place) % part :: part]:
        await check(desk_of_my_own, write, place, stock=stock, is_forged=True)
