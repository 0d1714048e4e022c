"""Unconfirmed requests that take effect later: the alarm is raised once, for every action."""

import asyncio
from pathlib import Path

import pytest

from keydesk_client.models import TakeProfitDetails
from keydesk_client.orders.outcome import Done, OrderResult, Rejected, Unconfirmed
from support.fakes.lossy_broker import Fate, LossyBroker, Members
from support.fakes.lossy_desk import Desk, at_desk, buy, transactions_of

STOP = {"type": "STOP_LOSS_ORDER", "tradeID": "5", "price": "1.04", "reason": "ON_FILL"}
OTHER_STOP = {**STOP, "tradeID": "6"}

BOUGHT = {
    "type": "MARKET_ORDER",
    "instrument": "EUR_USD",
    "units": "100",
    "reason": "CLIENT_ORDER",
    "clientExtensions": {"id": "kd-1"},
}


def cancelled(order_id: str) -> Members:
    return {"type": "ORDER_CANCEL", "orderID": order_id, "reason": "CLIENT_REQUEST"}


def broker_with_stops(fate: Fate) -> LossyBroker:
    """A broker with a stop of trade 5 (order 10) and one of trade 6 (order 11)."""
    broker = LossyBroker(fate, first_id=10)
    broker.batch(STOP)
    broker.batch(OTHER_STOP)
    return broker


async def gave_up_unprotecting(desk: Desk) -> None:
    assert isinstance(await desk.sender.set_dependent_orders("5", stop_loss=None), Unconfirmed)


def test_protection_that_was_cancelled_late_raises_the_alarm_once(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LATE)

    async def body(desk: Desk) -> None:
        await gave_up_unprotecting(desk)
        await asyncio.sleep(60.0)
        desk.watch_all()
        await asyncio.sleep(1.0)
        desk.watch_all()
        await asyncio.sleep(1.0)
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)
        assert alarm.result is OrderResult.APPLIED
        assert desk.progress[-1] == alarm
        assert desk.journal.open_intents() == ()

    at_desk(tmp_path, broker, body)


def test_protection_of_another_trade_that_was_cancelled_raises_none(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LOST_REQUEST)

    async def body(desk: Desk) -> None:
        await gave_up_unprotecting(desk)
        broker.batch(cancelled("11"))
        desk.watch_all()
        await asyncio.sleep(1.0)
        assert desk.alarms == []
        assert isinstance(desk.progress[-1], Unconfirmed)
        assert len(desk.journal.open_intents()) == 1

    at_desk(tmp_path, broker, body)


def test_a_late_look_up_that_fails_is_repeated(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LATE)

    async def body(desk: Desk) -> None:
        await gave_up_unprotecting(desk)
        await asyncio.sleep(60.0)
        broker.look_ups_to_fail = 3
        desk.watch_all()
        await asyncio.sleep(60.0)
        assert len(desk.alarms) == 1

    at_desk(tmp_path, broker, body)


def test_an_order_is_read_once_however_many_cancels_come(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LOST_REQUEST)
    broker.batch(*(OTHER_STOP for _ in range(20)))

    async def body(desk: Desk) -> None:
        await gave_up_unprotecting(desk)
        broker.batch(*(cancelled(str(number)) for number in range(12, 32)))
        for _ in range(3):
            desk.watch_all()
            await asyncio.sleep(1.0)
        assert sorted(broker.orders_read) == [str(number) for number in range(12, 32)]

    at_desk(tmp_path, broker, body)


def test_a_cancelled_order_that_is_not_readable_yet_is_read_again(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LOST_ANSWER)
    broker.orders_unread = 2

    async def body(desk: Desk) -> None:
        done = await desk.sender.set_dependent_orders("5", stop_loss=None)
        assert isinstance(done, Done)
        assert len(broker.orders_read) == 3

    at_desk(tmp_path, broker, body)


def test_the_stream_shortens_the_wait_for_protection_taken_away_too(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LATE)
    broker.late_s = 16.0

    async def body(desk: Desk) -> None:
        editing = asyncio.create_task(desk.sender.set_dependent_orders("5", stop_loss=None))
        await asyncio.sleep(16.1)
        desk.watch_all()
        assert isinstance(await editing, Done)
        assert asyncio.get_running_loop().time() < 1016.3

    at_desk(tmp_path, broker, body)


