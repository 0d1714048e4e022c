"""One door for every transaction: stream, answers of commands, polls and backfills come in here.

Whatever their order and however often they come, each is folded once, in id order. Before the first
snapshot everything waits; what the snapshot holds already is dropped. What we do not understand casts
doubt: the account is then read whole.
"""

from collections.abc import Callable, Iterable
from functools import partial

from keydesk.store.fold import apply
from keydesk.store.store import Store
from keydesk.store.unreadable import READ_ERRORS, number_of, try_to
from keydesk_client.models import Transaction
from keydesk_client.sequencer import MOST_HELD, Backfill, Range, Sequencer

Heard = Callable[[Transaction], None]


class Door:
    """Takes transactions from anywhere and folds them into the account in id order.

    Args:
        store: Where the account is.
        doubt: Told, in words, when the account has to be read whole.
    """

    def __init__(self, store: Store, *, doubt: Callable[[str], None]) -> None:
        self._store = store
        self._doubt = doubt
        self._listeners: list[Heard] = []
        self._sequencer: Sequencer[Transaction] | None = None
        self._early: list[Transaction] = []  # came before the first snapshot

    @property
    def applied(self) -> int | None:
        """The newest transaction that the account holds; None before the first snapshot."""
        return None if self._sequencer is None else self._sequencer.last

    def listen(self, heard: Heard) -> None:
        """Have every transaction told once it is folded: to bells, notices, commands under way."""
        self._listeners.append(heard)

    def offer(self, transaction: Transaction) -> None:
        """Take one, from anywhere, any number of times; without an id it is asked for again by its number."""
        if not self._has_number(transaction):
            return
        if self._sequencer is None:
            if len(self._early) < MOST_HELD:  # what is left out is asked for after the snapshot
                self._early.append(transaction)
        else:
            self._sequencer.offer(transaction)

    def offer_all(self, transactions: Iterable[Transaction]) -> None:
        """Take several."""
        for transaction in transactions:
            self.offer(transaction)

    def saw_last(self, last_transaction_id: int | str) -> None:
        """Note a lastTransactionID: of a heartbeat, or of any answer."""
        if self._sequencer is not None:
            self._sequencer.saw_last(number_of(str(last_transaction_id)))

    def open_at(self, last_id: int) -> None:
        """A snapshot was taken that holds everything up to this id."""
        early, self._early = self._early, []
        if self._sequencer is None:
            self._sequencer = Sequencer(last_id, self._apply)
            self.offer_all(early)
        else:
            self._sequencer.restart(last_id)

    def forget(self) -> None:
        """Drop all that waits: the broker's history is another one than we knew."""
        self._sequencer = None
        self._early.clear()

    def overdue(self, now: float) -> Range | None:
        """The ids to ask for: known to exist, and not come for a quarter of a second."""
        return None if self._sequencer is None else self._sequencer.overdue(now)

    def backfilled(
        self, asked: Range, transactions: Iterable[Transaction], last_transaction_id: int | str
    ) -> None:
        """Take the answer to a request for ids."""
        if self._sequencer is None:
            return
        readable = [each for each in transactions if self._has_number(each)]
        result = self._sequencer.backfilled(asked, readable, last_transaction_id)
        if result is Backfill.HOLE:
            self._doubt(f"The broker does not have transaction {asked[0]}")

    def _has_number(self, transaction: Transaction) -> bool:
        return try_to(self._store, lambda: number_of(transaction.id))

    def _apply(self, transaction: Transaction) -> None:
        name = f"Transaction {transaction.id} {getattr(transaction, 'type', 'of no type')}"
        try:
            if not apply(self._store, transaction):
                self._doubt(f"{name} is not understood")
        except READ_ERRORS as error:
            self._store.note_unreadable(str(error))
            self._doubt(f"{name} is incomplete: {error}")
        for heard in self._listeners:
            try_to(self._store, partial(heard, transaction))
