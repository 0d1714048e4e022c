"""Apply prices, conversion factors and books of the wire to the store. `apply_price` is the hottest path of the desk."""

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from typing import get_args

from msgspec.structs import replace

from keydesk.calc.market.client_books import BookBucket, long_percent, sums_of
from keydesk.store.candles import move_last
from keydesk.store.state import REACH, BookKind, BookSnapshot, ClientBook, Topic
from keydesk.store.store import CLOCK_LAG_NS, Store
from keydesk.store.trading_context import depth_of
from keydesk.values import Quote
from keydesk_client.account.values import amount, bid_and_ask, checked_time_ns, price, readable
from keydesk_client.account.values import price as checked_price
from keydesk_client.arithmetic.depth import DepthLevel, average_fill_price
from keydesk_client.models import (
    ClientPrice,
    HomeConversions,
    OrderBook,
    OrderBookBucket,
    PositionBook,
    PositionBookBucket,
    PricingHeartbeat,
)
from keydesk_client.models._core.scalars import DateTime

MAX_BOOKS = 16  # two of an instrument, 100 kB each: those of all would be 12 MB
MAX_EARLIER = 9  # snapshots kept before the newest, of the focus only: three hours
SNAPSHOT_EVERY_NS = 1_200_000_000_000
GAP_NS = SNAPSHOT_EVERY_NS * 3 // 2  # snapshots farther apart are not compared
WRONG_AFTER = 5.0  # seconds for which a newer price outranks one that is more than a minute older
MAX_CURRENCY_LENGTH = 12
KINDS: tuple[BookKind, ...] = get_args(BookKind)
SILENCE = (
    1.0  # seconds after which an unchanged price counts as an update, because its age is shown
)

AVERAGE_DECIMALS = 7  # of an average price through the depth, which a chart draws


def apply_book(
    store: Store, kind: BookKind, book: OrderBook | PositionBook, previous_ns: int | None = None
) -> None:
    """Replace the newest snapshot of a book; the one before becomes an earlier one.

    `previous_ns` is the time of the snapshot before it, where the service gave it.
    """
    snapshot = _snapshot_of(store, book)
    held = store.books.get((book.instrument, kind)) or ClientBook(kind)
    before, earlier = held.snapshot, tuple[BookSnapshot, ...]()
    if before is not None and before.time_ns == snapshot.time_ns:
        earlier = held.earlier
    elif before is not None and 0 < snapshot.time_ns - before.time_ns <= GAP_NS:
        earlier = held.snapshots[:MAX_EARLIER]
    made = ClientBook(kind, snapshot, earlier=earlier, previous_ns=previous_ns)
    if held.snapshots and made.snapshots[-1].time_ns == held.snapshots[-1].time_ns:
        made = replace(made, previous_ns=held.previous_ns, reaches_start=held.reaches_start)
    elif earlier:
        made = replace(made, previous_ns=None)  # that is the time of one of them
    _put_book(store, book.instrument, made)


def apply_earlier_book(
    store: Store, kind: BookKind, book: OrderBook | PositionBook, previous_ns: int | None
) -> None:
    """Add the snapshot before all that are held of a book."""
    held = store.books.get((book.instrument, kind))
    if held is None or held.snapshot is None or len(held.earlier) >= MAX_EARLIER:
        return
    snapshot = _snapshot_of(store, book)
    if snapshot.time_ns >= held.snapshots[-1].time_ns:
        raise ValueError(f"the {kind} book before another is not earlier")
    earlier = (*held.earlier, snapshot)
    _put_book(store, book.instrument, replace(held, earlier=earlier, previous_ns=previous_ns))


def book_begins(store: Store, kind: BookKind, instrument: str) -> None:
    """Note that the service has no snapshot before those that are held."""
    held = store.books.get((instrument, kind))
    if held is not None:
        _put_book(store, instrument, replace(held, reaches_start=True))


def forget_earlier_books(store: Store) -> None:
    """Drop the earlier snapshots of instruments that are not in focus."""
    for (instrument, kind), held in store.books.items():
        if instrument != store.focus and held.earlier:
            store.books[instrument, kind] = ClientBook(kind, held.snapshot, held.trouble)


