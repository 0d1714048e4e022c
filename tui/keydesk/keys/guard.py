"""The guard in front of the keys: what a person typed passes, what a machine typed does not.

Pastes, macros, auto-repeat and the backlog of a slow link put keys closer together than hands do. So an
order or confirm key counts only when it stood alone for 60 ms on both sides, and a confirm key
only when its form had been on the screen for 250 ms; where the form was painted within 100 ms of the key that opened it,
the 250 ms count from that key. An order key only opens a form, so it is let through at once, and the form is closed
again when another key comes too close behind; a confirm key waits until it has stood alone. All other keys repeat
freely: held arrows and nudges, digits typed fast, Esc before anything.

Pure: keys and times come in, verdicts go out; `guarded_app.py` stands between it and the terminal. Measured times: an
unguarded desk sent an order 7 to 9 ms after `By` was pasted.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

SETTLE = 0.060  # seconds an order key must be alone, before and after
DWELL = 0.250  # seconds a form must have been painted before it can be confirmed
QUICK_PAINT = 0.100  # seconds from its key within which a form counts as painted at the key
CAPITALS_IN_A_ROW = 3

SEND = "y"
CHALLENGE_LETTERS = "cdfvz"  # mean nothing in any form: no field, scope or navigation key
CONFIRM_KEYS = frozenset(SEND + CHALLENGE_LETTERS)


class Verdict(Enum):
    """What becomes of a key."""

    PASS = "pass"  # noqa: S105 - no password: the key goes on
    HOLD = "hold"  # ask `settled` 60 ms later
    ESCAPE = "escape"  # Esc and a key arrived as one: one step back, nothing more
    TOO_EARLY = "too early"  # the form has not been seen yet; it stays
    TRIP = "trip"  # no hand did this: close the form, disarm


@dataclass(frozen=True, slots=True)
class Front:
    """What a key would meet: the desk, a form that sends, or a field of text."""

    kind: Literal["desk", "sends", "text"] = "desk"
    painted: float | None = None  # monotonic seconds when the form was first seen


ON_THE_DESK = Front()


@dataclass(slots=True)
class Guard:
    """Judges each key by its neighbours; times are the events' own, in monotonic seconds."""

    order_keys: frozenset[str]  # on the desk: the capitals that open forms
    last_key: str = ""
    last_time: float = float("-inf")
    held: str = ""
    capitals: int = 0
    opened: float = float("-inf")  # when the last order key passed on the desk

    def key(self, key: str, time: float, front: Front) -> Verdict:
        """Judge a key that arrived now."""
        before, gap = self.last_key, time - self.last_time
        self.last_key, self.last_time = key, time
        held, self.held = self.held, ""
        self._count_capitals(key, front)
        if front.kind == "text":
            return Verdict.ESCAPE if is_alt(key) else Verdict.PASS
        if gap < SETTLE and (held or self._is_guarded_pair(before, key, front)):
            return Verdict.TRIP
        if is_alt(key):
            return Verdict.ESCAPE
        if front.kind != "sends" or key not in CONFIRM_KEYS:
            if front.kind == "desk" and key in self.order_keys:
                self.opened = time
            return Verdict.PASS
        if not self._was_seen(front, time):
            return Verdict.TOO_EARLY
        self.held = key
        return Verdict.HOLD

    def settled(self, time: float) -> bool:
        """Whether the key held at that time stood alone until now; it counts once."""
        alone = bool(self.held) and self.last_time == time
        if alone:
            self.held = ""
        return alone

    def pasted(self, time: float) -> None:
        """Note a paste: a key close behind it is no hand's either."""
        self.last_key, self.last_time, self.held = PASTE, time, ""

    @property
    def caps_lock_suspected(self) -> bool:
        """Whether nothing but capitals came lately, with no form open."""
        return self.capitals >= CAPITALS_IN_A_ROW

    def _is_guarded_pair(self, before: str, key: str, front: Front) -> bool:
        """Whether one of two keys opens, confirms or sends money; Esc goes a step back and may come before any key."""
        if before == "escape":
            return False
        return before == PASTE or any(self.touches_money(each, front) for each in (before, key))

    def touches_money(self, key: str, front: Front) -> bool:
        """Whether a key opens, confirms or sends money where it would arrive."""
        # A capital counts in a form as well: the same `B` held down arrives there.
        return key in self.order_keys or (front.kind == "sends" and key in CONFIRM_KEYS)

    def _was_seen(self, front: Front, time: float) -> bool:
        if front.painted is None:
            return False
        quick = 0 <= front.painted - self.opened <= QUICK_PAINT
        return time - (self.opened if quick else front.painted) >= DWELL

    def _count_capitals(self, key: str, front: Front) -> None:
        capital = len(key) == 1 and key.isupper() and front.kind == "desk"
        self.capitals = self.capitals + 1 if capital else 0


PASTE = "<paste>"


def is_alt(key: str) -> bool:
    """Whether Esc and a key arrived as one sequence."""
    return key.startswith("alt+")


def second_of_alt(key: str) -> str:
    """Return the key that arrived as one with Esc: "alt+shift+b" is B."""
    name = key.rpartition("+")[2]
    return name.upper() if "shift+" in key and len(name) == 1 else name
