"""Go on after the market began anew: a replay or a checkpoint has other instruments, another time and another account."""

import asyncio
from contextlib import suppress

from keydesk.calc.risk.sizing import TypicalSpreads
from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.feeds.market_data import take
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.watchlists import fill_list

MOST_TRIES = 6
PATIENCE = 10.0  # seconds for the account


async def begin_anew(link: Link, time_ns: int) -> None:
    """Forget the market before, and read instruments, account and history of the one that begins at a time."""
    if link.alerts is not None:
        link.alerts.hold()
    link.store.health.unchecked = True
    _forget_market(link.store)
    link.store.clock_ns = time_ns
    link.ready.clear()
    link.snapshot_wanted.set()
    await _list_instruments(link)
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            await link.ready.wait()
    if link.alerts is not None:
        link.alerts.begin_anew()


def _forget_market(store: Store) -> None:
    """Empty what is known of the market before; trades and orders stay until the snapshot of the account replaces them."""
    for held in (
        *(store.quotes, store.days, store.day_lines, store.daily_ranges, store.average_ranges),
        *(store.conversions, store.books, store.log, store.closed, store.opening_costs),
        *(store.closed_parts, store.series, store.charted),
    ):
        held.clear()
    store.spreads = TypicalSpreads()
    store.today = store.past_log = None
    store.clock_ns = store.book_time_ns = 0
    store.instruments = {}
    fill_list(store)
    for topic in Topic:
        store.mark(topic)


async def _list_instruments(link: Link) -> None:
    for tries in range(MOST_TRIES):
        try:
            answer = await link.ask(link.client.accounts.instruments())
        except FAILURES as error:
            link.count_unreadable(error)
            if tries == 0:
                link.write(f"The instruments could not be read: {reason(error)}")
            await link.back_off(tries)
        else:
            take(link, answer.instruments)
            return
