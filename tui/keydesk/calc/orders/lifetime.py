"""How long an order lives: a time in force that a key turns, or an end that is typed.

An end is a duration such as `90m`, `4h` or `2d`, a time of day, or a date and a time. A time of day is the next one after
it was typed, in the trader's zone: it never moves on to the next day by itself.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta, tzinfo

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import UnreadableText
from keydesk.text.typed import clock_time, date_time, duration_s
from keydesk_client.arithmetic.constants import DAY, SECOND

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


class Lifetime(Struct, frozen=True):
    """A time in force as it is sent."""

    expiry: str = ""  # GFD, GTD 4h; "": as it was, and till it is cancelled where there was none
    gtd_ns: int | None = None  # when it ends, of an end that was typed


UNCHANGED_LIFETIME = Lifetime()


class LifetimeDraft(Struct, frozen=True):
    """A time in force as chosen, or an end as typed; "" leaves it as it is."""

    choice: str = ""
    text: str = ""  # the end as typed
    typed_ns: int = 0  # when; a time of day is the next one after it

    def cycled(self, choices: Sequence[str] = ("", *PENDING_EXPIRIES)) -> "LifetimeDraft":
        """Return the next choice; after a typed end it is the first one."""
        at = choices.index(self.choice) if self.choice in choices else -1
        return LifetimeDraft(choices[(at + 1) % len(choices)])

    def with_text(self, text: str, now_ns: int) -> "LifetimeDraft":
        """Return an end with this text."""
        return replace(self, choice=TYPED_EXPIRY, text=text, typed_ns=now_ns)

    @property
    def ends(self) -> bool:
        """Whether it ends by time."""
        return self.choice not in {"", "GTC"}

    @property
    def ends_at_an_instant(self) -> bool:
        """Whether it ends a while after it is sent, or at a typed instant."""
        return self.choice.startswith("GTD")


UNCHANGED_DRAFT, TILL_CANCELLED = LifetimeDraft(), LifetimeDraft("GTC")

HOW = "write 18:30, 2026-11-25 18:30, 90m, 4h or 2d"
MAX_NS = 400 * DAY
"""Further away than a year, a date was typed wrong."""


def expiry_ns(text: str, typed_ns: int, now_ns: int, zone: tzinfo) -> int | UnreadableText | None:
    """Return the instant of a typed expiry in nanoseconds since 1970, None if nothing was typed.

    Args:
        text: The text as typed.
        typed_ns: When it was typed.
        now_ns: The broker's time: durations begin now.
        zone: The trader's time zone.
    """
    words = text.strip().lower()
    if not words:
        return None
    instant = _instant(words, typed_ns, now_ns, zone)
    if instant is None:
        return UnreadableText(text, f"is not an expiry; {HOW}")
    if instant <= now_ns:
        return UnreadableText(text, "is past")
    if instant - now_ns > MAX_NS:
        return UnreadableText(text, "is more than 400 days away")
    return instant


def end_ns(lifetime: LifetimeDraft, now_ns: int, zone: tzinfo) -> int | UnreadableText | None:
    """Return the instant of a typed end, None where none was typed."""
    if lifetime.choice != TYPED_EXPIRY:
        return None
    end = expiry_ns(lifetime.text, lifetime.typed_ns, now_ns, zone)
    return UnreadableText("", "is missing") if end is None else end


def frozen(lifetime: LifetimeDraft, now_ns: int, zone: tzinfo) -> Lifetime | None:
    """Return a lifetime as it is sent; None while a typed end cannot be read."""
    end = end_ns(lifetime, now_ns, zone)
    return None if isinstance(end, UnreadableText) else Lifetime(lifetime.choice, end)


def end_refusals(
    lifetime: LifetimeDraft, name: str, key: str, now_ns: int, zone: tzinfo
) -> tuple[str, ...]:
    """Refuse a typed end that cannot be sent; `key` types it."""
    end = end_ns(lifetime, now_ns, zone)
    if not isinstance(end, UnreadableText):
        return ()
    if not end.text:
        return (f"{name}: it is missing. {key}, then {HOW}",)
    return (f"{name}: {end.text} {end.reason}. {key} types it anew",)


def is_expiry(text: str) -> bool:
    """Return whether a text is written as an expiry; it may be past when it is sent."""
    return _dated(text) is not None or isinstance(expiry_ns(text, 0, 0, UTC), int)


def _dated(text: str) -> datetime | None:
    """Return a date and time; a date alone does not say when of the day an order ends."""
    return date_time(text) if ":" in text else None


def _instant(text: str, typed_ns: int, now_ns: int, zone: tzinfo) -> int | None:
    if (seconds := duration_s(text)) is not None:
        return now_ns + seconds * SECOND
    if (clock := clock_time(text)) is not None:
        return _next_time(clock, typed_ns, zone)
    moment = _dated(text)
    try:
        return None if moment is None else int(moment.replace(tzinfo=zone).timestamp()) * SECOND
    except (ValueError, OverflowError, OSError):
        return None


def _next_time(clock: time, after_ns: int, zone: tzinfo) -> int:
    after = datetime.fromtimestamp(after_ns // SECOND, zone)
    at = _with_clock(after, clock)
    if at.astimezone(UTC) <= after.astimezone(UTC):
        at = _with_clock(after + timedelta(days=1), clock)
    return int(at.timestamp()) * SECOND


def _with_clock(day: datetime, clock: time) -> datetime:
    """Return the time of day on that day; in an hour that comes twice, the one in which it was typed."""
    return day.replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0)
