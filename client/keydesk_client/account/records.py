"""Plain records of an account that is followed: figures, open trades, positions and pending orders.

They are changed in place as transactions and prices come, so that a reference to one stays current until it ends.
Amounts are in home currency unless noted; None means not known (yet).
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, Literal, TypeAlias


class Part(StrEnum):
    """A part of an account that changes as one."""

    ACCOUNT = "account"
    TRADES = "trades"  # keys: trade ids
    POSITIONS = "positions"  # keys: instrument names
    ORDERS = "orders"  # keys: order ids


DependentType: TypeAlias = Literal["take_profit", "stop_loss", "trailing_stop", "guaranteed_stop"]
"""The attribute of an open trade that holds a dependent order."""


STOP_MEMBERS: Final = frozenset(
    {"stop_loss_order_id", "trailing_stop_loss_order_id", "guaranteed_stop_loss_order_id"}
)
"""Members of a trade that name its stops."""
SIZE_MEMBERS: Final = frozenset({"id", "current_units"})
"""Members of a trade without which no sum over trades can be made."""


@dataclass(slots=True)
class DependentOrder:
    """A take-profit, stop-loss, trailing or guaranteed stop of one trade."""

    order_id: str
    price: Decimal | None
    distance: Decimal | None = None


@dataclass(slots=True)
class OpenTrade:
    """One open trade with its live numbers."""

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
    comment: str = ""
    take_profit: DependentOrder | None = None
    stop_loss: DependentOrder | None = None
    trailing_stop: DependentOrder | None = None
    guaranteed_stop: DependentOrder | None = None
    initial_stop: Decimal | None = None  # the first stop seen within 60 s of the fill
    initial_risk: Decimal | None = None  # home currency from entry to it; R is measured by this
    initial_premium: Decimal = Decimal(0)  # of an initial stop that is guaranteed, price units
    opened_closing: Decimal | None = None  # closing-side price at the fill; None: not known
    opened_loss_factor: Decimal | None = None  # quote to home currency at the fill, likewise
    now: Decimal | None = None  # closing-side price
    pips: Decimal | None = None
    unrealized_pl: Decimal | None = None
    r_multiple: Decimal | None = None
    risk: Decimal | None = None  # home currency to the stop, 0 past the entry; None: no stop
    locked: Decimal | None = None  # home currency that the stop wins once it is past the entry
    margin_used: Decimal | None = None
    client_id: str | None = None
    unread: frozenset[str] = frozenset()
    """Members that the last snapshot had and that could not be read: what the row has of them is older, or empty.

    `id`: no record of the snapshot can be told to be that of this trade, so it may be closed.
    """

    @property
    def is_unprotected(self) -> bool:
        """Whether nothing stops it; False while that is not known."""
        stops = self.stop_loss or self.trailing_stop or self.guaranteed_stop
        return not (stops or self.unread & STOP_MEMBERS)


@dataclass(slots=True)
class OpenPosition:
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

    @property
    def units(self) -> Decimal:
        """The net units: positive long, negative short."""
        return self.long_units + self.short_units


@dataclass(slots=True)
class PendingOrder:
    """One pending order; dependents carry their trade's id."""

    id: str
    type: str  # as on the wire: LIMIT, STOP, TAKE_PROFIT ...
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
    premium: Decimal = Decimal(0)  # of a guaranteed stop, price units
    on_fill: bool = False  # known to be set by the fill that opened its trade
    tag: str = ""
    comment: str = ""
    trigger: str = "DEFAULT"  # the price side that triggers it, as on the wire


@dataclass(frozen=True, slots=True)
class Unread:
    """What the service's newest answers about the account hold and could not be read: it is not known, and not nothing."""

    trades: tuple[str, ...] = ()
    """Of each trade that has no row, what could be read of its record."""
    orders: tuple[str, ...] = ()
    """The same of pending orders."""
    answer: str = ""
    """Why the newest answer as a whole, or a part of it that names no single trade or order, could not be read."""

    def __bool__(self) -> bool:
        return bool(self.trades or self.orders or self.answer)


@dataclass(slots=True)
class AccountFigures:
    """The account's totals, in home currency."""

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
    pl: Decimal  # realized over the account's life
    financing: Decimal
    last_transaction_id: int  # as a number; `newest` of a followed account is the TransactionID
    created_time_ns: int
    mid_nav: Decimal | None = None  # with trades at mid prices, by which the closeout is decided
    open_risk: Decimal | None = None  # to the stops
    unprotected_trades: int = 0  # open trades without any stop
