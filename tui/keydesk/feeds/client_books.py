"""Read the client books of the instrument in focus: new snapshots when they are due, earlier ones when they are looked at."""

from collections.abc import Mapping
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct, field

from keydesk.feeds.account_feed import AccountFeed, reason
from keydesk.store.prices import (
    KINDS,
    MAX_EARLIER,
    SNAPSHOT_EVERY_NS,
    apply_book,
    apply_earlier_book,
    book_begins,
    forget_earlier_books,
    no_book,
)
from keydesk.store.state import BookKind, ClientBook, Topic
from keydesk.text.format import pair
from keydesk_client.account.values import FIRST_NS, LAST_NS
from keydesk_client.arithmetic.constants import SECOND
from keydesk_client.errors import NotFound, RateLimited, Refused
from keydesk_client.following.feeds import FAILURES
from keydesk_client.models import OrderBook, PositionBook
from keydesk_client.models._core.scalars import DateTime

PUBLISHED_AFTER = 3 * SECOND  # a snapshot is there some moments after its time
DUE_CHECK_EVERY = (
    5.0  # seconds: the broker's clock, which makes a snapshot due, may run faster than ours
)
STOOD_STILL = (
    0.5  # seconds in focus before an instrument is requested: holding `j` down requests nothing
)
AGAIN_AFTER = 30.0  # seconds: the snapshot that is due was not there yet, or there was no answer
REFUSED_FOR = 1200.0  # seconds: an instrument without books has none in the next minute either
NAMES: Mapping[BookKind, str] = {"orders": "order book", "positions": "position book"}
EARLIER_EVERY = 0.15  # seconds from one earlier snapshot to the next


class NextReads(Struct):
    """When the next book may be requested."""

    focus: str = ""
    since: float = 0.0  # monotonic seconds when it came into focus
    not_before: dict[tuple[str, BookKind], float] = field(default_factory=dict)
    earlier_not_before: dict[tuple[str, BookKind], float] = field(default_factory=dict)


async def update_books(feed: AccountFeed) -> None:
    """Request the books of the focus, new snapshots when they are due, and earlier ones that are looked at."""
    await feed.priced.wait()
    due = NextReads()
    with feed.store.subscribed(Topic.FOCUS, Topic.BOOKS) as changed:
        while True:
            await feed.wait(changed, await load_book(feed, due))


async def load_book(feed: AccountFeed, due: NextReads) -> float:
    """Request one of the books in focus if one is due; return the seconds until the next check."""
    focus, now = feed.store.focus, feed.now()
    if focus != due.focus:
        due.focus, due.since = focus, now
        forget_earlier_books(feed.store)
        for kind in KINDS:
            if (focus, kind) not in feed.store.books:  # removed to make room for others
                due.not_before.pop((focus, kind), None)
    if now - due.since < STOOD_STILL:
        return STOOD_STILL - (now - due.since)
    if focus:
        for kind in KINDS:
            if now >= due.not_before.get((focus, kind), now) and _is_old(feed, focus, kind):
                due.not_before[focus, kind] = feed.now() + await ask(feed, focus, kind)
                return 0.0
        return await load_earlier_book(feed, due)
    return DUE_CHECK_EVERY


async def load_earlier_book(feed: AccountFeed, due: NextReads) -> float:
    """Request the snapshot before the one that is looked at if it is not held; return the seconds until the next check."""
    pause = DUE_CHECK_EVERY
    for kind in KINDS:
        held = feed.store.books.get((due.focus, kind))
        if held is None or not _lacks_earlier(held, feed.store.book_time_ns):
            continue
        wait = due.earlier_not_before.get((due.focus, kind), 0.0) - feed.now()
        if wait <= 0:
            wait = await ask_earlier(feed, due.focus, kind, held)
            due.earlier_not_before[due.focus, kind] = feed.now() + wait
            return min(wait, EARLIER_EVERY)
        pause = min(pause, wait)
    return pause


def _lacks_earlier(held: ClientBook, time_ns: int) -> bool:
    """Return whether the snapshot before the one that is looked at is still to be read."""
    if held.snapshot is None or held.reaches_start or len(held.earlier) >= MAX_EARLIER:
        return False
    return held.at(time_ns)[1] is None


async def ask_earlier(
    feed: AccountFeed, instrument: str, kind: BookKind, held: ClientBook
) -> float:
    """Request the snapshot before those that are held; return the seconds until the next one may be requested."""
    oldest = held.snapshots[-1].time_ns
    time_ns = held.previous_ns or oldest - SNAPSHOT_EVERY_NS
    try:
        book, before = await feed.request(
            _snapshot(feed, instrument, kind, DateTime.from_ns(time_ns))
        )
        apply_earlier_book(feed.store, kind, _of(book, instrument), before)
    except NotFound:
        book_begins(feed.store, kind, instrument)
    except FAILURES as error:
        feed.count_unreadable(error)
        return AGAIN_AFTER
    return EARLIER_EVERY


def _is_old(feed: AccountFeed, instrument: str, kind: BookKind) -> bool:
    held = feed.store.books.get((instrument, kind))
    if held is None or held.snapshot is None:
        return True
    moment = feed.store.clock_ns or feed.wall_ns()
    return moment >= held.snapshot.time_ns + SNAPSHOT_EVERY_NS + PUBLISHED_AFTER


async def ask(feed: AccountFeed, instrument: str, kind: BookKind) -> float:
    """Request one book; return the seconds until it may be requested again."""
    try:
        book, before = await feed.request(_snapshot(feed, instrument, kind))
        apply_book(feed.store, kind, _of(book, instrument), before)
        if instrument not in feed.store.daily_ranges:
            feed.store.mark(Topic.DAY_LINES)  # wakes the feed that reads the range clusters lie in
    except RateLimited:
        return AGAIN_AFTER
    except NotFound:
        no_book(feed.store, kind, instrument, f"There is no {NAMES[kind]} for {pair(instrument)}.")
        return REFUSED_FOR
    except Refused as error:
        _book_failed(feed, instrument, kind, error)
        return REFUSED_FOR
    except FAILURES as error:
        _book_failed(feed, instrument, kind, error)
    return AGAIN_AFTER


async def _snapshot(
    feed: AccountFeed, instrument: str, kind: BookKind, time: DateTime | None = None
) -> tuple[OrderBook | PositionBook, int | None]:
    """Return a snapshot, the newest without a time, and the time of the one before it where the answer links it."""
    if kind == "orders":
        orders = await feed.client.books.order(instrument, time=time)
        return orders.order_book, _time_in(orders.links.get("prev", ""))
    positions = await feed.client.books.position(instrument, time=time)
    return positions.position_book, _time_in(positions.links.get("prev", ""))


def _of(book: OrderBook | PositionBook, instrument: str) -> OrderBook | PositionBook:
    if book.instrument != instrument:
        raise ValueError("a book of an instrument that was not asked for")
    return book


def _time_in(address: str) -> int | None:
    """Return the time in an address; None where it is missing or invalid."""
    try:
        text = parse_qs(urlsplit(address).query, max_num_fields=4).get("time", [""])[0]
        time_ns = DateTime(text).ns
    except ValueError:
        return None
    return time_ns if FIRST_NS <= time_ns < LAST_NS else None


def _book_failed(feed: AccountFeed, instrument: str, kind: BookKind, error: Exception) -> None:
    feed.count_unreadable(error)
    text = f"The {NAMES[kind]} could not be read: {reason(error)}"
    no_book(feed.store, kind, instrument, text)
