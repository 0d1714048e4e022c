"""The account: its orders, trades and positions, and the state machines of orders and trades.

Orders, trades and positions are immutable values; the tables of the account that hold them change in place. A copy of the
account shares the values, so that a decision can change its own copy and leave the account as it was. The account is the
fold of its transactions and of the marks of its orders.

The order state TRIGGERED is a leftover of one-cancels-all orders: no current order ends there, so no transition leads to it.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from keydesk_practice.engine.commands import ClientExtensions
from keydesk_practice.engine.quotes import ZERO, ZERO_MONEY, GuaranteedMode
from keydesk_practice.engine.transactions import (
    DependentOrderCreated,
    EntryOrderCreated,
    OrderCreated,
)
from keydesk_practice.engine.wire_form import Id, Timestamp

OrderState = Literal["PENDING", "FILLED", "TRIGGERED", "CANCELLED"]
TradeState = Literal["OPEN", "CLOSED", "CLOSE_WHEN_TRADEABLE"]
OrderEvent = Literal["MARKED", "EXTENSIONS_MODIFIED", "FILLED", "CANCELLED"]
TradeEvent = Literal["EXTENSIONS_MODIFIED", "FINANCED", "REDUCED", "CLOSED", "CLOSE_OWED"]
Kind = Literal["take_profit", "stop_loss", "trailing_stop_loss", "guaranteed_stop_loss"]

KINDS: tuple[Kind, ...] = (
    "take_profit",
    "stop_loss",
    "trailing_stop_loss",
    "guaranteed_stop_loss",
)

ORDER_TRANSITIONS: Mapping[tuple[OrderState, OrderEvent], OrderState] = {
    ("PENDING", "MARKED"): "PENDING",  # a trailing stop moved
    ("PENDING", "EXTENSIONS_MODIFIED"): "PENDING",
    ("PENDING", "FILLED"): "FILLED",
    ("PENDING", "CANCELLED"): "CANCELLED",  # also by a replacement
}

TRADE_TRANSITIONS: Mapping[tuple[TradeState, TradeEvent], TradeState] = {
    ("OPEN", "EXTENSIONS_MODIFIED"): "OPEN",
    ("OPEN", "FINANCED"): "OPEN",
    ("OPEN", "REDUCED"): "OPEN",
    ("OPEN", "CLOSED"): "CLOSED",
    ("OPEN", "CLOSE_OWED"): "CLOSE_WHEN_TRADEABLE",
    ("CLOSE_WHEN_TRADEABLE", "EXTENSIONS_MODIFIED"): "CLOSE_WHEN_TRADEABLE",
    ("CLOSE_WHEN_TRADEABLE", "FINANCED"): "CLOSE_WHEN_TRADEABLE",
    ("CLOSE_WHEN_TRADEABLE", "REDUCED"): "CLOSE_WHEN_TRADEABLE",
    ("CLOSE_WHEN_TRADEABLE", "CLOSED"): "CLOSED",
}

TIMES_IN_FORCE: Mapping[str, frozenset[str]] = {
    "MARKET": frozenset({"FOK", "IOC"}),
    "LIMIT": frozenset({"GTC", "GTD", "GFD", "FOK", "IOC"}),
    "STOP": frozenset({"GTC", "GTD", "GFD", "FOK", "IOC"}),
    "MARKET_IF_TOUCHED": frozenset({"GTC", "GTD", "GFD"}),
    "TAKE_PROFIT": frozenset({"GTC", "GTD", "GFD"}),
    "STOP_LOSS": frozenset({"GTC", "GTD", "GFD"}),
    "GUARANTEED_STOP_LOSS": frozenset({"GTC", "GTD", "GFD"}),
    "TRAILING_STOP_LOSS": frozenset({"GTC", "GTD", "GFD"}),
}

_KIND_OF: dict[str, Kind] = {
    "TAKE_PROFIT": "take_profit",
    "STOP_LOSS": "stop_loss",
    "TRAILING_STOP_LOSS": "trailing_stop_loss",
    "GUARANTEED_STOP_LOSS": "guaranteed_stop_loss",
}


class ImpossibleTransition(Exception):
    """An order or trade got an event that its state does not allow: a bug in the engine."""


def order_after(state: OrderState, event: OrderEvent) -> OrderState:
    """Return the state of an order after an event."""
    if (state, event) not in ORDER_TRANSITIONS:
        raise ImpossibleTransition(f"order in state {state} got event {event}")
    return ORDER_TRANSITIONS[state, event]


def trade_after(state: TradeState, event: TradeEvent) -> TradeState:
    """Return the state of a trade after an event."""
    if (state, event) not in TRADE_TRANSITIONS:
        raise ImpossibleTransition(f"trade in state {state} got event {event}")
    return TRADE_TRANSITIONS[state, event]


def kind_of(order_type: str) -> Kind:
    """Return the kind of dependent order of an order type on the wire."""
    return _KIND_OF[order_type]


class Trigger(NamedTuple):
    """The trigger of a resting order: a price side at or below (else at or above) a level."""

    order_id: int
    side: Literal["bid", "ask", "mid"]
    below: bool
    level: Decimal


class OrderPriceLevel(NamedTuple):
    """A price level that an order got from the market, without a transaction.

    It is the current `trailingStopValue` of a trailing stop or the `initialMarketPrice` of a market-if-touched order.
    """

    order_id: int
    level: Decimal


class Order(Struct, frozen=True, kw_only=True):
    """An order: its creating transaction and its state since then."""

    created: OrderCreated
    instrument: str
    buys: bool
    state: OrderState = "PENDING"
    client_extensions: ClientExtensions | None = None
    trade_client_extensions: ClientExtensions | None = None
    expires: Timestamp | None = None
    mark: Decimal | None = None
    filling_transaction_id: Id | None = None
    filled_time: Timestamp | None = None
    trade_opened_id: Id | None = None
    trade_reduced_id: Id | None = None
    trade_closed_ids: tuple[Id, ...] | None = None
    cancelling_transaction_id: Id | None = None
    cancelled_time: Timestamp | None = None
    replaced_by_order_id: Id | None = None

    @property
    def id(self) -> int:
        """The id: that of the creating transaction."""
        return self.created.id

    @property
    def client_id(self) -> str | None:
        """The client id, None if the client gave none."""
        return self.client_extensions.id if self.client_extensions else None

    @property
    def entry(self) -> EntryOrderCreated | None:
        """The creating transaction of an order that may open a trade; None for a dependent order."""
        return self.created if isinstance(self.created, EntryOrderCreated) else None

    @property
    def dependent(self) -> DependentOrderCreated | None:
        """The creating transaction of a dependent order; None for an entry order."""
        return self.created if isinstance(self.created, DependentOrderCreated) else None


class Trade(Struct, frozen=True, kw_only=True):
    """A trade; units are signed."""

    id: Id
    instrument: str
    price: Decimal
    open_time: Timestamp
    initial_units: Decimal
    initial_margin_required: Decimal
    current_units: Decimal
    state: TradeState = "OPEN"
    realized_pl: Decimal = ZERO_MONEY
    financing: Decimal = ZERO_MONEY
    dividend_adjustment: Decimal = ZERO_MONEY
    closing_value: Decimal = ZERO  # closed units times their prices, for the average
    closing_transaction_ids: tuple[Id, ...] | None = None
    close_time: Timestamp | None = None
    close_owed_by: Id | None = None  # the DELAYED_TRADE_CLOSURE
    client_extensions: ClientExtensions | None = None
    take_profit_id: Id | None = None
    stop_loss_id: Id | None = None
    trailing_stop_loss_id: Id | None = None
    guaranteed_stop_loss_id: Id | None = None

    @property
    def long(self) -> bool:
        """Whether the trade was bought."""
        return self.initial_units > 0

    @property
    def client_id(self) -> str | None:
        """The client id, None if the client gave none."""
        return self.client_extensions.id if self.client_extensions else None

    @property
    def dependents(self) -> dict[Kind, int]:
        """The ids of the trade's pending dependent orders by kind."""
        ids: dict[Kind, int | None] = {
            "take_profit": self.take_profit_id,
            "stop_loss": self.stop_loss_id,
            "trailing_stop_loss": self.trailing_stop_loss_id,
            "guaranteed_stop_loss": self.guaranteed_stop_loss_id,
        }
        return {kind: order_id for kind, order_id in ids.items() if order_id is not None}


