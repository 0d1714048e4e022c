"""The page of alerts: those that are watched, paused and done; keys pause, edit and delete one; the history of those that fired."""

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import ClassVar

from rich.cells import cell_len

from keydesk.alerts.readings import facts_of
from keydesk.calc.alerts.alert import Alert, AlertState, FiringRecord
from keydesk.forms.info_form import InfoForm
from keydesk.forms.requests import AlertAction, AlertVerb
from keydesk.forms.sheet import BLANK, TextLine, Words, wrap_text
from keydesk.keys.keymap import ALERTS, KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.settings.values import AlertSettings
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text.format import EMPTY, at, counted, date_and_time, money, pair, shorten_text
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.theme import ColourRole

STATES: Mapping[AlertState, Words] = {
    "on": ("watching", "good"),
    "paused": ("paused", "warn"),
    "done": ("fired", "muted"),
    "expired": ("expired", "muted"),
}
PAIR_WIDTH, DISTANCE_WIDTH, STATE_WIDTH, OFTEN_WIDTH = 9, 14, 10, 12
MARK = 2  # columns of the mark of the chosen row, and between two columns
LEAST_CONDITION = 24  # columns; what would leave it fewer is left out
BELOW = 4  # lines about the chosen one
CHANNEL_NAMES = {"flash": "flash", "bell": "bell", "desktop": "notification", "command": "command"}
MUTED_CHANNELS = frozenset(("bell", "desktop"))
TEXT_WIDTH = 100  # columns of a sentence
ORDER = ("on", "paused", "done", "expired")


