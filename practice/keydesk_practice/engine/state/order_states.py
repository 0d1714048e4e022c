"""The lives of orders and trades in one table each; whatever is not in a table cannot happen.

TRIGGERED is a leftover of one-cancels-all orders: no current order ends there, so no row leads to it.
"""

from collections.abc import Mapping
from typing import Literal

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
