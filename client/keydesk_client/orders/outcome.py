"""What became of a request that changes the account: one of five outcomes, never an exception and never a guess.

Sending
├── Done                 it was acted on: filled, resting, cancelled at once, or applied
├── Rejected             the broker said no; nothing changed
├── NotSent              it never left; it can be asked for again without fear
└── Unknown              nobody knows yet; the transactions are being looked up
    ├── Done, Rejected   found there
    ├── Ambiguous        several like requests were found there, and nothing tells which of them is this one
    └── Unconfirmed      not found, yet not disproved: it is never sent again by itself, and watched for

What somebody wants done to an account, written down before it is sent.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Self, TypeAlias

from keydesk_client.http.pacing import SteadyTime
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.models.transactions.fills import OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction


class Action(Enum):
    """The writes that follow the order protocol."""

    CREATE = "create"
    REPLACE = "replace"
    CANCEL = "cancel"
    CLOSE_TRADE = "close_trade"
    CLOSE_POSITION = "close_position"
    SET_DEPENDENT_ORDERS = "set_dependent_orders"


EXITS = frozenset(
    {
        Action.CANCEL,
        Action.CLOSE_TRADE,
        Action.CLOSE_POSITION,
        Action.SET_DEPENDENT_ORDERS,
    }
)
"""What takes risk away or protects: never held back by trouble of our own."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One request, as the journal keeps it."""

    id: str
    action: Action
    since: int
    """The newest transaction id that was known before it was sent: what it makes lies behind it."""
    at_ns: int
    """When it was written, nanoseconds since 1970 by this machine's clock."""
    account_id: str | None
    target: str
    """Order, trade or instrument that it is about; empty for a new order."""
    body: Mapping[str, JsonValue]
    """The JSON object that was sent, of an order what stands inside `order`; its times in RFC 3339 in any case."""
    instrument: str = ""
    """The instrument that it concerns, where the caller knew it: the body of a cancel or a trade close does not name it."""
    steady: SteadyTime | None = None
    """A monotonic clock when it was written, or when another machine or boot first found it; None in older journals."""

    @property
    def client_id(self) -> str | None:
        """The client id that the new order carries, when it may carry one."""
        return self._id_in("clientExtensions")

    def side_id(self, side: str) -> str | None:
        """The client id of the order that closes the `long` or `short` side of a position, when it carries one."""
        return self._id_in(f"{side}ClientExtensions")

    def _id_in(self, member: str) -> str | None:
        extensions = self.body.get(member)
        found = extensions.get("id") if isinstance(extensions, dict) else None
        return found if isinstance(found, str) else None

    @property
    def is_exit(self) -> bool:
        """Whether it can only take risk away or protect; an order that may never open anything does too."""
        return self.action in EXITS or self.body.get("positionFill") == "REDUCE_ONLY"

    def to_wire(self) -> JsonObject:
        """As a line of the journal holds it."""
        line: JsonObject = {
            "id": self.id,
            "action": self.action.value,
            "since": self.since,
            "at_ns": self.at_ns,
            "account_id": self.account_id,
            "target": self.target,
            "body": dict(self.body),
        }
        if self.instrument:
            line["instrument"] = self.instrument
        if self.steady is not None:
            line["steady"] = {"clock": self.steady.clock, "ns": self.steady.ns}
        return line

    @classmethod
    def from_wire(cls, held: JsonValue) -> Self:
        """Read it back; ValueError or KeyError when it is none."""
        held = _object(held, "an intent")
        account_id = held["account_id"]
        return cls(
            id=_text(held, "id"),
            action=Action(held["action"]),
            since=_whole(held, "since"),
            at_ns=_whole(held, "at_ns"),
            account_id=None if account_id is None else _text(held, "account_id"),
            target=_text(held, "target"),
            body=_object(held["body"], "body"),
            instrument=_text(held, "instrument") if "instrument" in held else "",
            steady=_steady(held.get("steady")),
        )


def new_intent_id() -> str:
    """An id that no other order has: it is the client id of new orders, and the journal's key."""
    return f"kd-{secrets.token_hex(10)}"


def _object(value: JsonValue, name: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError(f"{name}: no object")  # noqa: TRY004 - a line that can not be read is one error
    return value


def _text(held: Mapping[str, JsonValue], member: str) -> str:
    value = held[member]
    if not isinstance(value, str):
        raise ValueError(f"{member}: no text")  # noqa: TRY004 - same
    return value


def _steady(value: JsonValue) -> SteadyTime | None:
    """Read a clock reading; an intent with an unreadable one is still an intent."""
    try:
        reading = _object(value, "steady")
        return SteadyTime(_text(reading, "clock"), _whole(reading, "ns"))
    except (ValueError, KeyError):
        return None


def _whole(held: Mapping[str, JsonValue], member: str) -> int:
    value = held[member]
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{member}: no whole number")  # noqa: TRY004 - same
    return value


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
