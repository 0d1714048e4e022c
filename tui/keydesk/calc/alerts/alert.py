"""An alert as it is kept, and the record of each time its condition was met."""

from dataclasses import dataclass
from typing import Literal

from keydesk.calc.alerts.conditions import (
    CandleCondition,
    ClientLongPercent,
    Condition,
    DayHighLow,
    PriceCross,
    PriceMove,
    SpreadLevel,
)
from keydesk.text.sanitize import SafeText, clean

SECOND = 1_000_000_000
MAX_NOTE_LENGTH = 80
USUAL_PAUSE_S = 300
PAUSE_UNITS = {"d": 86_400, "h": 3600, "m": 60}  # seconds, the longest first
AlertState = Literal["on", "paused", "done", "expired"]


@dataclass(frozen=True, slots=True)
class Alert:
    """A condition that is watched, and how often it may fire."""

    id: str
    condition: Condition
    made_ns: int = 0
    repeat_s: int | None = None  # None: once; else again after so many seconds
    expires_ns: int | None = None
    note: str = ""
    state: AlertState = "on"
    fired_ns: int = 0  # the last time; 0: never
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


def repeat_text(repeat_s: int | None) -> str:
    """Return how often an alert fires, as it is typed: once, repeat 90s, repeat 5m, repeat 1h."""
    if repeat_s is None:
        return "once"
    for unit, seconds in PAUSE_UNITS.items():
        if repeat_s and repeat_s % seconds == 0:
            return f"repeat {repeat_s // seconds}{unit}"
    return f"repeat {repeat_s}s"


@dataclass(frozen=True, slots=True)
class Firing:
    """A condition was met."""

    alert: Alert
    time_ns: int
    value: str  # what was read


@dataclass(frozen=True, slots=True)
class FiringRecord:
    """A firing in the history of the alerts."""

    alert_id: str
    number: int  # ordinal among the firings of the alert, from 1
    time_ns: int
    text: str
    value: str = ""
    late: bool = False  # it happened while nothing was watching
    delivered: bool = False


def instrument_of(condition: Condition) -> str:
    """Return the instrument that a condition watches, "" if it watches none."""
    if isinstance(
        condition,
        PriceCross | PriceMove | SpreadLevel | DayHighLow | ClientLongPercent | CandleCondition,
    ):
        return condition.instrument
    return ""
