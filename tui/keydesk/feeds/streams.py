"""Read the price and transaction streams, request missing transactions, and poll conversion factors."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import partial

from keydesk.feeds.account_feed import FAILURES, Link, OpenStream, reason
from keydesk.store.candles import distrust_candles
from keydesk.store.prices import forget_ages, take_conversions, take_price
from keydesk.store.state import CURRENT, Topic
from keydesk.store.watchlists import listed_instruments
from keydesk_client.account.values import READ_ERRORS, moment, number_of, readable, try_to
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
from keydesk_client.streams.buffer import HistoryLost

CONVERSIONS_EVERY = 5.0

LOOK = 0.005  # seconds that a look at the stream takes at most
LOOK_EVERY = (
    0.095  # a little more than a look a frame; meanwhile newer prices take the place of older ones
)


async def stream_prices(link: Link) -> None:
    """Keep the price stream open for all watched and held instruments; reopen it when they change."""
    await link.listed.wait()
    tries = 0
    while True:
        names = watched_instruments(link)
        words, received_at = "the stream ended", link.store.health.prices_at
        try:
            async with (
                _leaving_when_changed(link, names) as left,
                link.streams.prices(names) as stream,
            ):
                link.price_health = stream.health
                await _read(link, stream, left)
        except KeydeskClientError as error:
            words = reason(error)
        if watched_instruments(link) == names:
            _prices_down(link, words)
            tries = 0 if link.store.health.prices_at != received_at else tries + 1
            await link.back_off(tries)


async def _read(link: Link, stream: OpenStream, left: asyncio.Event) -> None:
    """Take items until the stream ends or `left` is set: at once after a pause, in batches under load."""
    began = float("-inf")
    async for item in stream:
        take_item(link, item)
        if left.is_set():
            return
        now = link.now()
        if now - began > LOOK:
            early = began + LOOK_EVERY - now
            if early > 0:
                await link.pause(early)
            began = link.now()


def watched_instruments(link: Link) -> tuple[str, ...]:
    """Return the instruments whose prices are needed: watchlists, positions, charts."""
    store = link.store
    held = (name for name in store.positions if name in store.instruments)
    charted = (store.focus, *(instrument for instrument, _ in store.side_charts.values()))
    known = (name for name in charted if name in store.instruments)
    alerted = (name for name in store.alert_instruments if name in store.instruments)
    return tuple(dict.fromkeys((*listed_instruments(store), *held, *known, *alerted)))


def take_item(link: Link, item: object) -> None:
    """Apply one item of the stream; the hot path, thousands a second."""
    now = link.now()
    health = link.store.health
    health.prices_at = now
    if isinstance(item, ClientPrice):
        try:
            _take_price(link, item, now)
            if item.home_conversions:
                _take_conversions(link, item.home_conversions)
        except READ_ERRORS as error:
            link.store.note_unreadable(str(error))
        else:
            if health.prices not in CURRENT:
                _prices_up(link)
    elif isinstance(item, PricingHeartbeat):
        try_to(link.store, partial(_take_heartbeat, link, item))
    else:  # the stream was broken and is back: perhaps with another broker's clock
        if link.alerts is not None:
            link.alerts.interrupted()
        forget_ages(link.store)
        distrust_candles(link.store)
        link.store.health.unchecked = True
        link.poll_wanted.set()
        link.write("The price stream was interrupted and is back")


def _take_heartbeat(link: Link, heartbeat: PricingHeartbeat) -> None:
    time_ns = moment(heartbeat.time)
    link.store.see_clock(time_ns)
    link.store.health.clock_offset_ms = (time_ns - link.wall_ns()) / 1e6
    link.store.mark(Topic.HEALTH)


async def keep_conversions(link: Link) -> None:
    """Poll conversion factors: all currencies first, then those of positions and focus."""
    await link.listed.wait()
    tries = 0
    asked_all = False
    while True:
        names = _held_or_shown(link) if asked_all else watched_instruments(link)
        if names and await conversions_once(link, names):
            tries, asked_all = 0, True
            await link.pause(CONVERSIONS_EVERY)
        else:
            await link.back_off(tries)
            tries += 1


async def conversions_once(link: Link, names: Sequence[str]) -> bool:
    """Request conversion factors and prices once; return False if there was no answer."""
    try:
        answer = await link.ask(link.client.pricing.get(names, include_home_conversions=True))
        _take_conversions(link, answer.home_conversions or ())
        received = link.now()
        for price in answer.prices:
            try_to(link.store, partial(_take_price, link, price, received))
    except FAILURES as error:
        link.count_unreadable(error)
        return False
    return True


def _take_price(link: Link, price: ClientPrice, received: float) -> None:
    """Apply a price; raise ValueError for an instrument that the account does not have."""
    name = price.instrument
    if not link.store.instruments and not link.store.quotes:
        return  # the market began anew, and what it offers is being read
    if name is not None and name not in link.store.quotes and name not in link.store.instruments:
        raise ValueError("a price of an instrument that the account does not have")
    take_price(link.store, price, received)


def _take_conversions(link: Link, conversions: Sequence[HomeConversions]) -> None:
    """Apply the conversion factors of currencies in the account's instruments."""
    store = link.store
    if not store.instruments and not store.conversions:
        return
    known = {
        part for name in store.instruments for part in name.split("_")
    } | store.conversions.keys()
    take_conversions(store, readable(store, partial(_check_currency, known), conversions))


