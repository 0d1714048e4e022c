"""What somebody wants done to an account, written down before it is sent."""

import secrets
from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import Any, Self


class Action(Enum):
    """The writes that follow the order protocol."""

    CREATE = "create"
    REPLACE = "replace"
    CANCEL = "cancel"
    CLOSE_TRADE = "close_trade"
    CLOSE_POSITION = "close_position"
    SET_DEPENDENT_ORDERS = "set_dependent_orders"


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
    body: dict[str, Any]
    """The JSON object that was sent."""

    @property
    def client_id(self) -> str | None:
        """The client id that the new order carries, when it may carry one."""
        extensions = self.body.get("clientExtensions") or {}
        found = extensions.get("id")
        return found if isinstance(found, str) else None

    def to_wire(self) -> dict[str, Any]:
        """As a line of the journal holds it."""
        return asdict(self) | {"action": self.action.value}

    @classmethod
    def from_wire(cls, held: dict[str, Any]) -> Self:
        """Read it back; ValueError, TypeError or KeyError when it is none."""
        values = {each.name: held[each.name] for each in fields(cls)}
        return cls(**values | {"action": Action(held["action"])})


def new_intent_id() -> str:
    """An id that no other order has: it is the client id of new orders, and the journal's key."""
    return f"kd-{secrets.token_hex(10)}"
