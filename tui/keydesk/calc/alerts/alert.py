"""An alert: a condition that is watched, how often it fires and how long it is kept; and the record of each time it fired."""

from datetime import tzinfo
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from keydesk.calc.alerts.condition_base import Condition, Facts, instant_of
from keydesk.text.format import at
from keydesk.text.sanitize import SafeText, clean

MAX_NOTE_LENGTH = 80
USUAL_PAUSE_S = 300
PAUSE_UNITS = {"d": 86_400, "h": 3600, "m": 60}  # seconds, the longest first
AlertState = Literal["on", "paused", "done", "expired"]


class Alert(Struct, frozen=True):
    """A condition that is watched, and how often it may fire."""

    id: str
    condition: Condition
    made_ns: int = 0
    repeat_s: int | None = None  # None: once; else again after so many seconds
    expires_ns: int | None = None
    note: str = ""
    state: AlertState = "on"
    fired_ns: int = 0  # the end of the last crossing; 0: never in this market
    count: int = 0  # how often it fired

    @property
    def repeat_text(self) -> str:
        """Return how often it fires: once, or again after a pause."""
        return repeat_text(self.repeat_s)

    @property
    def text(self) -> SafeText:
        """Return condition and note; the note is the trader's own text, cleaned."""
        note = f": {clean(self.note, MAX_NOTE_LENGTH)}" if self.note else ""
        return clean(f"{self.condition.text}{note}")

    def line(self, zone: tzinfo) -> str:
        """Return the alert as it is typed; a distance from a price is written as the level that it came to."""
        condition = self.condition
        name = condition.instrument.replace("_", "").lower()
        parts = [name, condition.line, self.repeat_text]
        if self.expires_ns is not None:
            parts.append(f"until {at(self.expires_ns, zone):%Y-%m-%d %H:%M}")
        if self.note:
            parts.append(f"note {self.note}")
        return " ".join(filter(None, parts))


class AlertLine(Struct, frozen=True):
    """An alert as typed; distances and times from now are not worked out yet."""

    condition: Condition
    repeat_s: int | None = None  # None: once
    lasts: str = ""  # "4h" or "18:30"; "": until it is deleted
    note: str = ""

    @property
    def text(self) -> str:
        """Return what it does."""
        often = repeat_text(self.repeat_s)
        how = often if self.repeat_s is None else f"({often})"
        lasts = f", until {self.lasts}" if self.lasts else ""
        note = f": {self.note}" if self.note else ""
        return f"alerts {how} when {self.condition.text}{lasts}{note}"

    def make(self, facts: Facts, id_: str = "") -> Alert:
        """Return the alert that it means now.

        Raises:
            AlertSyntaxError: a price is not known, a trade is not open, or a time cannot be read or is past.
        """
        expires = instant_of(self.lasts, facts, "until") if self.lasts else None
        condition = self.condition.made(facts)
        return Alert(id_, condition, facts.now_ns, self.repeat_s, expires, self.note)


def repeat_text(repeat_s: int | None) -> str:
    """Return how often an alert fires, as it is typed: once, repeat 90s, repeat 5m, repeat 1h."""
    if repeat_s is None:
        return "once"
    for unit, seconds in PAUSE_UNITS.items():
        if repeat_s and repeat_s % seconds == 0:
            return f"repeat {repeat_s // seconds}{unit}"
    return f"repeat {repeat_s}s"


def standing_text(condition: Condition, value: Decimal | None, precision: int) -> str:
    """Return a hint if a value is beyond the level already: the alert waits until it comes back and crosses again.

    Args:
        condition: What is watched.
        value: As it is now; None: not known.
        precision: Decimals of a price of its instrument.
    """
    if value is None or condition.direction == "touch":
        return ""
    is_up = condition.direction == "up"
    if not (value >= condition.level if is_up else value <= condition.level):
        return ""
    shown = condition.value_text(value, precision)
    back = "below" if is_up else "above"
    return (
        f"{condition.value_name} is there already ({shown}): "
        f"the alert fires after it went {back} and crosses again"
    )


class Firing(Struct, frozen=True):
    """A condition was met: the value came to the level after `since_ns`, and at `until_ns` at the latest.

    Another program that watches the alert sees the same crossing in a time that overlaps with this one.
    """

    alert: Alert  # as it was before
    time_ns: int  # as it is reported
    value: Decimal  # what was read
    since_ns: int
    until_ns: int
    value_text: str = ""
    late: bool = False  # it happened while nothing was watching


class FiringRecord(Struct, frozen=True):
    """A firing in the history of the alerts."""

    alert_id: str
    number: int  # ordinal among the firings of the alert, from 1
    time_ns: int
    text: str
    value: str = ""
    late: bool = False  # it happened while nothing was watching, or is delivered late
    delivered: bool = False
    claimed_ns: int = 0  # by the computer's clock
    taken_over: bool = False  # delivered by another program than the one that claimed it

    @property
    def key(self) -> tuple[str, int, int]:
        """Return what tells it from other firings; the alerts of a replay may count alike."""
        return self.alert_id, self.number, self.time_ns
