"""Read the price and transaction streams, request missing transactions, and poll conversion factors."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial

from keydesk.feeds.account_feed import FAILURES, AccountFeed, OpenStream, reason
from keydesk.store.candles import invalidate_candles
from keydesk.store.prices import apply_conversions, apply_price, forget_ages
from keydesk.store.state import CURRENT, Topic
from keydesk.store.watchlists import listed_instruments
from keydesk_client.account.values import READ_ERRORS, checked_time_ns, number_of, readable, try_to
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import (
    ClientPrice,
    HomeConversions,
    PricingHeartbeat,
    Transaction,
    TransactionHeartbeat,
)
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.sequencer import PATIENCE_S, Backfill, GapFiller
from keydesk_client.streams.settings import HistoryLost

CONVERSIONS_EVERY = 5.0

READ_SECONDS = 0.005  # seconds that reading the stream takes at most before it pauses
READ_INTERVAL = 0.095  # seconds between the starts of two reads, about one a frame; meanwhile newer prices replace older ones


async def stream_prices(feed: AccountFeed) -> None:
    """Keep the price stream open for all watched and held instruments; reopen it when they change."""
    await feed.listed.wait()
    tries = 0
    while True:
        names = watched_instruments(feed)
        text, received_at = "the stream ended", feed.store.health.prices_at
        try:
            async with (
                _leaving_when_changed(feed, names) as left,
                feed.streams.prices(names) as stream,
            ):
                feed.price_health = stream.health
                await _read(feed, stream, left)
        except KeydeskClientError as error:
            text = reason(error)
        if watched_instruments(feed) == names:
            _prices_down(feed, text)
            tries = 0 if feed.store.health.prices_at != received_at else tries + 1
            await feed.back_off(tries)


async def _read(feed: AccountFeed, stream: OpenStream, left: asyncio.Event) -> None:
    """Take items until the stream ends or `left` is set: at once after a pause, in batches under load."""
    began = float("-inf")
    async for item in stream:
        apply_item(feed, item)
        if left.is_set():
            return
        now = feed.now()
        if now - began > READ_SECONDS:
            early = began + READ_INTERVAL - now
            if early > 0:
                await feed.pause(early)
            began = feed.now()


def watched_instruments(feed: AccountFeed) -> tuple[str, ...]:
    """Return the instruments whose prices are needed: watchlists, positions, charts."""
    store = feed.store
    held = (name for name in store.positions if name in store.instruments)
    charted = (store.focus, *(instrument for instrument, _ in store.side_charts.values()))
    known = (name for name in charted if name in store.instruments)
    alerted = (name for name in store.alert_instruments if name in store.instruments)
    return tuple(dict.fromkeys((*listed_instruments(store), *held, *known, *alerted)))


def apply_item(feed: AccountFeed, item: object) -> None:
    """Apply one item of the stream; the hot path, thousands a second."""
    now = feed.now()
    health = feed.store.health
    health.prices_at = now
    if isinstance(item, ClientPrice):
        try:
            _apply_price(feed, item, now)
            if item.home_conversions:
                _apply_conversions(feed, item.home_conversions)
        except READ_ERRORS as error:
            feed.store.note_unreadable(str(error))
        else:
            if health.prices not in CURRENT:
                _prices_up(feed)
    elif isinstance(item, PricingHeartbeat):
        try_to(feed.store, partial(_apply_heartbeat, feed, item))
    else:  # the stream was broken and is back: perhaps with another broker's clock
        if feed.alerts is not None:
            feed.alerts.note_interruption()
        forget_ages(feed.store)
        invalidate_candles(feed.store)
        feed.store.health.unchecked = True
        feed.poll_wanted.set()
        feed.write("The price stream was interrupted and is back")


def _apply_heartbeat(feed: AccountFeed, heartbeat: PricingHeartbeat) -> None:
    time_ns = checked_time_ns(heartbeat.time)
    feed.store.see_clock(time_ns)
    feed.store.health.clock_offset_ms = (time_ns - feed.wall_ns()) / 1e6
    feed.store.mark(Topic.HEALTH)


async def update_conversions(feed: AccountFeed) -> None:
    """Poll conversion factors: all currencies first, then those of positions and focus."""
    await feed.listed.wait()
    tries = 0
    asked_all = False
    while True:
        names = _held_or_shown(feed) if asked_all else watched_instruments(feed)
        if names and await conversions_once(feed, names):
            tries, asked_all = 0, True
            await feed.pause(CONVERSIONS_EVERY)
        else:
            await feed.back_off(tries)
            tries += 1


async def conversions_once(feed: AccountFeed, names: Sequence[str]) -> bool:
    """Request conversion factors and prices once; return False if there was no answer."""
    try:
        answer = await feed.ask(feed.client.pricing.get(names, include_home_conversions=True))
        _apply_conversions(feed, answer.home_conversions or ())
        received = feed.now()
        for price in answer.prices:
            try_to(feed.store, partial(_apply_price, feed, price, received))
    except FAILURES as error:
        feed.count_unreadable(error)
        return False
    return True


def _apply_price(feed: AccountFeed, price: ClientPrice, received: float) -> None:
    """Apply a price; raise ValueError for an instrument that the account does not have."""
    name = price.instrument
    if not feed.store.instruments and not feed.store.quotes:
        return  # the market began anew, and what it offers is being read
    if name is not None and name not in feed.store.quotes and name not in feed.store.instruments:
        raise ValueError("a price of an instrument that the account does not have")
    apply_price(feed.store, price, received)


def _apply_conversions(feed: AccountFeed, conversions: Sequence[HomeConversions]) -> None:
    """Apply the conversion factors of currencies in the account's instruments."""
    store = feed.store
    if not store.instruments and not store.conversions:
        return
    known = {
        part for name in store.instruments for part in name.split("_")
    } | store.conversions.keys()
    apply_conversions(store, readable(store, partial(_check_currency, known), conversions))


