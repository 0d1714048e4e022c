"""The guard in front of the keys: what a person typed passes, what a machine typed does not.

Pastes, macros, auto-repeat and the backlog of a slow link put keys closer together than hands do. So an
order or confirm key counts only when it stood alone for 60 ms on both sides, and a confirm key
only when its form had been on the screen for 250 ms; where the form was painted within 100 ms of the key that opened it,
the 250 ms count from that key. An order key only opens a form, so it is let through at once, and the form is closed
again when another key comes too close behind; a confirm key waits until it has stood alone. All other keys repeat
freely: held arrows and nudges, digits typed fast, Esc before anything.

Pure: keys and times come in, verdicts go out; `guarded_app.py` stands between it and the terminal. Measured times: an
unguarded desk sent an order 7 to 9 ms after `By` was pasted.

Whether the keyboard may open risk: ARMED, DISARMED (exit-only) or READ-ONLY, and what takes it away.

DISARMED still closes, reduces, tightens and cancels: a lock that keeps a trader from getting out is
worse than none. READ-ONLY comes only from the start flag and stays. Practice starts armed, and
only accidents at the keyboard disarm it; live starts disarmed.
What disarms by itself: no key for long, a lost transaction stream, a desk that did not run for a while.
"""

from collections.abc import Iterator
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


def arming_at_start(environment: Environment, *, read_only: bool = False) -> Arming:
    """Return the level a desk starts with."""
    if read_only:
        return Arming("READ-ONLY", "started with --read-only")
    if environment == "PRACTICE":
        return Arming("ARMED", "practice money")
    return Arming("DISARMED", "a live desk starts disarmed")


def arming_after(cause: Cause, now: Arming, environment: Environment) -> Arming:
    """Return the level once the cause happened."""
    if now.level != "ARMED":
        return now
    if environment == "PRACTICE" and not cause.value.practice_too:
        return now
    return Arming("DISARMED", cause.value.words)


def armed_by_hand(now: Arming) -> Arming:
    """Return the level once the trader armed by hand; read-only stays what it is."""
    return now if now.level == "READ-ONLY" else Arming("ARMED", "armed by hand")


def arming_text(account_id: str, environment: Environment) -> str:
    """Return what must be typed to arm: on live the last three of the account id, else the send key."""
    return account_id[-3:] if environment == "LIVE" else "y"


SUSPENDED_SECONDS = (
    5.0  # seconds between two beats that come ten times a second: stopped, or the machine slept
)


@dataclass(slots=True)
class AutoDisarm:
    """Looks at every beat; wall time counts too, since a sleeping machine's own clock may sleep with it."""

    beat_at: float | None = None  # monotonic seconds
    wall_at: float = 0.0  # wall seconds
    losses: int = 0  # of the transaction stream, as counted before

    def causes(self, now: float, wall: float, last_key_at: float, losses: int) -> Iterator[Cause]:
        """What happened since the beat before."""
        if (
            self.beat_at is not None
            and max(now - self.beat_at, wall - self.wall_at) > SUSPENDED_SECONDS
        ):
            yield Cause.RESUME
        if losses != self.losses:
            yield Cause.RECONNECT
        if now - last_key_at > IDLE_LIMIT:
            yield Cause.IDLE
        self.beat_at, self.wall_at, self.losses = now, wall, losses


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
class KeyTarget:
    """What a key would meet: the desk, a form that sends, or a field of text."""

    kind: Literal["desk", "sends", "text"] = "desk"
    painted: float | None = None  # monotonic seconds when the form was first seen


ON_THE_DESK = KeyTarget()


@dataclass(slots=True)
class Guard:
    """Judges each key by its neighbours; times are the events' own, in monotonic seconds."""

    order_keys: frozenset[str]  # on the desk: the capitals that open forms
    last_key: str = ""
    last_time: float = float("-inf")
    held: str = ""
    capitals: int = 0
    opened: float = float("-inf")  # when the last order key passed on the desk

    def key(self, key: str, time: float, front: KeyTarget) -> Verdict:
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

    def _is_guarded_pair(self, before: str, key: str, front: KeyTarget) -> bool:
        """Whether one of two keys opens, confirms or sends money; Esc goes a step back and may come before any key."""
        if before == "escape":
            return False
        return before == PASTE or any(self.touches_money(each, front) for each in (before, key))

    def touches_money(self, key: str, front: KeyTarget) -> bool:
        """Whether a key opens, confirms or sends money where it would arrive."""
        # A capital counts in a form as well: the same `B` held down arrives there.
        return key in self.order_keys or (front.kind == "sends" and key in CONFIRM_KEYS)

    def _was_seen(self, front: KeyTarget, time: float) -> bool:
        if front.painted is None:
            return False
        quick = 0 <= front.painted - self.opened <= QUICK_PAINT
        return time - (self.opened if quick else front.painted) >= DWELL

    def _count_capitals(self, key: str, front: KeyTarget) -> None:
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
