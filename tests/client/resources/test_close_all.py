"""Everything closed or cancelled at the practice broker, with an outcome for each item; without async as well."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keydesk_client import Client, Done, FileJournal, Rejected, Sender, sync
from keydesk_client.models import LimitOrderRequest, MarketOrderRequest, StopLossDetails
from keydesk_client.resources.closing import send_all
from support.broker import PracticeServer


def client_of(desk: PracticeServer) -> Client:
    return Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.hedging_id,
    )


@pytest.fixture
async def client(desk_of_my_own: PracticeServer) -> AsyncIterator[Client]:
    async with client_of(desk_of_my_own) as client:
        yield client


@pytest.fixture
def sender(client: Client, tmp_path: Path) -> Sender:
    return Sender(client, FileJournal(tmp_path / "private" / "orders.jsonl"), lambda: 0)


async def trade(client: Client, *units: int, instrument: str = "EUR_USD") -> None:
    for each in units:
        order = MarketOrderRequest(instrument=instrument, units=each, position_fill="OPEN_ONLY")
        await client.orders.create(order)


def resting(instrument: str = "EUR_USD") -> LimitOrderRequest:
    return LimitOrderRequest(instrument=instrument, units=1, price="0.5")


async def test_both_sides_of_every_position_are_closed(client: Client, sender: Sender) -> None:
    await trade(client, 100, -40)
    await trade(client, 7, instrument="USD_JPY")
    closed = await client.positions.close_all(sender)
    assert {position.instrument for position, _ in closed} == {"EUR_USD", "USD_JPY"}
    assert all(isinstance(outcome, Done) for _, outcome in closed)
    assert not (await client.positions.open()).positions
    assert await client.positions.close_all(sender) == ()


async def test_only_the_positions_that_are_named_are_closed(client: Client, sender: Sender) -> None:
    await trade(client, 100)
    await trade(client, 7, instrument="USD_JPY")
    yen = await client.instrument("USD_JPY")
    (closed,) = await client.positions.close_all(sender, instruments=[yen])
    assert closed.item.instrument == "USD_JPY"
    (left,) = (await client.positions.open()).positions
    assert left.instrument == "EUR_USD"


async def test_trades_are_closed_from_the_oldest_on(client: Client, sender: Sender) -> None:
    await trade(client, 1, 2, 3)
    closed = await client.trades.close_all(sender)
    assert [each.item.initial_units for each in closed] == [1, 2, 3]
    fills = [each.outcome.fills[0] for each in closed if isinstance(each.outcome, Done)]
    assert [int(fill.id) for fill in fills] == sorted(int(fill.id) for fill in fills)
    assert len(fills) == 3
    assert not (await client.trades.open()).trades


async def test_orders_are_cancelled_and_stops_stay(client: Client, sender: Sender) -> None:
    protected = MarketOrderRequest(
        instrument="EUR_USD", units=10, stop_loss_on_fill=StopLossDetails(distance="0.1")
    )
    await client.orders.create(protected)
    await client.orders.create(resting())
    await client.orders.create(resting("GBP_USD"))
    (cancelled,) = await client.orders.cancel_all(sender, instruments=["GBP_USD"])
    assert getattr(cancelled.item, "instrument", "") == "GBP_USD"
    assert len(await client.orders.cancel_all(sender)) == 1
    (stop,) = (await client.orders.pending()).orders
    assert stop.type == "STOP_LOSS"
    (last,) = await client.orders.cancel_all(sender, include_dependent=True)
    assert isinstance(last.outcome, Done)


async def test_what_ended_meanwhile_is_rejected_and_the_others_are_closed(
    client: Client, sender: Sender
) -> None:
    await trade(client, 1, 2)
    first, *_ = sorted((each.id for each in (await client.trades.open()).trades), key=int)

    class Slow:
        """Closes, but the first trade has been closed by then."""

        async def close_trade(self, specifier: str, **options: object) -> object:
            del options
            if specifier == first:
                await client.trades.close(specifier)
            return await sender.close_trade(specifier)

    found = await client.trades.close_all(Slow())
    assert [type(each.outcome) for each in found] == [Rejected, Done]


async def test_items_of_a_queue_are_sent_one_after_the_other_and_queues_side_by_side() -> None:
    steps: list[str] = []

    async def send(item: str) -> str:
        steps.append(item)
        await asyncio.sleep(0)
        steps.append(item)
        return item.upper()

    found = await send_all(["a1", "b1", "a2"], send, lambda item: item[0])
    assert [each.outcome for each in found] == ["A1", "B1", "A2"]
    assert [step for step in steps if step != "b1"] == ["a1", "a1", "a2", "a2"]
    assert steps.index("b1") < steps.index("a2")


def test_without_async(desk_of_my_own: PracticeServer, tmp_path: Path) -> None:
    with sync.Client(client_of(desk_of_my_own)) as client:
        journal = FileJournal(tmp_path / "private" / "orders.jsonl")
        sender = sync.Sender(client, journal, lambda: 0)
        for units in (5, 6):
            client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=units))
        client.orders.create(resting())
        assert len(client.orders.cancel_all(sender)) == 1
        assert len(client.trades.close_all(sender, instruments=["USD_JPY"])) == 0
        (closed,) = client.positions.close_all(sender)
        assert isinstance(closed.outcome, Done)
        assert not client.trades.open().trades
