"""Requests that ended as Unconfirmed: their transactions are watched for, because they can still show up."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from keydesk_client.errors import MissingMember
from keydesk_client.intent import Intent
from keydesk_client.matching import Claimed, concerns, unclear_cancels, verdict
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.outcome import Done, Rejected

SEEN_AT_MOST = 200
"""Transactions held for a request that shows up: more than any batch."""


@dataclass(slots=True)
class _Awaited:
    intent: Intent
    seen: deque[Transaction] = field(default_factory=lambda: deque(maxlen=SEEN_AT_MOST))


class GivenUp:
    """Intents that nothing was found of."""

    def __init__(self, claimed: Callable[[], Claimed]) -> None:
        self._claimed = claimed
        self._awaited: dict[str, _Awaited] = {}

    def __contains__(self, intent: Intent) -> bool:
        return intent.id in self._awaited

    def add(self, intent: Intent) -> None:
        """Watch for it."""
        self._awaited[intent.id] = _Awaited(intent)

    def drop(self, intent: Intent) -> None:
        """It is known what became of it."""
        self._awaited.pop(intent.id, None)

    def shown_by(self, transaction: Transaction) -> tuple[Done | Rejected, ...]:
        """What this transaction, with those before it, shows to have happened after all."""
        found = (self._shown(each, transaction) for each in self._awaited.values())
        return tuple(each for each in found if each is not None)

    def perhaps_shown_by(self, transaction: Transaction) -> tuple[Intent, ...]:
        """Intents that must be looked up to know: a cancel does not tell whose protection it took away."""
        intents = (each.intent for each in self._awaited.values())
        return tuple(each for each in intents if unclear_cancels(each, (transaction,)))

    def _shown(self, each: _Awaited, transaction: Transaction) -> Done | Rejected | None:
        if not each.seen and not concerns(each.intent, transaction):
            return None
        each.seen.append(transaction)
        try:
            return verdict(each.intent, each.seen, self._claimed())
        except MissingMember:  # a record that can not be read shows nothing
            return None
