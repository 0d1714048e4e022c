"""Answers about transactions."""

from keydesk_client.models._core.base import Response
from keydesk_client.models._core.scalars import TransactionID
from keydesk_client.models._core.times import DateTime
from keydesk_client.models.enumerations import TransactionFilter
from keydesk_client.models.transactions.unions import Transaction


class TransactionPageIndex(Response):
    """Result of the transactions list."""

    from_: DateTime
    """Effective start."""
    to: DateTime
    """Effective end."""
    page_size: int
    """Effective page size."""
    type: tuple[TransactionFilter, ...] | None = None
    """Filter given, absent when none."""
    count: int
    """Transactions over all pages."""
    pages: tuple[str, ...]
    """Absolute idrange URLs, filter carried along."""
    last_transaction_id: TransactionID
    """Newest transaction."""


class TransactionResponse(Response):
    """One transaction."""

    transaction: Transaction
    last_transaction_id: TransactionID


class TransactionsResponse(Response):
    """Transactions in ascending order."""

    transactions: tuple[Transaction, ...]
    last_transaction_id: TransactionID
