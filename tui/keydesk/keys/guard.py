"""The guard against keys that no person typed, and the arming level of the keyboard.

Pastes, macros, auto-repeat and the backlog of a slow link put keys closer together than a person does. An order or
confirm key therefore counts only when no other key came within 60 ms of it, and a confirm key only when its form has
been on the screen for 250 ms. They count from the key that opened the form if it was painted within 100 ms of that key,
less the jitter with which a busy machine reads keys; the form was in sight for 150 ms then. An order key only opens a
form, so it passes at once, and the form is closed again when another key follows too closely; a confirm key waits until
it has stood alone. A size key with another key within 60 ms leaves the size as it was. All other keys may repeat. Without the guard, pasting `By` sent an order within 7 to 9 ms (measured).

ARMED may open risk, DISARMED may only close, reduce, tighten and cancel, READ-ONLY (a start flag) sends nothing.
Practice accounts start armed, live accounts disarmed. A long pause without keys, a lost transaction stream or a suspended
process disarms a live account.

Everything here is pure: keys and times are arguments, verdicts are results; `guarded_app` connects it to Textual.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Literal

from msgspec import Struct

from keydesk.store.state import Arming

Environment = Literal["PRACTICE", "LIVE"]

IDLE_LIMIT = 15 * 60.0  # seconds without a key


class Rule(Struct, frozen=True):
    """The message of a cause, and whether it disarms practice accounts as well as live ones."""

    text: str
    practice_too: bool


class Cause(Enum):
    """The events that disarm the keyboard."""

    BY_HAND = Rule("disarmed by hand", practice_too=True)
    BURST = Rule("keys came faster than a person types", practice_too=True)
    PASTE = Rule("text was pasted outside a text field", practice_too=True)
    DAILY_LOSS = Rule("the daily loss limit was reached", practice_too=True)
    LOCKED = Rule("locked from another login", practice_too=True)
    ACCOUNT_SWITCH = Rule("the account was switched", practice_too=True)
    IDLE = Rule("15 minutes without a key", practice_too=False)
    FOCUS_OUT = Rule("the window lost the focus", practice_too=False)
    RECONNECT = Rule("the connection was lost", practice_too=False)
    RESUME = Rule("the desk was suspended, or the clock set", practice_too=False)


def arming_at_start(environment: Environment, *, read_only: bool = False) -> Arming:
    """Return the arming level at the start."""
    if read_only:
        return Arming("READ-ONLY", "started with --read-only")
    if environment == "PRACTICE":
        return Arming("ARMED", "practice money")
    return Arming("DISARMED", "a live desk starts disarmed")


def arming_after(cause: Cause, now: Arming, environment: Environment) -> Arming:
    """Return the arming level after the cause."""
    if now.level != "ARMED":
        return now
    if environment == "PRACTICE" and not cause.value.practice_too:
        return now
    return Arming("DISARMED", cause.value.text)


def armed_by_hand(now: Arming) -> Arming:
    """Return the level after arming by hand; READ-ONLY does not change."""
    return now if now.level == "READ-ONLY" else Arming("ARMED", "armed by hand")


def arming_text(account_id: str, environment: Environment) -> str:
    """Return what must be typed to arm: the last three characters of a live account id, else the send key."""
    return account_id[-3:] if environment == "LIVE" else "y"


SUSPENDED_SECONDS = (
    5.0  # seconds between two beats that come ten times a second: stopped, or the machine slept
)


class AutoDisarm(Struct):
    """Detects at each frame what disarms by itself; wall time counts too, for the monotonic clock may stop in suspend."""

    beat_at: float | None = None  # monotonic seconds
    wall_at: float = 0.0  # wall seconds
    losses: int = 0  # of the transaction stream, as counted before

    def causes(self, now: float, wall: float, last_key_at: float, losses: int) -> Iterator[Cause]:
        """Yield the causes since the previous call."""
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
LATE_READ = (
    0.020  # seconds that a busy machine may read the opening key later than the confirming one
)
CAPITALS_IN_A_ROW = 3

SEND = "y"
CHALLENGE_LETTERS = "cdfvz"  # mean nothing in any form: no field, scope or navigation key
CONFIRM_KEYS = frozenset(SEND + CHALLENGE_LETTERS)


class KeyDecision(Enum):
    """What happens to a key."""

    PASS = "pass"  # noqa: S105 - no password: the key goes on
    HOLD = "hold"  # call `settled` 60 ms later
    ESCAPE = "escape"  # Esc and a key arrived as one: one step back, nothing more
    TOO_EARLY = "too early"  # the form was not on the screen long enough; it stays open
    TRIP = "trip"  # not typed by a person: close the form, disarm


KeyPlace = Literal["desk", "sends", "text"]


class KeyTarget(Struct, frozen=True):
    """Where a key would arrive: the main screen, a form that sends, or a text field."""

    kind: KeyPlace = "desk"
    painted: float | None = None  # monotonic seconds when the form was first painted


ON_THE_DESK = KeyTarget()


class Guard(Struct):
    """Judges each key by the time since the keys around it, in monotonic seconds of the events."""

    order_keys: frozenset[str]  # the capitals that open forms on the main screen
    last_key: str = ""
    last_time: float = float("-inf")
    held: str = ""
    in_burst: bool = False  # keys were dropped, and no pause has come since
    capitals: int = 0
    opened: float = float("-inf")  # when the last order key passed on the desk
    crowded_at: float | None = None  # when the key came that another one followed too closely

    def key(self, key: str, time: float, front: KeyTarget) -> KeyDecision:
        """Return the verdict on a key at its arrival."""
        before, gap = self.last_key, time - self.last_time
        is_crowded = gap < SETTLE and before not in (key, "escape")
        self.crowded_at = self.last_time if is_crowded else None
        self.last_key, self.last_time = key, time
        held, self.held = self.held, ""
        self._count_capitals(key, front)
        if front.kind == "text":
            return KeyDecision.ESCAPE if is_alt(key) else KeyDecision.PASS
        # The rest of a burst is dropped with it: its digits were typed for the form that was closed.
        self.in_burst = gap < SETTLE and (
            self.in_burst or bool(held) or self._is_guarded_pair(before, key, front)
        )
        if self.in_burst:
            return KeyDecision.TRIP
        if is_alt(key):
            return KeyDecision.ESCAPE
        if front.kind != "sends" or key not in CONFIRM_KEYS:
            if front.kind == "desk" and key in self.order_keys:
                self.opened = time
            return KeyDecision.PASS
        if not self._was_seen(front, time):
            return KeyDecision.TOO_EARLY
        self.held = key
        return KeyDecision.HOLD

    def settled(self, time: float) -> bool:
        """Return whether the key held at that time stood alone until now; true once."""
        alone = bool(self.held) and self.last_time == time
        if alone:
            self.held = ""
        return alone

    def pasted(self, time: float) -> None:
        """Record a paste: a key that follows closely was not typed by a person either."""
        self.last_key, self.last_time, self.held = PASTE, time, ""

    @property
    def caps_lock_suspected(self) -> bool:
        """Return whether the third capital in a row has just come on the main screen: once a row."""
        return self.capitals == CAPITALS_IN_A_ROW

    def _is_guarded_pair(self, before: str, key: str, front: KeyTarget) -> bool:
        """Return whether one of two keys opens or confirms a form; Esc may precede any key."""
        if before == "escape":
            return False
        return before == PASTE or any(self.touches_money(each, front) for each in (before, key))

    def touches_money(self, key: str, front: KeyTarget) -> bool:
        """Return whether a key opens or confirms a form where it would arrive."""
        # A capital counts in a form as well: the same `B` held down arrives there.
        return key in self.order_keys or (front.kind == "sends" and key in CONFIRM_KEYS)

    def _was_seen(self, front: KeyTarget, time: float) -> bool:
        if front.painted is None:
            return False
        if not 0 <= front.painted - self.opened <= QUICK_PAINT:
            return time - front.painted >= DWELL
        # Times are those of reading: 250 ms at the terminal were 246 to 256 here on a busy machine (measured).
        stood_for = time - front.painted
        return time - self.opened >= DWELL - LATE_READ and stood_for >= DWELL - QUICK_PAINT

    def _count_capitals(self, key: str, front: KeyTarget) -> None:
        capital = len(key) == 1 and key.isupper() and front.kind == "desk"
        self.capitals = self.capitals + 1 if capital else 0


class SizeChoice(Struct):
    """The size preset: chosen at once, and as it was before if its key did not stand alone."""

    value: int
    _before: int = 0
    _chosen_at: float = float("-inf")

    def choose(self, value: int, guard: Guard) -> bool:
        """Choose a preset by the key that came last; return False if another key came right before it."""
        if guard.crowded_at is not None:
            return False
        self._before, self.value, self._chosen_at = self.value, value, guard.last_time
        return True

    def take_back(self, guard: Guard) -> bool:
        """Choose the preset of before if the key that came last is too close behind the one of a choice."""
        if guard.crowded_at != self._chosen_at:
            return False
        self.value, self._chosen_at = self._before, float("-inf")
        return True


PASTE = "<paste>"


def is_alt(key: str) -> bool:
    """Return whether Esc and a key arrived as one sequence."""
    return key.startswith("alt+")


def second_of_alt(key: str) -> str:
    """Return the key that arrived as one with Esc: "alt+shift+b" is B."""
    name = key.rpartition("+")[2]
    return name.upper() if "shift+" in key and len(name) == 1 else name
