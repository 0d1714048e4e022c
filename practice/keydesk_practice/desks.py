"""One account at the broker: who it belongs to, what it holds, its past, and who listens to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from keydesk_practice.history import History
from keydesk_practice.ledger import Entry, LedgerAccount
from keydesk_practice.listeners import Listeners


@dataclass(slots=True)
class AccountDesk:
    """An account's place at the broker."""

    account: LedgerAccount
    history: History
    created_at: int
    committed_id: int
    listeners: Listeners = field(default_factory=Listeners)

    def publish(self, batch: Sequence[Entry]) -> None:
        """Tell the listeners of a batch that is on disk."""
        self.committed_id = batch[-1].id
        self.listeners.publish([entry.body for entry in batch])
