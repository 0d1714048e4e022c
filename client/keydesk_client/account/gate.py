"""The gate through which every transaction passes: from the stream, from answers and from requested ranges.

Its rules are the state protocol: buffer until the first snapshot, drop what the snapshot holds, apply the rest in strict
id order and once, and know which ids are missing.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from keydesk_client.account.values import READ_ERRORS, CountsUnreadable, number_of, try_to
from keydesk_client.models import Transaction
from keydesk_client.sequencer import MOST_HELD, Backfill, Range, Sequencer

Listener: TypeAlias = Callable[[Transaction], object]


class TransactionGate:
    """Takes transactions from any source and applies each to the account once, in id order.

    Args:
        apply: Applies one; returns False when a snapshot is needed.
        counter: Counts those that cannot be read.
        doubt: Called with the reason when the account has to be read whole.
    """

    def __init__(
        self,
        apply: Callable[[Transaction], bool],
        counter: CountsUnreadable,
        *,
        doubt: Callable[[str], object],
    ) -> None:
        self._apply_to_book, self._counter = apply, counter
        self._doubt = doubt
        self._listeners: list[Listener] = []
        self._sequencer: Sequencer[Transaction] | None = None
        self._early: list[Transaction] = []  # came before the first snapshot
        self.gap_seen: asyncio.Event = asyncio.Event()
        """Set while a transaction is known to exist and did not come."""

    @property
    def applied(self) -> int | None:
        """The newest applied transaction id, None before the first snapshot."""
        return None if self._sequencer is None else self._sequencer.last

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every transaction after it is applied."""
        self._listeners.append(listener)

    def offer(self, transaction: Transaction) -> None:
        """Take a transaction, in any order and any number of times; one without an id is requested by number later."""
        if not self._has_number(transaction):
            return
        if self._sequencer is None:
            if len(self._early) < MOST_HELD:  # dropped ones are requested after the snapshot
                self._early.append(transaction)
        else:
            self._sequencer.offer(transaction)
            self._check_gap()

    def offer_all(self, transactions: Iterable[Transaction]) -> None:
        """Take several transactions."""
        for transaction in transactions:
            self.offer(transaction)

    def saw_last(self, last_transaction_id: int | str) -> None:
        """Note a lastTransactionID of a heartbeat or of an answer."""
        if self._sequencer is not None:
            self._sequencer.saw_last(number_of(str(last_transaction_id)))
            self._check_gap()

    def open_at(self, last_id: int) -> None:
        """Continue after a snapshot that holds all transactions up to `last_id`."""
        early, self._early = self._early, []
        if self._sequencer is None:
            self._sequencer = Sequencer(last_id, self._apply)
            self.offer_all(early)
        else:
            self._sequencer.restart(last_id)
            self._check_gap()

    def forget(self) -> None:
        """Drop all waiting transactions: the broker has another history."""
        self._sequencer = None
        self._early.clear()
        self.gap_seen.clear()

    @property
    def missing(self) -> Range | None:
        """The first range of ids that did not come, or None."""
        return None if self._sequencer is None else self._sequencer.missing

    def overdue(self, now: float) -> Range | None:
        """Return the ids to request: known to exist and missing for a quarter of a second."""
        return None if self._sequencer is None else self._sequencer.overdue(now)

    def backfilled(
        self, asked: Range, transactions: Iterable[Transaction], last_transaction_id: int | str
    ) -> Backfill:
        """Take the answer to a request for missing ids; return its effect."""
        if self._sequencer is None:
            return Backfill.COMPLETE
        readable = [each for each in transactions if self._has_number(each)]
        result = self._sequencer.backfilled(asked, readable, last_transaction_id)
        if result is Backfill.HOLE:
            self._doubt(f"The broker does not have transaction {asked[0]}")
        self._check_gap()
        return result

    def _check_gap(self) -> None:
        if self._sequencer is not None and self._sequencer.missing is not None:
            self.gap_seen.set()
        else:
            self.gap_seen.clear()

    def _has_number(self, transaction: Transaction) -> bool:
        return try_to(self._counter, lambda: number_of(transaction.id))

    def _apply(self, transaction: Transaction) -> None:
        name = f"Transaction {transaction.id} {getattr(transaction, 'type', 'of no type')}"
        try:
            if not self._apply_to_book(transaction):
                self._doubt(f"{name} is not understood")
        except READ_ERRORS as error:
            self._counter.note_unreadable(str(error))
            self._doubt(f"{name} is incomplete: {error}")
        for listener in self._listeners:
            try_to(self._counter, partial(listener, transaction))
