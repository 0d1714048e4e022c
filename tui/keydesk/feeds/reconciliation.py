"""The check of what is UNCONFIRMED: compared from time to time with what the account changed since it was sent.

The stream is watched for its transactions as well. But a transaction can pass unseen: a snapshot that was taken
meanwhile holds its effect, and the stream begins after it; or the look-ups were answered from a copy that lagged behind.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Protocol

from keydesk.config.config import Reconciliation
from keydesk.feeds.link import Link
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import AccountChanges
from keydesk_client.orders.intent import Intent

NS = 1_000_000_000


class Unsettled(Protocol):
    """The order protocol of the client, as far as the check uses it."""

    def unconfirmed(self) -> tuple[Intent, ...]: ...
    def reconcile(self, changes: AccountChanges, since: int) -> Awaitable[None]: ...


@dataclass(slots=True)
class Reconciler:
    """Asks for the account's changes while something is UNCONFIRMED, and has them compared."""

    sender: Unsettled
    thresholds: Reconciliation
    _checked_at: float = field(default=float("-inf"), init=False)
    _sent_at: dict[str, float] = field(default_factory=dict[str, float], init=False)
    """By intent id, on the clock that nobody sets; by the wall clock as it stood at the first check."""

    async def check(self, link: Link) -> None:
        """Compare what is due; without an answer the next check asks again."""
        due = self._due(link)
        if not due or link.now() - self._checked_at < self.thresholds.check_every:
            return
        self._checked_at = link.now()
        since = min(intent.since for intent in due)
        try:
            answer = await link.ask(link.client.for_look_ups().accounts.changes(since))
        except KeydeskClientError:  # also of a history that began anew and lacks that id
            return
        link.door.offer_all(answer.changes.transactions)
        link.door.saw_last(answer.last_transaction_id)
        await self.sender.reconcile(answer.changes, since)

    def _due(self, link: Link) -> list[Intent]:
        """Return what is neither too young, so that look-ups may still find it, nor too old to ask for."""
        now, limits = link.now(), self.thresholds
        intents = self.sender.unconfirmed()
        self._sent_at = {
            each.id: self._sent_at.get(each.id, now - max(0, link.wall_ns() - each.at_ns) / NS)
            for each in intents
        }
        return [
            each
            for each in intents
            if limits.check_after <= now - self._sent_at[each.id] <= limits.look_back * 60
        ]
