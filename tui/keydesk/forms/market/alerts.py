"""The page of alerts: those that are watched, paused and done; keys pause, edit and delete one; the history of those that fired."""

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar, LiteralString

from keydesk.calc.alerts.alert import Alert, FiringRecord
from keydesk.chart.picture import Picture
from keydesk.forms.info_form import InfoForm
from keydesk.forms.market.alert_chart import BEING_READ, ReadCandles, ReadFor, alert_chart, charted
from keydesk.forms.market.alert_columns import ALERT_COLUMNS, line_of, short_time
from keydesk.forms.modal_form import BLANK, TextLine, fold_line, wrap_text
from keydesk.forms.page_lines import SENTENCE_WIDTH, beside, width_of
from keydesk.forms.page_table import cells_of, rows_in_sight, table_lines
from keydesk.forms.requests import AlertAction, AlertVerb
from keydesk.keys.keymap import ALERTS, KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.settings.values import AlertSettings
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text.format import counted, date_and_time, shorten_text
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.price_cells import prices_are_old

BELOW = 4  # lines about the chosen one
FIRINGS = 3  # lines of the firings below a chart or many alerts, the title too
LEAST_LOWER = 5  # rows of the firings and the chart below the table; without them there is neither
CHART_FROM = 100  # columns of the page with a chart beside the firings
FIRED_FROM = 160  # columns of the page with the firings beside the table too
LEAST_CHART = 0.6  # of the page's width, where the firings need more than the rest
LEAST_WIDE_CHART = 0.75  # with the firings beside the table too
FEWEST_ROWS = 6  # of a chart: a lower one shows no course
HIGH_ROWS = 12  # of a chart across the page, with every firing below it
LARGEST_CHART = 150, 24  # columns and rows: a larger one costs a slow line too much
FEWEST = 8  # columns of the firings, where there is none
CHANNEL_NAMES = {"flash": "flash", "bell": "bell", "desktop": "notification", "command": "command"}
MUTED_CHANNELS = frozenset(("bell", "desktop"))
ACROSS_LINES = (
    4  # above and below a chart across the page: its title, that of the firings, two blank ones
)
GAP = 3  # columns between the chart and the firings
ORDER = ("on", "paused", "done", "expired")


