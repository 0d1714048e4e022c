"""The strip of link health: both streams, the round trip and the time."""

from __future__ import annotations

from collections.abc import Iterable

from keydesk.store.frame import Frame
from keydesk.store.state import Health, LinkState, Topic
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.lines import Run, cut, width_of
from keydesk.widgets.strip_line import Item, StripLine
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import SECOND

NARROW = 60  # columns
SECOND_MS = 1000
ROLE_OF: dict[LinkState, ColourRole] = {
    "OK": "muted",
    "SLOW": "warn",
    "STALE": "danger",
    "DOWN": "danger",
    "CONNECTING": "warn",
}
WORDS: dict[LinkState, str] = {
    "OK": "ok",
    "SLOW": "SLOW",
    "STALE": "STALE",
    "DOWN": "DOWN",
    "CONNECTING": "connecting",
}


LEAST_WARNING = 24  # columns; where a warning would have fewer, requests that wait make room
CLOCK_IS_OFF_MS = 2_000.0  # as `keydesk doctor` has it

WARNED_SECONDS = (
    60.0  # seconds for which a record that could not be read, or a feed that failed, is shown
)


class HealthLine(StripLine):
    """The state of both streams, the round trip and the time; muted while nothing is wrong."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._second = -1

    def changed(self, frame: Frame) -> None:
        """Redraw once a second, and at once when a link changed."""
        second = frame.time_ns // SECOND
        if second != self._second or frame.touched(Topic.HEALTH):
            self._second = second
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield streams and round trip, then warnings."""
        health = frame.store.health
        links = (
            self._link("prices", health.prices, health.prices_at, frame),
            self._link("events", health.events, health.events_at, frame),
        )
        yield from links
        room = self._room_beside([*links, *self.right(frame)])
        if health.unanswered_since is not None:
            waiting = self._unanswered(health.requests, frame.now - health.unanswered_since)
            left = room - width_of(waiting.runs) - self.gaps[-1]
            if left >= _least_room(health):
                room = left
                yield waiting
        elif health.rtt_ms is not None:
            p95 = f" (p95 {health.rtt_p95_ms:.0f})" if health.rtt_p95_ms is not None else ""
            yield Item(self._pair("round trip", safe(f"{health.rtt_ms:.0f} ms{p95}")), 3)
        if health.clock_offset_ms is not None and frame.store.market is None:
            yield self._clock(health.clock_offset_ms, slow=health.prices == "SLOW")
        if frame.now - (health.unreadable_at or float("-inf")) < WARNED_SECONDS:
            records = "record" if health.unreadable == 1 else "records"
            text = f"{health.unreadable} {records} unreadable"
            yield Item(((safe(text), self.palette["warn"]),), 2)
        for name, at in health.restarted.items():
            if frame.now - at < WARNED_SECONDS:
                yield Item(((safe(f"{name} failed, restarted"), self.palette["danger"]),), 1)
        if health.throttled:
            yield Item(((safe(f"throttled {health.throttled}×"), self.palette["warn"]),), 3)
        yield from self._trouble(health, room)

    def _trouble(self, health: Health, room: int) -> Iterable[Item]:
        """Yield why the account cannot be read, in as many words as have room, else a warning."""
        danger = self.palette["danger"]
        if health.outage is not None:
            fits = len(health.outage.text) <= room
            text = health.outage.text if fits else health.outage.short
            yield Item(((text, danger),), -1)
        elif health.warning:
            yield Item(tuple(cut([(safe(health.warning), danger)], room)), 1)

    def _room_beside(self, items: Iterable[Item]) -> int:
        return self.inside - sum(width_of(item.runs) + self.gaps[-1] for item in items)

    def right(self, frame: Frame) -> Iterable[Item]:
        """Return the time, its zone named; in a narrow terminal it makes room for what is wrong."""
        health = frame.store.health
        if self.inside < NARROW and (health.prices, health.events) != ("OK", "OK"):
            return
        time = show.clock(frame.time_ns, frame.store.zone, named=True)
        yield Item(((time, self.palette["muted"]),))

    def _link(self, name: str, state: LinkState, received_at: float | None, frame: Frame) -> Item:
        age = "" if received_at is None else f" {show.duration(frame.now - received_at)}"
        shown = "" if state == "OK" else age
        return Item(
            (
                (safe(f"{name} "), self.palette["muted"]),
                (safe(f"{WORDS[state]}{shown}"), self.palette[ROLE_OF[state]]),
            )
        )

    def _unanswered(self, state: LinkState, age: float) -> Item:
        shown = "waiting" if state == "OK" else WORDS[state]
        role: ColourRole = "warn" if state == "OK" else ROLE_OF[state]
        return Item(
            (
                ("requests ", self.palette["muted"]),
                (safe(f"{shown} {show.duration(age)}"), self.palette[role]),
            )
        )

    def _clock(self, offset_ms: float, *, slow: bool) -> Item:
        """How far the broker's clock is ahead; in words and sooner shown where this machine's clock is wrong.

        A slow line delivers the broker's time late, as if this machine's clock were ahead.
        """
        if abs(offset_ms) <= CLOCK_IS_OFF_MS:
            return Item(self._pair("clock", _clock_text(offset_ms)), 4)
        size = show.duration(abs(offset_ms) / 1000)
        side = "behind" if offset_ms > 0 else "ahead of"
        text = f"this clock is {size} {side} the broker's"
        if slow and offset_ms < 0:
            text = f"prices {size} late, or this clock ahead"
        return Item(((safe(text), self.palette["warn"]),), 2)

    def _pair(self, label: str, value: Printable) -> tuple[Run, ...]:
        return ((safe(f"{label} "), self.palette["faint"]), (value, self.palette["muted"]))


def _least_room(health: Health) -> float:
    """Return the columns that what is wrong needs at least."""
    if health.outage is not None:
        return len(health.outage.short)
    return LEAST_WARNING if health.warning else float("-inf")


def _clock_text(ahead_ms: float) -> SafeText:
    """Return how far the broker's clock is ahead of this machine's: +374 ms, −1.2s."""
    sign, size = "+" if ahead_ms >= 0 else show.MINUS, abs(ahead_ms)
    if round(size) < SECOND_MS:
        return safe(f"{sign}{size:.0f} ms")
    return safe(f"{sign}{show.short_age(size / SECOND_MS)}")
