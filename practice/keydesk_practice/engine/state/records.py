"""What an account holds: orders, trades and positions as values that are never changed, only replaced.

The lives of orders and trades in one table each; whatever is not in a table cannot happen.

TRIGGERED is a leftover of one-cancels-all orders: no current order ends there, so no row leads to it.
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
OrderEvent = Literal["MARKED", "RELABELLED", "FILLED", "CANCELLED"]
TradeEvent = Literal["RELABELLED", "FINANCED", "REDUCED", "CLOSED", "CLOSE_OWED"]

ORDER_LIFE: Mapping[tuple[OrderState, OrderEvent], OrderState] = {
    ("PENDING", "MARKED"): "PENDING",  # a trailing stop moved
    ("PENDING", "RELABELLED"): "PENDING",
    ("PENDING", "FILLED"): "FILLED",
    ("PENDING", "CANCELLED"): "CANCELLED",  # also by a replacement
}

TRADE_LIFE: Mapping[tuple[TradeState, TradeEvent], TradeState] = {
    ("OPEN", "RELABELLED"): "OPEN",
    ("OPEN", "FINANCED"): "OPEN",
    ("OPEN", "REDUCED"): "OPEN",
    ("OPEN", "CLOSED"): "CLOSED",
    ("OPEN", "CLOSE_OWED"): "CLOSE_WHEN_TRADEABLE",
    ("CLOSE_WHEN_TRADEABLE", "RELABELLED"): "CLOSE_WHEN_TRADEABLE",
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


class ImpossibleTransition(Exception):
    """Something was applied to an order or trade that its state does not allow: a fault of the engine."""


def order_after(state: OrderState, event: OrderEvent) -> OrderState:
    """Return the state of an order after an event."""
    if (state, event) not in ORDER_LIFE:
        raise ImpossibleTransition(f"order: {state}, {event}")
    return ORDER_LIFE[state, event]


def trade_after(state: TradeState, event: TradeEvent) -> TradeState:
    """Return the state of a trade after an event."""
    if (state, event) not in TRADE_LIFE:
        raise ImpossibleTransition(f"trade: {state}, {event}")
    return TRADE_LIFE[state, event]


Kind = Literal["take_profit", "stop_loss", "trailing_stop_loss", "guaranteed_stop_loss"]
KINDS: tuple[Kind, ...] = (
    "take_profit",
    "stop_loss",
    "trailing_stop_loss",
    "guaranteed_stop_loss",
)


class Trigger(NamedTuple):
    """When a resting order acts: a side of the price at or below (else at or above) a level."""

    order_id: int
    side: Literal["bid", "ask", "mid"]
    below: bool
    level: Decimal


class Mark(NamedTuple):
    """What the market showed an order, without any transaction.

    A trailing stop's moving level, or the price at which a market-if-touched order began.
    """

    order_id: int
    level: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order: what its creating transaction says, and what became of it."""

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
        """The id of the transaction that created it."""
        return self.created.id

    @property
    def client_id(self) -> str | None:
        """The client's own id of it."""
        return self.client_extensions.id if self.client_extensions else None

    @property
    def entry(self) -> EntryOrderCreated | None:
        """What an order that may open a trade said; None for one that belongs to a trade."""
        return self.created if isinstance(self.created, EntryOrderCreated) else None

    @property
    def dependent(self) -> DependentOrderCreated | None:
        """What an order of a trade said; None for any other."""
        return self.created if isinstance(self.created, DependentOrderCreated) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trade:
    """A trade and what is left of it; units are signed."""

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
        """Whether it was bought."""
        return self.initial_units > 0

    @property
    def client_id(self) -> str | None:
        """The client's own id of it."""
        return self.client_extensions.id if self.client_extensions else None

    @property
    def dependents(self) -> dict[Kind, int]:
        """Its pending orders."""
        found: dict[Kind, int | None] = {
            "take_profit": self.take_profit_id,
            "stop_loss": self.stop_loss_id,
            "trailing_stop_loss": self.trailing_stop_loss_id,
            "guaranteed_stop_loss": self.guaranteed_stop_loss_id,
        }
        return {kind: order_id for kind, order_id in found.items() if order_id is not None}


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
    """Everything ever traded of one instrument."""

    instrument: str
    commission: Decimal = ZERO_MONEY
    long: Side = Side()
    short: Side = Side()

    @property
    def is_open(self) -> bool:
        """Whether any trade is open."""
        return bool(self.long.trade_ids or self.short.trade_ids)


def kind_of(order_type: str) -> Kind:
    """Return which of a trade's four dependent orders an order type is."""
    return _KIND_OF[order_type]


_KIND_OF: dict[str, Kind] = {
    "TAKE_PROFIT": "take_profit",
    "STOP_LOSS": "stop_loss",
    "TRAILING_STOP_LOSS": "trailing_stop_loss",
    "GUARANTEED_STOP_LOSS": "guaranteed_stop_loss",
}
