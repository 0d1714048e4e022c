"""Every action at the practice broker with its answer lost: its effect is found, and nothing is sent twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk_client.client import Client
from keydesk_client.models import (
    GuaranteedStopLossDetails,
    LimitOrderRequest,
    MarketOrderRequest,
    OrderRequest,
    StopLossDetails,
    TakeProfitDetails,
)
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Done, OrderResult, Outcome, Rejected
from keydesk_client.orders.sender import Sender
from support.broker import PracticeServer
from support.fakes.talking_server import talking_server
from support.proxies.losing_relay import LosingRelay

FAR = Decimal("0.50000")
FARTHER = Decimal("0.40000")
QUICK = (0.01, 0.1, 1.0)


def buy(units: int = 100) -> OrderRequest:
    return MarketOrderRequest(instrument="EUR_USD", units=units, position_fill="OPEN_ONLY")


def rest(price: Decimal = FAR) -> OrderRequest:
    return LimitOrderRequest(instrument="EUR_USD", units=100, price=price)


@dataclass
class Desk:
    """A sender on the hedging account, behind a relay."""

    relay: LosingRelay
    client: Client
    sender: Sender
    journal: FileJournal
    newest: list[int]

    async def has(self, order: OrderRequest) -> str:
        """Create an order with its answer; return the id of its trade or else its own."""
        done = await self.sender.create(order)
        assert isinstance(done, Done)
        assert done.order_id is not None
        return done.trade_id or done.order_id

    async def loses_sight(self) -> None:
        """Lose answers from now on; note the newest transaction."""
        self.newest[0] = int((await self.client.accounts.summary()).last_transaction_id)
        self.relay.loses = True
        self.relay.writes.clear()

    def found(self, outcome: Outcome) -> Done:
        """Check that a request was done, looked up, sent once and settled."""
        assert isinstance(outcome, Done)
        assert outcome.looked_up
        assert len(self.relay.writes) == 1
        assert self.journal.open_intents() == ()
        return outcome

    def refused(self, outcome: Outcome) -> Rejected:
        """Check that a request was rejected and looked up."""
        assert isinstance(outcome, Rejected)
        assert outcome.looked_up
        assert len(self.relay.writes) == 1
        return outcome


@asynccontextmanager
async def desk_at(
    practice: PracticeServer, folder: Path, *, client_ids: bool = True
) -> AsyncIterator[Desk]:
    relay = LosingRelay(practice)
    async with (
        talking_server(relay.talk) as rest_url,
        Client(
            token=practice.token,
            rest_url=rest_url,
            stream_url=practice.stream_url,
            account_id=practice.hedging_id,
        ) as client,
    ):
        journal = FileJournal(folder / "private" / "orders.jsonl")
        newest = [0]
        sender = Sender(client, journal, lambda: newest[0], pauses=QUICK, client_ids=client_ids)
        yield Desk(relay, client, sender, journal, newest)


@pytest.fixture
async def desk(desk_of_my_own: PracticeServer, tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk_at(desk_of_my_own, tmp_path) as desk:
        yield desk


async def test_a_market_order(desk: Desk) -> None:
    await desk.loses_sight()
    done = desk.found(await desk.sender.create(buy()))
    assert done.result is OrderResult.FILLED
    assert done.trade_id is not None


async def test_an_order_that_rests(desk: Desk) -> None:
    await desk.loses_sight()
    assert desk.found(await desk.sender.create(rest())).result is OrderResult.RESTING


async def test_a_replacement(desk: Desk) -> None:
    order_id = await desk.has(rest())
    await desk.loses_sight()
    done = desk.found(await desk.sender.replace(order_id, rest(FARTHER)))
    assert done.result is OrderResult.RESTING
    assert done.order_id not in {order_id, None}


async def test_a_replacement_that_is_refused(desk: Desk) -> None:
    order_id = await desk.has(rest())
    await desk.loses_sight()
    worse = LimitOrderRequest(instrument="EUR_USD", units=10**9, price=FAR)
    desk.refused(await desk.sender.replace(order_id, worse))
    assert (await desk.client.orders.get(order_id)).order.state == "PENDING"


async def test_a_cancel_by_client_id(desk: Desk) -> None:
    done = await desk.sender.create(rest())
    assert done.intent.client_id is not None
    await desk.loses_sight()
    assert desk.found(await desk.sender.cancel(f"@{done.intent.client_id}")).result is (
        OrderResult.APPLIED
    )


async def test_a_cancel_of_what_is_gone(desk: Desk) -> None:
    order_id = await desk.has(rest())
    await desk.sender.cancel(order_id)
    await desk.loses_sight()
    assert desk.refused(await desk.sender.cancel(order_id)).reject_reason == "ORDER_DOESNT_EXIST"


@pytest.mark.parametrize("units", ["ALL", "40"])
async def test_a_close(desk: Desk, units: str) -> None:
    trade_id = await desk.has(buy())
    await desk.loses_sight()
    done = desk.found(await desk.sender.close_trade(trade_id, units=units))
    assert done.result is OrderResult.FILLED


async def test_a_close_of_a_trade_that_is_closed_already(desk: Desk) -> None:
    trade_id = await desk.has(buy())
    await desk.sender.close_trade(trade_id)
    await desk.loses_sight()
    refused = desk.refused(await desk.sender.close_trade(trade_id))
    assert refused.reject_reason == "TRADE_DOESNT_EXIST"


async def test_a_close_of_both_sides(desk: Desk) -> None:
    await desk.has(buy())
    await desk.has(buy(-70))
    await desk.loses_sight()
    closing = desk.sender.close_position("EUR_USD", long_units="ALL", short_units="ALL")
    done = desk.found(await closing)
    assert done.result is OrderResult.FILLED
    assert len(done.related_transaction_ids) == 4
    assert (await desk.client.trades.open()).trades == ()


async def test_a_close_of_both_sides_of_which_one_is_flat(desk: Desk) -> None:
    await desk.has(buy())
    await desk.loses_sight()
    closing = desk.sender.close_position("EUR_USD", long_units="ALL", short_units="ALL")
    desk.refused(await closing)
    assert len((await desk.client.trades.open()).trades) == 1


async def test_protection_set_changed_and_taken_away(desk: Desk) -> None:
    trade_id = await desk.has(buy())
    for edit in (
        {"stop_loss": StopLossDetails(distance="0.02"), "take_profit": TakeProfitDetails(price=9)},
        {"stop_loss": StopLossDetails(distance="0.03")},
        {"stop_loss": None, "take_profit": TakeProfitDetails(price=8)},
        {"take_profit": None},
    ):
        await desk.loses_sight()
        done = desk.found(await desk.sender.set_dependent_orders(trade_id, **edit))
        assert done.result is OrderResult.APPLIED
    assert (await desk.client.orders.pending()).orders == ()


async def test_a_stop_is_exchanged_for_a_guaranteed_one_and_back_in_one_request(
    desk: Desk,
) -> None:
    trade_id = await desk.has(buy())
    stop = StopLossDetails(distance="0.02")
    guaranteed = GuaranteedStopLossDetails(distance="0.02")
    for edit, kind in (
        ({"stop_loss": stop}, "STOP_LOSS"),
        ({"stop_loss": None, "guaranteed_stop_loss": guaranteed}, "GUARANTEED_STOP_LOSS"),
        ({"stop_loss": stop, "guaranteed_stop_loss": None}, "STOP_LOSS"),
    ):
        await desk.loses_sight()
        done = desk.found(await desk.sender.set_dependent_orders(trade_id, **edit))
        assert done.result is OrderResult.APPLIED
        (order,) = (await desk.client.orders.pending()).orders
        assert order.type == kind


async def test_an_order_without_an_id_of_ours(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    async with desk_at(desk_of_my_own, tmp_path, client_ids=False) as desk:
        await desk.has(buy())
        await desk.loses_sight()
        assert desk.found(await desk.sender.create(buy())).result is OrderResult.FILLED
        assert "clientExtensions" not in desk.relay.writes[0]