def step_book(store: Store, steps: int) -> None:
    """Look at the snapshots before those that are looked at (-1), after them (1), or at the newest (0)."""
    books = [store.books.get((store.focus, kind)) for kind in KINDS]
    held = max((each.snapshots for each in books if each is not None), key=len, default=())
    if not held:
        return
    newest, time = held[0].time_ns, store.book_time_ns or held[0].time_ns
    others = [each.time_ns for each in held if (each.time_ns - time) * steps > 0]
    if not steps:
        time = newest
    elif others:
        time = max(others) if steps < 0 else min(others)
    time = 0 if time == newest else time
    if time != store.book_time_ns:
        store.book_time_ns = time
        store.mark(Topic.BOOKS)


def _snapshot_of(store: Store, book: OrderBook | PositionBook) -> BookSnapshot:
    middle, width = price(book.price), price(book.bucket_width)
    buckets = sorted(readable(store, _bucket, _buckets_of(book)), key=lambda each: each.price)
    reach = REACH * width
    return BookSnapshot(
        time_ns=checked_time_ns(book.time),
        price=middle,
        width=width,
        long_percent=long_percent(sums_of(buckets)) or Decimal(0),
        buckets=tuple(each for each in buckets if abs(each.price - middle) <= reach),
        below=sums_of([each for each in buckets if each.price < middle - reach]),
        above=sums_of([each for each in buckets if each.price > middle + reach]),
    )


def no_book(store: Store, kind: BookKind, instrument: str, why: str) -> None:
    """Show the reason for a missing or outdated book; the older snapshot stays."""
    held = store.books.get((instrument, kind)) or ClientBook(kind)
    _put_book(store, instrument, replace(held, trouble=why))


def _put_book(store: Store, instrument: str, book: ClientBook) -> None:
    held = store.books.pop((instrument, book.kind), None)
    store.books[instrument, book.kind] = book  # the last one now
    if len(store.books) > MAX_BOOKS:
        del store.books[next(iter(store.books))]
    if held != book:
        store.mark(Topic.BOOKS, instrument)


def _buckets_of(
    book: OrderBook | PositionBook,
) -> Sequence[OrderBookBucket | PositionBookBucket]:
    return book.buckets


def _bucket(bucket: OrderBookBucket | PositionBookBucket) -> BookBucket:
    long, short = amount(bucket.long_count_percent), amount(bucket.short_count_percent)
    if long < 0 or short < 0:
        raise ValueError(f"a bucket of a book has a negative share: long {long}, short {short}")
    return BookBucket(price(bucket.price), long, short)


def apply_price(store: Store, price: ClientPrice, received: float) -> None:
    """Apply one price; an older one than the quote (a slow answer beside the stream) is dropped.

    Args:
        store: Where to.
        price: As it came.
        received: Monotonic seconds when it came.
    """
    instrument, moment = price.instrument, price.time
    if instrument is None or moment is None:
        return
    time_ns = _nanoseconds(moment)
    bid, ask = bid_and_ask(price, time_ns)
    tradeable = price.tradeable is not False
    quote = store.quotes.get(instrument)
    news = True
    if quote is None:
        quote = Quote(instrument, bid, ask, time_ns, tradeable, received)
        store.quotes[instrument] = quote
        _widen_day(store, quote)
    else:
        if time_ns < quote.time_ns and not _is_wrong(quote, time_ns, received):
            return
        news = tradeable != quote.tradeable or received - quote.received >= SILENCE
        if bid != quote.bid or ask != quote.ask:
            quote.bid_move = (bid > quote.bid) - (bid < quote.bid)
            quote.ask_move = (ask > quote.ask) - (ask < quote.ask)
            quote.bid, quote.ask = bid, ask
            quote.moved_at = received
            _widen_day(store, quote)
            news = True
        quote.time_ns = time_ns
        quote.tradeable = tradeable
        quote.received = received
    quote.bids, quote.asks = price.bids, price.asks
    if news:
        store.mark(Topic.PRICES, instrument)
    store.see_clock(time_ns)
    if (watch := store.price_watch.get(instrument)) is not None:
        watch(quote)
    if instrument in store.charted:
        _move_candles(store, instrument)


