"""One account at the broker: its state, its committed and ended parts, and its transaction streams.

The engine keeps ended orders and closed trades only to answer requests for them, so they stay in the ledger: an account of a
million transactions starts as fast and is as small as a new one.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from keydesk_practice.broker.feeds import PriceBoard, TransactionFeed
from keydesk_practice.engine import wire_form
from keydesk_practice.engine.commands import Finance, Tick
from keydesk_practice.engine.state.account import Account, EndedRecords, Order, Trade, id_in
from keydesk_practice.engine.transactions import from_wire, to_wire
from keydesk_practice.ledger.interface import LedgerInterface, first_id_not_before
from keydesk_practice.ledger.records import EndedRecord, Entry, LedgerAccount

IDS_PER_PORTION = 100
IDS_PER_TYPE_PORTION = 200  # read from the index of types alone
ENDED_IDS_PER_PORTION = 50
Json = dict[str, Any]
Record = TypeVar("Record", Order, Trade)
Reader = Callable[[Mapping[str, Any]], Record]
_encode = json.JSONEncoder(separators=(",", ":")).encode


class History(Struct, frozen=True):
    """The committed transactions of one account, read in portions that look at few ids each."""

    ledger: LedgerInterface
    account_id: str

    def text(self, id_: int) -> str | None:
        """Return the JSON text of one transaction, None when there is no such id."""
        return next(iter(self.ledger.bodies(self.account_id, id_, id_)), None)

    def portions(self, first: int, last: int, types: Sequence[str] = ()) -> Iterator[list[str]]:
        """Yield the JSON texts of ids `first` to `last`, of some types or all; a portion may be empty."""
        for low, high in _portions(range(first, last + 1), IDS_PER_PORTION):
            yield self.ledger.bodies(self.account_id, low, high, types)

    def ids_between(self, begin: int, end: int) -> range:
        """Return the ids of the transactions between two times, both included; ids have no gaps."""
        first = first_id_not_before(self.ledger, self.account_id, begin)
        return range(first, first_id_not_before(self.ledger, self.account_id, end + 1))

    def ids_of_types(self, ids: range, types: Sequence[str]) -> Iterator[Sequence[int]]:
        """Yield those of the ids whose transactions are of the types, ascending; a portion may be empty."""
        for low, high in _portions(ids, IDS_PER_TYPE_PORTION):
            yield self.ledger.ids_of_types(self.account_id, low, high, types)


class Portion(NamedTuple, Generic[Record]):
    """The ended items of a range of ids that begins at `lowest`, newest first; it may be empty."""

    lowest: int
    records: list[Record]


class EndedItems(Struct, frozen=True):
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
        for high in range(highest, 0, -ENDED_IDS_PER_PORTION):
            low = max(high - ENDED_IDS_PER_PORTION + 1, 1)
            portions = self._ledger.ended_between(
                self._account_id, kind, (low, high), state, instrument
            )
            yield Portion(low, [read(json.loads(text)) for text in portions])


@dataclass(slots=True)
class AccountSession:
    """An account at the broker.

    `state` is the account after every decision; `committed` is the account in the ledger, which is behind `state` while a
    batch is written.
    """

    account: LedgerAccount
    state: Account
    board: PriceBoard
    archive: LedgerArchive
    history: History
    committed_id: int
    snapshot_id: int = 0  # the last transaction in the newest snapshot
    transactions: TransactionFeed = field(default_factory=TransactionFeed)
    committed: Account = field(init=False)
    read_lag: float = 0.0  # seconds by which reads are behind, a fault on demand
    undone: list[tuple[int, Tick | Finance]] = field(default_factory=list)
    _past: deque[tuple[float, Account, int]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """Begin with everything committed."""
        self.committed = self.state

    @property
    def last_transaction_id(self) -> str:
        """The newest id, as every response carries it."""
        return str(self.state.last_transaction_id)

    @property
    def is_active(self) -> bool:
        """Whether the account has an order or a trade that prices can affect."""
        return bool(self.state.orders or self.state.trades)

    def adopt(self, state: Account) -> EndedItems:
        """Replace the state by that after a decision, and return what the decision ended."""
        ended = EndedItems(tuple(state.ended.orders()), tuple(state.ended.trades()))
        self.archive.hold(ended)
        state.ended = self.archive
        self.state = state
        return ended

    def mark_committed(self, state: Account, ended: EndedItems) -> None:
        """Note that the ledger holds `state` and the items that ended with it."""
        if self.read_lag:
            self._past.append((time.monotonic(), self.committed, self.committed_id))
        self.committed = state
        self.archive.release(ended)

    def roll_back(self, ended: EndedItems) -> None:
        """Return to the account in the ledger: a batch after it was dropped, with the items that ended in it."""
        self.archive.release(ended)
        self.state = self.committed

    def take_undone(self) -> list[tuple[int, Tick | Finance]]:
        """Return and forget what the market caused and was dropped, each with its time."""
        undone, self.undone = self.undone, []
        return undone

    def publish(self, batch: Sequence[Entry]) -> None:
        """Send a committed batch to the transaction streams."""
        self.committed_id = batch[-1].id
        self.transactions.publish([entry.body for entry in batch])

    def committed_view(self) -> "AccountSession":
        """Return the session with the account as it is in the ledger, to be read while a batch is written."""
        committed, id_ = self._readable()
        state = committed.copy()
        state.ended = self.archive.committed(id_)
        return replace(self, state=state, committed_id=id_)

    def _readable(self) -> tuple[Account, int]:
        """Return the account and its last id as reads see them: with a lag, those of some time ago."""
        while self._past and self._past[0][0] <= time.monotonic() - self.read_lag:
            self._past.popleft()
        if self._past:
            _, account, id_ = self._past[0]
            return account, id_
        return self.committed, self.committed_id

    def frozen(self) -> "AccountSession":
        """Return the session with the prices of this moment, to be read while the market goes on."""
        return replace(self, board=self.board.frozen())

    def order(self, specifier: str) -> Order | None:
        """Return the order of an id, or the pending order of an @client id."""
        if specifier.startswith("@"):
            id_ = self.state.order_ids.get(specifier[1:])
        else:
            id_ = id_in(specifier)
        return None if id_ is None else self.state.order(id_)

    def trade(self, specifier: str) -> Trade | None:
        """Return the trade of an id, or the open trade of an @client id."""
        if specifier.startswith("@"):
            id_ = self.state.trade_ids.get(specifier[1:])
        else:
            id_ = id_in(specifier)
        return None if id_ is None else self.state.trade(id_)

    def is_open_trade(self, specifier: str) -> bool:
        """Return whether a specifier names an open trade."""
        trade = self.trade(specifier)
        return trade is not None and trade.id in self.state.trades

    def order_type(self, order_id: str) -> str | None:
        """Return the type of an order, pending or ended."""
        order = self.order(order_id)
        return None if order is None else order.created.order_type

    def orders(
        self,
        state: str,
        instrument: str | None = None,
        before: int | None = None,
        ids: Collection[int] | None = None,
    ) -> Iterator[list[Order]]:
        """Yield portions of the orders in a state, newest first."""
        if ids is not None:
            return _by_id(self.state.order, state, ids)
        pending = list(self.state.orders.values()) if state in {"PENDING", "ALL"} else []
        if state == "PENDING":
            return iter([pending[::-1]])
        ended_state = None if state == "ALL" else state
        return _merged(
            pending, self.archive.order_portions(self._highest(before), ended_state, instrument)
        )

    def trades(
        self,
        state: str,
        instrument: str | None = None,
        before: int | None = None,
        ids: Collection[int] | None = None,
    ) -> Iterator[list[Trade]]:
        """Yield portions of the trades in a state, newest first."""
        if ids is not None:
            return _by_id(self.state.trade, state, ids)
        live = [trade for trade in self.state.trades.values() if state in {"ALL", trade.state}]
        if state not in {"CLOSED", "ALL"}:
            return iter([live[::-1]])
        return _merged(
            live, self.archive.trade_portions(self._highest(before), "CLOSED", instrument)
        )

    def _highest(self, before: int | None) -> int:
        last = self.state.last_transaction_id
        return last if before is None else min(before, last)


def _portions(ids: range, size: int) -> Iterator[tuple[int, int]]:
    for low in range(ids.start, ids.stop, size):
        yield low, min(low + size, ids.stop) - 1


def _by_id(
    find: Callable[[int], Record | None], state: str, ids: Collection[int]
) -> Iterator[list[Record]]:
    for id_ in sorted(ids, reverse=True):
        one = find(id_)
        yield [one] if one is not None and state in {"ALL", one.state} else []


def _merged(live: list[Record], ended: Iterable[Portion[Record]]) -> Iterator[list[Record]]:
    """Merge live items, oldest first, with ended ones, newest first; of an id in both, the live one is yielded."""
    remaining = list(live)
    for portion in ended:
        merged = {one.id: one for one in portion.records}
        while remaining and remaining[-1].id >= portion.lowest:
            newest = remaining.pop()
            merged[newest.id] = newest
        yield [merged[id_] for id_ in sorted(merged, reverse=True)]
    yield remaining[::-1]


# --- ended orders and trades as the ledger holds them ---


def order_record(order: Order, created: str | None = None) -> EndedRecord:
    """Return the ledger record of an ended order; `created` is the JSON text of its creating transaction, if known."""
    if created is None:
        return _record("Order", order, _encode(order_to_json(order)))
    members = _encode(to_wire(order, without="created"))
    return _record("Order", order, f'{members[:-1]},"created":{created}}}')


def trade_record(trade: Trade) -> EndedRecord:
    """Return the ledger record of a closed trade."""
    return _record("Trade", trade, _encode(to_wire(trade)))


def _record(kind: str, one: Order | Trade, text: str) -> EndedRecord:
    return EndedRecord(kind, one.id, one.state, one.instrument, text.encode("ascii"))


def order_to_json(order: Order) -> Json:
    """Return the JSON object of an order."""
    return to_wire(order, without="created") | {"created": to_wire(order.created)}


def order_from_json(stored: Mapping[str, Any]) -> Order:
    """Return the order of a JSON object."""
    return wire_form.read_record(Order, stored, created=from_wire(stored["created"]))


def trade_from_json(stored: Mapping[str, Any]) -> Trade:
    """Return the trade of a JSON object."""
    return wire_form.read_record(Trade, stored)
