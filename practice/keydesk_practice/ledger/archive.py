"""Ended orders and trades in the ledger, account snapshots, and restoring an account from both.

The engine keeps ended items only to answer requests for them, so they stay in the ledger: an account of a million
transactions starts as fast and is as small as a new one. A snapshot is only a shortcut. Ended items and snapshots are used
only when they were stored in the current `state_format`; else the account is restored from its transactions.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from keydesk_practice.engine import wire_form
from keydesk_practice.engine.commands import ClientExtensions
from keydesk_practice.engine.state.account import (
    Account,
    EndedRecords,
    ImpossibleTransition,
    Mark,
    Order,
    Position,
    Side,
    Terms,
    Trade,
    Trigger,
    empty_account,
)
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.transactions import TYPES, from_wire, to_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.ledger_file import RECOVERY_HINT
from keydesk_practice.ledger.records import EndedRecord, LedgerAccount, StoredAccount

APPLY_VERSION = 1  # to be raised when `apply` treats old transactions differently
IDS_PER_PORTION = 50
SNAPSHOT_INTERVAL = 5_000  # transactions that a start would have to read again
TRANSACTIONS_PER_READ = 1_000
Json = dict[str, Any]
Holding = TypeVar("Holding", Trade, Position)
_RECORDS = (Account, Terms, Order, Trade, Side, Position, ClientExtensions, *TYPES.values())
_encode = json.JSONEncoder(separators=(",", ":")).encode


@cache
def state_format() -> str:
    """Return the version of stored states: it changes with the fields of the engine's records and with `APPLY_VERSION`."""
    shapes = [f"{kind.__name__}: {[field.name for field in fields(kind)]}" for kind in _RECORDS]
    digest = hashlib.sha256("\n".join([*shapes, str(Trigger._fields)]).encode())
    return f"{APPLY_VERSION}-{digest.hexdigest()}"


