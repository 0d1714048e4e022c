"""Whether the keyboard may open risk: ARMED, DISARMED (exit-only) or READ-ONLY, and what takes it away.

DISARMED still closes, reduces, tightens and cancels: a lock that keeps a trader from getting out is
worse than none. READ-ONLY comes only from the start flag and stays. Practice starts armed, and
only accidents at the keyboard disarm it; live starts disarmed.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from keydesk.store.state import Arming

Environment = Literal["PRACTICE", "LIVE"]

IDLE_LIMIT = 15 * 60.0  # seconds without a key


@dataclass(frozen=True, slots=True)
class Rule:
    """What a cause says to the trader, and whether it disarms practice as well as live."""

    words: str
    practice_too: bool


class Cause(Enum):
    """Everything that takes arming away."""

    BY_HAND = Rule("disarmed by hand", practice_too=True)
    BURST = Rule("keys came faster than hands", practice_too=True)
    PASTE = Rule("text was pasted outside a text field", practice_too=True)
    DAILY_LOSS = Rule("the daily loss limit is reached", practice_too=True)
    LOCKED = Rule("locked from another login", practice_too=True)
    ACCOUNT_SWITCH = Rule("the account was switched", practice_too=True)
    IDLE = Rule("15 minutes without a key", practice_too=False)
    FOCUS_OUT = Rule("the window lost the focus", practice_too=False)
    RECONNECT = Rule("the connection was lost", practice_too=False)
    RESUME = Rule("the desk was suspended", practice_too=False)


def at_start(environment: Environment, *, read_only: bool = False) -> Arming:
    """Return the level a desk starts with."""
    if read_only:
        return Arming("READ-ONLY", "started with --read-only")
    if environment == "PRACTICE":
        return Arming("ARMED", "practice money")
    return Arming("DISARMED", "a live desk starts disarmed")


def after(cause: Cause, now: Arming, environment: Environment) -> Arming:
    """Return the level once the cause happened."""
    if now.level != "ARMED":
        return now
    if environment == "PRACTICE" and not cause.value.practice_too:
        return now
    return Arming("DISARMED", cause.value.words)


def armed(now: Arming) -> Arming:
    """Return the level once the trader armed by hand; read-only stays what it is."""
    return now if now.level == "READ-ONLY" else Arming("ARMED", "armed by hand")


def arming_words(account_id: str, environment: Environment) -> str:
    """Return what must be typed to arm: on live the last three of the account id, else the send key."""
    return account_id[-3:] if environment == "LIVE" else "y"
