"""An answer that comes twice: its copy meets the next request, and is not taken for the answer to that one."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import httpx
import pytest

from keydesk_client import Retries
from keydesk_client.client import Client
from keydesk_client.errors import NotFound, UnreadableAnswer
from keydesk_client.models import (
    ClientExtensions,
    LimitOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    StopLossDetails,
)
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Done, Outcome, Rejected
from keydesk_client.orders.sender import Sender
from support.broker import NO_TLS, PracticeServer
from support.fakes.talking_server import talking_server
from support.proxies.doubling_relay import DoublingRelay

QUICK = (0.01, 0.1, 1.0)
APPLIED = [False, pytest.param(True, marks=pytest.mark.e2e)]  # the other tests have both
Act = Callable[[Sender, str], Awaitable[Outcome]]
"""A request about the order or trade with an id."""


def buy(units: int = 100, instrument: str = "EUR_USD") -> OrderRequest:
    return MarketOrderRequest(instrument=instrument, units=units, position_fill="OPEN_ONLY")


def rest(price: str = "0.50000") -> OrderRequest:
    return LimitOrderRequest(instrument="EUR_USD", units=100, price=price)


def stopped() -> OrderRequest:
    stop = StopLossDetails(distance=Decimal("0.02"))
    return MarketOrderRequest(
        instrument="EUR_USD", units=100, position_fill="OPEN_ONLY", stop_loss_on_fill=stop
    )


class Trading:
    """A sender behind a relay that doubles answers, and the newest transaction that it knows of."""

    transport: ClassVar[type[httpx.AsyncHTTPTransport] | None] = None

    def __init__(self, client: Client, folder: Path, *, client_ids: bool) -> None:
        self.client = client
        self.newest = 0
        journal = FileJournal(folder / "private" / "orders.jsonl")
        self.sender = Sender(
            client, journal, lambda: self.newest, pauses=QUICK, client_ids=client_ids
        )

    async def target(self, order: OrderRequest) -> str:
        """Create an order; return the id of its trade, or else its own."""
        done = await self.sender.create(order)
        assert isinstance(done, Done)
        return done.trade_id or done.order_id or ""

    async def applies_everything(self) -> None:
        """Note the newest transaction."""
        self.newest = int((await self.client.accounts.summary()).last_transaction_id)


@pytest.fixture(params=["own transport", "stock transport"], autouse=True)
def transport(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have every client of a test use the default transport, and then that of httpx, which takes any answer."""
    Trading.transport = httpx.AsyncHTTPTransport if request.param == "stock transport" else None
    yield
    Trading.transport = None


@asynccontextmanager
async def trading_at(
    practice: PracticeServer, folder: Path, *, client_ids: bool = True
) -> AsyncIterator[tuple[DoublingRelay, Trading]]:
    """A sender at a practice broker, and the relay between them."""
    relay = DoublingRelay(practice)
    async with (
        talking_server(relay.talk) as rest_url,
        Client(
            token=practice.token,
            rest_url=rest_url,
            stream_url=practice.stream_url,
            account_id=practice.hedging_id,
            retries=Retries(max_retries=0),
            transport=None if Trading.transport is None else Trading.transport(verify=NO_TLS),
        ) as client,
    ):
        yield relay, Trading(client, folder, client_ids=client_ids)


async def second_of(
    practice: PracticeServer,
    folder: Path,
    orders: tuple[OrderRequest, ...],
    first: Act,
    second: Act,
    *,
    applied: bool,
    client_ids: bool = True,
) -> tuple[Outcome, Outcome]:
    """Return the outcomes of two requests of which the second is met by the answer to the first.

    `orders` are created before, one to be the target of each request, or none. With `applied` the transactions of the
    first are known before the second is sent; otherwise those ids are not known yet.
    """
    async with trading_at(practice, folder, client_ids=client_ids) as (relay, trading):
        targets = [await trading.target(each) for each in orders] or ["", ""]
        await trading.applies_everything()
        one = await first(trading.sender, targets[0])
        if applied:
            await trading.applies_everything()
        relay.doubles = True
        other = await second(trading.sender, targets[1])
        assert len(relay.crossed) == 1, "the second request was to meet the copy"
        return one, other


def check_found(first: Outcome, second: Outcome) -> Done:
    """Check that the second was done, by transactions that the first did not make."""
    assert isinstance(second, Done)
    assert second.looked_up
    first_ids = getattr(first, "related_transaction_ids", ())
    assert not {*first_ids} & {*second.related_transaction_ids}
    return second


