"""What the desk knows at one instant: plain records, written by the feeds, read by the panes."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from keydesk.text.sanitize import Printable


class Topic(StrEnum):
    """One kind of thing that can change; a pane listens to the topics it draws."""

    PRICES = "prices"  # keys: instrument names
    ACCOUNT = "account"
    TRADES = "trades"  # keys: trade ids
    POSITIONS = "positions"  # keys: instrument names
    ORDERS = "orders"  # keys: order ids
    LOG = "log"  # keys: none, the log only grows
    CANDLES = "candles"  # keys: (instrument, granularity)
    BOOKS = "books"  # keys: instrument names
    INSTRUMENTS = "instruments"
    FOCUS = "focus"  # the instrument that chart, ticket and books show
    HEALTH = "health"
    NOTICES = "notices"
    ARMING = "arming"


@dataclass(slots=True)
class Quote:
    """The latest price of one instrument."""

    instrument: str
    bid: Decimal
    ask: Decimal
    time_ns: int  # the broker's time, nanoseconds since 1970 UTC
    tradeable: bool
    received: float  # monotonic seconds when it came in
    bid_move: int = 0  # +1 up, -1 down, 0 unchanged at the last change
    ask_move: int = 0
    moved_at: float = 0.0  # monotonic seconds of the last change, drives the flash


@dataclass(slots=True)
class Day:
    """The trading day of one instrument, 17:00 New York to 17:00; mid prices."""

    previous_close: Decimal
    high: Decimal
    low: Decimal


@dataclass(slots=True)
class DependentOrder:
    """A take-profit, stop-loss, trailing or guaranteed stop of one trade."""

    order_id: str
    price: Decimal | None
    distance: Decimal | None = None


@dataclass(slots=True)
class TradeRow:
    """One open trade with its live numbers (home currency unless said)."""

    id: str
    instrument: str
    units: Decimal  # signed, still open
    initial_units: Decimal
    price: Decimal
    open_time_ns: int
    realized_pl: Decimal
    financing: Decimal
    initial_margin: Decimal
    tag: str = ""
    take_profit: DependentOrder | None = None
    stop_loss: DependentOrder | None = None
    trailing_stop: DependentOrder | None = None
    guaranteed_stop: DependentOrder | None = None
    initial_stop: Decimal | None = None  # the first stop seen within 60 s of the fill
    initial_risk: Decimal | None = None  # home currency from entry to it; R is measured by this
    now: Decimal | None = None  # closing-side price
    pips: Decimal | None = None
    unrealized_pl: Decimal | None = None
    r_multiple: Decimal | None = None
    risk: Decimal | None = None  # home currency to the stop, 0 past the entry; None: no stop
    locked: Decimal | None = None  # home currency that the stop wins once it is past the entry
    margin_used: Decimal | None = None


@dataclass(slots=True)
class PositionRow:
    """All open trades of one instrument."""

    instrument: str
    long_units: Decimal
    long_average: Decimal | None
    short_units: Decimal  # negative or 0
    short_average: Decimal | None
    unrealized_pl: Decimal | None
    margin_used: Decimal | None
    trade_ids: tuple[str, ...]
    mid_pl: Decimal | None = None  # its profit at mid prices
    margin_factor: Decimal = Decimal(1)  # the service's margin over ours when last compared


@dataclass(slots=True)
class OrderRow:
    """One pending order; dependents carry their trade's id."""

    id: str
    type: str  # the wire's word: LIMIT, STOP, TAKE_PROFIT ...
    instrument: str
    units: Decimal | None  # signed; None for a dependent order
    price: Decimal | None
    distance: Decimal | None
    time_in_force: str
    gtd_ns: int | None
    trade_id: str | None
    stop_loss: Decimal | None  # on fill
    take_profit: Decimal | None  # on fill
    client_id: str | None
    create_time_ns: int
    pips_away: Decimal | None = None
    reduces: bool = False  # it may never open anything
    trail: Decimal | None = None  # distance of the trailing stop on fill


@dataclass(slots=True)
class AccountState:
    """The account strip's numbers, home currency."""

    id: str
    alias: str
    currency: str
    hedging: bool
    balance: Decimal
    nav: Decimal
    unrealized_pl: Decimal
    margin_used: Decimal
    margin_available: Decimal
    margin_closeout_percent: Decimal  # 1 means closeout
    margin_rate: Decimal | None
    pl: Decimal  # realised over the account's life
    financing: Decimal
    last_transaction_id: int
    created_time_ns: int
    day_pl: Decimal | None = None  # since 17:00 New York, transfers left out
    open_risk: Decimal | None = None  # to the stops
    naked_trades: int = 0  # open trades without any stop
    mid_nav: Decimal | None = None  # with trades valued at mid prices: what the closeout looks at
    day_start_nav: Decimal | None = None  # at 17:00 New York, counted back from what was booked
    day_transfers: Decimal = Decimal(0)  # paid in or out since then


@dataclass(slots=True)
class Today:
    """What was booked on the account since the trading day began; home currency."""

    start_ns: int
    booked: Decimal = Decimal(0)  # realised, financing and fees
    transfers: Decimal = Decimal(0)
    unrealized_then: Decimal | None = None  # of the trades open at the start; None: not known yet


