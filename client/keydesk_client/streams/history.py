"""The account's transactions by REST, as a stream asks for them, and what of an answer can be relied on."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from keydesk_client.errors import MissingMember
from keydesk_client.models.responses_transactions import TransactionsResponse
from keydesk_client.models.transactions.unions import Transaction


class TellsLast(Protocol):
    """An answer or a heartbeat."""

    @property
    def last_transaction_id(self) -> str: ...


class History(Protocol):
    """What the service knows of the account's transactions."""

    def newest(self) -> Awaitable[int]:
        """Id of the newest transaction; UnreadableAnswer when the service does not tell it."""
        ...

    def since(self, transaction_id: int) -> Awaitable[TransactionsResponse]:
        """Transactions after an id."""
        ...

    def range(self, from_id: int, to_id: int) -> Awaitable[TransactionsResponse]:
        """Transactions from one id to another, both included."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """An answer of the history: a transaction without an id has no place in the order, so it is asked for again."""

    transactions: tuple[Transaction, ...]
    last: int | None
    """The newest id, when the answer tells it."""
    unreadable: int
    """Transactions without an id."""


def told_by(answer: TransactionsResponse) -> Told:
    """What can be read of an answer, however much of it is missing."""
    try:
        sent = answer.transactions
    except MissingMember:
        sent = ()
    numbered = tuple(each for each in sent if id_of(each) is not None)
    return Told(numbered, last_told(answer), len(sent) - len(numbered))


def last_told(answer: TellsLast) -> int | None:
    """The lastTransactionID that came, if one did."""
    try:
        return int(answer.last_transaction_id)
    except MissingMember:
        return None


def id_of(transaction: Transaction) -> int | None:
    """The id that a transaction tells, if it tells one."""
    try:
        return int(transaction.id)
    except (MissingMember, ValueError):  # of a kind that is newer than this library it is any text
        return None