def apply_known_price(store: Store, price: ClientPrice, received: float) -> None:
    """Apply a price; raise ValueError for an instrument that the account does not have."""
    name = price.instrument
    if not store.instruments and not store.quotes:
        return  # the market began anew, and what it offers is being read
    if name is not None and name not in store.quotes and name not in store.instruments:
        raise ValueError("a price of an instrument that the account does not have")
    apply_price(store, price, received)


def apply_heartbeat(store: Store, heartbeat: PricingHeartbeat, wall_ns: int) -> None:
    """Take the broker's time, and its difference to this machine's."""
    time_ns = checked_time_ns(heartbeat.time)
    store.see_clock(time_ns)
    store.health.clock_offset_ms = (time_ns - wall_ns) / 1e6
    store.mark(Topic.HEALTH)


def _is_wrong(quote: Quote, time_ns: int, received: float) -> bool:
    """Return whether a quote's time is wrong: prices far older than it keep coming."""
    return quote.time_ns - time_ns > CLOCK_LAG_NS and received - quote.received >= WRONG_AFTER


def apply_conversion_factors(store: Store, conversions: Sequence[HomeConversions]) -> None:
    """Apply the conversion factors of currencies in the account's instruments."""
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


def apply_conversions(store: Store, conversions: Iterable[HomeConversions]) -> None:
    """Apply conversion factors; positions are marked, because their value changed."""
    for each in readable(store, _conversion, conversions):
        if store.conversions.get(each.currency) != each:
            store.conversions[each.currency] = each
            store.mark(Topic.POSITIONS)


def _conversion(conversion: HomeConversions) -> HomeConversions:
    """Return the factors if every member is present and sane."""
    for factor in (conversion.account_gain, conversion.account_loss, conversion.position_value):
        checked_price(factor)
    if len(conversion.currency) > MAX_CURRENCY_LENGTH:
        raise ValueError(f"{conversion.currency[:20]!r} is not a currency")
    return conversion


def forget_ages(store: Store) -> None:
    """Accept the next price of every instrument whatever its time: the broker's clock may be another one."""
    for quote in store.quotes.values():
        quote.time_ns = 0
    store.clock_ns = 0


@lru_cache(maxsize=16)
def _whole_second(text: str) -> int:
    return DateTime(f"{text}Z").ns


def _nanoseconds(moment: DateTime) -> int:
    """Return the time in nanoseconds; cached by second, because full parsing costs 2.5 µs."""
    text = moment.text
    if len(text) == len("2026-03-02T10:00:00.000000000Z") and text[-1] == "Z":
        return _whole_second(text[:19]) + int(text[20:29])
    return moment.ns


def _widen_day(store: Store, quote: Quote) -> None:
    day = store.days.get(quote.instrument)
    if day is None:
        return
    mid = (quote.bid + quote.ask) / 2
    if mid > day.high:
        day.high = mid
    elif mid < day.low:
        day.low = mid


def _of_size(size: Decimal, depth: Sequence[DepthLevel], first: float) -> float:
    """Return the average price of a size through the depth; the first price where no depth is known."""
    return float(average_fill_price(depth, size, AVERAGE_DECIMALS)) if depth else first


def _move_candles(store: Store, instrument: str) -> None:
    quote = store.quotes[instrument]
    bid, ask = float(quote.bid), float(quote.ask)
    prices = {"M": (bid + ask) / 2, "B": bid, "A": ask, "SB": bid, "SA": ask}
    if store.candle_units is not None:
        size = store.candle_units
        prices["SB"] = _of_size(size, depth_of(quote.bids, worse=-1), bid)
        prices["SA"] = _of_size(size, depth_of(quote.asks, worse=1), ask)
    for series in store.charted[instrument]:
        if move_last(series, prices[series.prices], quote.time_ns):
            store.mark(Topic.CANDLES, (instrument, series.granularity))
        if series.wants_reload or series.rolled_over:
            store.mark(Topic.CANDLES)  # wakes the feed that loads candles