def _check_currency(known: Collection[str], conversion: HomeConversions) -> HomeConversions:
    if conversion.currency not in known:
        raise ValueError("a conversion of a currency that no instrument has")
    return conversion


def _held_or_shown(feed: AccountFeed) -> tuple[str, ...]:
    held = tuple(name for name in feed.store.positions if name in feed.store.instruments)
    return tuple(dict.fromkeys((*held, feed.store.focus))) if feed.store.focus else held


@asynccontextmanager
async def _leaving_when_changed(
    feed: AccountFeed, names: Sequence[str]
) -> AsyncIterator[asyncio.Event]:
    """Yield an event that is set once an instrument outside `names` is needed."""
    changed = asyncio.Event()

    task = asyncio.create_task(_wait_for_others(feed, names, changed))
    try:
        yield changed
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _wait_for_others(feed: AccountFeed, names: Sequence[str], needed: asyncio.Event) -> None:
    """Set `needed` once the desk watches an instrument that is not among `names`."""
    topics = (Topic.INSTRUMENTS, Topic.POSITIONS, Topic.FOCUS)
    await feed.store.wait_for(lambda: not set(watched_instruments(feed)) <= set(names), *topics)
    needed.set()


def _prices_up(feed: AccountFeed) -> None:
    feed.store.health.prices = "OK"
    feed.store.mark(Topic.HEALTH)
    feed.priced.set()
    if feed.store.health.unchecked:
        feed.poll_wanted.set()


def _prices_down(feed: AccountFeed, text: str) -> None:
    if feed.alerts is not None:
        feed.alerts.note_interruption()
    if feed.store.health.prices != "DOWN":
        feed.store.health.prices = "DOWN"
        feed.store.health.unchecked = True
        feed.write(f"The price stream is down: {text}")
        feed.store.mark(Topic.HEALTH)


async def stream_transactions(feed: AccountFeed) -> None:
    """Keep the transaction stream open and pass its transactions to the gate."""
    tries = 0
    while True:
        text = "the stream ended"
        try:
            stream = feed.streams.transactions()
            feed.event_health = stream.health  # entering waits until the broker answers
            async with stream as line:
                async for item in line:
                    tries = 0
                    apply_transaction(feed, item)
        except KeydeskClientError as error:
            text = reason(error)
        _transactions_down(feed, text)
        await feed.back_off(tries)
        tries += 1


def apply_transaction(feed: AccountFeed, item: object) -> None:
    """Apply one item of the stream."""
    health = feed.store.health
    health.events_at = feed.now()
    known_lost, health.events = health.events == "DOWN", "OK"
    feed.store.mark(Topic.HEALTH)
    match item:
        case TransactionHeartbeat():
            try_to(feed.store, lambda: feed.gate.saw_last(item.last_transaction_id))
            try_to(feed.store, lambda: feed.store.see_clock(checked_time_ns(item.time)))
        case TransactionIdentity():
            feed.gate.offer(item)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the union's members share this base
        case HistoryLost():
            feed.request_snapshot(
                f"The broker does not know what came after transaction {item.applied}"
            )
        case (
            _
        ):  # it was interrupted and is back; what came in between follows, and is in the changes
            feed.write("The transaction stream was interrupted and is back")
            health.event_losses += not known_lost
            feed.poll_wanted.set()


async def fill_gaps(feed: AccountFeed) -> None:
    """Request transactions that are known to exist and did not arrive."""
    tries = 0
    while True:
        await feed.gate.gap_seen.wait()
        await feed.pause(PATIENCE_S / 2)
        if feed.gate.overdue(feed.now()) is None or await backfill(feed):
            tries = 0
        else:
            await feed.back_off(tries)
            tries += 1


async def backfill(feed: AccountFeed) -> bool:
    """Request missing transactions; return False if none were applied."""
    before = feed.gate.applied
    filler = GapFiller(feed.gate, partial(_read_range, feed))
    try:
        result = await filler.fill()
    except FAILURES as error:
        feed.count_unreadable(error)
        first, last = filler.requested
        feed.write(f"Transactions {first} to {last} could not be read: {reason(error)}")
        return False
    if result is Backfill.REFUSED:
        first, last = filler.requested
        feed.request_snapshot(f"The broker does not know transactions {first} to {last}")
    return feed.gate.applied != before


async def _read_range(
    feed: AccountFeed, first: int, last: int
) -> tuple[Sequence[Transaction], int]:
    answer = await feed.ask(feed.client.transactions.range(first, last))
    return answer.transactions, number_of(answer.last_transaction_id)


def _transactions_down(feed: AccountFeed, text: str) -> None:
    if feed.store.health.events != "DOWN":
        feed.store.health.events = "DOWN"
        feed.store.health.event_losses += 1
        feed.write(f"The transaction stream is down: {text}")
        feed.store.mark(Topic.HEALTH)
    feed.poll_wanted.set()