class Side(Struct, frozen=True, kw_only=True):
    """One direction of a position; units are signed."""

    units: Decimal = ZERO
    value: Decimal = ZERO  # units times open prices
    trade_ids: tuple[Id, ...] = ()
    pl: Decimal = ZERO_MONEY
    financing: Decimal = ZERO_MONEY
    dividend_adjustment: Decimal = ZERO_MONEY
    guaranteed_execution_fees: Decimal = ZERO_MONEY


class Position(Struct, frozen=True, kw_only=True):
    """The position of an instrument, with the totals of all that was ever traded of it."""

    instrument: str
    commission: Decimal = ZERO_MONEY
    long: Side = Side()
    short: Side = Side()

    @property
    def is_open(self) -> bool:
        """Whether the position has open trades."""
        return bool(self.long.trade_ids or self.short.trade_ids)


Mutability = Literal["FIXED", "REPLACEABLE", "CANCELABLE", "PRICE_WIDEN_ONLY"]


class Terms(Struct, frozen=True, kw_only=True):
    """The terms of the account: fixed when it is opened, changed by no transaction."""

    currency: str
    hedging: bool = False
    fifo: bool = False  # the rules of a US division
    exclusive_stops: bool = False  # some divisions forbid a stop-loss beside a trailing one
    guaranteed_mode: GuaranteedMode = "ALLOWED"
    guaranteed_mutability_open: Mutability = "CANCELABLE"
    guaranteed_mutability_halted: Mutability = "PRICE_WIDEN_ONLY"
    max_open_trades: int = 1000
    max_pending_orders: int = 1000
    # Currencies are financed on their base units by most divisions, on their value in the quote currency by the US one.
    financing_in: Literal["BASE", "QUOTE"] = "BASE"


