"""A cancelled call does not stop a request that was sent: it stays in the journal, is watched, and is recovered."""

import asyncio
from pathlib import Path

import pytest

from keydesk_client.orders.outcome import Done, Progress, Sending, Unconfirmed, Unknown
from support.fakes.lossy_broker import Fate, LossyBroker
from support.fakes.lossy_desk import Desk, at_desk, buy


@pytest.mark.parametrize(
    ("fate", "after_s"), [(Fate.SILENT, 0.1), (Fate.LOST_ANSWER, 0.2)], ids=["mid-send", "mid-look"]
)
def test_a_cancelled_task_leaves_an_intent_that_recover_finds(
    tmp_path: Path, fate: Fate, after_s: float
) -> None:
    broker = LossyBroker(fate)

    async def body(desk: Desk) -> None:
        sending = asyncio.create_task(desk.sender.create(buy()))
        await asyncio.sleep(after_s)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert isinstance(desk.progress[-1], Unconfirmed)
        assert len(desk.journal.open_intents()) == 1
        (found,) = await desk.sender.recover()
        assert isinstance(found, Done)
        assert desk.journal.open_intents() == ()
        assert len(broker.writes) == 1

    at_desk(tmp_path, broker, body)


def test_a_request_of_a_cancelled_task_raises_the_alarm_when_it_takes_effect(
    tmp_path: Path,
) -> None:
    broker = LossyBroker(Fate.SILENT)

    async def body(desk: Desk) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(desk.sender.create(buy()), 1.0)
        desk.watch_all()
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)
        assert desk.journal.open_intents() == ()

    at_desk(tmp_path, broker, body)


@pytest.mark.parametrize("step", [Sending, Unknown])
def test_an_error_of_the_progress_callback_is_raised_and_the_order_is_still_watched(
    tmp_path: Path, step: type[Progress]
) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER)

    async def body(desk: Desk) -> None:
        def fail_at_the_step(progress: Progress) -> None:
            if isinstance(progress, step):
                raise ZeroDivisionError

        desk.hears = fail_at_the_step
        with pytest.raises(ZeroDivisionError):
            await desk.sender.create(buy())
        assert len(desk.journal.open_intents()) == 1
        desk.hears = desk.progress.append
        (found,) = await desk.sender.recover()
        assert isinstance(found, Done if broker.ledger else Unconfirmed)

    at_desk(tmp_path, broker, body)


def test_recover_skips_requests_that_are_being_sent(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LATE)
    broker.late_s = 5.0

    async def body(desk: Desk) -> None:
        sending = asyncio.create_task(desk.sender.create(buy()))
        await broker.has_met(writes=1)
        assert await desk.sender.recover() == ()
        assert isinstance(await sending, Done)
        assert desk.steps().count("Done") == 1

    at_desk(tmp_path, broker, body)


def test_an_intent_may_be_resolved_while_it_is_being_looked_up(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LATE)
    broker.late_s = 5.0

    async def body(desk: Desk) -> None:
        sending = asyncio.create_task(desk.sender.create(buy()))
        await broker.has_met(writes=1)
        (intent,) = desk.journal.open_intents()
        assert isinstance(await desk.sender.resolve(intent), Unconfirmed)
        assert isinstance(await sending, Done)
        assert desk.journal.open_intents() == ()
        desk.watch_all()
        assert desk.alarms == []

    at_desk(tmp_path, broker, body)


def test_resolving_a_settled_intent_returns_the_same_outcome(tmp_path: Path) -> None:
    broker = LossyBroker(first_id=10)

    async def body(desk: Desk) -> None:
        first = await desk.sender.close_trade("5")
        again = await desk.sender.resolve(first.intent)
        assert isinstance(again, Done)
        assert isinstance(first, Done)
        assert again.related_transaction_ids == first.related_transaction_ids
        assert desk.alarms == []

    at_desk(tmp_path, broker, body)
