"""Delivery of events: flash, bell, desktop notification and the trader's command, each as the settings say for its kind.

Beside alerts, these are events of the account: fills, stops, rejects, margin, and a lost connection. Those older than a minute
are not delivered: they are listed on the away card.
"""

from collections.abc import Callable, Mapping
from datetime import tzinfo
from time import monotonic, time_ns

from msgspec import Struct, field

from keydesk.alerts.notify_command import CommandRunner
from keydesk.calc.alerts.alert import FiringRecord
from keydesk.settings.values import AlertSettings, EventKind
from keydesk.store.store import Store
from keydesk.terminal.notification import BELL, notification, usual_kind
from keydesk.text.format import clock, date_and_time, duration, pair
from keydesk.text.sanitize import clean
from keydesk_client.models import MarginCallEnterTransaction, OrderFillTransaction, Transaction

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


class Event(Struct, frozen=True):
    """Something that is delivered to the trader: a firing, a fill, a lost connection."""

    kind: EventKind
    text: str
    time_ns: int
    account: str = ""
    data: Mapping[str, object] = field(default_factory=dict)  # for the command
    name: str = ""  # for scripts, where it is another one than that of the kind

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


class Delivery(Struct):
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
    _rang: float = float("-inf")

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
                    "kind": event.name or kind,
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


# Events of the account.

OLD_NS = 60_000_000_000
CHECK_INTERVAL = 0.5  # seconds
STOPS = frozenset(("STOP_LOSS_ORDER", "TRAILING_STOP_LOSS_ORDER", "GUARANTEED_STOP_LOSS_ORDER"))
CLOSEOUT = "MARKET_ORDER_MARGIN_CLOSEOUT"
LOST = frozenset(("DOWN", "STALE"))
LIVE = frozenset(("OK", "SLOW"))
RETURN = "reconnect"
"""What a script reads as the name of the event that the connection is back; its channels are those of its loss."""


def kind_of(transaction: Transaction) -> EventKind | None:
    """Return the kind of event that a transaction is, None for one that is not delivered."""
    match transaction:
        case OrderFillTransaction():
            if transaction.reason == CLOSEOUT:
                return "margin"
            return "stop" if transaction.reason in STOPS else "fill"
        case MarginCallEnterTransaction():
            return "margin"
        case _:
            return "reject" if str(transaction.type).endswith("_REJECT") else None


class EventSources(Struct):
    """Watches transactions and the connection, and delivers what happens."""

    store: Store
    account: str
    deliver: Callable[[Event], None]
    wall_ns: Callable[[], int] = time_ns
    _lost_at: float | None = None
    _checked_at: float = float("-inf")

    def on_transaction(self, transaction: Transaction) -> None:
        kind, time = kind_of(transaction), transaction.time.ns
        now = self.store.clock_ns or self.wall_ns()
        if kind is not None and now - time < OLD_NS:
            data = {"transaction": str(transaction.id), "type": str(transaction.type)}
            text = self._words(transaction)
            self.deliver(Event(kind, text, time, self.account, data))

    def _words(self, transaction: Transaction) -> str:
        """Return the words of the transaction's log line, which is written first."""
        lines = (line for line in reversed(self.store.log[-50:]) if line.id == transaction.id)
        line = next(lines, None)
        if line is None:
            return str(transaction.type)
        return f"{pair(line.instrument)} {line.text}" if line.instrument else line.text

    def check(self, now: float) -> None:
        """Deliver that the connection was lost, once per loss, and that it is back."""
        if now - self._checked_at < CHECK_INTERVAL:
            return
        self._checked_at = now
        health = self.store.health
        lost = {"prices": health.prices, "transactions": health.events}
        lost = {name: state for name, state in lost.items() if state in LOST}
        if lost and self._lost_at is None:
            name, state = next(iter(lost.items()))
            self._deliver_connection(f"The stream of {name} is {state.lower()}")
            self._lost_at = now
        elif self._lost_at is not None and {health.prices, health.events} <= LIVE:
            away = duration(now - self._lost_at)
            self._deliver_connection(f"Prices and transactions are back after {away}", RETURN)
            self._lost_at = None

    def _deliver_connection(self, text: str, name: str = "") -> None:
        self.deliver(Event("disconnect", text, self.wall_ns(), self.account, name=name))
