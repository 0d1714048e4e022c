"""A decision in the making: its transactions so far, and the account as it would be after them."""

from typing import Any, TypeVar

from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.transactions import Transaction

Kind = TypeVar("Kind", bound=Transaction)


class Decision:
    """Collects what happens; the account that it was given stays as it was."""

    def __init__(self, account: Account, market: Market, request_id: str | None = None) -> None:
        self.account = account.copy()
        self.market = market
        self.request_id = request_id
        self.transactions: list[Transaction] = []
        self._batch_id = account.last_transaction_id + 1

    def begin_batch(self) -> None:
        """Let what follows be an event of its own."""
        self._batch_id = self.next_id

    @property
    def next_id(self) -> int:
        """The id of the next transaction."""
        return self.account.last_transaction_id + 1

    def record(self, kind: type[Kind], **members: Any) -> Kind:  # noqa: ANN401 - the members of the kind
        """Let a transaction happen."""
        transaction = kind(
            id=self.next_id,
            account_id=self.account.id,
            user_id=self.account.user_id,
            batch_id=self._batch_id,
            request_id=self.request_id,
            time=self.market.now,
            **members,
        )
        apply(self.account, transaction)
        self.transactions.append(transaction)
        return transaction
