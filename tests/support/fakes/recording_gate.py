"""A gate that keeps the transactions of answers instead of applying them."""

from collections.abc import Iterable

from keydesk.store.store import Store
from keydesk_client.account.synchronizer import TransactionGate
from keydesk_client.models import Transaction


class RecordingGate(TransactionGate):
    """Keeps what it is offered."""

    def __init__(self) -> None:
        super().__init__(lambda _: True, Store(), request_snapshot=lambda _: None)
        self.came: list[Transaction] = []

    def offer_all(self, transactions: Iterable[Transaction]) -> None:
        """Keep them."""
        self.came += transactions