def test_an_edit_that_takes_a_stop_away_and_sets_a_target_is_found_by_the_target(
    tmp_path: Path,
) -> None:
    broker = broker_with_stops(Fate.LOST_REQUEST)

    async def body(desk: Desk) -> None:
        editing = asyncio.create_task(
            desk.sender.set_dependent_orders(
                "5", stop_loss=None, take_profit=TakeProfitDetails(price="1.2")
            )
        )
        await broker.has_met(writes=1)
        target = {"type": "TAKE_PROFIT_ORDER", "tradeID": "5", "price": "1.20000"}
        broker.batch(target | {"reason": "CLIENT_ORDER"}, cancelled("10"))
        done = await editing
        assert isinstance(done, Done)
        assert len(done.related_transaction_ids) == 2

    at_desk(tmp_path, broker, body)


def test_a_late_cancel_of_a_stop_by_its_order_raises_the_alarm(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LATE)

    async def body(desk: Desk) -> None:
        assert isinstance(await desk.sender.cancel("10"), Unconfirmed)
        await asyncio.sleep(60.0)
        desk.watch_all()
        await asyncio.sleep(1.0)
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)

    at_desk(tmp_path, broker, body)


def test_a_target_that_ended_otherwise_makes_the_outcome_rejected(tmp_path: Path) -> None:
    broker = broker_with_stops(Fate.LOST_REQUEST)

    async def body(desk: Desk) -> None:
        assert isinstance(await desk.sender.cancel("10"), Unconfirmed)
        ended = {"type": "ORDER_CANCEL", "orderID": "10", "reason": "LINKED_TRADE_CLOSED"}
        broker.batch(ended)
        desk.watch_all()
        await asyncio.sleep(1.0)
        (alarm,) = desk.alarms
        assert isinstance(alarm, Rejected)
        assert alarm.message == "the order ended first: LINKED_TRADE_CLOSED"

    at_desk(tmp_path, broker, body)


def test_an_intent_that_shows_up_while_it_is_resolved_is_reported_by_both_and_dropped(
    tmp_path: Path,
) -> None:
    broker = LossyBroker(Fate.LATE)

    async def body(desk: Desk) -> None:
        given_up = await desk.sender.create(buy())
        resolving = asyncio.create_task(desk.sender.resolve(given_up.intent))
        broker.reads_take_s = 1.0
        await asyncio.sleep(0.5)
        broker.batch(BOUGHT, {"type": "ORDER_CANCEL", "orderID": "1", "reason": "MARKET_HALTED"})
        desk.watch_all()
        outcome = await resolving
        assert isinstance(outcome, Done)
        desk.watch_all()
        assert [each.intent.id for each in desk.alarms] == ["kd-1"]

    at_desk(tmp_path, broker, body)


def test_an_end_without_a_reason_is_an_end(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_REQUEST)

    async def body(desk: Desk) -> None:
        assert isinstance(await desk.sender.create(buy()), Unconfirmed)
        broker.batch(BOUGHT, {"type": "ORDER_CANCEL", "orderID": "1"})
        desk.watch_all()
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)
        assert (alarm.result, alarm.reason) == (OrderResult.CANCELLED, "ORDER_CANCEL")

    at_desk(tmp_path, broker, body)


def test_an_unreadable_fill_does_not_stop_the_watching(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_REQUEST)

    async def body(desk: Desk) -> None:
        assert isinstance(await desk.sender.create(buy()), Unconfirmed)
        broker.batch(BOUGHT, {"type": "ORDER_FILL", "reason": "MARKET_ORDER"})
        desk.watch_all()
        assert desk.alarms == []
        broker.batch({"type": "ORDER_CANCEL", "orderID": "1", "reason": "MARKET_HALTED"})
        desk.watch_all()

    at_desk(tmp_path, broker, body)


@pytest.mark.parametrize("verb", ["close trade", "close position"])
def test_a_batch_that_comes_in_pieces_is_reported_when_it_is_complete(
    tmp_path: Path, verb: str
) -> None:
    broker = LossyBroker(Fate.LATE, first_id=10)

    async def body(desk: Desk) -> None:
        closing = (
            desk.sender.close_trade("5")
            if verb == "close trade"
            else desk.sender.close_position("EUR_USD", long_units="ALL", short_units="NONE")
        )
        assert isinstance(await closing, Unconfirmed)
        await asyncio.sleep(60.0)
        order, fill = transactions_of(broker)
        held = broker.ledger.pop()
        desk.sender.watch(order)
        await asyncio.sleep(1.0)
        assert desk.alarms == []
        broker.ledger.append(held)
        desk.sender.watch(fill)
        await asyncio.sleep(1.0)
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)
        assert alarm.result is OrderResult.FILLED

    at_desk(tmp_path, broker, body)
