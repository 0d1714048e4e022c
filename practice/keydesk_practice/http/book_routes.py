"""Order and position books: snapshots of what the crowd of clients holds, by price."""

from typing import Any
from urllib.parse import quote

from keydesk_practice.broker.candle_desk import BookKind
from keydesk_practice.engine.datetimes import rfc3339
from keydesk_practice.engine.wire_form import plain
from keydesk_practice.http.answers import Answer
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.refusals import Refused, not_listed
from keydesk_practice.market.books import SNAPSHOT_EVERY, Book, latest_snapshot


async def get_order_book(call: Call) -> Answer:
    """Answer with a snapshot of the order book."""
    return await _book(call, "orderBook")


async def get_position_book(call: Call) -> Answer:
    """Answer with a snapshot of the position book."""
    return await _book(call, "positionBook")


async def _book(call: Call, kind: BookKind) -> Answer:
    instrument, now = call.path("instrument"), call.broker.now()
    specification = call.broker.board.specification(instrument)
    if specification is None:
        raise not_listed(instrument)
    asked = call.query.time("time")
    time = latest_snapshot(now) if asked is None else asked
    book = None if time > now else await call.broker.candles.book(kind, instrument, time)
    if book is None:
        raise Refused(404, "The snapshot specified does not exist")
    links = {"Link": _links(call, kind, book, now)}
    return Answer(
        {kind: _shown(book, specification.display_precision)}, headers=links, always_zipped=True
    )


def _shown(book: Book, decimals: int) -> dict[str, Any]:
    return {
        "instrument": book.instrument,
        "time": rfc3339(book.time),
        "price": f"{book.price:.{decimals}f}",
        "bucketWidth": f"{book.bucket_width:.{decimals}f}",
        "buckets": [
            {
                "price": f"{bucket.price:.{decimals}f}",
                "longCountPercent": plain(bucket.long_percent),
                "shortCountPercent": plain(bucket.short_percent),
            }
            for bucket in book.buckets
        ],
    }


def _links(call: Call, kind: BookKind, book: Book, now: int) -> str:
    """Name the snapshots beside this one; the newest has none after it."""
    beside = {"prev": book.time - SNAPSHOT_EVERY, "next": book.time + SNAPSHOT_EVERY}
    path = f"{call.base_url}/v3/instruments/{book.instrument}/{kind}"
    return ", ".join(
        f'<{path}?time={quote(rfc3339(time))}>; rel="{name}"'
        for name, time in beside.items()
        if time <= now
    )
