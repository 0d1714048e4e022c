"""Keep a book equal to the account at the service: snapshots, transactions in order, and comparison with the changes.

The state protocol without input and output of its own: its callers give it what reads the service, and decide when.

1. Buffer transactions until the first snapshot; drop what the snapshot holds, apply the rest in strict id order and once,
   and know which ids are missing: `TransactionGate`.
2. The account's changes since the last comparison hold the same transactions, and what the service has now. Both are
   compared; a difference asks for a snapshot. An answer is often older than what the stream brought while it was under
   way (`AccountRequest`): what those transactions concern is left out, and the next changes are asked for from where they
   list it again. A snapshot gets those transactions applied on top.
3. A snapshot that is older than the account was before it was asked for comes from a replica that lags behind, and is
   asked for again; if that does not help, the history went back. Such a history, or that of another account, replaces
   everything.
"""

import asyncio
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial
from typing import Final, TypeAlias

from keydesk_client.account import fold
from keydesk_client.account.records import Part
from keydesk_client.account.snapshot import NO_NAMES, apply_account_state, apply_snapshot, compare
from keydesk_client.account.valuation import ValuedAccount
from keydesk_client.account.values import READ_ERRORS, UnreadableCounter, number_of, try_to
from keydesk_client.models import (
    Account,
    OrderCancelTransaction,
    OrderFillTransaction,
    Transaction,
)
from keydesk_client.models._core.json import JsonValue
from keydesk_client.models.responses import AccountChangesResponse
from keydesk_client.sequencer import MAX_HELD, REPLICA_PAUSES_S, Backfill, Range, Sequencer

CHANGES_UNREAD: Final = "a part of the account's changes could not be read"
ID_ENDINGS: Final = ("ID", "IDs")  # of members that name orders, trades and transactions

Listener: TypeAlias = Callable[[Transaction], object]


