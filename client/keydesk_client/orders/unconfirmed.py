"""Requests that ended as Unconfirmed: which transactions and changes of the account may show what became of them."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, cast

from keydesk_client.errors import (
    MissingMember,
)
from keydesk_client.models._core.record import Record
from keydesk_client.models.accounts import AccountChanges
from keydesk_client.models.orders import Order, UnknownOrder
from keydesk_client.models.trades import TradeSummary
from keydesk_client.models.transactions.unions import Transaction, UnknownTransaction
from keydesk_client.orders.classify import batch_id
from keydesk_client.orders.matching import Context, concerns, find_outcome, unclear_cancels
from keydesk_client.orders.outcome import (
    Action,
    Ambiguous,
    Done,
    Intent,
    Rejected,
)
from keydesk_client.resources.answers import client_id_of, is_named, text

MAX_SEEN: Final = 200
"""Transactions that are kept for an Unconfirmed intent that shows up: more than any batch has."""

Finding: TypeAlias = Done | Rejected | Ambiguous | None


class UnconfirmedIntents:
    """Intents that ended as Unconfirmed, with the transactions since that concern them."""

    def __init__(self, context: Callable[[Intent], Context]) -> None:
        self._context = context
        self.by_id: dict[str, _Watched] = {}

    def __contains__(self, intent: Intent) -> bool:
        return intent.id in self.by_id

    @property
    def intents(self) -> tuple[Intent, ...]:
        """The intents that were not dismissed, oldest first."""
        return tuple(each.intent for each in self.by_id.values() if not each.is_dismissed)

    @property
    def watched(self) -> tuple[Intent, ...]:
        """All intents, oldest first: one that was dismissed may still take effect."""
        return tuple(each.intent for each in self.by_id.values())

    def add(self, intent: Intent) -> None:
        """Watch an intent."""
        self.by_id[intent.id] = _Watched(intent)

    def dismiss(self, intent: Intent) -> None:
        """Leave an intent out of `intents`; it is still watched."""
        if intent.id in self.by_id:
            self.by_id[intent.id].is_dismissed = True

    def shown_by(self, transaction: Transaction) -> tuple[Done | Rejected | Ambiguous, ...]:
        """Return the outcomes that this transaction shows, with those before it, of intents with an id of their own."""
        named = (each for each in self.by_id.values() if each.intent.has_own_id)
        outcomes = (self._match(each, transaction) for each in named)
        return tuple(each for each in outcomes if each is not None)

    def perhaps_shown_by(self, transaction: Transaction) -> tuple[Intent, ...]:
        """Return the intents without an id of their own that a transaction may concern: look them up to know.

        Transactions from before an intent became Unconfirmed were not kept, and they decide what this one means: the
        trade that is closed now may have been reduced by the request before. And a cancel does not name the trade of a
        dependent order.
        """
        return tuple(
            each.intent
            for each in self.by_id.values()
            if not each.intent.has_own_id and each.is_concerned_by(transaction)
        )

    def _match(self, watched: "_Watched", transaction: Transaction) -> Finding:
        if not watched.seen and not concerns(watched.intent, transaction):
            return None
        watched.seen.append(transaction)
        try:
            return find_outcome(watched.intent, watched.seen, self._context(watched.intent))
        except MissingMember:  # an unreadable record shows nothing
            return None


@dataclass(slots=True)
class _Watched:
    """An Unconfirmed intent."""

    intent: Intent
    is_dismissed: bool = False
    seen: deque[Transaction] = field(default_factory=lambda: deque(maxlen=MAX_SEEN))
    """The transactions since the first that concerned it."""
    related_ids: set[str] = field(default_factory=set[str])
    """Ids of the batches and orders that concerned it."""

    def is_concerned_by(self, transaction: Transaction) -> bool:
        """Whether a transaction concerns the intent, or belongs to a batch or order that did."""
        batch = batch_id(transaction)
        if concerns(self.intent, transaction) or unclear_cancels(self.intent, (transaction,)):
            self.related_ids |= {batch, text(transaction, "replaced_by_order_id") or batch}
            return True
        return not self.related_ids.isdisjoint(
            {batch, transaction.id, text(transaction, "order_id") or batch}
        )


def may_concern(intent: Intent, changes: AccountChanges) -> bool:
    """Whether anything in the changes may be an effect of the intent, or decide what became of it.

    Raise MissingMember when a record is unreadable.
    """
    transactions = changes.transactions
    return (
        shows_effect(intent, changes)
        or bool(unclear_cancels(intent, transactions))
        or any(concerns(intent, each) for each in transactions)
    )


def is_read_whole(value: object) -> bool:
    """Return whether every member of a record, and of those inside it, could be read, and each kind is known."""
    match value:
        case UnknownTransaction() | UnknownOrder():
            return False
        case Record():
            names = vars(value).keys()  # their values may be undecoded until they are asked for
            known = type(value).model_fields.keys() <= names
            return known and all(is_read_whole(getattr(value, name)) for name in names)
        case tuple():
            return all(map(is_read_whole, cast("tuple[object, ...]", value)))
        case _:
            return True


def shows_effect(intent: Intent, changes: AccountChanges) -> bool:
    """Whether an account's changed orders and trades may be an effect of the intent, or of an identical request.

    They do not tell who caused them: they are a reason to read the transactions again. Raise MissingMember when a list
    is unreadable.
    """
    match intent.action:
        case Action.CREATE:
            return any(client_id_of(each) == intent.client_id for each in _orders(changes))
        case Action.REPLACE | Action.CANCEL:
            ended = (*changes.orders_cancelled, *changes.orders_filled)
            return any(_is_target(intent, each) for each in ended)
        case Action.CLOSE_TRADE:
            return any(_is_target(intent, each) for each in _closed(changes))
        case Action.CLOSE_POSITION:
            return any(text(each, "instrument") == intent.target for each in _closed(changes))
        case Action.SET_DEPENDENT_ORDERS:
            return any(
                is_named(intent.target, each, "trade_id", "client_trade_id")
                for each in _orders(changes)
            )


def _orders(changes: AccountChanges) -> tuple[Order, ...]:
    return (
        *changes.orders_created,
        *changes.orders_cancelled,
        *changes.orders_filled,
        *changes.orders_triggered,
    )


def _closed(changes: AccountChanges) -> tuple[TradeSummary, ...]:
    return (*changes.trades_reduced, *changes.trades_closed)


def _is_target(intent: Intent, record: Order | TradeSummary) -> bool:
    if intent.target.startswith("@"):
        return client_id_of(record) == intent.target[1:]
    return text(record, "id") == intent.target
