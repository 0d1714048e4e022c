"""Account snapshots, and restoring an account from its snapshot and its transactions.

A snapshot is only a shortcut. Ended items and snapshots are used only when they were stored in the current `state_format`;
else the account is restored from its transactions.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

from keydesk_practice.broker.account_session import (
    LedgerArchive,
    order_from_json,
    order_to_json,
    trade_from_json,
)
from keydesk_practice.engine import wire_form
from keydesk_practice.engine.commands import ClientExtensions
from keydesk_practice.engine.state.account import (
    Account,
    EndedRecords,
    ImpossibleTransition,
    Order,
    OrderPriceLevel,
    Position,
    Side,
    Terms,
    Trade,
    Trigger,
)
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.transactions import TYPES, from_wire, to_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.ledger_file import RECOVERY_HINT
from keydesk_practice.ledger.records import LedgerAccount

APPLY_VERSION = 1  # to be raised when `apply` treats old transactions differently
TRANSACTIONS_PER_READ = 1_000
Json = dict[str, Any]
Holding = TypeVar("Holding", Trade, Position)
_RECORDS: tuple[type[Struct], ...] = (
    Account,
    Terms,
    Order,
    Trade,
    Side,
    Position,
    ClientExtensions,
    *TYPES.values(),
)
_encode = json.JSONEncoder(separators=(",", ":")).encode


@cache
def state_format() -> str:
    """Return the version of stored states: it changes with the fields of the engine's records and with `APPLY_VERSION`."""
    shapes = [f"{kind.__name__}: {list(kind.__struct_fields__)}" for kind in _RECORDS]
    digest = hashlib.sha256("\n".join([*shapes, str(Trigger._fields)]).encode())
    return f"{APPLY_VERSION}-{digest.hexdigest()}"


def account_to_json(account: Account) -> Json:
    """Return the JSON object of an account, without its ended items."""
    return to_wire(account, without="ended") | {
        "orders": [order_to_json(order) for order in account.orders.values()],
        "trades": [to_wire(trade) for trade in account.trades.values()],
        "positions": [to_wire(one) for one in account.positions.values()],
        "triggers": [
            [name, [_trigger_to_json(trigger) for trigger in resting]]
            for name, resting in account.triggers.items()
        ],
        "expiries": [list(pair) for pair in account.expiries.items()],
    }


def account_from_json(stored: Mapping[str, Any]) -> Account:
    """Return the account of a JSON object, without ended items."""
    return wire_form.read_record(
        Account,
        stored,
        orders={order.id: order for order in map(order_from_json, stored["orders"])},
        trades={trade.id: trade for trade in map(trade_from_json, stored["trades"])},
        positions={one.instrument: one for one in _read(Position, stored["positions"])},
        triggers={
            name: tuple(map(_trigger_from_json, resting)) for name, resting in stored["triggers"]
        },
        expiries=dict(stored["expiries"]),
        ended=EndedRecords(),
    )


def _read(kind: type[Holding], stored: Iterable[Mapping[str, Any]]) -> list[Holding]:
    return [wire_form.read_record(kind, one) for one in stored]


def _trigger_to_json(trigger: Trigger) -> list[Any]:
    return [trigger.order_id, trigger.side, trigger.below, wire_form.plain(trigger.level)]


def _trigger_from_json(stored: list[Any]) -> Trigger:
    order_id, side, below, level = stored
    return Trigger(order_id, side, below, Decimal(level))


def restore_account(ledger: LedgerInterface, account: LedgerAccount) -> Account:
    """Return the account built from its newest snapshot and the transactions after it.

    Raises:
        LedgerUnavailable: a stored transaction cannot be applied.
    """
    stored = ledger.snapshot(account.id, state_format())
    if stored is None:
        ledger.forget_ended(account.id)
        snapshot_id, state = 0, new_account(account)
    else:
        snapshot_id, state = stored[0], account_from_json(json.loads(stored[1]))
    state.ended = LedgerArchive(ledger, account.id)
    _apply_transactions(ledger, state)
    for order_id, level in ledger.marks(account.id):
        if order_id in state.orders:
            apply(state, OrderPriceLevel(order_id, level))
    ledger.forget_marks(account.id, state.orders)
    if state.last_transaction_id - snapshot_id > ledger.snapshot_interval:
        save_snapshot(ledger, state)
    return state


def save_snapshot(ledger: LedgerInterface, state: Account) -> None:
    """Store a snapshot of the account, so that the next start need not read its older transactions."""
    text = _encode(account_to_json(state)).encode("ascii")
    ledger.save_snapshot(state.id, state.last_transaction_id, state_format(), text)


def _apply_transactions(ledger: LedgerInterface, state: Account) -> None:
    while True:
        first = state.last_transaction_id + 1
        texts = ledger.bodies(state.id, first, first + TRANSACTIONS_PER_READ - 1)
        for text in texts:
            _apply_text(state, text)
        ledger.commit()  # the items that ended
        if not texts:
            return


def _apply_text(state: Account, text: str) -> None:
    try:
        apply(state, from_wire(json.loads(text)))
    except (LookupError, ValueError, TypeError, ArithmeticError, ImpossibleTransition) as error:
        place = f"transaction {state.last_transaction_id + 1} of account {state.id}"
        raise LedgerUnavailable(
            f"the ledger is damaged: {place} cannot be applied ({type(error).__name__}): {RECOVERY_HINT}"
        ) from error


def new_account(account: LedgerAccount) -> Account:
    """Return an account without transactions."""
    _, _, user, _ = account.id.split("-")
    terms = Terms(currency=account.currency, hedging=account.hedging, fifo=account.fifo)
    return Account(id=account.id, user_id=int(user), terms=terms)
