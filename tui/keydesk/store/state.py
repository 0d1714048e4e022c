"""Records of the store: topics, candles, books, health, notices and arming."""

from collections import deque
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Literal, LiteralString

from msgspec import Struct, field

from keydesk.calc.market.client_books import NO_SIDES, BookBucket, Sides
from keydesk.text.sanitize import Printable
from keydesk.words.outages import Outage

BookKind = Literal["orders", "positions"]
PastDirection = Literal["", "older", "newer", "first"]  # of lines of the log
CandlePrices = Literal["M", "B", "A", "SB", "SA"]
"""Mid, bid, ask; bid and ask that the chosen size trades at, through the depth."""
Zoom = Literal["line", "double", "narrow", "wide", "widest"]  # of candles, the most of them first
USUAL_ZOOM: Zoom = "narrow"
LinkState = Literal["OK", "SLOW", "STALE", "DOWN", "CONNECTING"]
NoticeLevel = Literal["info", "good", "warn", "bad"]
SIGN_OF: Mapping[NoticeLevel, LiteralString] = {"info": "·", "good": "✓", "warn": "!", "bad": "✗"}
CURRENT: frozenset[LinkState] = frozenset(("OK", "SLOW"))  # of a stream whose data is the newest


REACH = 120  # buckets kept above and below the price: more than a chart of hours or a pane shows


class Topic(StrEnum):
    """One kind of change; a pane draws the topics it names."""

    PRICES = "prices"  # keys: instrument names
    ACCOUNT = "account"
    TRADES = "trades"  # keys: trade ids
    POSITIONS = "positions"  # keys: instrument names
    ORDERS = "orders"  # keys: order ids
    LOG = "log"  # keys: none, the log only grows
    PAST_LOG = "past log"  # older lines are wanted, came or could not be read
    CANDLES = "candles"  # keys: (instrument, granularity)
    BOOKS = "books"  # keys: instrument names
    INDICATORS = "indicators"  # the trader chose others; keys: instrument names
    INSTRUMENTS = "instruments"
    DAY_LINES = "day lines"  # keys: instrument names
    FOCUS = "focus"  # the instrument that chart, ticket and books show
    HEALTH = "health"
    NOTICES = "notices"
    ARMING = "arming"
    MARKET = "market"  # of practice: its clock, replay, shocks and faults
    ALERTS = "alerts"
    LEVELS = "levels"  # the trader's own prices on the charts
    CLOCK = (
        "clock"  # the broker's time went on by minutes at once, as a step of a practice market does
    )


class Candle(Struct, frozen=True):
    """One period, for drawing; float is allowed there."""

    time_ns: int
    open: float
    high: float
    low: float
    close: float
    complete: bool
    volume: int = 0


class AverageRange(Struct, frozen=True):
    """The average true range of an instrument's hourly candles, the unit of distances such as 1.5a."""

    value: Decimal | None  # price units; None: too few candles
    until_ns: int  # when the next candle is complete
    read_ns: int  # the broker's time at which the candles were read


class PastCandles(Struct):
    """A window of the past that a chart shows, oldest first without gap; prices do not move it."""

    candles: list[Candle] = field(default_factory=list)
    wants: Literal["", "older", "newer", "date"] = ""
    date_ns: int = 0  # that it was asked for
    reaches_start: bool = False  # the service has none that are older
    is_loaded: bool = False  # what was asked for by date has come, or failed
    is_of_last_date: bool = (
        False  # until then, and if it failed: the candles are those of the window before
    )


class CandleSeries(Struct):
    """The candles of one instrument and granularity, oldest first; the last one is not complete."""

    instrument: str
    granularity: str
    prices: CandlePrices = "M"
    candles: list[Candle] = field(default_factory=list)
    loading: bool = True
    error: str = ""  # why the newest candles could not be loaded; old ones stay
    history_error: str = ""  # why older ones, or those of a date, could not be
    rolled_over: int = 0  # candles begun by ticks since the last load
    wants_reload: bool = False  # prices were missed: the candles are to be asked for again
    wants_older: bool = False  # a chart comes near the oldest one
    reaches_start: bool = False  # the service has none that are older
    past: PastCandles | None = None  # farther back than these reach
    loading_history: bool = False

    @property
    def goes_on_in_past(self) -> bool:
        """Whether the window of the past leads on from the oldest candle, without a gap."""
        if self.past is None or not self.past.candles or not self.candles:
            return False
        first, last = self.past.candles[0].time_ns, self.past.candles[-1].time_ns
        return first <= self.candles[0].time_ns <= last


