"""What somebody wants done to an account, written down before it is sent."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Self

from keydesk_client.http.timing import SteadyTime
from keydesk_client.models._core.json_values import JsonObject, JsonValue


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
