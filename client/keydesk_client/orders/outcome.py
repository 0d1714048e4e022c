"""An intent, the journalled form of a request that changes an account, and its outcome.

Sending a request ends in one of five outcomes, never in an exception and never in a guess:

Sending
├── Done                 the broker acted on it: filled, resting, cancelled at once, or applied
├── Rejected             the broker refused it; nothing changed
├── NotSent              it was not sent; it may be sent again without risk
└── Unknown              the answer was lost; the transactions are being looked up
    ├── Done, Rejected   found there
    ├── Ambiguous        several identical requests were found there, and which of them is this one cannot be known
    └── Unconfirmed      not found, and not disproved: it is never sent again, and is watched for
"""

import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final, Self, TypeAlias

from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.models._core.scalars import TransactionID
from keydesk_client.models.transactions.fills import OrderFillTransaction
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.resources.answers import client_id_in, closed_sides

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
TIME_NAMESPACE: Final = Path("/proc/self/ns/time")
NO_TRANSACTION: Final = TransactionID("0")


class Action(StrEnum):
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
"""Actions that reduce or limit risk: never held back by an error on this side."""


@dataclass(frozen=True, slots=True)
class MonotonicTime:
    """A reading of the monotonic clock, comparable between processes of the same machine."""

    clock: str
    """Identifies the clock: readings of different clocks cannot be compared."""
    ns: int

    def since(self, earlier: "MonotonicTime | None") -> int | None:
        """Return the nanoseconds that have passed at least since `earlier`, or None when that is unknown."""
        if earlier is None or earlier.clock != self.clock or earlier.ns > self.ns:
            return None
        return self.ns - earlier.ns


def monotonic_time() -> MonotonicTime:
    """Read the monotonic clock; it stops while the machine sleeps, during which nothing is sent either."""
    return MonotonicTime(_clock_name(), time.monotonic_ns())


@cache
def _clock_name() -> str:
    """Return an id of the monotonic clock: the boot id where the system has one, else the host's name.

    The clock starts at boot, so that under a host's name a difference across a reboot is too small, never too large.
    """
    namespace = ""
    with suppress(OSError):
        namespace = str(TIME_NAMESPACE.readlink())
    try:
        return f"{BOOT_ID.read_text(encoding='ascii').strip()} {namespace}".strip()
    except (OSError, ValueError):
        return f"{os.uname().nodename} {namespace}".strip()


@dataclass(frozen=True, slots=True)
class Intent:
    """A request that changes an account, as the journal holds it."""

    id: str
    action: Action
    since: int
    """The newest transaction id that was known before sending; the request's transactions have higher ids."""
    at_ns: int
    """When it was made, in nanoseconds since 1970 by this machine's clock."""
    account_id: str | None
    target: str
    """The order, trade or instrument that it changes; empty for a new order."""
    body: Mapping[str, JsonValue]
    """The JSON object that is sent; of an order, what stands inside `order`. Empty when the request was invalid."""
    instrument: str = ""
    """The instrument that it concerns, if known: the body of a cancel or a trade close does not name it."""
    monotonic: MonotonicTime | None = None
    """A monotonic clock when it was made, or when another machine or boot first read it; None in older journals."""

    @property
    def is_exit(self) -> bool:
        """Whether it can only reduce or limit risk, as a reduce-only order does."""
        return self.action in EXITS or self.body.get("positionFill") == "REDUCE_ONLY"

    @property
    def client_id(self) -> str | None:
        """The client id of the new order, if it has one."""
        return client_id_in(self.body)

    @property
    def closed_sides(self) -> tuple[str, ...]:
        """The sides of a position, "long" and "short", that the request closes."""
        return closed_sides(self.body)

    @property
    def has_own_id(self) -> bool:
        """Whether the account's transactions repeat an id that only this request carries.

        False for a new order or a closed position without client ids (linked accounts, older journals).
        """
        if self.action is Action.CREATE:
            return self.client_id == self.id
        return any(self.side_id(side) is not None for side in self.closed_sides)

    def side_id(self, side: str) -> str | None:
        """Return the client id of the order that closes the "long" or "short" side of a position, if it has one."""
        return client_id_in(self.body, f"{side}ClientExtensions")

    def to_wire(self) -> JsonObject:
        """Return the JSON object that the journal holds."""
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
        if self.monotonic is not None:
            line["steady"] = {"clock": self.monotonic.clock, "ns": self.monotonic.ns}
        return line

    @classmethod
    def from_wire(cls, held: JsonValue) -> Self:
        """Read an intent from the journal; raise ValueError or KeyError when it is not one."""
        held = _object(held, "intent")
        account_id = held["account_id"]
        return cls(
            id=_text(held, "id"),
            action=Action(_text(held, "action")),
            since=_whole(held, "since"),
            at_ns=_whole(held, "at_ns"),
            account_id=None if account_id is None else _text(held, "account_id"),
            target=_text(held, "target"),
            body=_object(held["body"], "body"),
            instrument=_text(held, "instrument") if "instrument" in held else "",
            monotonic=_steady(held.get("steady")),
        )


