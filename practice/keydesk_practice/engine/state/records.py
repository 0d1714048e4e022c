"""Orders, trades and positions as immutable values, and the state machines of orders and trades.

The order state TRIGGERED is a leftover of one-cancels-all orders: no current order ends there, so no transition leads to it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from keydesk_practice.engine.commands import ClientExtensions
from keydesk_practice.engine.quotes import ZERO, ZERO_MONEY
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

ORDER_LIFE: Mapping[tuple[OrderState, OrderEvent], OrderState] = {
    ("PENDING", "MARKED"): "PENDING",  # a trailing stop moved
    ("PENDING", "EXTENSIONS_MODIFIED"): "PENDING",
    ("PENDING", "FILLED"): "FILLED",
    ("PENDING", "CANCELLED"): "CANCELLED",  # also by a replacement
}

TRADE_LIFE: Mapping[tuple[TradeState, TradeEvent], TradeState] = {
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
    if (state, event) not in ORDER_LIFE:
        raise ImpossibleTransition(f"order in state {state} got event {event}")
    return ORDER_LIFE[state, event]


def trade_after(state: TradeState, event: TradeEvent) -> TradeState:
    """Return the state of a trade after an event."""
    if (state, event) not in TRADE_LIFE:
        raise ImpossibleTransition(f"trade in state {state} got event {event}")
    return TRADE_LIFE[state, event]


def kind_of(order_type: str) -> Kind:
    """Return the kind of dependent order of an order type on the wire."""
    return _KIND_OF[order_type]


class Trigger(NamedTuple):
    """The trigger of a resting order: a price side at or below (else at or above) a level."""

    order_id: int
    side: Literal["bid", "ask", "mid"]
    below: bool
    level: Decimal


class Mark(NamedTuple):
    """A price level that an order got from the market, without a transaction.

    It is the current `trailingStopValue` of a trailing stop or the `initialMarketPrice` of a market-if-touched order.
    """

    order_id: int
    level: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One direction of a position; units are signed."""

    units: Decimal = ZERO
    value: Decimal = ZERO  # units times open prices
    trade_ids: tuple[Id, ...] = ()
    pl: Decimal = ZERO_MONEY
    financing: Decimal = ZERO_MONEY
    dividend_adjustment: Decimal = ZERO_MONEY
    guaranteed_execution_fees: Decimal = ZERO_MONEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The position of an instrument, with the totals of all that was ever traded of it."""

    instrument: str
    commission: Decimal = ZERO_MONEY
    long: Side = Side()
    short: Side = Side()

    @property
    def is_open(self) -> bool:
        """Whether the position has open trades."""
        return bool(self.long.trade_ids or self.short.trade_ids)
