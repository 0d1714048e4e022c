"""Events of the account that are delivered like alerts: fills, stops, rejects, margin, and a lost connection.

Events older than a minute are not delivered: they are listed on the away card.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import time_ns

from keydesk.alerts.delivery import Event
from keydesk.config.alert_settings import EventKind
from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk_client.models import MarginCallEnterTransaction, OrderFillTransaction, Transaction

OLD_NS = 60_000_000_000
CHECK_INTERVAL = 0.5  # seconds
STOPS = frozenset(("STOP_LOSS_ORDER", "TRAILING_STOP_LOSS_ORDER", "GUARANTEED_STOP_LOSS_ORDER"))
CLOSEOUT = "MARKET_ORDER_MARGIN_CLOSEOUT"
LOST = frozenset(("DOWN", "STALE"))


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


@dataclass(slots=True)
class EventSources:
    """Watches transactions and the connection, and delivers what happens."""

    store: Store
    account: str
    deliver: Callable[[Event], None]
    wall_ns: Callable[[], int] = time_ns
    _is_lost: bool = field(default=False, init=False)
    _checked_at: float = field(default=float("-inf"), init=False)

    def on_transaction(self, transaction: Transaction) -> None:
        """Deliver a transaction that is new."""
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
        """Deliver that the connection was lost, once per loss."""
        if now - self._checked_at < CHECK_INTERVAL:
            return
        self._checked_at = now
        health = self.store.health
        is_lost = health.prices in LOST or health.events in LOST
        if is_lost and not self._is_lost:
            name = "prices" if health.prices in LOST else "transactions"
            state = health.prices if health.prices in LOST else health.events
            text = f"The stream of {name} is {state.lower()}"
            self.deliver(Event("disconnect", text, self.wall_ns(), self.account))
        self._is_lost = is_lost