class BookSnapshot(Struct, frozen=True):
    """The clients' orders or positions at one instant; not executable depth."""

    time_ns: int
    price: Decimal  # mid at that instant
    width: Decimal  # of a bucket
    long_percent: Decimal  # of all of them, near the price or not
    buckets: tuple[BookBucket, ...]  # those around the price, lowest first
    below: Sides = NO_SIDES  # sums of the farther ones
    above: Sides = NO_SIDES


class ClientBook(Struct, frozen=True):
    """The last snapshot of one book, those before it, and why a newer one is missing."""

    kind: BookKind
    snapshot: BookSnapshot | None = None
    trouble: str = ""  # in words; an older snapshot stays
    earlier: tuple[BookSnapshot, ...] = ()  # newest first, without a gap; of the focus only
    previous_ns: int | None = None  # time of the snapshot before all of these, where it is known
    reaches_start: bool = False  # the service has none that are earlier

    @property
    def snapshots(self) -> tuple[BookSnapshot, ...]:
        """Return all snapshots, newest first."""
        return () if self.snapshot is None else (self.snapshot, *self.earlier)

    def at(self, time_ns: int) -> tuple[BookSnapshot | None, BookSnapshot | None]:
        """Return the newest snapshot that is no later than a time (0: the newest of all), and the one before it.

        Where all are later, the oldest.
        """
        held = self.snapshots
        if not held:
            return None, None
        later = sum(each.time_ns > time_ns for each in held) if time_ns else 0
        place = min(later, len(held) - 1)
        return held[place], held[place + 1] if place + 1 < len(held) else None


class Health(Struct):
    """How current the desk's data is; ages in seconds, None before the first item."""

    environment: Literal["PRACTICE", "LIVE"] = "PRACTICE"
    prices: LinkState = "CONNECTING"
    events: LinkState = "CONNECTING"
    requests: LinkState = "OK"  # polled data, not streamed
    unanswered_since: float | None = (
        None  # monotonic seconds; the oldest request, once it is 2 s old
    )
    prices_at: float | None = None  # monotonic seconds of the last line, heartbeats count
    unchecked: bool = False  # prices were interrupted, and the account was not compared since
    events_at: float | None = None
    rtt_ms: float | None = None
    rtt_p95_ms: float | None = None
    clock_offset_ms: float | None = None
    event_losses: int = 0  # how often the transaction stream was lost
    throttled: int = 0  # 429 answers
    unreadable: int = 0  # records that could not be read and were left out
    unreadable_at: float | None = None  # monotonic seconds of the last one, as far as noticed
    restarted: dict[str, float] = field(default_factory=dict)  # feeds that failed, and when
    outage: Outage | None = None
    warning: str = ""  # fold and poll disagree, journal trouble ...; words for the trader


CONNECTION = "connection"  # the name under which notices of the connection replace each other


class Notice(Struct, frozen=True):
    """A message to the trader."""

    level: NoticeLevel
    text: Printable
    time_ns: int
    asks: bool = False  # it wants something done, as every bad one does
    seen: bool = False
    outcome: str = ""  # the intent id of the command whose outcome it reports
    sums_up: str = (
        ""  # the commands whose end it reports: it stays above theirs, until it is replaced
    )
    unprotected: str = ""  # the trade that it says has no stop
    # When the account was created that it is about; 0: it is about none, None: the store knows. A replay has accounts of its own.
    ledger: int | None = None
    came: float | None = None  # monotonic seconds of the first frame after it
    painted: float | None = None  # monotonic seconds since when all of it is on the screen

    @property
    def waits(self) -> bool:
        """Whether it stays on the screen until it is seen."""
        return (self.asks or self.level == "bad") and not self.seen


MAX_UNRECORDED = 100  # entries from before the account is known


class AuditTrail(Struct):
    """What the desk records of what touches money: the first entries wait until an audit log is open."""

    waiting: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=MAX_UNRECORDED))
    listeners: list[Callable[[str, str], None]] = field(default_factory=list)

    def record(self, what: str, text: str) -> None:
        """Hand an entry on; keep it while nothing listens."""
        if not self.listeners:
            self.waiting.append((what, text))
        for listener in self.listeners:
            listener(what, text)

    def listen(self, listener: Callable[[str, str], None]) -> None:
        """Hand entries to a listener from now on; the first one gets those that wait."""
        self.listeners.append(listener)
        while self.waiting:
            listener(*self.waiting.popleft())


class Arming(Struct):
    """Whether risk can be opened from the keyboard."""

    level: Literal["ARMED", "DISARMED", "READ-ONLY"] = "DISARMED"
    reason: str = ""
