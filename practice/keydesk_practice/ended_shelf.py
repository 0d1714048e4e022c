"""Where orders and trades go when they end: into the ledger, to be read when somebody asks for them.

The engine keeps what is ended only to answer about it, so it need not be in memory: an account of a million transactions
starts as fast and is as small as a fresh one. What the shelf holds can always be folded again from the transactions;
the ledger forgets it when another engine made it.
"""

import pickle
from collections.abc import Iterator
from typing import Any, TypeVar

from keydesk_practice.engine.account import Shelf
from keydesk_practice.engine.records import Order, Trade
from keydesk_practice.ledger import EndedRecord, Ledger

Record = TypeVar("Record", Order, Trade)


class EndedShelf(Shelf):
    """The ended orders and closed trades of one account, kept in the ledger."""

    def __init__(self, ledger: Ledger, account_id: str) -> None:
        super().__init__()
        self._ledger = ledger
        self._account_id = account_id

    def order(self, order_id: int) -> Order | None:
        """Return an ended order."""
        return self._read(Order, order_id)

    def trade(self, trade_id: int) -> Trade | None:
        """Return a closed trade."""
        return self._read(Trade, trade_id)

    def keep_order(self, order: Order) -> None:
        """Put an ended order away, with the transactions that ended it."""
        self._keep(order)

    def keep_trade(self, trade: Trade) -> None:
        """Put a closed trade away, with the transaction that closed it."""
        self._keep(trade)

    def orders(
        self, state: str | None = None, instrument: str | None = None, before: int | None = None
    ) -> Iterator[Order]:
        """Return ended orders, newest first, read as they are asked for."""
        return self._newest_first(Order, state, instrument, before)

    def trades(
        self, state: str | None = None, instrument: str | None = None, before: int | None = None
    ) -> Iterator[Trade]:
        """Return closed trades, newest first, read as they are asked for."""
        return self._newest_first(Trade, state, instrument, before)

    def _keep(self, one: Order | Trade) -> None:
        kind = type(one).__name__
        record = EndedRecord(kind, one.id, one.state, one.instrument, pickle.dumps(one))
        self._ledger.stage_ended(self._account_id, record)

    def _read(self, kind: type[Record], id_: int) -> Record | None:
        found = self._ledger.ended(self._account_id, kind.__name__, id_)
        return None if found is None else _unpacked(found)

    def _newest_first(
        self, kind: type[Record], state: str | None, instrument: str | None, before: int | None
    ) -> Iterator[Record]:
        found = self._ledger.ended_newest_first(
            self._account_id, kind.__name__, state, instrument, before
        )
        return map(_unpacked, found)


def _unpacked(record: bytes) -> Any:  # noqa: ANN401 - the caller says which kind it keeps
    return pickle.loads(record)  # noqa: S301 - our own, from the owner's private file
