"""Delivery of events: flash, bell, desktop notification and the trader's command, each as the settings say for its kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from time import monotonic

from keydesk.alerts.command import CommandRunner
from keydesk.calc.alerts.alert import FiringRecord
from keydesk.config.alert_settings import AlertSettings, EventKind
from keydesk.terminal.notification import BELL, notification, usual_kind
from keydesk.text.format import clock, date_and_time
from keydesk.text.sanitize import clean

BELL_EVERY = 2.0  # seconds
TITLES: Mapping[EventKind, str] = {
    "alert": "ALERT",
    "fill": "FILL",
    "stop": "STOP",
    "reject": "REJECTED",
    "margin": "MARGIN",
    "disconnect": "CONNECTION",
    "limit": "LIMIT",
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that is delivered to the trader: a firing, a fill, a lost connection."""

    kind: EventKind
    text: str
    time_ns: int
    account: str = ""
    data: Mapping[str, object] = field(default_factory=dict)  # for the command

    @property
    def title(self) -> str:
        """Return kind and account; it begins with a capital letter of ours, so no argument can become an option."""
        return f"{TITLES[self.kind]} {self.account}".rstrip()


def alert_text(fired: FiringRecord, zone: tzinfo) -> str:
    """Return the line of a firing; it begins with a word of ours, whatever the instrument is called."""
    value = f" (at {fired.value})" if fired.value else ""
    if fired.taken_over:
        when = date_and_time(fired.time_ns, zone)
        return f"ALERT late, the program that saw it ended first, {when}: {fired.text}{value}"
    if fired.late:
        return f"ALERT while you were away, {date_and_time(fired.time_ns, zone)}: {fired.text}"
    return f"ALERT {clock(fired.time_ns, zone)} {fired.text}{value}"


@dataclass(slots=True)
class Delivery:
    """Delivers events outside the screen.

    Args:
        settings: Which channels a kind has.
        write: Sends text to the terminal as it is.
        environment: Of the process: which terminal it is, and what is around it.
        commands: Runs the trader's command.
        flash: Marks the screen for a moment.
    """

    settings: AlertSettings
    write: Callable[[str], None]
    environment: Mapping[str, str]
    commands: CommandRunner
    flash: Callable[[EventKind], None]
    now: Callable[[], float] = monotonic
    muted: bool = False
    _rang: float = field(default=float("-inf"), init=False)

    def deliver(self, event: Event) -> None:
        """Deliver an event by the channels of its kind; muted, bell and desktop are left out."""
        kind, has = event.kind, self.settings.has
        if has(kind, "flash"):
            self.flash(kind)
        if not self.muted:
            if has(kind, "bell"):
                self.ring()
            if has(kind, "desktop"):
                kinds = self.settings.desktop or (usual_kind(self.environment),)
                self.write(notification(event.title, event.text, kinds, self.environment))
        if has(kind, "command"):
            self.commands.run(
                {
                    "kind": kind,
                    "title": event.title,
                    "text": clean(event.text),
                    "time_ns": event.time_ns,
                    "account": event.account,
                    **event.data,
                }
            )

    def ring(self) -> None:
        """Ring the bell, at most once in two seconds."""
        now = self.now()
        if now - self._rang >= BELL_EVERY:
            self._rang = now
            self.write(BELL)