def account_to_json(account: Account) -> Json:
    """Return the JSON object of an account, without its ended items."""
    return to_wire(account, without="ended") | {
        "orders": [order_to_json(order) for order in account.orders.values()],
        "trades": [trade_to_json(trade) for trade in account.trades.values()],
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


def order_to_json(order: Order) -> Json:
    """Return the JSON object of an order."""
    return to_wire(order, without="created") | {"created": to_wire(order.created)}


def order_from_json(stored: Mapping[str, Any]) -> Order:
    """Return the order of a JSON object."""
    return wire_form.read_record(Order, stored, created=from_wire(stored["created"]))


def trade_to_json(trade: Trade) -> Json:
    """Return the JSON object of a trade."""
    return to_wire(trade)


def trade_from_json(stored: Mapping[str, Any]) -> Trade:
    """Return the trade of a JSON object."""
    return wire_form.read_record(Trade, stored)


def _read(kind: type[Holding], stored: Iterable[Mapping[str, Any]]) -> list[Holding]:
    return [wire_form.read_record(kind, one) for one in stored]


def _trigger_to_json(trigger: Trigger) -> list[Any]:
    return [trigger.order_id, trigger.side, trigger.below, wire_form.plain(trigger.level)]


def _trigger_from_json(stored: list[Any]) -> Trigger:
    order_id, side, below, level = stored
    return Trigger(order_id, side, below, Decimal(level))


Record = TypeVar("Record", Order, Trade)
Reader = Callable[[Mapping[str, Any]], Record]


class Portion(NamedTuple, Generic[Record]):
    """The ended items of a range of ids that begins at `lowest`, newest first; it may be empty."""

    lowest: int
    records: list[Record]


@dataclass(frozen=True, slots=True)
class EndedItems:
    """The orders and trades that one batch ended."""

    orders: tuple[Order, ...]
    trades: tuple[Trade, ...]

    def records(self, created: Mapping[int, str]) -> Iterator[EndedRecord]:
        """Yield their ledger records, each encoded only when it is taken.

        `created` holds the JSON texts of the batch's transactions by id, among them those that created an order that
        ended at once.
        """
        for order in self.orders:
            yield order_record(order, created.get(order.id))
        yield from map(trade_record, self.trades)


class LedgerArchive(EndedRecords):
    """The ended orders and closed trades of one account: in memory until their batch is committed, then in the ledger."""

    def __init__(
        self, ledger: LedgerInterface, account_id: str, last_id: int | None = None
    ) -> None:
        super().__init__()
        self._ledger = ledger
        self._account_id = account_id
        self._last_id = last_id  # records with higher ids are hidden

    def order(self, order_id: int) -> Order | None:
        """Return an ended order."""
        return self._orders.get(order_id) or self._read("Order", order_from_json, order_id)

    def trade(self, trade_id: int) -> Trade | None:
        """Return a closed trade."""
        return self._trades.get(trade_id) or self._read("Trade", trade_from_json, trade_id)

    def keep_order(self, order: Order) -> None:
        """Stage an ended order; it is committed with the transactions that ended it."""
        self._ledger.stage_ended(self._account_id, order_record(order))

    def keep_trade(self, trade: Trade) -> None:
        """Stage a closed trade; it is committed with the transaction that closed it."""
        self._ledger.stage_ended(self._account_id, trade_record(trade))

    def hold(self, ended: EndedItems) -> None:
        """Keep ended items in memory until their batch is committed."""
        self._orders |= {order.id: order for order in ended.orders}
        self._trades |= {trade.id: trade for trade in ended.trades}

    def committed(self, last_id: int | None = None) -> "LedgerArchive":
        """Return the archive without the items in memory, as it was after transaction `last_id`."""
        return LedgerArchive(self._ledger, self._account_id, last_id)

    def release(self, ended: EndedItems) -> None:
        """Remove committed items from memory."""
        for order in ended.orders:
            self._orders.pop(order.id, None)
        for trade in ended.trades:
            self._trades.pop(trade.id, None)

    def order_portions(
        self, highest: int, state: str | None = None, instrument: str | None = None
    ) -> Iterator[Portion[Order]]:
        """Yield portions of the ended orders of ids up to `highest`, newest first."""
        return self._portions("Order", order_from_json, highest, state, instrument)

    def trade_portions(
        self, highest: int, state: str | None = None, instrument: str | None = None
    ) -> Iterator[Portion[Trade]]:
        """Yield portions of the closed trades of ids up to `highest`, newest first."""
        return self._portions("Trade", trade_from_json, highest, state, instrument)

    def _read(self, kind: str, read: Reader[Record], id_: int) -> Record | None:
        if self._last_id is not None and id_ > self._last_id:
            return None
        text = self._ledger.ended(self._account_id, kind, id_)
        return None if text is None else read(json.loads(text))

    def _portions(
        self,
        kind: str,
        read: Reader[Record],
        highest: int,
        state: str | None,
        instrument: str | None,
    ) -> Iterator[Portion[Record]]:
        for high in range(highest, 0, -IDS_PER_PORTION):
            low = max(high - IDS_PER_PORTION + 1, 1)
            portions = self._ledger.ended_between(
                self._account_id, kind, (low, high), state, instrument
            )
            yield Portion(low, [read(json.loads(text)) for text in portions])


def order_record(order: Order, created: str | None = None) -> EndedRecord:
    """Return the ledger record of an ended order; `created` is the JSON text of its creating transaction, if known."""
    if created is None:
        return _record("Order", order, _encode(order_to_json(order)))
    members = _encode(to_wire(order, without="created"))
    return _record("Order", order, f'{members[:-1]},"created":{created}}}')


def trade_record(trade: Trade) -> EndedRecord:
    """Return the ledger record of a closed trade."""
    return _record("Trade", trade, _encode(trade_to_json(trade)))


def _record(kind: str, one: Order | Trade, text: str) -> EndedRecord:
    return EndedRecord(kind, one.id, one.state, one.instrument, text.encode("ascii"))


def restore_account(ledger: LedgerInterface, account: LedgerAccount) -> Account:
    """Return the account as its newest snapshot and the transactions since make it.

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
            apply(state, Mark(order_id, level))
    ledger.forget_marks(account.id, state.orders)
    if state.last_transaction_id - snapshot_id > SNAPSHOT_INTERVAL:
        save_snapshot(ledger, state)
    return state


def restored_state(
    ledger: LedgerInterface, account: LedgerAccount, stored: StoredAccount
) -> Account | None:
    """Return the account as what was read of it makes it; nothing is written.

    None when it has ended items and no snapshot: they may be stored in an older format, so `restore_account` has to write
    them anew.
    """
    if stored.snapshot_id:
        state = account_from_json(json.loads(stored.snapshot))
    else:
        state = new_account(account)
    ended = state.ended = EndedRecords(LedgerArchive(ledger, account.id))
    for text in stored.texts:
        _apply_text(state, text)
    for order_id, level in stored.marks:
        if order_id in state.orders:
            apply(state, Mark(order_id, level))
    if not stored.snapshot_id and (any(ended.orders()) or any(ended.trades())):
        return None
    return state


def save_snapshot(ledger: LedgerInterface, state: Account) -> None:
    """Store a snapshot of the account, so that the next start need not read its older transactions."""
    ledger.save_snapshot(
        state.id, state.last_transaction_id, state_format(), encoded_snapshot(state)
    )


def encoded_snapshot(state: Account) -> bytes:
    """Return the text of a snapshot."""
    return _encode(account_to_json(state)).encode("ascii")


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
    return empty_account(account.id, int(user), terms)
