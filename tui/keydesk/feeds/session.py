"""One account on the desk: every feed of it, to be run side by side for as long as it is shown.

The price stream opens as soon as the instruments are known, beside the snapshot, so that prices are on
the screen early; the transaction stream opens at once and waits at the door until the snapshot is taken.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import TypeAlias

from keydesk.feeds.account import keep_account
from keydesk.feeds.books import keep_books
from keydesk.feeds.candles import keep_chart, keep_linked_chart
from keydesk.feeds.changes import poll_changes
from keydesk.feeds.days import keep_days
from keydesk.feeds.events import fill_gaps, stream_transactions
from keydesk.feeds.health import watch_health
from keydesk.feeds.history import keep_history
from keydesk.feeds.instruments import keep_instruments, list_instruments
from keydesk.feeds.link import Link
from keydesk.feeds.prices import keep_conversions, stream_prices

Feed: TypeAlias = Callable[[Link], Coroutine[None, None, None]]

FEEDS: Mapping[str, Feed] = {
    "instruments": list_instruments,
    "instrument changes": keep_instruments,
    "transaction stream": stream_transactions,
    "account": keep_account,
    "price stream": stream_prices,
    "conversions": keep_conversions,
    "changes": poll_changes,
    "gaps": fill_gaps,
    "chart": keep_chart,
    "linked chart": keep_linked_chart,
    "days": keep_days,
    "history": keep_history,
    "books": keep_books,
    "health": watch_health,
}
"""Every feed by name, in the order in which they are started."""


SETTLED_AFTER = 60.0  # seconds of running after which the next failure is the first again


async def run(link: Link) -> None:
    """Run every feed until cancelled."""
    async with asyncio.TaskGroup() as group:
        for name, feed in FEEDS.items():
            group.create_task(supervise(link, name, feed), name=name)


async def supervise(link: Link, name: str, feed: Feed) -> None:
    """Run a feed, and start it again, after a pause that grows, whenever it fails."""
    failures = 0
    while True:
        began = link.now()
        try:
            return await feed(link)
        except Exception as error:  # noqa: BLE001 - the edge of a task: it is told, and the feed goes on
            failures = 0 if link.now() - began > SETTLED_AFTER else failures
            link.failed(name, error)
        await link.back_off(failures)
        failures += 1
