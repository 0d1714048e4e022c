"""Instruments are read at the start and every ten minutes; their answers are not kept until the next one."""

import gc
from dataclasses import replace

from keydesk.feeds.instruments import INSTRUMENTS_EVERY, list_instruments, update_instruments
from keydesk_client.models import Instrument
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to, running, until


def records() -> set[int]:
    return {id(each) for each in gc.get_objects() if isinstance(each, Instrument)}


async def test_they_are_read_again_every_ten_minutes_and_the_last_answer_is_not_kept() -> None:
    broker, clock, others = ScriptedBroker(), Clock(), records()
    feed = link_to(broker, clock=clock)
    kept = list[set[int]]()
    waits = feed.timing.sleep

    async def pause(seconds: float) -> None:
        if seconds == INSTRUMENTS_EVERY:
            kept.append(records() - others)
            feed.store.instruments = {}
            kept.append(records() - others)
        await waits(seconds)

    feed.timing = replace(feed.timing, sleep=pause)
    async with running(feed, list_instruments, update_instruments):
        await until(lambda: len(kept) >= 6)
    assert all(kept[::2]), "those of the store"
    assert not any(kept[1::2]), "those of an answer"
    assert clock.seconds > 2 * INSTRUMENTS_EVERY
