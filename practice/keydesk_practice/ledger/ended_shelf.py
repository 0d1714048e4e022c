"""Where orders and trades go when they end: into the ledger, to be read when somebody asks for them.

The engine keeps what is ended only to answer about it, so it need not be in memory: an account of a million transactions
starts as fast and is as small as a fresh one. What the shelf holds can always be folded again from the transactions;
the ledger forgets it when it is kept in another form.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from keydesk_practice.engine.state.account import Shelf
from keydesk_practice.engine.state.records import Order, Trade
from keydesk_practice.ledger.keeping import kept_order, kept_trade, order_of, trade_of
from keydesk_practice.ledger.ledger import EndedRecord, Ledger

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


class EndedShelf(Shelf):
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
