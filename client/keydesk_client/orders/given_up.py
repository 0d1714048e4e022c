"""Requests that ended as Unconfirmed: their transactions are watched for, because they can still show up."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from keydesk_client.errors import MissingMember
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.content import text
from keydesk_client.orders.intent import Intent
from keydesk_client.orders.matching import Context, concerns, names_itself, unclear_cancels, verdict
from keydesk_client.orders.outcome import Ambiguous, Done, Rejected

SEEN_AT_MOST = 200
"""Transactions held for a request that shows up: more than any batch."""


@dataclass(slots=True)
class _Awaited:
    intent: Intent
    seen: deque[Transaction] = field(default_factory=lambda: deque(maxlen=SEEN_AT_MOST))
    bearing: set[str] = field(default_factory=set[str])
    """Ids of batches and orders that said something about it."""


class GivenUp:
    """Intents that nothing was found of."""

    def __init__(self, context: Callable[[Intent], Context]) -> None:
        self._context = context
        self._awaited: dict[str, _Awaited] = {}

    def __contains__(self, intent: Intent) -> bool:
        return intent.id in self._awaited

    @property
    def intents(self) -> tuple[Intent, ...]:
        """Those that are watched for."""
        return tuple(each.intent for each in self._awaited.values())

    def add(self, intent: Intent) -> None:
        """Watch for it."""
        self._awaited[intent.id] = _Awaited(intent)

    def drop(self, intent: Intent) -> None:
        """It is known what became of it."""
        self._awaited.pop(intent.id, None)

    def shown_by(self, transaction: Transaction) -> tuple[Done | Rejected | Ambiguous, ...]:
        """What this transaction, with those before it, shows to have happened after all, by ids of requests' own."""
        named = (each for each in self._awaited.values() if names_itself(each.intent))
        found = (self._shown(each, transaction) for each in named)
        return tuple(each for each in found if each is not None)

    def perhaps_shown_by(self, transaction: Transaction) -> tuple[Intent, ...]:
        """Intents that must be looked up to know.

        What came before they were given up was not seen here, and without an id of the request's own it decides what
        the rest means: the trade that is closed now may have been reduced by this request before. And a cancel does
        not tell whose protection it took away.
        """
        return tuple(
            each.intent
            for each in self._awaited.values()
            if not names_itself(each.intent) and _bears_on(each, transaction)
        )

    def _shown(
        self, each: _Awaited, transaction: Transaction
    ) -> Done | Rejected | Ambiguous | None:
        if not each.seen and not concerns(each.intent, transaction):
            return None
        each.seen.append(transaction)
        try:
            return verdict(each.intent, each.seen, self._context(each.intent))
        except MissingMember:  # a record that can not be read shows nothing
            return None


def _bears_on(each: _Awaited, transaction: Transaction) -> bool:
    """Whether it says something about the request, or goes on with what did."""
    batch = text(transaction, "batch_id") or transaction.id
    if concerns(each.intent, transaction) or unclear_cancels(each.intent, (transaction,)):
        each.bearing |= {batch, text(transaction, "replaced_by_order_id") or batch}
        return True
    return not each.bearing.isdisjoint(
        {batch, transaction.id, text(transaction, "order_id") or batch}
    )
