"""Plain records of prices, trades, positions, orders and the account: the store holds them, `calc` computes with them."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

InFlightKind = Literal["open", "replace", "cancel", "close trade", "close position", "protection"]
InFlightState = Literal["sent", "unknown", "unconfirmed"]


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
    previous_high: Decimal | None = None
    previous_low: Decimal | None = None


@dataclass(frozen=True, slots=True)
class DayLine:
    """Some mid prices of one trading day, evenly spread up to the last load; for drawing, so floats."""

    start_ns: int
    path: tuple[float, ...]


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


@dataclass(frozen=True, slots=True)
class ClosedTrade:
    """The result of a trade that was closed in full, parts closed before included; home currency."""

    trade_id: str
    time_ns: int
    result: Decimal


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


def id_order(id_: str) -> tuple[int, str]:
    """Return the sorting key of an id: by number; one that is no number has its place, too."""
    return len(id_), id_