class EndedRecords:
    """Filled and cancelled orders and closed trades: readable, and never changed again.

    `below` are the ended records of the account that this one was copied from.
    """

    def __init__(self, below: "EndedRecords | None" = None) -> None:
        self._below = below
        self._orders: dict[int, Order] = {}
        self._trades: dict[int, Trade] = {}

    def order(self, order_id: int) -> Order | None:
        """Return an ended order, None if there is none."""
        order = self._orders.get(order_id)
        return self._below.order(order_id) if order is None and self._below else order

    def trade(self, trade_id: int) -> Trade | None:
        """Return a closed trade, None if there is none."""
        trade = self._trades.get(trade_id)
        return self._below.trade(trade_id) if trade is None and self._below else trade

    def keep_order(self, order: Order) -> None:
        """Add an ended order."""
        self._orders[order.id] = order

    def keep_trade(self, trade: Trade) -> None:
        """Add a closed trade."""
        self._trades[trade.id] = trade

    def orders(self) -> Iterator[Order]:
        """Return the ended orders, unordered."""
        return iter(self._orders.values())

    def trades(self) -> Iterator[Trade]:
        """Return the closed trades, unordered."""
        return iter(self._trades.values())


class Account(Struct, kw_only=True):
    """One account; only `apply` changes it."""

    id: str
    user_id: int
    terms: Terms
    alias: str | None = None
    margin_rate: Decimal | None = None
    created_time: int = 0
    last_transaction_id: int = 0
    last_order_fill_time: int | None = None
    balance: Decimal = ZERO_MONEY
    pl: Decimal = ZERO_MONEY
    financing: Decimal = ZERO_MONEY
    commission: Decimal = ZERO_MONEY
    dividend_adjustment: Decimal = ZERO_MONEY
    guaranteed_execution_fees: Decimal = ZERO_MONEY
    margin_call_enter_time: int | None = None
    margin_call_extension_count: int = 0
    last_margin_call_extension_time: int | None = None
    orders: dict[int, Order] = field(default_factory=dict)  # pending, oldest first
    trades: dict[int, Trade] = field(default_factory=dict)  # open, oldest first
    positions: dict[str, Position] = field(default_factory=dict)
    order_ids: dict[str, int] = field(default_factory=dict)  # of pending orders, by client id
    trade_ids: dict[str, int] = field(default_factory=dict)  # of open trades, by client id
    triggers: dict[str, tuple[Trigger, ...]] = field(default_factory=dict)  # by instrument
    expiries: dict[int, int] = field(default_factory=dict)  # of pending orders
    ended: EndedRecords = field(default_factory=EndedRecords)

    @property
    def currency(self) -> str:
        """The home currency."""
        return self.terms.currency

    def copy(self) -> "Account":
        """Return a copy that can change independently."""
        held = asdict(self).items()
        copies = {name: value.copy() for name, value in held if isinstance(value, dict)}
        return replace(self, **copies, ended=EndedRecords(self.ended))

    def order(self, order_id: int) -> Order | None:
        """Return an order, pending or ended."""
        return self.orders.get(order_id) or self.ended.order(order_id)

    def trade(self, trade_id: int) -> Trade | None:
        """Return a trade, open or closed."""
        return self.trades.get(trade_id) or self.ended.trade(trade_id)

    def position(self, instrument: str) -> Position:
        """Return the position of an instrument, an empty one when it was never traded."""
        return self.positions.get(instrument) or Position(instrument=instrument)


def id_in(specifier: str) -> int | None:
    """Return the id in a specifier (an id, or `@` and a client id), None for anything else."""
    is_id = specifier.isascii() and specifier.isdecimal() and len(specifier) <= 18  # noqa: PLR2004 - beyond any id
    return int(specifier) if is_id else None


def client_id_in(specifier: str) -> str | None:
    """Return the client id in a specifier, None for an id."""
    return specifier[1:] if specifier.startswith("@") else None


def pending_order(account: Account, specifier: str) -> Order | None:
    """Return the pending order that a specifier names."""
    client_id = client_id_in(specifier)
    order_id = id_in(specifier) if client_id is None else account.order_ids.get(client_id)
    return account.orders.get(order_id or 0)


def open_trade(account: Account, specifier: str) -> Trade | None:
    """Return the open trade that a specifier names."""
    client_id = client_id_in(specifier)
    trade_id = id_in(specifier) if client_id is None else account.trade_ids.get(client_id)
    return account.trades.get(trade_id or 0)
