"""Keep a book equal to the account at the service: snapshots, transactions in order, and comparison with the changes.

The state protocol without input and output; its callers read the service and decide when.

1. Buffer transactions until the first snapshot; drop what the snapshot holds, apply the rest in strict id order and once,
   and know which ids are missing: `TransactionGate`.
2. The account's changes since the last comparison hold the same transactions, and what the service has now. When both
   ends are at the same transaction, they are compared; a difference asks for a snapshot.
3. A history that went back, or that of another account, replaces everything.
"""

import asyncio
from collections.abc import Callable, Iterable
from enum import Enum, auto
from functools import partial
from typing import Final, TypeAlias

from keydesk_client.account.snapshot import apply_account_state, apply_snapshot, differences
from keydesk_client.account.valuation import ValuedAccount
from keydesk_client.account.values import READ_ERRORS, UnreadableCounter, number_of, try_to
from keydesk_client.models import Account, Transaction
from keydesk_client.models.responses import AccountChangesResponse
from keydesk_client.sequencer import MAX_HELD, Backfill, Range, Sequencer

Listener: TypeAlias = Callable[[Transaction], object]


class TransactionGate:
    """Takes transactions from any source and applies each to the account once, in id order.

    Args:
        apply: Applies one; returns False when a snapshot is needed.
        counter: Counts those that cannot be read.
        request_snapshot: Called with the reason when the account has to be read whole.
    """

    def __init__(
        self,
        apply: Callable[[Transaction], bool],
        counter: UnreadableCounter,
        *,
        request_snapshot: Callable[[str], object],
    ) -> None:
        self._apply_to_book, self._counter = apply, counter
        self._request_snapshot = request_snapshot
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
            if len(self._early) < MAX_HELD:  # dropped ones are requested after the snapshot
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
            self._request_snapshot(f"The broker does not have transaction {asked[0]}")
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
                self._request_snapshot(f"{name} is not understood")
        except READ_ERRORS as error:
            self._counter.note_unreadable(str(error))
            self._request_snapshot(f"{name} is incomplete: {error}")
        for listener in self._listeners:
            try_to(self._counter, partial(listener, transaction))


class Continuity(Enum):
    """How a snapshot continues what was known before."""

    SAME = auto()
    ANOTHER_ACCOUNT = auto()
    """Another account has this id now, as after a practice broker's reset: its history begins anew."""
    WENT_BACK = auto()
    """The service has fewer transactions than were applied: its history was replaced."""


class Comparison(Enum):
    """The result of comparing the book with the account's changes."""

    EQUAL = auto()
    DIFFERENT = auto()
    """A snapshot has to be taken; `request_snapshot` was called with the reason."""
    NOT_YET = auto()
    """The book is not at the service's newest transaction, or a snapshot is due: the next changes are compared."""


class Synchronizer:
    """The state protocol of one account.

    Args:
        book: The account.
        apply: Applies one transaction to it; returns False when a snapshot is needed.
        request_snapshot: Called with the reason when a snapshot has to be taken.
    """

    def __init__(
        self,
        book: ValuedAccount,
        apply: Callable[[Transaction], bool],
        request_snapshot: Callable[[str], object],
    ) -> None:
        self._book, self._request_snapshot = book, request_snapshot
        self.gate: Final = TransactionGate(apply, book, request_snapshot=request_snapshot)
        """Takes the transactions of every source."""
        self.checked: int = 0
        """The transaction up to which book and service were found to be equal; ask for the changes after it."""

    def apply_snapshot(self, account: Account) -> Continuity:
        """Replace the book by a snapshot, then apply the transactions that came after it.

        Raises:
            ValueError, AttributeError: the account's own figures cannot be read; nothing changed.
        """
        before, last = self._book.account, number_of(account.last_transaction_id)
        created_before = None if before is None else before.created_time_ns
        apply_snapshot(self._book, account)
        continuity = Continuity.SAME
        if created_before is not None and created_before != account.created_time.ns:
            continuity = Continuity.ANOTHER_ACCOUNT
        elif self.gate.applied is not None and last < self.gate.applied:
            continuity = Continuity.WENT_BACK
        if continuity is not Continuity.SAME:
            self.gate.forget()
        self.gate.open_at(last)
        self.checked = last
        return continuity

    def apply_changes(
        self, answer: AccountChangesResponse, *, snapshot_is_due: bool = False
    ) -> Comparison:
        """Apply the transactions of `accounts.changes(checked)`, compare, and take the service's figures if equal."""
        self.gate.offer_all(answer.changes.transactions)
        self.gate.saw_last(answer.last_transaction_id)
        last = number_of(answer.last_transaction_id)
        if self.gate.applied != last or snapshot_is_due:
            return Comparison.NOT_YET
        differing = differences(self._book, answer.changes, answer.state)
        if differing:
            self._request_snapshot(f"Differs from the broker: {'; '.join(differing)}")
            return Comparison.DIFFERENT
        apply_account_state(self._book, answer.state)
        self.checked = last
        return Comparison.EQUAL