class AlertsForm(InfoForm[None]):
    """Lists the alerts.

    Args:
        store: Has the alerts, their history, and what their distances are counted from.
        keymap: The keys, as the foot names them.
        settings: Which channels an alert has.
    """

    KEY_CONTEXT: ClassVar[str] = ALERTS
    BINDINGS = bindings_of(ALERTS)
    WIDTH: ClassVar[int] = 150

    def __init__(
        self,
        store: Store,
        keymap: KeyMap = KEYMAP,
        settings: AlertSettings | None = None,
    ) -> None:
        self.store, self.keymap = store, keymap
        self._settings = settings or AlertSettings()
        self.at = 0
        self.shows_history = False
        self.deleting = ""  # id of the alert that `y` deletes
        super().__init__()

    def on_frame(self, frame: Frame) -> None:
        if frame.touched(Topic.ALERTS, Topic.PRICES):
            self.redraw()

    @property
    def alerts(self) -> list[Alert]:
        """The alerts, those that are watched first, the newest of each state first."""
        return sorted(
            self.store.alerts.values(), key=lambda each: (ORDER.index(each.state), -int(each.id))
        )

    @property
    def chosen(self) -> Alert | None:
        """The alert under the cursor."""
        alerts = self.alerts
        return alerts[min(self.at, len(alerts) - 1)] if alerts else None

    def title_text(self) -> Printable:
        """Return how many there are."""
        muted = "  MUTED" if self.store.muted else ""
        if self.shows_history:
            return safe(f"Alerts fired: {len(self.store.alert_history):,}{muted}")
        watched = sum(each.state == "on" for each in self.store.alerts.values())
        return safe(f"Alerts: {watched:,} of {len(self.store.alerts):,} watched{muted}")

    def foot_text(self) -> Printable:
        """Return the keys that fit."""
        name = self.keymap.name
        if self.deleting:
            return safe(f"{name('alerts-take')} deletes it  Esc keeps it")
        if self.shows_history:
            return safe(f"{name('alerts-history')} alerts  Esc closes")
        keys = (
            *(("alerts-new", "new"), ("alerts-edit", "edit"), ("alerts-pause", "pause")),
            *(
                ("alerts-delete", "delete"),
                ("alerts-history", "fired"),
                ("alerts-clear", "clear done"),
            ),
        )
        words = [f"{name(id_)} {what}" for id_, what in keys]
        return self.keys_that_fit(*words)

    def lines(self) -> Sequence[TextLine]:
        """Return the list, or the history."""
        if self.shows_history:
            return self._history()
        alerts = self.alerts
        if not alerts:
            name = self.keymap.name
            text = (
                f"No alerts. {name('new-alert')} on the chart, a row of the watchlist or a trade makes one; "
                f"or type {name('command')}alert eurusd > 1.12"
            )
            return wrap_text(safe(text), "muted", min(self.inside, TEXT_WIDTH))
        self.at = min(self.at, len(alerts) - 1)
        below = self._below(alerts[self.at])
        room = max(1, self.room - len(below) - 1)
        first = max(0, min(self.at - room // 2, len(alerts) - room))
        shown = range(first, min(first + room, len(alerts)))
        return [self._header(), *(self._line(at, alerts[at]) for at in shown), *below]

    # Its columns.

    @property
    def _has_distance(self) -> bool:
        return self._condition_room(distance=True, often=False) >= LEAST_CONDITION

    @property
    def _has_often(self) -> bool:
        return self._condition_room(distance=True, often=True) >= LEAST_CONDITION

    def _condition_room(self, *, distance: bool, often: bool) -> int:
        taken = MARK + PAIR_WIDTH + MARK + STATE_WIDTH
        taken += (DISTANCE_WIDTH + MARK) * distance + (OFTEN_WIDTH + MARK) * often
        return self.inside - taken

    @property
    def _condition_width(self) -> int:
        room = self._condition_room(distance=self._has_distance, often=self._has_often)
        longest = max((cell_len(each.text) for each in self.store.alerts.values()), default=0)
        return max(1, min(room, max(longest, LEAST_CONDITION)))

    def _header(self) -> TextLine:
        words = f"  {'pair':<{PAIR_WIDTH}}{'condition':<{self._condition_width}}"
        words += f"{'distance now':>{DISTANCE_WIDTH}}  " if self._has_distance else "  "
        words += f"{'state':<{STATE_WIDTH}}"
        words += "  notifies" if self._has_often else ""
        return ((safe(words), "muted"),)

    def _line(self, at: int, alert: Alert) -> TextLine:
        chosen = at == self.at
        condition, width = alert.condition, self._condition_width
        name = safe(pair(condition.instrument)) if condition.HAS_INSTRUMENT else safe("account")
        words = shorten_text(clean(alert.text.removeprefix(f"{name} ")), width)
        state, role = STATES[alert.state]
        is_over = alert.state in ("done", "expired")
        plain: ColourRole = "bright" if chosen else "muted" if is_over else "plain"
        distance = "" if is_over else self._distance(alert)
        often = f"  {alert.repeat_text}" if self._has_often else ""
        return (
            ("▶ " if chosen else "  ", "focus"),
            (safe(f"{shorten_text(name, PAIR_WIDTH - 1):<{PAIR_WIDTH}}"), plain),
            (safe(f"{words:<{width}}"), plain),
            (safe(f"{distance:>{DISTANCE_WIDTH}}  " if self._has_distance else "  "), "plain"),
            (safe(f"{state:<{STATE_WIDTH}}"), role),
            (safe(often), "muted"),
        )

    def _distance(self, alert: Alert) -> str:
        """Return how far what is watched is from the level; of what is no price, its value now."""
        condition, store = alert.condition, self.store
        value = condition.value_now(
            facts_of(store, monotonic(), store.now_ns, condition.instrument)
        )
        if value is None:
            return EMPTY
        known = store.instruments.get(condition.instrument)
        if condition.UNIT == "price" and known is not None:
            return f"{money(abs(condition.level - value) / known.pip, 1)} pips"
        return f"now {condition.value_text(value, 0 if known is None else known.display_precision)}"

    def _channels_text(self) -> str:
        """Return how an alert that fires is brought to the trader."""
        muted = self.store.muted
        channels = [
            f"{CHANNEL_NAMES[each]}{' (muted)' if muted and each in MUTED_CHANNELS else ''}"
            for each in self._settings.kinds.get("alert", ())
        ]
        return f"notifies by {', '.join(('message', *channels))}"

    def _below(self, alert: Alert) -> list[TextLine]:
        if self.room < 2 * BELOW:
            return []
        if self.deleting:
            return [BLANK, *wrap_text(safe(f"Delete alert {alert.id}?"), "warn", self.inside)]
        zone = self.store.zone
        phrases = [self._channels_text(), f"made {date_and_time(alert.made_ns, zone)}"]
        if alert.expires_ns is not None:
            phrases.append(f"until {date_and_time(alert.expires_ns, zone)}")
        if alert.count:
            last = f", last {date_and_time(alert.fired_ns, zone)}" if alert.fired_ns else ""
            phrases.append(f"fired {counted(alert.count, 'time')}{last}")
        whole = wrap_text(alert.text, "plain", self.inside)[:2]
        return [BLANK, *whole[:1], *wrap_text(safe("; ".join(phrases)), "muted", self.inside)[:2]]

    def _history(self) -> Sequence[TextLine]:
        fired = self.store.alert_history[::-1]
        if not fired:
            return (((("No alert fired yet", "muted")),),)
        last = max(0, len(fired) - self.room)
        self.at = min(self.at, len(fired) - 1)
        first = min(max(0, self.at - self.room // 2), last)
        return [
            self._firing_line(at, fired[at])
            for at in range(first, min(first + self.room, len(fired)))
        ]

    def _firing_line(self, number: int, fired: FiringRecord) -> TextLine:
        when = safe(f"{at(fired.time_ns, self.store.zone):%d %b %H:%M:%S} ")
        late = safe("away " if fired.late else "")
        room = max(1, self.inside - 2 - len(when) - len(late))
        return (
            ("▶ " if number == self.at else "  ", "focus"),
            (when, "faint"),
            (late, "warn"),
            (shorten_text(clean(fired.text), room), "plain"),
        )

    # Keys.

    def action_row(self, step: int) -> None:
        count = len(self.store.alert_history if self.shows_history else self.store.alerts)
        self.at, self.deleting = max(0, min(count - 1, self.at + step)), ""
        self.redraw()

    def action_act(self, verb: AlertVerb) -> None:
        """Pause the chosen alert, edit it, or make a new one."""
        if self.shows_history and verb != "mute":
            return
        if verb in ("new", "clear", "mute"):
            self.app.post_message(AlertAction(verb))
        elif self.chosen is not None:
            self.app.post_message(AlertAction(verb, self.chosen))
        self.redraw()

    def action_delete(self) -> None:
        if self.chosen is not None and not self.shows_history:
            self.deleting = self.chosen.id
            self.redraw()

    def action_take(self) -> None:
        """Delete the alert that was asked about; else edit the chosen one."""
        if not self.deleting:
            self.action_act("edit")
            return
        alert = self.store.alerts.get(self.deleting)
        self.deleting = ""
        if alert is not None:
            self.app.post_message(AlertAction("delete", alert))
        self.redraw()

    def action_history(self) -> None:
        """Show the alerts that fired, or all alerts again."""
        self.shows_history, self.at, self.deleting = not self.shows_history, 0, ""
        self.redraw()

    def action_drop(self) -> None:
        """Keep the alert that was asked about; else close."""
        if self.deleting:
            self.deleting = ""
            self.redraw()
        else:
            super().action_drop()
