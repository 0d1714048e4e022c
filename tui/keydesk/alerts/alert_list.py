"""The alerts of an account with their history, and changes to them; each change is a function from the stored list to a new one.

Several desks and `keydesk watch` share one list. A firing is claimed in it before it is delivered: of two processes that see
the same crossing one claims it. The claim is written first, and marked as delivered afterwards. A process that is killed
between the two leaves a claimed firing that was not delivered; the next start delivers it with its time. So no crossing is
lost, and at most the one whose delivery was interrupted is delivered twice, marked as late.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keydesk.calc.alerts.alert import Alert, AlertState, Firing, FiringRecord
from keydesk.calc.alerts.conditions import ClockTime, TradeResult
from keydesk.calc.alerts.engine import after_firing, has_expired

MAX_ALERTS = 500
MAX_HISTORY = 200


class AlertListError(Exception):
    """Raised for a change that the list refuses; the text names the remedy."""


@dataclass(frozen=True, slots=True)
class AlertList:
    """The alerts of an account, their history, and up to when prices were watched."""

    alerts: tuple[Alert, ...] = ()
    history: tuple[FiringRecord, ...] = ()  # newest last
    next_id: int = 1
    seen_ns: int = 0  # up to when prices were watched
    sides: Mapping[str, int] = field(default_factory=dict)  # of price levels, then, by alert
    account_ns: int = 0  # when the account was created; 0: not known yet

    @property
    def undelivered(self) -> Sequence[FiringRecord]:
        """Return the firings that were claimed and not delivered."""
        return [each for each in self.history if not each.delivered]

    def find(self, alert_id: str) -> Alert | None:
        """Return an alert by its id."""
        return next((each for each in self.alerts if each.id == alert_id), None)


Change = Callable[[AlertList], AlertList]


def add_alert(alert: Alert) -> Change:
    """Return the change that adds an alert; the list gives it its id."""

    def change(book: AlertList) -> AlertList:
        if len(book.alerts) >= MAX_ALERTS:
            raise AlertListError(
                f"there are {MAX_ALERTS} alerts; delete some, or clear those that are done"
            )
        made = replace(alert, id=str(book.next_id))
        return replace(book, alerts=(*book.alerts, made), next_id=book.next_id + 1)

    return change


def replace_alert(alert: Alert) -> Change:
    """Return the change that gives an alert another condition, ending or note; it is watched from now on."""

    def change(book: AlertList) -> AlertList:
        if book.find(alert.id) is None:
            raise AlertListError(f"alert {alert.id} was deleted elsewhere; make a new one")
        return replace(
            book, alerts=tuple(alert if each.id == alert.id else each for each in book.alerts)
        )

    return change


def set_alert_state(alert_id: str, state: AlertState) -> Change:
    """Return the change that pauses an alert, or watches it again."""

    def change(book: AlertList) -> AlertList:
        alerts = tuple(
            replace(each, state=state) if each.id == alert_id else each for each in book.alerts
        )
        sides = {id_: side for id_, side in book.sides.items() if id_ != alert_id}
        return replace(book, alerts=alerts, sides=sides)

    return change


def delete_alerts(ids: Iterable[str]) -> Change:
    """Return the change that deletes alerts; their history stays."""
    gone = frozenset(ids)
    return lambda book: replace(
        book, alerts=tuple(each for each in book.alerts if each.id not in gone)
    )


def claim_firings(firings: Sequence[Firing], *, late: bool = False) -> Change:
    """Return the change that claims firings: those that another desk claimed meanwhile are left out."""

    def change(book: AlertList) -> AlertList:
        for firing in firings:
            kept = book.find(firing.alert.id)
            if kept is None or kept.state != "on" or kept.count != firing.alert.count - 1:
                continue
            fired = after_firing(kept, firing.time_ns)
            record = FiringRecord(
                fired.id, fired.count, firing.time_ns, fired.text, firing.value, late=late
            )
            book = replace(
                replace_alert(fired)(book), history=(*book.history, record)[-MAX_HISTORY:]
            )
        return book

    return change


def mark_delivered(firings: Iterable[FiringRecord]) -> Change:
    """Return the change that marks firings as delivered."""
    done = {(each.alert_id, each.number) for each in firings}

    def change(book: AlertList) -> AlertList:
        history = tuple(
            replace(each, delivered=True) if (each.alert_id, each.number) in done else each
            for each in book.history
        )
        return replace(book, history=history)

    return change


def mark_watched(time_ns: int, sides: Mapping[str, int]) -> Change:
    """Return the change that notes up to when prices were watched, and where they were."""
    return lambda book: (
        book if time_ns <= book.seen_ns else replace(book, seen_ns=time_ns, sides=dict(sides))
    )


def restart_market(account_ns: int, now_ns: int) -> Change:
    """Return the change for a market that began anew, such as a replay: what is watched is watched from now on.

    Alerts on trades, and on times that have passed there, expire: they were about the market before.
    """

    def change(book: AlertList) -> AlertList:
        if not book.account_ns:
            book = replace(book, account_ns=account_ns)
        if book.account_ns == account_ns and now_ns >= book.seen_ns:
            return book
        alerts = tuple(_in_new_market(each, now_ns) for each in book.alerts)
        return replace(book, alerts=alerts, seen_ns=now_ns, sides={}, account_ns=account_ns)

    return change


def _in_new_market(alert: Alert, now_ns: int) -> Alert:
    if alert.state not in ("on", "paused"):
        return alert
    match alert.condition:
        case TradeResult():
            return replace(alert, state="expired")
        case ClockTime(time_ns=time_ns) if time_ns <= now_ns:
            return replace(alert, state="expired")
        case _:
            return replace(alert, made_ns=now_ns, fired_ns=0)


def expire_alerts(now_ns: int) -> Change:
    """Return the change that ends alerts whose time is over."""

    def change(book: AlertList) -> AlertList:
        alerts = tuple(
            replace(each, state="expired")
            if each.state in ("on", "paused") and has_expired(each, now_ns)
            else each
            for each in book.alerts
        )
        return replace(book, alerts=alerts)

    return change


def claimed(before: AlertList, after: AlertList) -> Sequence[FiringRecord]:
    """Return the firings that a change claimed."""
    known = {(each.alert_id, each.number) for each in before.history}
    return [each for each in after.history if (each.alert_id, each.number) not in known]
