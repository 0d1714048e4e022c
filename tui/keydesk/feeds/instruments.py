"""Read the instruments of the account: at the start, every ten minutes, and anew when another market begins."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from keydesk.calc.market.watchlists import majors_first
from keydesk.calc.risk.sizing import TypicalSpreads
from keydesk.feeds.account_feed import AccountFeed, reason
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.transactions.fold import forget_account
from keydesk.store.watchlists import fill_list
from keydesk.text.sanitize import NAME_LIMIT, clean_name
from keydesk_client.account.values import amount, price, readable
from keydesk_client.following.feeds import FAILURES
from keydesk_client.models import Instrument

MAX_PLACES = 12
INSTRUMENTS_EVERY = 600.0  # seconds
MAX_TRIES = 6  # to read those of a market that began anew
ACCOUNT_TIMEOUT = 10.0  # seconds for the account


async def list_instruments(feed: AccountFeed) -> None:
    """Read the instruments; retry until it succeeds."""
    tries = 0
    while True:
        try:
            if await _read_instruments(feed):
                return
        except FAILURES as error:
            feed.count_unreadable(error)
            if tries == 0:
                feed.write(f"The instruments could not be read: {reason(error)}")
        await feed.backoff(tries)
        tries += 1


async def update_instruments(feed: AccountFeed) -> None:
    """Read the instruments every ten minutes: margin rates change, and instruments come and go."""
    await feed.instruments_known.wait()
    while True:
        await feed.pause(INSTRUMENTS_EVERY)
        try:
            await _read_instruments(feed)
        except FAILURES as error:
            feed.count_unreadable(error)


async def _read_instruments(feed: AccountFeed) -> bool:
    """Read and store the instruments; return False to read them again.

    The callers wait for minutes: the answer, up to 3 MB where values are hostile, is not kept meanwhile.
    """
    answer = await feed.request(feed.client.accounts.instruments())
    return store_instruments(feed, answer.instruments)


def store_instruments(feed: AccountFeed, instruments: Sequence[Instrument]) -> bool:
    """Store the instruments, and the watchlist and focus if there are none yet; return False to read again.

    Those that cannot be read are left out; one that was read before stays as it was.
    """
    store = feed.store
    read = {each.name: each for each in readable(store, _usable, instruments)}
    if not read:
        return False
    is_whole = len(read) == len(instruments)
    needed = {name for name in store.instruments if name in store.positions or name == store.focus}
    kept = needed if is_whole else store.instruments.keys()
    before = store.instruments.keys()
    store.instruments = {name: store.instruments[name] for name in kept} | read
    if not store.watchlist or store.instruments.keys() != before:
        fill_list(store)
    if store.focus not in store.instruments:
        store.set_focus((store.watchlist or majors_first(store.instruments))[0])
    store.mark(Topic.INSTRUMENTS)
    feed.instruments_known.set()
    return is_whole


def _usable(instrument: Instrument) -> Instrument:
    """Return the instrument if every member that the desk computes with is present and of sane size."""
    if not _can_be_asked_for(instrument.name):
        raise ValueError(f"{clean_name(instrument.name)} is not a usable instrument name")
    for places in (
        instrument.pip_location,
        instrument.display_precision,
        instrument.trade_units_precision,
    ):
        if abs(places) > MAX_PLACES:
            raise ValueError(f"{instrument.name}: {places} is not a number of decimal places")
    price(instrument.margin_rate)
    for size in (
        instrument.minimum_trade_size,
        instrument.maximum_order_units,
        instrument.maximum_position_size,
        instrument.minimum_trailing_stop_distance,
        instrument.maximum_trailing_stop_distance,
    ):
        amount(size)
    return instrument


def _can_be_asked_for(name: str) -> bool:
    """Return whether prices can be requested by the name; an invalid name fails the whole request."""
    return 0 < len(name) <= NAME_LIMIT and name.isascii() and name.isprintable() and "," not in name


async def restart_market(feed: AccountFeed, time_ns: int) -> None:
    """Clear what is known of the market before, and read instruments, account and history of the one that begins at a time."""
    if feed.alerts is not None:
        feed.alerts.hold()
    feed.store.health.unchecked = True
    _clear_market(feed.store)
    feed.store.clock_ns = time_ns
    feed.follower.ready.clear()
    feed.follower.snapshot_wanted.set()
    await _list_instruments(feed)
    with suppress(TimeoutError):
        async with asyncio.timeout(ACCOUNT_TIMEOUT):
            await feed.follower.ready.wait()
    if feed.alerts is not None:
        feed.alerts.restart_market()


def _clear_market(store: Store) -> None:
    """Clear what is known of the market before; trades and orders stay until the snapshot of the account replaces them."""
    for held in (
        *(store.quotes, store.days, store.day_lines, store.daily_ranges, store.average_ranges),
        *(store.conversions, store.books, store.series, store.charted),
    ):
        held.clear()
    forget_account(store)
    store.spreads = TypicalSpreads()
    store.clock_ns = store.book_time_ns = 0
    store.instruments = {}
    fill_list(store)
    for topic in Topic:
        store.mark(topic)


async def _list_instruments(feed: AccountFeed) -> None:
    for tries in range(MAX_TRIES):
        try:
            await _read_instruments(feed)
        except FAILURES as error:
            feed.count_unreadable(error)
            if tries == 0:
                feed.write(f"The instruments could not be read: {reason(error)}")
            await feed.backoff(tries)
        else:
            return