class AlertsForm(InfoForm[None]):
    """Lists the alerts.

    Args:
        store: Has the alerts, their history, and what their distances are counted from.
        keymap: The keys, as the foot names them.
        settings: Which channels an alert has.
        read: Reads candles of an instrument that no chart shows; None: there is no one to ask.
    """

    KEY_CONTEXT: ClassVar[str] = ALERTS
    BINDINGS = bindings_of(ALERTS)
    WIDTH: ClassVar[int] = 200
    IS_SNUG: ClassVar[bool] = True

    def __init__(
        self,
        store: Store,
        keymap: KeyMap = KEYMAP,
        settings: AlertSettings | None = None,
        read: ReadFor | None = None,
    ) -> None:
        self.store, self.keymap, self._read_candles = store, keymap, read
        self._settings = settings or AlertSettings()
        self.at = 0
        self._chosen_id = ""  # the one under the cursor, as it is drawn
        self._drawn_at = 0  # second of the last drawing of the table
        self.shows_history = False
        self.deleting = ""  # id of the alert that `y` deletes
        self._picture = Picture()
        self._read: dict[str, ReadCandles] = {}  # by instrument
        super().__init__()

    def on_mount(self) -> None:
        """Take its place; read the candles of the first alert."""
        self._follow_chosen()
        super().on_mount()
        self._read_chosen()

    def _read_chosen(self) -> None:
        """Read the candles of the chosen alert's instrument, unless a chart shows them or they were read."""
        alert = self.chosen
        if alert is None or self._read_candles is None or not alert.condition.HAS_INSTRUMENT:
            return
        name = alert.condition.instrument
        if name in self._read or charted(self.store, name) is not None:
            return
        self._read[name] = BEING_READ

        def take(candles: ReadCandles) -> None:
            self._read[name] = candles
            self.redraw()

        self._read_candles(name, self.store.granularity, take)

    def on_frame(self, frame: Frame) -> None:
        if self.deleting not in self.store.alerts:  # another desk has deleted it
            self.deleting = ""
        counts_on = prices_are_old(self.store) and int(monotonic()) != self._drawn_at
        if frame.touched(Topic.ALERTS, Topic.PRICES) or counts_on:
            self.redraw()

    @property
    def alerts(self) -> list[Alert]:
        """The alerts, those that are watched first, the newest of each state first."""
        return sorted(
            self.store.alerts.values(), key=lambda each: (ORDER.index(each.state), -int(each.id))
        )

    @property
    def chosen(self) -> Alert | None:
        """The alert under the cursor as it is drawn, None once it is gone."""
        return self.store.alerts.get(self._chosen_id)

    def _follow_chosen(self) -> None:
        """Put the cursor where the chosen alert stands now; where it is gone, the one in its place is chosen."""
        if self.shows_history or not (ids := [each.id for each in self.alerts]):
            return
        known = self._chosen_id in ids
        self.at = ids.index(self._chosen_id) if known else min(self.at, len(ids) - 1)
        self._chosen_id = ids[self.at]

    def title_text(self) -> Printable:
        """Return how many there are, and which one is chosen."""
        muted = "  MUTED" if self.store.muted else ""
        if self.shows_history:
            return safe(f"Alerts fired: {self._place_in(len(self.store.alert_history))}{muted}")
        self._follow_chosen()
        place = self._place_in(len(self.store.alerts))
        watched = sum(each.state == "on" for each in self.store.alerts.values())
        words = f"{place}, {watched:,} watched" if self.store.alerts else place
        return safe(f"Alerts: {words}{muted}")

    def _place_in(self, count: int) -> str:
        """Return which one of so many is chosen."""
        return f"{min(self.at + 1, count):,} of {count:,}" if count else "none"

    def foot_text(self) -> Printable:
        """Return the keys that fit."""
        name = self.keymap.name
        if self.deleting:
            return safe(f"{name('alerts-take')} deletes it  Esc keeps it")
        if self.shows_history:
            return safe(f"{name('alerts-history')} alerts  Esc closes")
        has_row = self.chosen is not None
        has_ended = any(each.state in {"done", "expired"} for each in self.alerts)
        keys = (
            *(("alerts-new", "new", True), ("alerts-edit", "edit", has_row)),
            *(("alerts-pause", "pause", has_row), ("alerts-delete", "delete", has_row)),
            ("alerts-history", "fired", bool(self.store.alert_history)),
            ("alerts-clear", "clear done", has_ended),
        )
        words = [f"{name(id_)} {what}" for id_, what, acts in keys if acts]
        return self.keys_that_fit(*words)

    def lines(self) -> Sequence[TextLine]:
        """Return the list, or the history."""
        if self.shows_history:
            return self._history()
        self._follow_chosen()
        alerts = self.alerts
        if not alerts:
            return [*self._how_to_begin(), *self._lower(None, self.room - BELOW)]
        below = self._below(alerts[self.at])
        free = self.room - len(below) - 1
        sight = rows_in_sight(len(alerts), self.at, self._table_rows(free))
        now = monotonic()
        self._drawn_at = int(now)
        cells = [
            cells_of(ALERT_COLUMNS, line_of(alerts[at], self.store, now, is_chosen=at == self.at))
            for at in sight
        ]
        width = self._chart_columns() if self.inside >= FIRED_FROM else self.inside
        table = table_lines(ALERT_COLUMNS, cells, width, self.at - sight.start)
        upper = [*table, *below]
        if self.inside >= FIRED_FROM:
            return self._with_firings_beside(upper, alerts[self.at], width)
        return [*upper, *self._lower(alerts[self.at], self.room - len(upper))]

    def _table_rows(self, free: int) -> int:
        """Return the rows of alerts: half of the free ones, or all but a few firings where no chart has room."""
        if free < 2 * LEAST_LOWER:
            return max(1, free)
        has_chart = self.inside >= CHART_FROM or free // 2 >= FEWEST_ROWS + 2 + FIRINGS
        return free - free // 2 if has_chart else free - FIRINGS

    def _with_firings_beside(
        self, upper: list[TextLine], alert: Alert, width: int
    ) -> list[TextLine]:
        """Return the table with the chart below it, and the newest firings beside both; few ones leave the chart the whole width."""
        right = width + GAP
        is_few = len(self.store.alert_history) < len(upper)
        columns = self.inside if is_few else width
        chart = self._chart(alert, columns, self.room - len(upper) - 2)
        lower = [BLANK, *chart] if chart else []
        rows = max(len(upper) if is_few else len(upper) + len(lower), LEAST_LOWER)
        firings = self._firings(rows - 1, self.inside - right)
        if is_few:
            return [*beside(upper, right, firings), *lower]
        return beside([*upper, *lower], right, firings)

    def _how_to_begin(self) -> list[TextLine]:
        name = self.keymap.name
        line: TextLine = (
            ("No alerts. ", "muted"),
            (name("new-alert"), "plain"),
            (" on the chart, a row of the watchlist or a trade makes one; or type ", "muted"),
            (safe(f"{name('command')}alert eurusd +20p"), "plain"),
            (", 20 pips above now", "muted"),
        )
        return fold_line(line, min(self.inside, SENTENCE_WIDTH))

    @property
    def is_empty(self) -> bool:
        """Whether there is no alert, and none fired."""
        return not (self.store.alerts or self.store.alert_history)

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
        own: list[str] = []
        if alert.count:
            last = f", last {short_time(alert.fired_ns, zone)}" if alert.fired_ns else ""
            own.append(f"fired {counted(alert.count, 'time')}{last}")
        if alert.expires_ns is not None:
            own.append(f"until {date_and_time(alert.expires_ns, zone)}")
        phrases = [*own, self._channels_text(), f"made {short_time(alert.made_ns, zone)}"]
        if self.inside >= CHART_FROM:
            return [BLANK, *wrap_text(safe("; ".join(phrases)), "muted", self.inside)[:2]]
        text = ""
        for each in phrases:  # one line: a phrase that has no room is left out
            longer = f"{text}; {each}" if text else each
            text = longer if len(longer) <= self.inside else text
        return [BLANK, *wrap_text(alert.text, "plain", self.inside)[:1], ((safe(text), "muted"),)]

    # Below the table: the chosen one on a chart, and those that fired.

    def _lower(self, alert: Alert | None, rows: int) -> list[TextLine]:
        """Return the newest firings, and the chosen alert on a chart: beside many firings, above few and in a narrow page."""
        if rows < FIRINGS or (alert is None and not self.store.alert_history):
            return []
        if self.inside < CHART_FROM:
            chart = self._chart(alert, self.inside, rows - 2 - FIRINGS)
            upper = [*chart, BLANK] if rows > FIRINGS else []
            return [*upper, *self._firings(rows - len(upper) - 1, self.inside)]
        if rows < LEAST_LOWER:
            return []
        few = max(1, len(self.store.alert_history))
        across = min(LARGEST_CHART[0], self.inside), rows - ACROSS_LINES - few
        if across[1] >= HIGH_ROWS and (chart := self._chart(alert, *across)):
            return [BLANK, *chart, BLANK, *self._firings(few, self.inside)]
        columns = self._chart_columns()
        chart = self._chart(alert, columns, rows - 2)
        left = columns + GAP if chart else 0
        firings = self._firings(rows - 2, self.inside - left)
        return [BLANK, *(beside(chart, left, firings) if chart else firings)]

    def _chart(self, alert: Alert | None, columns: int, rows: int) -> Sequence[TextLine]:
        """Return the chart of an alert, nothing where there is no room for it."""
        if alert is None or rows < FEWEST_ROWS:
            return ()
        read = self._read.get(alert.condition.instrument, ReadCandles())
        ascii_only = self.app.has_class("-ascii")
        size = columns, min(rows, LARGEST_CHART[1], LARGEST_CHART[0] * LARGEST_CHART[1] // columns)
        return alert_chart(self.store, alert, read, size, self._picture, ascii_only=ascii_only)

    def _firings(self, rows: int, width: int) -> list[TextLine]:
        """Return the title and so many of the newest firings."""
        fired = self.store.alert_history[::-1]
        if not fired:
            return [(("Fired", "bright"),), (("none yet", "muted"),)]
        count = f"  the newest {rows:,} of {len(fired):,}" if rows < len(fired) else ""
        title: TextLine = (("Fired", "bright"), (safe(count), "muted"))
        return [title, *(self._firing_line(each, "", width) for each in fired[:rows])]

    def _chart_columns(self) -> int:
        """Return the columns that the firings leave to the chart, but not below its share."""
        fired = self.store.alert_history[-self.room :]
        texts = (width_of(self._firing_line(each, "", self.inside)) for each in fired)
        left = self.inside - GAP - max(texts, default=FEWEST)
        share = LEAST_WIDE_CHART if self.inside >= FIRED_FROM else LEAST_CHART
        return min(LARGEST_CHART[0], max(int(self.inside * share), left))

    def _history(self) -> Sequence[TextLine]:
        fired = self.store.alert_history[::-1]
        if not fired:
            return (((("No alert fired yet", "muted")),),)
        last = max(0, len(fired) - self.room)
        self.at = min(self.at, len(fired) - 1)
        first = min(max(0, self.at - self.room // 2), last)
        shown = range(first, min(first + self.room, len(fired)))
        return [
            self._firing_line(fired[place], "▶ " if place == self.at else "  ", self.inside)
            for place in shown
        ]

    def _firing_line(self, fired: FiringRecord, mark: LiteralString, width: int) -> TextLine:
        when = safe(f"{short_time(fired.time_ns, self.store.zone)} ")
        late = safe("away " if fired.late else "")
        room = max(1, width - len(mark) - len(when) - len(late))
        return (
            (mark, "focus"),
            (when, "muted"),
            (late, "warn"),
            (shorten_text(clean(fired.text), room), "plain"),
        )

    # Keys.

    def action_row(self, step: int) -> None:
        count = len(self.store.alert_history if self.shows_history else self.store.alerts)
        self.deleting = ""
        self._follow_chosen()
        self.at = max(0, min(count - 1, self.at + step))
        if not self.shows_history and count:
            self._chosen_id = self.alerts[self.at].id
            self._read_chosen()
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
