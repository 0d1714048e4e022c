"""What became of a request that changes the account: one of five outcomes, never an exception and never a guess.

Sending
├── Done                 it was acted on: filled, resting, cancelled at once, or applied
├── Rejected             the broker said no; nothing changed
├── NotSent              it never left; it can be asked for again without fear
└── Unknown              nobody knows yet; the transactions are being looked up
    ├── Done, Rejected   found there
    ├── Ambiguous        several like requests were found there, and nothing tells which of them is this one
    └── Unconfirmed      not found, yet not disproved: it is never sent again by itself, and watched for
"""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from keydesk_client.models.transactions.fills import OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.intent import Intent


class Became(Enum):
    """What a request that was acted on turned into."""

    FILLED = "filled"
    RESTING = "resting"
    CANCELLED = "cancelled"
    """Accepted and cancelled at once: not enough margin, a market halted, a price beyond its bound."""
    APPLIED = "applied"
    """A cancel or an edit took effect."""


@dataclass(frozen=True, slots=True)
class Done:
    """The broker acted on it."""

    intent: Intent
    became: Became
    transactions: tuple[Transaction, ...] = ()
    """What it made, in order, as far as known: answers name on-fill orders by id only."""
    reason: str = ""
    """Why it was cancelled at once; empty otherwise."""
    order_id: str | None = None
    """The order it created, if any."""
    related_transaction_ids: tuple[str, ...] = ()
    last_transaction_id: int = 0
    request_id: str = ""
    looked_up: bool = False
    """Found in the transactions afterwards; the answer itself was lost."""

    @property
    def fills(self) -> tuple[OrderFillTransaction, ...]:
        """What was traded, and at which price: none for an order that rests."""
        return tuple(each for each in self.transactions if isinstance(each, OrderFillTransaction))

    @property
    def trade_id(self) -> str | None:
        """The trade that it opened, if it opened one."""
        opened = (fill.trade_opened for fill in self.fills)
        return next((each.trade_id for each in opened if each is not None), None)

    def __str__(self) -> str:
        """One line for a log; repr tells everything."""
        fills = (_told(fill) for fill in self.fills)
        ids = (("order", self.order_id), ("trade", self.trade_id))
        named = (f"{name} {each}" for name, each in ids if each is not None)
        return ", ".join((self.became.value, *filter(None, (*fills, self.reason, *named))))


def _told(fill: OrderFillTransaction) -> str:
    units, instrument, price = (
        getattr(fill, name, "?") for name in ("units", "instrument", "full_vwap")
    )
    return f"{units} {instrument} at {price}"


@dataclass(frozen=True, slots=True)
class Rejected:
    """The broker refused; nothing changed."""

    intent: Intent
    message: str
    error_code: str | None = None
    reject_reason: str | None = None
    status: int = 0
    related_transaction_ids: tuple[str, ...] = ()
    last_transaction_id: int = 0
    request_id: str = ""
    looked_up: bool = False

    def __str__(self) -> str:
        """One line for a log; repr tells everything."""
        return ", ".join(filter(None, ("rejected", self.reject_reason, self.message)))


@dataclass(frozen=True, slots=True)
class NotSent:
    """It never left this machine, or the broker turned it away unread."""

    intent: Intent
    message: str
    field: str = ""
    """The member that makes it impossible, when that is the reason."""
    retry_after: float | None = None
    """Seconds to wait, where the broker said so."""

    def __str__(self) -> str:
        """One line for a log; repr tells everything."""
        return f"not sent, {self.message}"


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """One of several like requests whose answers were lost; what they did is known, but not which did what.

    Two closes of one trade carry no id that the account's transactions would repeat. This outcome makes no statement
    about the single request: it may have done any of `findings`, or nothing.
    """

    intent: Intent
    findings: tuple[Done | Rejected, ...]
    """What the like requests came to, oldest first; each with the intent of this outcome."""
    like: tuple[str, ...] = ()
    """Ids of the other intents; empty where the other requests came from outside this journal."""
    is_complete: bool = True
    """Whether no other of them can change anything any more."""
    are_all_found: bool = True
    """Whether there is a finding for each of them; one that is missing may still be refused."""

    @property
    def requests(self) -> int:
        """How many like requests there are."""
        return max(len(self.like) + 1, len(self.findings))

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        """What the like requests made together, as far as known."""
        return tuple(
            each
            for found in self.findings
            if isinstance(found, Done)
            for each in found.transactions
        )

    @property
    def related_transaction_ids(self) -> tuple[str, ...]:
        """The transactions of all of them."""
        return tuple(id_ for found in self.findings for id_ in found.related_transaction_ids)

    @property
    def last_transaction_id(self) -> int:
        """The newest transaction that was known when this was found."""
        return max((found.last_transaction_id for found in self.findings), default=0)

    def __str__(self) -> str:
        """One line for a log; repr tells everything."""
        return f"one of {self.requests} like requests: {'; '.join(map(str, self.findings))}"


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """It may have reached the broker, and is not among its transactions. It can still show up."""

    intent: Intent
    message: str
    one_of: Ambiguous | None = None
    """What like requests did by then, when it may have been this one."""

    def __str__(self) -> str:
        """One line for a log; repr tells everything."""
        return f"unconfirmed {self.intent.id}, {self.message}"


@dataclass(frozen=True, slots=True)
class Sending:
    """Journalled, and on its way."""

    intent: Intent
    not_journalled: str = ""
    """Why an exit left without a line in the journal: a crash before its answer would leave it unresolved."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """The answer was lost; the transactions are being looked up."""

    intent: Intent
    message: str
    look_ups: int = 0
    """How many look-ups were answered."""
    request_id: str = ""
    """The service's id of the request, where its answer told that much."""


Outcome: TypeAlias = Done | Rejected | NotSent | Ambiguous | Unconfirmed
Progress: TypeAlias = Sending | Unknown | Outcome