def _check_currency(known: Collection[str], conversion: HomeConversions) -> HomeConversions:
    if conversion.currency not in known:
        raise ValueError("a conversion of a currency that no instrument has")
    return conversion


def _held_or_shown(link: Link) -> tuple[str, ...]:
    held = tuple(name for name in link.store.positions if name in link.store.instruments)
    return tuple(dict.fromkeys((*held, link.store.focus))) if link.store.focus else held


@asynccontextmanager
async def _leaving_when_changed(link: Link, names: Sequence[str]) -> AsyncIterator[asyncio.Event]:
    """Yield an event that is set once an instrument outside `names` is needed."""
    changed = asyncio.Event()

    task = asyncio.create_task(_wait_for_others(link, names, changed))
    try:
        yield changed
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _wait_for_others(link: Link, names: Sequence[str], needed: asyncio.Event) -> None:
    """Set `needed` once the desk watches an instrument that is not among `names`."""
    topics = (Topic.INSTRUMENTS, Topic.POSITIONS, Topic.FOCUS)
    await link.store.wait_for(lambda: not set(watched_instruments(link)) <= set(names), *topics)
    needed.set()


def _prices_up(link: Link) -> None:
    link.store.health.prices = "OK"
    link.store.mark(Topic.HEALTH)
    link.priced.set()
    if link.store.health.unchecked:
        link.poll_wanted.set()


def _prices_down(link: Link, words: str) -> None:
    if link.alerts is not None:
        link.alerts.interrupted()
    if link.store.health.prices != "DOWN":
        link.store.health.prices = "DOWN"
        link.store.health.unchecked = True
        link.write(f"The price stream is down: {words}")
        link.store.mark(Topic.HEALTH)


async def stream_transactions(link: Link) -> None:
    """Keep the transaction stream open and pass its transactions to the gate."""
    tries = 0
    while True:
        words = "the stream ended"
        try:
            stream = link.streams.transactions()
            link.event_health = stream.health  # entering waits until the broker answers
            async with stream as line:
                async for item in line:
                    tries = 0
                    take_transaction(link, item)
        except KeydeskClientError as error:
            words = reason(error)
        _transactions_down(link, words)
        await link.back_off(tries)
        tries += 1


def take_transaction(link: Link, item: object) -> None:
    """Apply one item of the stream."""
    health = link.store.health
    health.events_at = link.now()
    known_lost, health.events = health.events == "DOWN", "OK"
    link.store.mark(Topic.HEALTH)
    match item:
        case TransactionHeartbeat():
            try_to(link.store, lambda: link.gate.saw_last(item.last_transaction_id))
            try_to(link.store, lambda: link.store.see_clock(moment(item.time)))
        case TransactionIdentity():
            link.gate.offer(item)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the union's members share this base
        case HistoryLost():
            link.doubt(f"The broker does not know what came after transaction {item.applied}")
        case (
            _
        ):  # it was interrupted and is back; what came in between follows, and is in the changes
            link.write("The transaction stream was interrupted and is back")
            health.event_losses += not known_lost
            link.poll_wanted.set()


async def fill_gaps(link: Link) -> None:
    """Request transactions that are known to exist and did not arrive."""
    tries = 0
    while True:
        await link.gate.gap_seen.wait()
        await link.pause(PATIENCE_S / 2)
        if link.gate.overdue(link.now()) is None or await backfill(link):
            tries = 0
        else:
            await link.back_off(tries)
            tries += 1


async def backfill(link: Link) -> bool:
    """Request missing transactions; return False if none were applied."""
    before = link.gate.applied
    filler = GapFiller(link.gate, partial(_read_range, link))
    try:
        result = await filler.fill()
    except FAILURES as error:
        link.count_unreadable(error)
        first, last = filler.requested
        link.write(f"Transactions {first} to {last} could not be read: {reason(error)}")
        return False
    if result is Backfill.REFUSED:
        first, last = filler.requested
        link.doubt(f"The broker does not know transactions {first} to {last}")
    return link.gate.applied != before


async def _read_range(link: Link, first: int, last: int) -> tuple[Sequence[Transaction], int]:
    answer = await link.ask(link.client.transactions.range(first, last))
    return answer.transactions, number_of(answer.last_transaction_id)


def _transactions_down(link: Link, words: str) -> None:
    if link.store.health.events != "DOWN":
        link.store.health.events = "DOWN"
        link.store.health.event_losses += 1
        link.write(f"The transaction stream is down: {words}")
        link.store.mark(Topic.HEALTH)
    link.poll_wanted.set()