ACTS: dict[str, tuple[tuple[OrderRequest, ...], Act]] = {
    "create": ((), lambda sender, _: sender.create(buy())),
    "cancel": ((rest(), rest()), lambda sender, order: sender.cancel(order)),
    "replace": (
        (rest(), rest()),
        lambda sender, order: sender.replace(order, rest("0.40000")),
    ),
    "close trade": ((buy(), buy()), lambda sender, trade: sender.close_trade(trade)),
    "protect": (
        (buy(), buy()),
        lambda sender, trade: sender.set_dependent_orders(
            trade, stop_loss=StopLossDetails(distance="0.02")
        ),
    ),
    "take protection away": (
        (stopped(), stopped()),
        lambda sender, trade: sender.set_dependent_orders(trade, stop_loss=None),
    ),
}


@pytest.mark.parametrize("applied", APPLIED)
@pytest.mark.parametrize("name", ACTS)
async def test_the_answer_to_the_request_before_is_not_this_ones(
    desk_of_my_own: PracticeServer, tmp_path: Path, name: str, applied: bool
) -> None:
    orders, act = ACTS[name]
    first, second = await second_of(desk_of_my_own, tmp_path, orders, act, act, applied=applied)
    assert isinstance(first, Done)
    check_found(first, second)


@pytest.mark.parametrize("applied", [False, True])
async def test_nor_is_the_answer_to_the_close_of_another_position(
    desk_of_my_own: PracticeServer, tmp_path: Path, applied: bool
) -> None:
    first, second = await second_of(
        desk_of_my_own,
        tmp_path,
        (buy(), buy(instrument="GBP_USD")),
        lambda sender, _: sender.close_position("EUR_USD", long_units="ALL"),
        lambda sender, _: sender.close_position("GBP_USD", long_units="ALL"),
        applied=applied,
    )
    done = check_found(first, second)
    assert [fill.instrument for fill in done.fills] == ["GBP_USD"]


@pytest.mark.parametrize("applied", APPLIED)
@pytest.mark.parametrize("name", ["create", "close trade", "protect"])
async def test_the_refusal_of_the_request_before_rejects_nothing_else(
    desk_of_my_own: PracticeServer, tmp_path: Path, name: str, applied: bool
) -> None:
    orders, act = ACTS[name]
    first, second = await second_of(
        desk_of_my_own,
        tmp_path,
        orders,
        lambda sender, _: sender.create(buy(10**9)),
        act,
        applied=applied,
    )
    assert isinstance(first, Rejected)
    check_found(first, second)


async def test_nor_does_a_refusal_without_transactions_of_a_read(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    async with trading_at(desk_of_my_own, tmp_path) as (relay, trading):
        with pytest.raises(NotFound):
            await trading.client.trades.get("999999")
        relay.doubles = True
        done = await trading.sender.create(buy())
    assert isinstance(done, Done)
    assert done.looked_up
    assert len(relay.crossed) == 1


async def test_the_change_of_another_trades_extensions_is_not_believed(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    async with trading_at(desk_of_my_own, tmp_path) as (relay, trading):
        one, other = await trading.target(buy()), await trading.target(buy())
        tag = ClientExtensions(tag="swing")
        await trading.client.trades.set_client_extensions(one, tag)
        relay.doubles = True
        with pytest.raises(UnreadableAnswer, match="that to an earlier request") as raised:
            await trading.client.trades.set_client_extensions(other, tag)
    assert raised.value.sent


async def test_nor_that_of_another_orders(desk_of_my_own: PracticeServer, tmp_path: Path) -> None:
    async with trading_at(desk_of_my_own, tmp_path) as (relay, trading):
        one, other = await trading.target(rest()), await trading.target(rest())
        tag = ClientExtensions(tag="swing")
        await trading.client.orders.set_client_extensions(one, client_extensions=tag)
        relay.doubles = True
        with pytest.raises(UnreadableAnswer, match="that to an earlier request"):
            await trading.client.orders.set_client_extensions(other, client_extensions=tag)


@pytest.mark.parametrize("applied", [False, True])
async def test_a_refusal_that_follows_a_good_answer_is_found(
    desk_of_my_own: PracticeServer, tmp_path: Path, applied: bool
) -> None:
    first, second = await second_of(
        desk_of_my_own,
        tmp_path,
        (),
        ACTS["create"][1],
        lambda sender, _: sender.create(buy(10**9)),
        applied=applied,
    )
    assert isinstance(first, Done)
    assert isinstance(second, Rejected)
    assert second.looked_up


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize("units", [100, 200])
async def test_without_client_ids_the_terms_and_what_is_known_of_the_order_before_tell_two_orders_apart(
    desk_of_my_own: PracticeServer, tmp_path: Path, applied: bool, units: int
) -> None:
    first, second = await second_of(
        desk_of_my_own,
        tmp_path,
        (),
        lambda sender, _: sender.create(buy(100)),
        lambda sender, _: sender.create(buy(units)),
        applied=applied,
        client_ids=False,
    )
    assert check_found(first, second).units == units
