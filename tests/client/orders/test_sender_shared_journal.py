"""Two senders with one journal, as a desk and a `flatten` from a second login: neither claims the other's orders."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Done, Unconfirmed
from support.fakes.lossy_broker import Fate, LossyBroker
from support.fakes.lossy_desk import Desk, buy
from support.fakes.virtual_time import run

MAX_SETTLED = 1000


def at_two_desks(
    folder: Path,
    broker: LossyBroker,
    body: Callable[[Desk, Desk], Awaitable[None]],
    max_settled: int = MAX_SETTLED,
) -> None:
    """Run a body at two desks, each with a client and a journal object of its own, as two processes have."""
    path = folder / "j" / "orders.jsonl"

    async def whole() -> None:
        async with broker.client() as one, broker.client() as other:
            first = Desk(broker, one, FileJournal(path, max_settled=max_settled), names="a-")
            await body(first, Desk(broker, other, FileJournal(path), names="b-"))

    run(whole())


@pytest.mark.parametrize("max_settled", [0, MAX_SETTLED], ids=["put in order", "as it grew"])
def test_like_closes_of_two_senders_are_told_apart(tmp_path: Path, max_settled: int) -> None:
    broker = LossyBroker(Fate.LOST_REQUEST, Fate.ANSWERED, first_id=10)

    async def body(desk: Desk, second: Desk) -> None:
        lost = asyncio.create_task(second.sender.close_trade("5", units="40"))
        await broker.has_met(writes=1)
        answered = await desk.sender.close_trade("5", units="40")
        assert isinstance(answered, Done)
        assert isinstance(await lost, Unconfirmed)
        assert [intent.id for intent in desk.journal.open_intents()] == ["b-1"]

    at_two_desks(tmp_path, broker, body, max_settled)


def test_a_sender_that_starts_may_look_up_intents_that_another_is_sending(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LATE)
    broker.late_s = 5.0

    async def body(desk: Desk, second: Desk) -> None:
        sending = asyncio.create_task(desk.sender.create(buy()))
        await broker.has_met(writes=1)
        (found,) = await second.sender.recover()
        own = await sending
        assert isinstance(found, Done)
        assert isinstance(own, Done)
        assert found.order_id == own.order_id
        assert desk.journal.open_intents() == ()
        assert len(broker.writes) == 1

    at_two_desks(tmp_path, broker, body)


def test_compacting_the_journal_keeps_the_intents_that_another_is_sending(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LATE)
    broker.late_s = 20.0

    async def body(desk: Desk, second: Desk) -> None:
        sending = asyncio.create_task(second.sender.create(buy()))
        await broker.has_met(writes=1)
        for _ in range(5):
            await desk.sender.create(buy())
        assert [intent.id for intent in desk.journal.open_intents()] == ["b-1"]
        assert isinstance(await sending, Done)
        assert desk.journal.open_intents() == ()

    at_two_desks(tmp_path, broker, body, max_settled=0)
