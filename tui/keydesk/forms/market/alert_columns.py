"""The columns of the page of alerts: what each shows of an alert, and of what it watches as that is now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from decimal import Decimal

from msgspec import Struct

from keydesk.alerts.readings import facts_of
from keydesk.calc.alerts.alert import MAX_NOTE_LENGTH, Alert, AlertState
from keydesk.calc.alerts.candle_conditions import CandleCondition
from keydesk.calc.alerts.fact_conditions import ResultCondition
from keydesk.calc.alerts.price_conditions import QuoteCondition
from keydesk.forms.modal_form import TextLine, Words
from keydesk.forms.page_table import PageColumn, share_bar
from keydesk.store.store import Store
from keydesk.text.format import EMPTY, at, duration, money, pair, shorten_text
from keydesk.text.sanitize import SafeText, clean, safe
from keydesk.widgets.price_cells import prices_are_old
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import ZERO

STATES: Mapping[AlertState, Words] = {
    "on": ("watching", "plain"),
    "paused": ("paused", "warn"),
    "done": ("fired", "muted"),
    "expired": ("expired", "muted"),
}
BY_PRICES = (QuoteCondition, CandleCondition, ResultCondition)
BAR = 8  # cells of how near the value is to the level
LEAST_BAR = 2  # cells: a shorter one is not drawn
NEARNESS = 4  # a distance of the day's range is one fifth near, of a quarter of it half
CLOSE = Decimal("0.5")  # from which on the bar stands out
PAIR_WIDTH = 9  # columns
STATE_WIDTH = 8  # columns of the longest state


class AlertLine(Struct, frozen=True):
    """What the columns read of an alert."""

    alert: Alert
    store: Store
    value: Decimal | None  # of what is watched; None: not known, or no longer watched
    role: ColourRole
    is_over: bool = False  # it is not watched again
    old_for: float | None = (
        None  # seconds since the last price, where none come and it waits for one
    )

    @property
    def name(self) -> SafeText:
        """The instrument that it watches, or the account."""
        condition = self.alert.condition
        return safe(pair(condition.instrument)) if condition.HAS_INSTRUMENT else safe("account")

    @property
    def value_role(self) -> ColourRole:
        """Of figures that follow from prices: faint while none come."""
        return self.role if self.old_for is None else "faint"

    @property
    def state(self) -> Words:
        """Whether it is watched, or since when no price came."""
        if self.old_for is None or self.alert.state != "on":
            return STATES[self.alert.state]
        return safe(f"old {duration(self.old_for)}"), "warn"

    @property
    def value_text(self) -> str:
        """The value as it is now."""
        condition, value = self.alert.condition, self.value
        known = self.store.instruments.get(condition.instrument)
        precision = 0 if known is None else known.display_precision
        return EMPTY if value is None else condition.value_text(value, precision) or EMPTY

    @property
    def distance_text(self) -> str:
        """How far the value is from the level, of a price in pips."""
        condition = self.alert.condition
        if self.value is None:
            return EMPTY
        far = abs(condition.level - self.value)
        known = self.store.instruments.get(condition.instrument)
        if condition.UNIT == "price" and known is not None:
            return f"{money(far / known.pip, 1)} pips"
        return condition.value_text(far, 0) or EMPTY

    @property
    def nearness(self) -> Decimal | None:
        """How near the value is to its level: 1 at it, less the more of the day's range or of the level are between."""
        condition, value = self.alert.condition, self.value
        if value is None or condition.UNIT == "untold":
            return None
        far, day = abs(condition.level - value), self.store.days.get(condition.instrument)
        scale = max(abs(condition.level), abs(value))
        if condition.UNIT == "price":
            scale = ZERO if day is None else day.high - day.low
        return None if scale <= 0 else scale / (scale + NEARNESS * far)


def line_of(alert: Alert, store: Store, now: float, *, is_chosen: bool) -> AlertLine:
    """Return what the columns read of an alert; `now` is monotonic."""
    is_over = alert.state in ("done", "expired")
    role: ColourRole = "bright" if is_chosen else "muted" if is_over else "plain"
    if is_over:
        return AlertLine(alert, store, None, role, is_over)
    condition = alert.condition
    facts = facts_of(store, now, store.now_ns, condition.instrument)
    old_for: float | None = None
    if prices_are_old(store) and isinstance(condition, BY_PRICES):
        old_for = now - (store.health.prices_at or now)
    return AlertLine(alert, store, condition.value_now(facts), role, old_for=old_for)


def _condition(line: AlertLine) -> TextLine:
    return ((clean(line.alert.condition.text.removeprefix(f"{line.name} ")), line.role),)


def _note(line: AlertLine) -> TextLine:
    note = line.alert.note
    return ((clean(note, MAX_NOTE_LENGTH), "muted"),) if note else ()


def _near(line: AlertLine) -> TextLine:
    """Return how near the value is to its level as a bar; nothing where it is far: a stub says nothing."""
    near = line.nearness
    if near is None or near * BAR < LEAST_BAR:
        return ()
    is_close = near >= CLOSE and line.old_for is None
    return ((share_bar(near, BAR), "alert" if is_close else "muted"),)


def _fired(line: AlertLine) -> TextLine:
    fired_ns = line.alert.fired_ns
    return ((short_time(fired_ns, line.store.zone), "muted"),) if fired_ns else ()


def short_time(time_ns: int, zone: tzinfo) -> SafeText:
    """Return day and time without the year."""
    return safe(f"{at(time_ns, zone):%d %b %H:%M}")


AlertColumn = PageColumn[AlertLine]
ALERT_COLUMNS: tuple[AlertColumn, ...] = (
    AlertColumn(
        *("pair", "pair", 0),
        right=False,
        cell=lambda line: ((shorten_text(line.name, PAIR_WIDTH), line.role),),
    ),
    AlertColumn(*("condition", "condition", 26), right=False, flexible=True, cell=_condition),
    AlertColumn(*("note", "note", 12, 7), right=False, flexible=True, cell=_note),
    AlertColumn(
        *("now", "now", 0, 3),
        cell=lambda line: () if line.is_over else ((safe(line.value_text), line.value_role),),
    ),
    AlertColumn(
        *("distance", "distance", 0, 2),
        cell=lambda line: () if line.is_over else ((safe(line.distance_text), line.value_role),),
    ),
    AlertColumn(*("near", "near", 0, 4), right=False, cell=_near),
    AlertColumn(*("state", "state", STATE_WIDTH, 1), right=False, cell=lambda line: (line.state,)),
    AlertColumn(
        *("often", "fires", 0, 6),
        right=False,
        cell=lambda line: ((safe(line.alert.repeat_text), "muted"),),
    ),
    AlertColumn(*("fired", "last fired", 0, 5), right=False, cell=_fired),
)