def new_intent_id() -> str:
    """Return a unique id: the key of an intent in the journal, and the client id of a new order."""
    return f"kd-{secrets.token_hex(10)}"


class OrderResult(StrEnum):
    """What a request that the broker acted on turned into."""

    FILLED = "filled"
    RESTING = "resting"
    CANCELLED = "cancelled"
    """Accepted and cancelled at once: insufficient margin, halted market, price beyond its bound."""
    APPLIED = "applied"
    """A cancel or an edit took effect."""


@dataclass(frozen=True, slots=True)
class Done:
    """The broker acted on the request."""

    intent: Intent
    result: OrderResult
    transactions: tuple[Transaction, ...] = ()
    """The transactions of the request, in order, as far as known: answers name on-fill orders by id only."""
    reason: str = ""
    """Why the order was cancelled at once; empty otherwise."""
    order_id: str | None = None
    """Id of the order that was created, if any."""
    related_transaction_ids: tuple[TransactionID, ...] = ()
    last_transaction_id: TransactionID = NO_TRANSACTION
    """The newest transaction of the account at that time; "0" when it is not known."""
    request_id: str = ""
    looked_up: bool = False
    """Whether it was found in the transactions after its answer was lost."""

    @property
    def fills(self) -> tuple[OrderFillTransaction, ...]:
        """The fills, with units and prices; none for a resting order."""
        return tuple(each for each in self.transactions if isinstance(each, OrderFillTransaction))

    @property
    def units(self) -> Decimal:
        """The net units of the fills, positive bought and negative sold; 0 for a resting order."""
        return sum((fill.units for fill in self.fills), Decimal(0))

    @property
    def price(self) -> Decimal | None:
        """The average price of the fill; None without one, and for several, as of both sides of a position: see `fills`."""
        if len(self.fills) != 1:
            return None
        [fill] = self.fills
        return fill.price if fill.full_vwap is None else fill.full_vwap

    @property
    def trade_id(self) -> str | None:
        """Id of the trade that was opened, if any."""
        opened = (fill.trade_opened for fill in self.fills)
        return next((each.trade_id for each in opened if each is not None), None)

    def __str__(self) -> str:
        """One line for a log; repr shows every member."""
        fills = (_fill_text(fill) for fill in self.fills)
        ids = (("order", self.order_id), ("trade", self.trade_id))
        named = (f"{name} {each}" for name, each in ids if each is not None)
        return ", ".join((self.result, *filter(None, (*fills, self.reason, *named))))


@dataclass(frozen=True, slots=True)
class Rejected:
    """The broker refused the request; nothing changed."""

    intent: Intent
    message: str
    error_code: str | None = None
    reject_reason: str | None = None
    transactions: tuple[Transaction, ...] = ()
    """The reject transactions; none of a request that the broker refused before it made one."""
    status: int = 0
    related_transaction_ids: tuple[TransactionID, ...] = ()
    last_transaction_id: TransactionID = NO_TRANSACTION
    """The newest transaction of the account at that time; "0" when it is not known."""
    request_id: str = ""
    looked_up: bool = False

    def __str__(self) -> str:
        """One line for a log; repr shows every member."""
        return ", ".join(filter(None, ("rejected", self.reject_reason, self.message)))


