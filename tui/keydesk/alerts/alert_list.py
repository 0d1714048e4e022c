"""The alerts of an account with their history, and changes to them; each change is a function from the stored list to a new one.

Several desks and `keydesk watch` share one list. A firing is claimed in it before it is delivered, by its alert and the time of
its crossing, so that of all programs that see the crossing one delivers it. It is marked as delivered afterwards. A program
that is killed between the two leaves a claim that no one else delivers for `TAKE_OVER_NS`; then another program takes it over
and delivers it, marked as late. So no crossing is lost, and at most the one whose delivery was interrupted is delivered twice.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.calc.alerts.alert import Alert, AlertState, Firing, FiringRecord
from keydesk.calc.alerts.engine import after_firing, has_expired, is_pausing

MAX_ALERTS = 500
MAX_HISTORY = 200
MAX_OTHERS = 4  # lists of accounts that were left
CLOCK_SLACK_NS = 60_000_000_000  # by which the clocks of two programs may differ
TAKE_OVER_NS = 30_000_000_000  # after which a claimed firing that was not delivered is taken over


class AlertListError(Exception):
    """Raised for a change that the list refuses; the text names the remedy."""


class AlertList(Struct, frozen=True):
    """The alerts of an account, their history, and up to when prices were watched."""

    alerts: tuple[Alert, ...] = ()
    history: tuple[FiringRecord, ...] = ()  # newest last
    next_id: int = 1
    seen_ns: int = 0  # up to when prices were watched
    sides: Mapping[str, int] = field(default_factory=dict)  # of price levels, then, by alert
    account_ns: int = 0  # when the account was created; 0: not known yet
    others: Mapping[int, "AlertList"] = field(default_factory=dict)  # of accounts left for a replay

    def abandoned(self, wall_ns: int) -> Sequence[FiringRecord]:
        """Return the firings that were claimed so long ago and not delivered that their program must have ended."""
        return [
            each
            for each in self.history
            if not each.delivered and abs(wall_ns - each.claimed_ns) >= TAKE_OVER_NS
        ]

    def find(self, alert_id: str) -> Alert | None:
        """Return an alert by its id."""
        return next((each for each in self.alerts if each.id == alert_id), None)


Change = Callable[[AlertList], AlertList]


def _with(alert_list: AlertList, alert: Alert) -> AlertList:
    alerts = tuple(alert if each.id == alert.id else each for each in alert_list.alerts)
    return replace(alert_list, alerts=alerts)


def add_alert(alert: Alert) -> Change:
    """Return the change that adds an alert; the list gives it its id."""

    def change(alert_list: AlertList) -> AlertList:
        if len(alert_list.alerts) >= MAX_ALERTS:
            raise AlertListError(
                f"there are {MAX_ALERTS} alerts; delete some, or clear those that are done"
            )
        made = replace(alert, id=str(alert_list.next_id))
        return replace(
            alert_list, alerts=(*alert_list.alerts, made), next_id=alert_list.next_id + 1
        )

    return change


def replace_alert(alert: Alert) -> Change:
    """Return the change that gives an alert another condition, ending or note; it is watched from now on."""

    def change(alert_list: AlertList) -> AlertList:
        kept = alert_list.find(alert.id)
        if kept is None:
            raise AlertListError(f"alert {alert.id} was deleted elsewhere; make a new one")
        return _with(alert_list, replace(alert, count=kept.count))

    return change


def set_alert_state(alert_id: str, state: AlertState) -> Change:
    """Return the change that pauses an alert, or watches it again."""

    def change(alert_list: AlertList) -> AlertList:
        alerts = tuple(
            replace(each, state=state) if each.id == alert_id else each
            for each in alert_list.alerts
        )
        sides = {id_: side for id_, side in alert_list.sides.items() if id_ != alert_id}
        return replace(alert_list, alerts=alerts, sides=sides)

    return change


def delete_alerts(ids: Iterable[str]) -> Change:
    """Return the change that deletes alerts; their history stays."""
    gone = frozenset(ids)
    return lambda alert_list: replace(
        alert_list, alerts=tuple(each for each in alert_list.alerts if each.id not in gone)
    )


class ClaimFirings:
    """The change that claims firings; those that another program claimed before are left out.

    Args:
        firings: In the order of their times.
        wall_ns: The time by the computer's clock.
    """

    def __init__(self, firings: Iterable[Firing], wall_ns: int) -> None:
        self._firings, self._wall_ns = list(firings), wall_ns
        self.records: list[FiringRecord] = []  # what was claimed

    def __call__(self, alert_list: AlertList) -> AlertList:
        """Return the list with the firings that are not in it yet."""
        self.records = []
        for firing in self._firings:
            kept = alert_list.find(firing.alert.id)
            if kept is None or not _is_unclaimed(firing, kept):
                continue
            fired = after_firing(kept, firing.until_ns)
            self.records.append(self._record(firing, fired))
            alert_list = _with(alert_list, fired)
        history = (*alert_list.history, *self.records)[-MAX_HISTORY:]
        return replace(alert_list, history=history)

    def _record(self, firing: Firing, fired: Alert) -> FiringRecord:
        return FiringRecord(
            fired.id,
            fired.count,
            firing.time_ns,
            fired.text,
            firing.value_text,
            late=firing.late,
            claimed_ns=self._wall_ns,
        )


def _is_unclaimed(firing: Firing, kept: Alert) -> bool:
    """Return whether no program claimed this crossing, or one that came after it."""
    if kept.state != "on" or kept.condition != firing.alert.condition:
        return False
    if kept.fired_ns and firing.since_ns < kept.fired_ns:
        return False
    return not is_pausing(kept, firing.time_ns)


class TakeOver:
    """The change that claims anew, as late, what a program claimed that ended before it delivered it."""

    def __init__(self, wall_ns: int) -> None:
        self._wall_ns = wall_ns
        self.records: list[FiringRecord] = []  # what was taken over

    def __call__(self, alert_list: AlertList) -> AlertList:
        """Return the list with the claims that are ours now."""
        taken = {
            each: replace(each, late=True, taken_over=True, claimed_ns=self._wall_ns)
            for each in alert_list.abandoned(self._wall_ns)
        }
        self.records = list(taken.values())
        history = tuple(taken.get(each, each) for each in alert_list.history)
        return replace(alert_list, history=history)


def mark_delivered(firings: Iterable[FiringRecord]) -> Change:
    """Return the change that marks firings as delivered."""
    done = {each.key for each in firings}

    def change(alert_list: AlertList) -> AlertList:
        history = tuple(
            replace(each, delivered=True) if each.key in done else each
            for each in alert_list.history
        )
        return replace(alert_list, history=history)

    return change


def mark_watched(time_ns: int, sides: Mapping[str, int]) -> Change:
    """Return the change that notes up to when prices were watched, and where they were."""
    return lambda alert_list: (
        alert_list
        if time_ns <= alert_list.seen_ns
        else replace(alert_list, seen_ns=time_ns, sides=dict(sides))
    )


def restart_market(account_ns: int, now_ns: int) -> Change:
    """Return the change for another market, such as a replay, or that of the account which was left for one.

    The list of the account that is left is kept, and that of an account which was left before comes back as it was. A new
    account begins with the alerts of the one before, without their history, and what is watched is watched from now on: alerts
    on trades, and on times that have passed there, expire.
    """

    def change(alert_list: AlertList) -> AlertList:
        known = alert_list.account_ns or account_ns
        if not alert_list.account_ns:
            alert_list = replace(alert_list, account_ns=account_ns)
        others = dict(alert_list.others)
        if known != account_ns:
            others.pop(known, None)
            others[known] = replace(alert_list, others={})
            if (left := others.pop(account_ns, None)) is not None:
                return replace(left, others=others)
            others = dict(list(others.items())[-MAX_OTHERS:])
            alert_list = replace(alert_list, history=(), others=others)
        fired = (each.fired_ns - CLOCK_SLACK_NS for each in alert_list.alerts)
        if known == account_ns and now_ns >= max((alert_list.seen_ns, *fired)):
            return alert_list
        alerts = tuple(_in_new_market(each, now_ns) for each in alert_list.alerts)
        return replace(alert_list, alerts=alerts, seen_ns=now_ns, sides={}, account_ns=account_ns)

    return change


def _in_new_market(alert: Alert, now_ns: int) -> Alert:
    alert = replace(alert, fired_ns=0)
    if alert.state not in ("on", "paused"):
        return alert
    if alert.condition.ends_with_market(now_ns):
        return replace(alert, state="expired")
    return replace(alert, made_ns=now_ns)


def expire_alerts(now_ns: int) -> Change:
    """Return the change that ends alerts whose time is over."""

    def change(alert_list: AlertList) -> AlertList:
        alerts = tuple(
            replace(each, state="expired")
            if each.state in ("on", "paused") and has_expired(each, now_ns)
            else each
            for each in alert_list.alerts
        )
        return replace(alert_list, alerts=alerts)

    return change
