"""The order book and the position book of the instrument in focus: snapshots that the service takes now and then.

Asked for when the focus has stood still for a moment, and when the next snapshot is due. A feed of its own, one
request at a time, after the first prices: prices and the account never wait for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.format import pair
from keydesk.store.books import no_book, take_book
from keydesk.store.state import BookKind
from keydesk_client.errors import NotFound, RateLimited, Refused
from keydesk_client.models import OrderBook, PositionBook

SECOND = 1_000_000_000
SNAPSHOT_EVERY = 1200 * SECOND
PUBLISHED_AFTER = 3 * SECOND  # a snapshot is there some moments after its time
LOOK_EVERY = 0.2
STOOD_STILL = 0.5  # seconds in focus before an instrument is asked about: a held `j` passes by
AGAIN_AFTER = 30.0  # seconds: the snapshot that is due was not there yet, or there was no answer
REFUSED_FOR = 1200.0  # seconds: an instrument without books has none in the next minute either
KINDS: tuple[BookKind, ...] = get_args(BookKind)
NAMES: Mapping[BookKind, str] = {"orders": "order book", "positions": "position book"}


@dataclass(slots=True)
class Due:
    """When what is asked for next."""

    focus: str = ""
    since: float = 0.0  # monotonic seconds when it came into focus
    not_before: dict[tuple[str, BookKind], float] = field(default_factory=dict)


async def keep_books(link: Link) -> None:
    """Follow the focus and the service's snapshots."""
    await link.priced.wait()
    due = Due()
    while True:
        await look(link, due)
        await link.pause(LOOK_EVERY)


async def look(link: Link, due: Due) -> None:
    """Ask for one of the books in focus, if one is due."""
    focus, now = link.store.focus, link.now()
    if focus != due.focus:
        due.focus, due.since = focus, now
        for kind in KINDS:
            if (focus, kind) not in link.store.books:  # it had to make room for others
                due.not_before.pop((focus, kind), None)
    if not focus or now - due.since < STOOD_STILL:
        return
    for kind in KINDS:
        if now >= due.not_before.get((focus, kind), now) and _is_old(link, focus, kind):
            due.not_before[focus, kind] = link.now() + await ask(link, focus, kind)
            return


def _is_old(link: Link, instrument: str, kind: BookKind) -> bool:
    held = link.store.books.get((instrument, kind))
    if held is None or held.snapshot is None:
        return True
    moment = link.store.clock_ns or link.wall_ns()
    return moment >= held.snapshot.time_ns + SNAPSHOT_EVERY + PUBLISHED_AFTER


async def ask(link: Link, instrument: str, kind: BookKind) -> float:
    """Ask for one book; returns the seconds before it may be asked for again."""
    try:
        book = await link.ask(_newest(link, instrument, kind))
        take_book(link.store, kind, book)
    except RateLimited:
        return AGAIN_AFTER
    except NotFound:
        no_book(link.store, kind, instrument, f"There is no {NAMES[kind]} for {pair(instrument)}.")
        return REFUSED_FOR
    except Refused as error:
        _failed(link, instrument, kind, error)
        return REFUSED_FOR
    except FAILURES as error:
        _failed(link, instrument, kind, error)
    return AGAIN_AFTER


async def _newest(link: Link, instrument: str, kind: BookKind) -> OrderBook | PositionBook:
    if kind == "orders":
        return (await link.client.books.order(instrument)).order_book
    return (await link.client.books.position(instrument)).position_book


def _failed(link: Link, instrument: str, kind: BookKind, error: Exception) -> None:
    link.count_unreadable(error)
    words = f"The {NAMES[kind]} could not be read: {reason(error)}"
    no_book(link.store, kind, instrument, words)