InFlightKind = Literal["open", "replace", "cancel", "close trade", "close position", "protection"]
InFlightState = Literal["sent", "unknown", "unconfirmed"]


@dataclass(frozen=True, slots=True)
class InFlight:
    """A command whose outcome is not known: sent, being looked up, or not found at the broker."""

    id: str
    instrument: str | None  # None: it is not known which, so it may be any of them
    kind: InFlightKind
    state: InFlightState
    words: str  # the command: "CLOSE all of #6411 EUR/USD"
    look_ups: int = 0  # how many were answered

    def concerns(self, instrument: str) -> bool:
        """Whether it may change what is held of the instrument."""
        return self.instrument is None or self.instrument == instrument

    @property
    def line(self) -> str:
        """The command and its state, as the desk shows them."""
        match self.state:
            case "sent":
                return f"{self.words}: sent"
            case "unknown":
                line = f"UNKNOWN {self.words}: the answer was lost, looking it up"
                return f"{line} (look {self.look_ups})" if self.look_ups else line
            case "unconfirmed":
                return f"UNCONFIRMED {self.words}"


LogKind = Literal[
    "FILL",
    "ORDER",
    "CANCEL",
    "REJECT",
    "CLOSE",
    "FINANCE",
    "FUNDS",
    "CONFIG",
    "MARGIN",
    "LINK",
    "NOTE",
]


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the transaction log; LINK lines are the desk's own words on its connection."""

    id: str  # transaction id, "" for the desk's own lines
    time_ns: int
    kind: LogKind
    instrument: str
    text: Printable
    amount: Decimal | None = None  # what it did to the balance
    pl: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Candle:
    """One period, for drawing (float is allowed in drawing)."""

    time_ns: int
    open: float
    high: float
    low: float
    close: float
    complete: bool
    volume: int = 0


@dataclass(slots=True)
class CandleSeries:
    """The candles of one instrument and granularity, oldest first; the last one is forming."""

    instrument: str
    granularity: str
    candles: list[Candle] = field(default_factory=list)
    loading: bool = True
    error: str = ""  # why the last load failed; old candles stay
    rolled_over: int = 0  # candles begun by ticks since the last load
    wants_reload: bool = False  # prices were missed: the candles are to be asked for again
    wants_older: bool = False  # the trader scrolled to the oldest one
    begins: bool = False  # the service has none that are older


BookKind = Literal["orders", "positions"]


@dataclass(frozen=True, slots=True)
class BookBucket:
    """One price step of a book: the share of all clients' orders or positions there, in percent."""

    price: Decimal  # its low edge, inclusive
    long: Decimal
    short: Decimal


@dataclass(frozen=True, slots=True)
class BookSnapshot:
    """How the service's clients were positioned at one instant; not executable depth."""

    time_ns: int
    price: Decimal  # mid at that instant
    width: Decimal  # of a bucket
    long_percent: Decimal  # of all of them, near the price or not
    buckets: tuple[BookBucket, ...]  # those around the price, lowest first


@dataclass(frozen=True, slots=True)
class ClientBook:
    """The last snapshot of one book, and what stood in the way of a newer one."""

    kind: BookKind
    snapshot: BookSnapshot | None = None
    trouble: str = ""  # in words; an older snapshot stays


LinkState = Literal["OK", "SLOW", "STALE", "DOWN", "CONNECTING"]


@dataclass(slots=True)
class Health:
    """How fresh the desk's knowledge is; ages are seconds, None before the first item."""

    environment: Literal["PRACTICE", "LIVE"] = "PRACTICE"
    prices: LinkState = "CONNECTING"
    events: LinkState = "CONNECTING"
    requests: LinkState = "OK"  # what is asked by itself rather than streamed
    unanswered_since: float | None = (
        None  # monotonic seconds; the oldest request, once it is 2 s old
    )
    prices_heard: float | None = None  # monotonic seconds of the last line, heartbeats count
    events_heard: float | None = None
    rtt_ms: float | None = None
    rtt_p95_ms: float | None = None
    clock_offset_ms: float | None = None
    event_losses: int = 0  # how often the transaction stream was lost
    throttled: int = 0  # 429 answers
    unreadable: int = 0  # records that could not be read and were left out
    unreadable_at: float | None = None  # monotonic seconds of the last one, as far as noticed
    restarted: dict[str, float] = field(default_factory=dict)  # feeds that failed, and when
    warning: str = ""  # fold and poll disagree, journal trouble ...; words for the trader


@dataclass(frozen=True, slots=True)
class Notice:
    """Feedback to the person at the keys."""

    level: Literal["info", "good", "warn", "bad"]
    text: Printable
    time_ns: int
    asks: bool = False  # it wants something done, as every bad one does
    seen: bool = False

    @property
    def waits(self) -> bool:
        """Whether it stays on the screen until it was seen."""
        return (self.asks or self.level == "bad") and not self.seen


@dataclass(slots=True)
class Arming:
    """Whether risk may be opened from the keyboard."""

    level: Literal["ARMED", "DISARMED", "READ-ONLY"] = "DISARMED"
    reason: str = ""


def id_order(id_: str) -> tuple[int, str]:
    """Return the sorting key of an id: by number; one that is no number has its place, too."""
    return len(id_), id_
