"""Requests that ended as Unconfirmed: their transactions are watched for, because they can still show up."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from keydesk_client.errors import MissingMember
from keydesk_client.intent import Intent
from keydesk_client.matching import Context, concerns, unclear_cancels, verdict
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.outcome import Ambiguous, Done, Rejected

SEEN_AT_MOST = 200
"""Transactions held for a request that shows up: more than any batch."""


@dataclass(slots=True)
class _Awaited:
    intent: Intent
    seen: deque[Transaction] = field(default_factory=lambda: deque(maxlen=SEEN_AT_MOST))


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
        """What this transaction, with those before it, shows to have happened after all."""
        found = (self._shown(each, transaction) for each in self._awaited.values())
        return tuple(each for each in found if each is not None)

    def perhaps_shown_by(self, transaction: Transaction) -> tuple[Intent, ...]:
        """Intents that must be looked up to know: a cancel does not tell whose protection it took away."""
        intents = (each.intent for each in self._awaited.values())
        return tuple(each for each in intents if unclear_cancels(each, (transaction,)))

    def _shown(
        self, each: _Awaited, transaction: Transaction
    ) -> Done | Rejected | Ambiguous | None:
        if not each.seen and not concerns(each.intent, transaction):
            return None
        each.seen.append(transaction)
        try:
            found = verdict(each.intent, each.seen, self._context(each.intent))
        except MissingMember:  # a record that can not be read shows nothing
            return None
        return None if isinstance(found, Ambiguous) and not found.is_complete else found
