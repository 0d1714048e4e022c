"""How long an order lives: a time in force that a key turns, or an end that is typed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

PENDING_EXPIRIES = ("GTC", "GFD", "GTD 1h", "GTD 4h", "GTD 24h")
EXPIRY_WORDS: Mapping[str, str] = {
    "FOK": "fill or kill",
    "IOC": "immediate or cancel",
    "GTC": "good till cancelled",
    "GFD": "good for the day",
    "GTD 1h": "for 1 hour",
    "GTD 4h": "for 4 hours",
    "GTD 24h": "for 24 hours",
    "GTD": "until the time below",
}
TYPED_EXPIRY = "GTD"  # at an instant that is typed; no choice of the key that turns the expiry


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A time in force as it is sent."""

    expiry: str = ""  # GFD, GTD 4h; "": as it was, and till it is cancelled where there was none
    gtd_ns: int | None = None  # when it ends, of an end that was typed


AS_BEFORE = Lifetime()


@dataclass(frozen=True, slots=True)
class LifetimeDraft:
    """A time in force as chosen, or an end as typed; "" leaves it as it is."""

    choice: str = ""
    text: str = ""  # the end as typed
    typed_ns: int = 0  # when; a time of day is the next one after it

    def turned(self, choices: Sequence[str] = ("", *PENDING_EXPIRIES)) -> "LifetimeDraft":
        """Return the next choice; after a typed end it is the first one."""
        at = choices.index(self.choice) if self.choice in choices else -1
        return LifetimeDraft(choices[(at + 1) % len(choices)])

    def written(self, text: str, now_ns: int) -> "LifetimeDraft":
        """Return an end with this text."""
        return replace(self, choice=TYPED_EXPIRY, text=text, typed_ns=now_ns)

    @property
    def ends(self) -> bool:
        """Whether it ends by time."""
        return self.choice not in {"", "GTC"}


AS_IT_IS, TILL_CANCELLED = LifetimeDraft(), LifetimeDraft("GTC")
