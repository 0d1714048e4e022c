"""Plain records of prices, trades, positions, orders and the account: the store holds them, `calc` computes with them.

Those of the account itself are the client library's, which folds transactions into them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Literal, NamedTuple

from msgspec import Struct, field

from keydesk_client.account.records import (
    AccountFigures,
    DependentOrder,
    OpenPosition,
    OpenTrade,
    PendingOrder,
)
from keydesk_client.arithmetic.depth import OfferedLevel

__all__ = [
    "AccountState",
    "Command",
    "CommandKind",
    "CommandState",
    "Day",
    "DayLine",
    "DependentOrder",
    "OrderRow",
    "PositionRow",
    "Quote",
    "Task",
    "Today",
    "TradeRow",
    "id_order",
    "is_unprotected",
]

TradeRow = OpenTrade
PositionRow = OpenPosition
OrderRow = PendingOrder


class Task(Enum):
    """What a trader does, in the order of a day."""

    READ = "Read the market"
    OPEN = "Open"
    MANAGE = "Manage"
    CLOSE = "Close"
    REVIEW = "Review"
    PRACTISE = "Practise"
    MOVE = "Move and arrange"


def is_unprotected(trade: TradeRow) -> bool:
    """Return whether nothing stops the trade; False while that is not known."""
    return trade.is_unprotected


CommandKind = Literal["open", "replace", "cancel", "close trade", "close position", "protection"]
CommandState = Literal["sent", "unknown", "unconfirmed"]


class Quote(Struct):
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
    bids: tuple[OfferedLevel, ...] = ()  # best first, as they came
    asks: tuple[OfferedLevel, ...] = ()


class Day(Struct):
    """The trading day of one instrument, 17:00 New York to 17:00; mid prices."""

    previous_close: Decimal
    high: Decimal
    low: Decimal
    previous_high: Decimal | None = None
    previous_low: Decimal | None = None


class DayLine(Struct, frozen=True):
    """Some mid prices of one trading day, evenly spread up to the last load; for drawing, so floats."""

    start_ns: int
    path: tuple[float, ...]


@dataclass(slots=True)
class AccountState(AccountFigures):
    """The account strip's numbers: the account's totals and the trading day; home currency."""

    day_pl: Decimal | None = None  # since 17:00 New York, transfers left out
    day_start_nav: Decimal | None = None  # at 17:00 New York, counted back from what was booked
    day_transfers: Decimal = Decimal(0)  # paid in or out since then


class StartPrice(NamedTuple):
    """The last bid and ask before a trading day began."""

    bid: Decimal
    ask: Decimal


class Today(Struct):
    """What was booked on the account since the trading day began; home currency."""

    start_ns: int
    booked: Decimal = Decimal(0)  # realized, financing and fees
    transfers: Decimal = Decimal(0)
    unrealized_then: Decimal | None = None  # of the trades open at the start; None: not known
    start_nav: Decimal | None = None  # where that cannot be counted: as it was seen first
    start_prices: Mapping[str, StartPrice] = field(default_factory=dict)  # by instrument
    wants_count: bool = (
        False  # from the broker's transactions and prices: it began, or financing came
    )


class OpeningCosts(Struct, frozen=True):
    """What opening a trade cost beside the spread, home currency; positive amounts were paid."""

    commission: Decimal = Decimal(0)
    guarantee: Decimal = Decimal(0)  # the fee of a guaranteed stop


class ClosedTrade(Struct, frozen=True):
    """The result of a trade that was closed in full, parts closed before included; home currency."""

    trade_id: str
    time_ns: int
    result: Decimal


class Command(Struct, frozen=True):
    """A command to the broker: its words, how far it is, and the values that its outcome is compared with."""

    text: str  # "BUY 50,000 EUR/USD at market", "CLOSE all of #6411 EUR/USD"
    again: str = ""  # the key map's name of what to press again: "buy"; then the key itself
    id: str = ""  # of its intent
    instrument: str | None = None  # None: it is not known which, so it may be any of them
    kind: CommandKind = "open"
    expected: Decimal | None = None  # the price seen, of a market order
    order_price: Decimal | None = None  # of an order that names one
    bound: Decimal | None = None
    pip: Decimal | None = None
    done: str = ""  # "CANCELLED BUY 20,000 EUR/USD limit 1.08200 #6415", where DONE alone says less
    milliseconds: float | None = None  # from sending to the answer
    state: CommandState = "sent"  # until its outcome is known: sent, being looked up, not found
    look_ups: int = 0  # how many were answered
    why: str = ""  # no answer says what became of it: "503: Down for maintenance"

    def concerns(self, instrument: str) -> bool:
        """Whether it may change what is held of the instrument."""
        return self.instrument is None or self.instrument == instrument

    @property
    def line(self) -> str:
        """The command and its state, as the desk shows them."""
        match self.state:
            case "sent":
                return f"{self.text}: sent"
            case "unknown":
                line = f"UNKNOWN {self.text}: {self.why}, looking it up"
                return f"{line} (look {self.look_ups})" if self.look_ups else line
            case "unconfirmed":
                return f"UNCONFIRMED {self.text}"


def id_order(id_: str) -> tuple[int, str]:
    """Return the sort key of an id: numbers in numerical order; ids that are not numbers are ordered, too."""
    return len(id_), id_
