"""What the client books say of the instrument in focus, in figures and words: for the books pane and the chart's strip."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from decimal import Decimal

from msgspec import Struct
from textual.message import Message

from keydesk.calc.market.client_books import (
    Cluster,
    clusters,
    long_percent,
    sums_of,
    under_water,
)
from keydesk.panes.chart_marks import own_lines
from keydesk.store.state import BookKind, BookSnapshot
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import SafeText, safe
from keydesk.widgets.price_cells import PriceFormat, price_format_of

POSITIONING = "client positioning, not depth"
WHOLE_PIPS_FROM = 10


class BookSnapshotWanted(Message):
    """Request for the snapshots before those in sight (-1), after them (1), or the newest (0)."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps


class BookFigures(Struct, frozen=True):
    """A snapshot of one book and what follows from it at a price."""

    kind: BookKind
    snapshot: BookSnapshot
    market: Decimal  # the price now; of an earlier snapshot, that of its time
    is_newest: bool
    long: Decimal | None  # percent; None in an empty book
    change: Decimal | None  # of it since the snapshot before, in points
    since_ns: int  # when that was
    clusters: tuple[Cluster, ...]
    has_reach: bool  # the average daily range, within which clusters lie, is known
    losing: tuple[Decimal | None, Decimal | None]  # percent of longs and shorts under water

    def age(self, store: Store, wall_ns: int) -> str:
        """Return how old the snapshot is: `7m old`; of an earlier one how long ago it was: `47m ago`."""
        age = show.age(self.snapshot.time_ns, store.clock_ns or wall_ns)
        return f"{age} old" if self.is_newest else f"{age} ago"

    def time(self, zone: tzinfo = UTC) -> str:
        """Return the time of day of the snapshot, with the zone."""
        moment = show.at(self.snapshot.time_ns, zone)
        return f"{moment:%H:%M} {moment.tzname()}"

    @property
    def change_text(self) -> str:
        """Return the change of the long share in points: `+0.4`."""
        return "" if self.change is None else show.money(self.change, 1, signed=True)

    def since_text(self, zone: tzinfo = UTC) -> str:
        """Return the change with the time that it is counted from: `+0.4 since 09:20`."""
        if self.change is None:
            return ""
        return f"{self.change_text} since {show.at(self.since_ns, zone):%H:%M}"

    @property
    def shares(self) -> tuple[str, str]:
        """Return the shares of long and short: `53.2`, `46.8`."""
        if self.long is None:
            return "–", "–"
        return f"{self.long:.1f}", f"{100 - self.long:.1f}"

    @property
    def losing_text(self) -> tuple[str, str]:
        """Return the shares of longs and shorts under water, whole percent."""
        long, short = ("–" if each is None else f"{each:.0f}" for each in self.losing)
        return long, short


class FiguresReader:
    """The figures of some books, kept while nothing that they are made of changes."""

    def __init__(self) -> None:
        self._market: Decimal | None = None
        self._key: object = None
        self._shown: tuple[BookFigures, ...] = ()

    def read(self, store: Store, kinds: Sequence[BookKind]) -> tuple[BookFigures, ...]:
        """Return the figures; computed anew only for another snapshot or range, or when the price moved a pip."""
        books = tuple(store.books.get((store.focus, kind)) for kind in kinds)
        quote, pip = store.quotes.get(store.focus), price_format_of(store, store.focus).pip
        market = None if quote is None else (quote.bid + quote.ask) / 2
        if market is None or self._market is None or abs(market - self._market) >= pip:
            self._market = market
        reach = store.daily_ranges.get(store.focus)
        key = (store.focus, self._market, books, store.book_time_ns, reach)
        if key != self._key:
            made = (figures(store, kind, self._market) for kind in kinds)
            self._key, self._shown = key, tuple(each for each in made if each is not None)
        return self._shown


def figures(store: Store, kind: BookKind, market: Decimal | None = None) -> BookFigures | None:
    """Return the figures of a book of the focus, at the time that is looked at; None without a snapshot.

    `market` is the price to count from instead of the newest. An earlier snapshot is read at the price of its time.
    """
    book = store.books.get((store.focus, kind))
    if book is None or book.snapshot is None:
        return None
    snapshot, before = book.at(store.book_time_ns)
    if snapshot is None:
        return None
    is_newest = snapshot is book.snapshot
    if not is_newest:
        market = snapshot.price
    elif market is None:
        market = price_now(store, snapshot)
    reach = store.daily_ranges.get(store.focus)
    long = _long_percent(snapshot)
    earlier = None if before is None else _long_percent(before)
    return BookFigures(
        kind=kind,
        snapshot=snapshot,
        market=market,
        is_newest=is_newest,
        long=long,
        change=None if long is None or earlier is None else long - earlier,
        since_ns=0 if before is None else before.time_ns,
        clusters=clusters(kind, snapshot.buckets, snapshot.width, market, Decimal(reach or 0)),
        has_reach=bool(reach),
        losing=under_water(
            snapshot.buckets, snapshot.width, market, below=snapshot.below, above=snapshot.above
        ),
    )


def _long_percent(snapshot: BookSnapshot) -> Decimal | None:
    """Return the long share; None where the whole book is empty."""
    long, short = sums_of(snapshot.buckets)
    below, above = snapshot.below, snapshot.above
    if long_percent((long + below[0] + above[0], short + below[1] + above[1])) is None:
        return None
    return snapshot.long_percent


def cluster_text(cluster: Cluster, price_format: PriceFormat) -> SafeText:
    """Return a cluster with its distance: `buy stops +42p`."""
    pips = price_format.pips(cluster.distance)
    places = 0 if abs(pips) >= WHOLE_PIPS_FROM else 1
    return safe(f"{cluster.kind} {show.pips(pips, places)}p")


def price_now(store: Store, snapshot: BookSnapshot) -> Decimal:
    """Return the instrument's mid price; that of the snapshot where there is no newer one."""
    quote = store.quotes.get(store.focus)
    return snapshot.price if quote is None else (quote.bid + quote.ask) / 2


def trouble_of(store: Store, kind: BookKind) -> str:
    """Return why there is no book or no newer one, else ""."""
    book = store.books.get((store.focus, kind))
    return "" if book is None else book.trouble


def own_text(store: Store, low: Decimal, high: Decimal) -> str:
    """Return the words of own entries, stops, targets and orders from one price up to another: `own stop, limit`."""
    words = [
        line.text
        for line in own_lines(store, store.focus)
        if float(low) <= line.price < float(high)
    ]
    return f"own {', '.join(dict.fromkeys(words))}" if words else ""
