"""Bringing an account back to where it was: its newest snapshot, the transactions since, and what the market showed it.

A snapshot is only a shortcut: it is used when it has the form that this engine keeps accounts in, and the ledger can
always do without.

An account as JSON and back, exactly, so that a start need not fold every transaction again.

What is kept depends on the shape of the engine's records and on what folding means, not on the engine's source: `form`
changes with the first by itself; whoever changes what `apply` does with an old transaction raises FOLD.
Where orders and trades go when they end: into the ledger, to be read when somebody asks for them.

The engine keeps what is ended only to answer about it, so it need not be in memory: an account of a million transactions
starts as fast and is as small as a fresh one. What the shelf holds can always be folded again from the transactions;
the ledger forgets it when it is kept in another form.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

from keydesk_practice.engine import wire_form
from keydesk_practice.engine.commands import ClientExtensions
from keydesk_practice.engine.state.account import Account, EndedRecords, Terms, empty_account
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.state.records import (
    ImpossibleTransition,
    Mark,
    Order,
    Position,
    Side,
    Trade,
    Trigger,
)
from keydesk_practice.engine.transactions import TYPES, from_wire, to_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.ledger import EndedRecord, Ledger, LedgerAccount
from keydesk_practice.ledger.ledger_file import BEGIN_ANEW

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
        ended=EndedRecords(),
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


Record = TypeVar("Record", Order, Trade)
Reader = Callable[[Mapping[str, Any]], Record]
IDS_PER_PORTION = 50


class Portion(NamedTuple, Generic[Record]):
    """What ended in a range of ids that begins at `lowest`, newest first; it may be empty."""

    lowest: int
    records: list[Record]


@dataclass(frozen=True, slots=True)
class Ended:
    """The orders and trades that one batch ended."""

    orders: tuple[Order, ...]
    trades: tuple[Trade, ...]

    def records(self) -> Iterator[EndedRecord]:
        """Return them as the ledger keeps them, each encoded when it is asked for."""
        yield from map(order_record, self.orders)
        yield from map(trade_record, self.trades)


class EndedShelf(EndedRecords):
    """The ended orders and closed trades of one account, kept in the ledger."""

    def __init__(self, ledger: Ledger, account_id: str) -> None:
        super().__init__()
        self._ledger = ledger
        self._account_id = account_id

    def order(self, order_id: int) -> Order | None:
        """Return an ended order."""
        return self._orders.get(order_id) or self._read("Order", order_of, order_id)

    def trade(self, trade_id: int) -> Trade | None:
        """Return a closed trade."""
        return self._trades.get(trade_id) or self._read("Trade", trade_of, trade_id)

    def keep_order(self, order: Order) -> None:
        """Put an ended order away, with the transactions that ended it."""
        self._ledger.stage_ended(self._account_id, order_record(order))

    def keep_trade(self, trade: Trade) -> None:
        """Put a closed trade away, with the transaction that closed it."""
        self._ledger.stage_ended(self._account_id, trade_record(trade))

    def hold(self, ended: "Ended") -> None:
        """Keep what ended in memory, to be read at once, until its batch is in the ledger."""
        self._orders |= {order.id: order for order in ended.orders}
        self._trades |= {trade.id: trade for trade in ended.trades}

    def committed(self) -> "EndedShelf":
        """Return the shelf without what it holds in memory."""
        return EndedShelf(self._ledger, self._account_id)

    def release(self, ended: "Ended") -> None:
        """Forget what the ledger holds now."""
        for order in ended.orders:
            self._orders.pop(order.id, None)
        for trade in ended.trades:
            self._trades.pop(trade.id, None)

    def order_portions(
        self, highest: int, state: str | None = None, instrument: str | None = None
    ) -> "Iterator[Portion[Order]]":
        """Return ended orders of ids up to `highest`, newest first, read portion by portion."""
        return self._portions("Order", order_of, highest, state, instrument)

    def trade_portions(
        self, highest: int, state: str | None = None, instrument: str | None = None
    ) -> "Iterator[Portion[Trade]]":
        """Return closed trades of ids up to `highest`, newest first, read portion by portion."""
        return self._portions("Trade", trade_of, highest, state, instrument)

    def _read(self, kind: str, read: Reader[Record], id_: int) -> Record | None:
        found = self._ledger.ended(self._account_id, kind, id_)
        return None if found is None else read(json.loads(found))

    def _portions(
        self,
        kind: str,
        read: Reader[Record],
        highest: int,
        state: str | None,
        instrument: str | None,
    ) -> "Iterator[Portion[Record]]":
        for high in range(highest, 0, -IDS_PER_PORTION):
            low = max(high - IDS_PER_PORTION + 1, 1)
            found = self._ledger.ended_between(
                self._account_id, kind, (low, high), state, instrument
            )
            yield Portion(low, [read(json.loads(text)) for text in found])


def order_record(order: Order) -> EndedRecord:
    """Return the ledger's form of an ended order."""
    return _record("Order", order, kept_order(order))


def trade_record(trade: Trade) -> EndedRecord:
    """Return the ledger's form of a closed trade."""
    return _record("Trade", trade, kept_trade(trade))


def _record(kind: str, one: Order | Trade, kept: Mapping[str, Any]) -> EndedRecord:
    text = json.dumps(kept, separators=(",", ":")).encode("ascii")
    return EndedRecord(kind, one.id, one.state, one.instrument, text)


WORTH_A_SNAPSHOT = 5_000  # transactions that would have to be read again
PIECE = 1_000


def restored(ledger: Ledger, account: LedgerAccount) -> Account:
    """Return the account as the ledger says it is."""
    kept = ledger.snapshot(account.id, form())
    if kept is None:
        ledger.forget_ended(account.id)
        begun, state = 0, new_account(account)
    else:
        begun, state = kept[0], account_of(json.loads(kept[1]))
    state.ended = EndedShelf(ledger, account.id)
    _fold(ledger, state)
    for order_id, level in ledger.marks(account.id):
        if order_id in state.orders:
            apply(state, Mark(order_id, level))
    ledger.forget_marks(account.id, state.orders)
    if state.last_transaction_id - begun > WORTH_A_SNAPSHOT:
        keep_snapshot(ledger, state)
    return state


def keep_snapshot(ledger: Ledger, state: Account) -> None:
    """Note the account as it stands, so that the next start need not read what made it so."""
    kept = json.dumps(kept_account(state), separators=(",", ":")).encode("ascii")
    ledger.keep_snapshot(state.id, state.last_transaction_id, form(), kept)


def _fold(ledger: Ledger, state: Account) -> None:
    while True:
        first = state.last_transaction_id + 1
        texts = ledger.bodies(state.id, first, first + PIECE - 1)
        for text in texts:
            _apply_text(state, text)
        ledger.commit()  # what ended on the way
        if not texts:
            return


def _apply_text(state: Account, text: str) -> None:
    try:
        apply(state, from_wire(json.loads(text)))
    except (LookupError, ValueError, TypeError, ArithmeticError, ImpossibleTransition) as error:
        place = f"transaction {state.last_transaction_id + 1} of account {state.id}"
        raise LedgerUnavailable(
            f"the ledger is damaged: {place} cannot be applied ({type(error).__name__}): {BEGIN_ANEW}"
        ) from error


def new_account(account: LedgerAccount) -> Account:
    """Return the account before anything happened to it."""
    _, _, user, _ = account.id.split("-")
    terms = Terms(currency=account.currency, hedging=account.hedging, fifo=account.fifo)
    return empty_account(account.id, int(user), terms)