@dataclass(slots=True)
class AccountRequest:
    """A request about the account, and what was applied while it was under way: its answer may be older."""

    since: int
    """The transaction after which changes are to be asked for."""
    applied: int | None
    """The newest transaction that was applied before; None once the account was replaced meanwhile."""
    transactions: list[Transaction] = field(default_factory=list[Transaction])

    def add(self, transaction: Transaction) -> None:
        """Note a transaction that was applied."""
        if len(self.transactions) < MAX_HELD:
            self.transactions.append(transaction)
        else:
            self.forget()

    def forget(self) -> None:
        """Note that some of the transactions are not known."""
        self.applied = None
        self.transactions.clear()

    def after(self, last: int) -> Sequence[Transaction] | None:
        """Return those after `last`; None if these are not all."""
        if self.applied is None or last < self.applied:
            return None
        return [each for each in self.transactions if number_of(each.id) > last]


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
        self._apply_to_book = apply
        self.counter: Final = counter
        """Counts what cannot be read."""
        self._request_snapshot = request_snapshot
        self._listeners: list[Listener] = []
        self._sequencer: Sequencer[Transaction] | None = None
        self._early: list[Transaction] = []  # came before the first snapshot
        self._requests: list[AccountRequest] = []  # under way
        self.gap_seen: asyncio.Event = asyncio.Event()
        """Set while a transaction is known to exist and did not come."""

    @property
    def applied(self) -> int | None:
        """The newest applied transaction id, None before the first snapshot."""
        return None if self._sequencer is None else self._sequencer.last

    @contextmanager
    def asking(self, since: int) -> Generator[AccountRequest]:
        """Collect what is applied within the block, in which a request is sent and its answer taken."""
        request = AccountRequest(since, self.applied)
        self._requests.append(request)
        try:
            yield request
        finally:
            self._requests = [each for each in self._requests if each is not request]

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
        if self.applied != last_id:
            self._forget_requests()
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
        self._forget_requests()
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

    def _forget_requests(self) -> None:
        for request in self._requests:
            request.forget()

    def _has_number(self, transaction: Transaction) -> bool:
        return try_to(self.counter, lambda: number_of(transaction.id))

    def _apply(self, transaction: Transaction) -> None:
        self.apply_with(self._apply_to_book, transaction)
        for request in self._requests:
            request.add(transaction)
        for listener in self._listeners:
            try_to(self.counter, partial(listener, transaction))

    def apply_with(self, apply: Callable[[Transaction], bool], transaction: Transaction) -> None:
        """Call `apply`, and request a snapshot if it does not know or cannot read the transaction."""
        name = f"Transaction {transaction.id} {getattr(transaction, 'type', 'of no type')}"
        try:
            if not apply(transaction):
                self._request_snapshot(f"{name} is not understood")
        except READ_ERRORS as error:
            self.counter.note_unreadable(str(error))
            self._request_snapshot(f"{name} is incomplete: {error}")


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
    PARTLY = auto()
    """The answer is older than the book. No difference was found, but what later transactions concern was left out."""
    DIFFERENT = auto()
    """A snapshot has to be taken; `request_snapshot` was called with the reason."""
    UNREAD = auto()
    """No difference was found, but something that counts could not be read (`Unread`): not everything was compared."""
    NOT_YET = auto()
    """Transactions of the answer are missing, or a snapshot is due: the next changes are compared."""


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

    def asking(self) -> AbstractContextManager[AccountRequest]:
        """Return a block in which a request about the account is sent, and its answer applied."""
        return self.gate.asking(self.checked)

    async def read_snapshot(
        self,
        read: Callable[[], Awaitable[Account]],
        request: AccountRequest,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        pauses: Sequence[float] = REPLICA_PAUSES_S,
    ) -> Account:
        """Return the account; while a replica answers that lags behind, ask again after each of the pauses (seconds)."""
        for pause in pauses:
            account = await read()
            if not self._is_behind(account, request):
                return account
            await sleep(pause)
        return await read()

    def _is_behind(self, account: Account, request: AccountRequest) -> bool:
        """Return whether an answer about this account is older than what was applied before it was asked for."""
        before = self._book.account
        return (
            before is not None
            and request.applied is not None
            and before.created_time_ns == account.created_time.ns
            and number_of(account.last_transaction_id) < request.applied
        )

    def apply_snapshot(self, account: Account, request: AccountRequest | None = None) -> Continuity:
        """Replace the book by a snapshot, then apply the transactions that came after it.

        Args:
            account: The account as the service answered.
            request: The request; without it, a snapshot older than the book is that of a history that went back.

        Raises:
            ValueError, AttributeError: the account's own figures cannot be read; nothing changed.
        """
        before, last = self._book.account, number_of(account.last_transaction_id)
        created_before = None if before is None else before.created_time_ns
        applied = self.gate.applied
        apply_snapshot(self._book, account)
        later = None if request is None else request.after(last)
        continuity = Continuity.SAME
        if created_before is not None and created_before != account.created_time.ns:
            continuity = Continuity.ANOTHER_ACCOUNT
        elif applied is not None and last < applied and later is None:
            continuity = Continuity.WENT_BACK
        if continuity is not Continuity.SAME:
            self.gate.forget()
        self.checked = last
        if continuity is Continuity.SAME and applied is not None and last < applied:
            for transaction in later or ():
                self.gate.apply_with(partial(fold.apply, self._book), transaction)
            last = applied
        self.gate.open_at(last)
        return continuity

    def apply_changes(
        self,
        answer: AccountChangesResponse,
        request: AccountRequest | None = None,
        *,
        snapshot_is_due: bool = False,
    ) -> Comparison:
        """Apply the transactions of `accounts.changes(request.since)`, and compare.

        If both are at the same transaction, take the service's figures too.

        Args:
            answer: What the service answered.
            request: The request; without it, an answer older than the book is not compared.
            snapshot_is_due: Whether the account is about to be read whole.
        """
        self.gate.offer_all(answer.changes.transactions)
        self.gate.saw_last(answer.last_transaction_id)
        last, applied = number_of(answer.last_transaction_id), self.gate.applied or 0
        was_replaced = request is not None and request.since > self.checked
        later = request.after(last) if request is not None and last < applied else None
        names = NO_NAMES if last == applied else _concerned_by(later)
        if names is None or was_replaced or snapshot_is_due:
            return Comparison.NOT_YET
        book, unreadable = self._book, self._book.unreadable
        compared = compare(book, answer.changes, answer.state, names)
        if compared.differences:
            self._request_snapshot(f"Differs from the broker: {'; '.join(compared.differences)}")
            return Comparison.DIFFERENT
        if last == applied:
            apply_account_state(book, answer.state)
        self.note_unread(CHANGES_UNREAD if book.unreadable > unreadable else "")
        if self._is_in_part_unread():
            self._request_snapshot("A part of the account could not be read")
        if self.is_unread:
            return Comparison.UNREAD
        if last < applied:
            lists_left_out = self._newest_that_lists(answer, compared.left_out)
            self.checked = max(self.checked, min(last, lists_left_out))
            return Comparison.PARTLY
        self.checked = max(self.checked, last)
        return Comparison.EQUAL

    def note_unread(self, why: str) -> None:
        """Note why the newest answer about the account could not be read; "" once one could."""
        if self._book.unread.answer != why:
            self._book.unread = replace(self._book.unread, answer=why)
            self._book.changed(Part.ACCOUNT)

    @property
    def is_unread(self) -> bool:
        """Whether something of the account that counts is not known, as it could not be read."""
        return bool(self._book.unread) or self._is_in_part_unread()

    def _is_in_part_unread(self) -> bool:
        unread = self._book.unread
        rows = self._book.trades.values()
        return bool(unread.trades or unread.orders or any(each.unread for each in rows))

    def _newest_that_lists(self, answer: AccountChangesResponse, names: Collection[str]) -> int:
        """Return the newest transaction after which the changes list all these items again."""
        newest: dict[str, int] = {}
        for each in answer.changes.transactions:
            try:
                newest |= dict.fromkeys(_listed_by(each), number_of(each.id))
            except READ_ERRORS:  # what it lists is not known: the changes are asked for again
                return self.checked
        last = number_of(answer.last_transaction_id)
        return min((newest.get(name, self.checked + 1) - 1 for name in names), default=last)


def _listed_by(transaction: Transaction) -> Iterator[str]:
    """Yield the trades, orders and positions that the account's changes list because of a transaction."""
    match transaction:
        case OrderFillTransaction():
            yield transaction.order_id
            yield transaction.instrument
            parts = (transaction.trade_opened, transaction.trade_reduced)
            for part in (*parts, *(transaction.trades_closed or ())):
                if part is not None:
                    yield part.trade_id
        case OrderCancelTransaction():
            yield transaction.order_id
        case _:  # a new order has the id of its transaction
            yield transaction.id


def _concerned_by(transactions: Sequence[Transaction] | None) -> frozenset[str] | None:
    """Return the ids and instruments that transactions name; None if they are not known or one cannot be read."""
    if transactions is None:
        return None
    try:
        return frozenset(name for each in transactions for name in _named_in("", each.to_wire()))
    except READ_ERRORS:
        return None


def _named_in(member: str, value: JsonValue) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _named_in(name, each)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for each in value:
            yield from _named_in(member, each)
    elif isinstance(value, str) and (member in {"id", "instrument"} or member.endswith(ID_ENDINGS)):
        yield value