@dataclass(frozen=True, slots=True)
class NotSent:
    """The request was not sent, or the broker's rate limit turned it away."""

    intent: Intent
    message: str
    field: str = ""
    """The invalid member, when that is the reason."""
    retry_after: float | None = None
    """Seconds to wait before sending it again, if the broker named them."""

    def __str__(self) -> str:
        """One line for a log; repr shows every member."""
        return f"not sent, {self.message}"


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """An outcome: one of several identical requests whose answers were lost; their results are known, not which made which.

    Two closes of one trade carry no id that the account's transactions repeat. The request may have had any of
    `findings`, or no effect.
    """

    intent: Intent
    findings: tuple[Done | Rejected, ...]
    """The results of the identical requests, oldest first; each with the intent of this outcome."""
    like: tuple[str, ...] = ()
    """Ids of the other intents; empty when the other requests are not in this journal."""
    is_complete: bool = True
    """Whether none of the requests can still take effect."""
    are_all_found: bool = True
    """Whether there is a finding for each request; one without may still be refused."""

    @property
    def requests(self) -> int:
        """The number of identical requests."""
        return max(len(self.like) + 1, len(self.findings))

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        """The transactions of all identical requests, as far as known."""
        return tuple(
            each
            for finding in self.findings
            if isinstance(finding, Done)
            for each in finding.transactions
        )

    @property
    def related_transaction_ids(self) -> tuple[TransactionID, ...]:
        """Ids of the transactions of all identical requests."""
        return tuple(id_ for finding in self.findings for id_ in finding.related_transaction_ids)

    @property
    def last_transaction_id(self) -> TransactionID:
        """The newest transaction id at the time of the look-up."""
        return max(
            (finding.last_transaction_id for finding in self.findings), default=NO_TRANSACTION
        )

    def __str__(self) -> str:
        """One line for a log; repr shows every member."""
        return f"one of {self.requests} identical requests: {'; '.join(map(str, self.findings))}"


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """An outcome: the request may have reached the broker, and none of its transactions shows it; it can still take effect.

    `Sender.resolve` looks it up again, `Sender.dismiss` settles it by hand. Before this outcome a request is `Unknown`.
    """

    intent: Intent
    message: str
    one_of: Ambiguous | None = None
    """The results of identical requests, when one of them may be this request's."""
    gave_up: bool = False
    """Whether the look-ups were ended by `give_up_after`: the service may have acted on it long ago."""

    def __str__(self) -> str:
        """One line for a log; repr shows every member."""
        return f"unconfirmed {self.intent.id}, {self.message}"


@dataclass(frozen=True, slots=True)
class Sending:
    """The intent is in the journal and its request is being sent."""

    intent: Intent
    not_journalled: str = ""
    """Why an exit is sent without being in the journal; after a crash it would not be looked up. Empty otherwise."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A step, not an outcome: the answer was lost, and the transactions are being looked up.

    It is passed to `on_progress` and ends as Done, Rejected, `Ambiguous` or `Unconfirmed`.
    """

    intent: Intent
    message: str
    look_ups: int = 0
    """The number of look-ups that were answered."""
    request_id: str = ""
    """The service's id of the request, if an answer with its headers came."""


Outcome: TypeAlias = Done | Rejected | NotSent | Ambiguous | Unconfirmed
Progress: TypeAlias = Sending | Unknown | Outcome


def _fill_text(fill: OrderFillTransaction) -> str:
    units, instrument, price = (
        getattr(fill, name, "?") for name in ("units", "instrument", "full_vwap")
    )
    return f"{units} {instrument} at {price}"


def _object(value: JsonValue, name: str) -> JsonObject:
    if not isinstance(value, dict):
        raise ValueError(f"{name}: not an object")  # noqa: TRY004 - the journal counts a line with a ValueError as unreadable
    return value


def _text(held: Mapping[str, JsonValue], member: str) -> str:
    value = held[member]
    if not isinstance(value, str):
        raise ValueError(f"{member}: not a string")  # noqa: TRY004 - same
    return value


def _whole(held: Mapping[str, JsonValue], member: str) -> int:
    value = held[member]
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{member}: not an integer")  # noqa: TRY004 - same
    return value


def _steady(value: JsonValue) -> MonotonicTime | None:
    """Read a clock reading; None when it is missing or unreadable, which leaves the intent valid."""
    try:
        reading = _object(value, "steady")
        return MonotonicTime(_text(reading, "clock"), _whole(reading, "ns"))
    except (ValueError, KeyError):
        return None
