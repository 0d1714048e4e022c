"""An alert as it is kept, and the record of each time its condition was met."""

from dataclasses import dataclass
from decimal import Decimal
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


@dataclass(frozen=True, slots=True)
class FiringRecord:
    """A firing in the history of the alerts."""

    alert_id: str
    number: int  # ordinal among the firings of the alert, from 1
    time_ns: int
    text: str
    value: str = ""
    late: bool = (
        False  # it happened while nothing was watching, or its program ended before it delivered it
    )
    delivered: bool = False
    claimed_ns: int = 0  # by the computer's clock
    taken_over: bool = False  # delivered by another program than the one that claimed it


def instrument_of(condition: Condition) -> str:
    """Return the instrument that a condition watches, "" if it watches none."""
    if isinstance(
        condition,
        PriceCross | PriceMove | SpreadLevel | DayHighLow | ClientLongPercent | CandleCondition,
    ):
        return condition.instrument
    return ""
