"""What the feeds of an account ask first: the account and prices, and only once these are shown, everything else."""

import asyncio

from keydesk.feeds.session import run
from keydesk.store.store import Store
from support.data.account_history import opening
from support.fakes.scripted_broker import ScriptedBroker, link_to, until

LATER = {"candles", "changes"}


async def test_the_account_and_prices_are_asked_for_before_anything_else() -> None:
    broker, shown = ScriptedBroker(), asyncio.Event()
    feed = link_to(broker, Store())
    running = asyncio.create_task(run(feed, shown))
    try:
        await until(lambda: feed.follower.ready.is_set() and bool(broker.price_line.opened))
        assert not LATER & set(broker.asked)
        shown.set()
        await until(lambda: set(broker.asked) >= LATER)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_what_happens_before_the_transaction_stream_opens_is_read() -> None:
    broker, shown = ScriptedBroker(), asyncio.Event()
    feed = link_to(broker, Store())
    running = asyncio.create_task(run(feed, shown))
    try:
        await until(feed.follower.ready.is_set)
        broker.happens(opening(broker.last_id + 1, "100", "1.08500"))
        assert not broker.event_line.opened
        shown.set()
        await until(lambda: feed.follower.gate.applied == broker.last_id)
        assert broker.changes_since[0] == broker.last_id - 1
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
