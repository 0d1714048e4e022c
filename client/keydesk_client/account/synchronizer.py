"""Keep a book equal to the account at the service: snapshots, transactions in order, and comparison with the changes.

The state protocol without input and output; its callers read the service and decide when.

1. Buffer transactions until the first snapshot; drop what the snapshot holds, apply the rest in order and once.
2. The account's changes since the last comparison hold the same transactions, and what the service has now. When both
   ends are at the same transaction, they are compared; a difference asks for a snapshot.
3. A history that went back, or that of another account, replaces everything.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from keydesk_client.account.book import Book
from keydesk_client.account.gate import TransactionGate
from keydesk_client.account.snapshot import differences, take_snapshot, take_state
from keydesk_client.account.values import number_of
from keydesk_client.models import Account, Transaction
from keydesk_client.models.responses import AccountChangesResponse


class Continuity(Enum):
    """How a snapshot continues what was known before."""

    SAME = auto()
    ANOTHER_ACCOUNT = auto()
    """Another account has this id now, as after a practice broker's reset: its history begins anew."""
    WENT_BACK = auto()
    """The service knows less than was applied: its history was replaced."""


class Comparison(Enum):
    """The result of comparing the book with the account's changes."""

    EQUAL = auto()
    DIFFERENT = auto()
    """A snapshot has to be taken; `doubt` was called with the reason."""
    NOT_YET = auto()
    """The book is not at the service's newest transaction, or a snapshot is due: the next changes are compared."""


class Synchronizer:
    """The state protocol of one account.

    Args:
        book: The account.
        apply: Applies one transaction to it; returns False when a snapshot is needed.
        doubt: Called with the reason when a snapshot has to be taken.
    """

    def __init__(
        self,
        book: Book,
        apply: Callable[[Transaction], bool],
        doubt: Callable[[str], object],
    ) -> None:
        self._book, self._doubt = book, doubt
        self.gate: Final = TransactionGate(apply, book, doubt=doubt)
        """Takes the transactions of every source."""
        self.checked: int = 0
        """The transaction up to which book and service were found to be equal; ask for the changes after it."""

    def take_snapshot(self, account: Account) -> Continuity:
        """Replace the book by a snapshot, then apply the transactions that came after it.

        Raises:
            ValueError, AttributeError: the account's own figures cannot be read; nothing changed.
        """
        before, last = self._book.account, number_of(account.last_transaction_id)
        created_before = None if before is None else before.created_time_ns
        take_snapshot(self._book, account)
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

    def take_changes(
        self, answer: AccountChangesResponse, *, snapshot_is_due: bool = False
    ) -> Comparison:
        """Apply the transactions of `accounts.changes(checked)`, compare, and take the service's figures if equal."""
        self.gate.offer_all(answer.changes.transactions)
        self.gate.saw_last(answer.last_transaction_id)
        last = number_of(answer.last_transaction_id)
        if self.gate.applied != last or snapshot_is_due:
            return Comparison.NOT_YET
        found = differences(self._book, answer.changes, answer.state)
        if found:
            self._doubt(f"Differs from the broker: {'; '.join(found)}")
            return Comparison.DIFFERENT
        take_state(self._book, answer.state)
        self.checked = last
        return Comparison.EQUAL
