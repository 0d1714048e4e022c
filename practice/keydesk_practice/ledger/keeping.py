"""An account as JSON and back, exactly, so that a start need not fold every transaction again.

What is kept depends on the shape of the engine's records and on what folding means, not on the engine's source: `form`
changes with the first by itself; whoever changes what `apply` does with an old transaction raises FOLD.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any, TypeVar

from keydesk_practice.engine import wire_form
from keydesk_practice.engine.requests import ClientExtensions
from keydesk_practice.engine.state.account import Account, Shelf, Terms
from keydesk_practice.engine.state.records import Order, Position, Side, Trade, Trigger
from keydesk_practice.engine.transactions import TYPES, from_wire, to_wire

FOLD = 1
Json = dict[str, Any]
Holding = TypeVar("Holding", Trade, Position)
_RECORDS = (Account, Terms, Order, Trade, Side, Position, ClientExtensions, *TYPES.values())


def form() -> str:
    """Return what kept accounts look like: one that was kept in another form is folded anew."""
    shapes = [f"{kind.__name__}: {[field.name for field in fields(kind)]}" for kind in _RECORDS]
    digest = hashlib.sha256("\n".join([*shapes, str(Trigger._fields)]).encode())
    return f"{FOLD}-{digest.hexdigest()}"


def kept_account(account: Account) -> Json:
    """Return the JSON object of an account; what ended is kept by its shelf."""
    kept = wire_form.to_wire(account)
    del kept["ended"]
    return kept | {
        "orders": [kept_order(order) for order in account.orders.values()],
        "trades": [kept_trade(trade) for trade in account.trades.values()],
        "positions": [wire_form.to_wire(one) for one in account.positions.values()],
        "triggers": [
            [name, [_kept_trigger(trigger) for trigger in resting]]
            for name, resting in account.triggers.items()
        ],
        "expiries": [list(pair) for pair in account.expiries.items()],
    }


def account_of(kept: Mapping[str, Any]) -> Account:
    """Return the account of a JSON object, with an empty shelf."""
    return wire_form.read_record(
        Account,
        kept,
        orders={order.id: order for order in map(order_of, kept["orders"])},
        trades={trade.id: trade for trade in map(trade_of, kept["trades"])},
        positions={one.instrument: one for one in _read(Position, kept["positions"])},
        triggers={name: tuple(map(_trigger_of, resting)) for name, resting in kept["triggers"]},
        expiries=dict(kept["expiries"]),
        ended=Shelf(),
    )


def kept_order(order: Order) -> Json:
    """Return the JSON object of an order; its creating transaction is kept as on the wire."""
    return wire_form.to_wire(order) | {"created": to_wire(order.created)}


def order_of(kept: Mapping[str, Any]) -> Order:
    """Return the order of a JSON object."""
    return wire_form.read_record(Order, kept, created=from_wire(kept["created"]))


def kept_trade(trade: Trade) -> Json:
    """Return the JSON object of a trade."""
    return wire_form.to_wire(trade)


def trade_of(kept: Mapping[str, Any]) -> Trade:
    """Return the trade of a JSON object."""
    return wire_form.read_record(Trade, kept)


def _read(kind: type[Holding], kept: Iterable[Mapping[str, Any]]) -> list[Holding]:
    return [wire_form.read_record(kind, one) for one in kept]


def _kept_trigger(trigger: Trigger) -> list[Any]:
    return [trigger.order_id, trigger.side, trigger.below, wire_form.plain(trigger.level)]


def _trigger_of(kept: list[Any]) -> Trigger:
    order_id, side, below, level = kept
    return Trigger(order_id, side, below, Decimal(level))
