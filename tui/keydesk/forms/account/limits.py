"""The page of limits: each with its value and its present use; digits change one, Enter saves them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar

from rich.cells import cell_len
from textual.events import Key as KeyPress

from keydesk.calc.daily_loss import refused_limit, share_used
from keydesk.calc.market.trading_day import DAY_END_TEXT
from keydesk.calc.orders.limits import (
    LIMIT_FIELDS,
    MAX_DIGITS,
    LimitField,
    has_sane_size,
    losses_in_a_row,
)
from keydesk.calc.orders.ticket_draft import Entry, UnreadableText, above_zero, is_number_key
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.config.limits import WHOLE, LimitChange, with_limit
from keydesk.forms.info_form import InfoForm
from keydesk.forms.sheet import BLANK, FormContext, TextLine, wrap_text
from keydesk.keys.bindings import bindings_of
from keydesk.keys.keymap import LIMITS
from keydesk.store.frame import Frame
from keydesk.store.risk import day_result, open_risk_of
from keydesk.store.store import Store
from keydesk.text.format import UNLIMITED, money, pair
from keydesk.text.sanitize import Printable, safe
from keydesk_client.arithmetic.constants import PERCENT

Changes = tuple[LimitChange, ...]
NAME_WIDTH, VALUE_WIDTH, UNIT_WIDTH, NOW_WIDTH = 32, 10, 9, 18
BEFORE_NOW = 2 + NAME_WIDTH + VALUE_WIDTH + 2 + UNIT_WIDTH + 1
IN_ONE_LINE = BEFORE_NOW + NOW_WIDTH
DAILY = frozenset(("daily_loss", "daily_loss_percent"))
FROM_NEXT_DAY = f"counts from the next day, {DAY_END_TEXT}"
HINTS: Mapping[str, str] = {
    "hard_open_risk_percent": "Open trades to their stops, and entry orders as if they filled",
    "hard_spread_of_stop": "0.25: the spread is a quarter of the distance to the stop",
    "cool_off_losses": "After that many losing trades in a row today, only exits are sent for a while",
}


@dataclass(frozen=True, slots=True)
class LimitRow:
    """A limit as typed."""

    field: LimitField
    before: Decimal | None  # None: no limit, or none of the instrument's own
    entry: Entry

    @property
    def value(self) -> Decimal | UnreadableText | None:
        """The limit that is typed, None for none; else why it cannot be one."""
        number = above_zero(self.entry.value)
        if isinstance(number, Decimal) and self.field.name in WHOLE and number != int(number):
            return UnreadableText(self.entry.text, "is not a whole number")
        if isinstance(number, Decimal) and not has_sane_size(number):
            return UnreadableText(self.entry.text, f"has over {MAX_DIGITS} digits")
        return number

    def trouble(self, *, of_all: bool) -> str:
        """Return why the row cannot be kept, "" if it can."""
        value = self.value
        if isinstance(value, UnreadableText):
            return f"{self.field.name}: {value.text} {value.reason}"
        if value is None and of_all and not self.field.may_be_off:
            return f"{self.field.name} cannot be off: type a number"
        return ""


def value_in(limits: Limits, name: str) -> Decimal | None:
    """Return a limit of every instrument."""
    limit: Any = getattr(limits, name)
    return None if limit is None else Decimal(str(limit)).normalize()


def rows_of(limits: Limits, instrument: str) -> list[LimitRow]:
    """Return the rows of the page: of every instrument ("") or of one."""
    own = limits.instruments.get(instrument, {})
    shown = [each for each in LIMIT_FIELDS if not instrument or each.per_instrument]
    values = {
        each.name: own.get(each.name) if instrument else value_in(limits, each.name)
        for each in shown
    }
    return [LimitRow(each, values[each.name], _entry(values[each.name])) for each in shown]


def _entry(value: Decimal | None) -> Entry:
    return Entry("" if value is None else f"{value:f}", "units")


class LimitsForm(InfoForm[Changes]):
    """Shows the limits and where they stand; returns what was changed, and sends nothing."""

    KEY_CONTEXT: ClassVar[str] = LIMITS
    BINDINGS = bindings_of(LIMITS)
    WIDTH: ClassVar[int] = 88

    def __init__(self, context: FormContext) -> None:
        self.context = context
        self.instrument = ""  # of which the limits are; "": of every instrument
        self.rows = rows_of(context.limits, "")
        self.at = 0
        self.refused = False  # Enter was pressed on rows that cannot be kept
        super().__init__()

    def on_frame(self, frame: Frame) -> None:
        if frame.dirty:
            self.redraw()

    def title_text(self) -> Printable:
        """Name what they are limits of."""
        whose = f"limits of {pair(self.instrument)}" if self.instrument else "limits of the account"
        return safe(f"Your {whose}")

    def foot_text(self) -> Printable:
        """Return the keys."""
        keymap, focus = self.context.keymap, self.context.store.focus
        keeps, scope = keymap.name("limit-take"), keymap.name("limit-scope")
        other = "account" if self.instrument else pair(focus) if focus else "instrument"
        hints = ("Space off", f"{keeps} keeps", f"{scope} {other}")
        return self.keys_that_fit(*hints, leave="Esc drops")

    def lines(self) -> Sequence[TextLine]:
        """Return the rows that fit, and the details of the one under the cursor."""
        below = self._below()
        header = [_header()] if self._is_wide else []
        room = max(1, self.room - len(below) - len(header))
        now = _usage(self.context.store)
        rows = [self._row(at, row, now) for at, row in enumerate(self.rows)]
        first, height = self.at, len(rows[self.at])
        while first > 0 and height + len(rows[first - 1]) <= room:
            first -= 1
            height += len(rows[first])
        shown = [line for row in rows[first:] for line in row]
        return [*header, *shown[:room], *below]

    @property
    def _is_wide(self) -> bool:
        """Whether a row fits in one line; else its name has a line of its own, and no figure is cut off."""
        return self.inside >= IN_ONE_LINE

    def _below(self) -> list[TextLine]:
        trouble = self.trouble()
        if trouble:
            role = "danger" if self.refused else "warn"
            return [BLANK, *wrap_text(safe(f"✗ {trouble}"), role, self.inside)]
        name = self.rows[self.at].field.name
        text = self._of_the_day() if name in DAILY else HINTS.get(name)
        if text is None and name.startswith("hard"):
            text = "More than this is refused; exits never are"
        elif text is None and name.startswith("soft"):
            text = "More than this asks for a letter"
        return wrap_text(safe(text), "muted", self.inside) if text else []

    def _of_the_day(self) -> str:
        """Return when a daily loss limit counts, and which one is in force today."""
        store = self.context.store
        limit, account = store.loss_lock.limit, store.account
        if limit is None or account is None:
            return f"Raised or removed today, it {FROM_NEXT_DAY}"
        return f"Today {money(limit)} {account.currency} is in force. Raised or removed, it {FROM_NEXT_DAY}"

    def trouble(self) -> str:
        """Return why the rows cannot be kept, "" if they can."""
        troubles = (row.trouble(of_all=not self.instrument) for row in self.rows)
        return next((each for each in troubles if each), "") or self._locks_at_once()

    def _locks_at_once(self) -> str:
        """Return which daily loss limit that was typed would lock the desk now, "" if none would."""
        store = self.context.store
        for each in self.changes():
            if each.name in DAILY:
                limits = with_limit(Limits(daily_loss=None, daily_loss_percent=None), each)
                reason = refused_limit(store.loss_lock, day_result(store), limits)
                if reason:
                    return f"{each.name}: {reason}"
        return ""

    def _row(self, at: int, row: LimitRow, now: Mapping[str, str]) -> list[TextLine]:
        active = at == self.at
        text, role = row.entry.text, "bright"
        if not text:
            common = value_in(self.context.limits, row.field.name) if self.instrument else None
            text, role = ("off" if common is None else f"({common:f})"), "muted"
        usage, unit = now.get(row.field.name, ""), self._unit(row.field)
        left, right = ("[", "]") if active else (" ", " ")
        mark = ("▶ " if active else "  ", "focus")
        name = f"{row.field.text:<{NAME_WIDTH}}"
        if self._is_wide:
            unit, text = f"{unit:<{UNIT_WIDTH}}", f"{text:>{VALUE_WIDTH}}"
        named: TextLine = (mark, (safe(name), "bright" if active else "plain"))
        value: TextLine = (
            (left, "focus"),
            (safe(text), role),
            (right, "focus"),
            (safe(f" {unit}"), "muted"),
        )
        if self._is_wide:
            return self._beside((*named, *value), usage)
        value = (("    ", "plain"), *value)
        if not usage:
            return [named, value]
        suffix, width = f"  now {usage}", sum(cell_len(words) for words, _ in value)
        if width + cell_len(suffix) <= self.inside:
            return [named, (*value, (safe(suffix), "plain"))]
        return [named, value, ((safe(f"   {suffix}"), "plain"),)]

    def _beside(self, row: TextLine, usage: str) -> list[TextLine]:
        """Return the row with where it stands; what is too long for that has a line of its own."""
        now = ((safe(usage), "plain"),)
        if BEFORE_NOW + cell_len(usage) <= self.inside:
            return [(*row, *now)]
        blank = " " * max(0, self.inside - cell_len(usage))
        return [row, ((safe(blank), "plain"), *now)]

    def _unit(self, field: LimitField) -> str:
        account = self.context.store.account
        return field.unit if field.unit != "money" or account is None else account.currency

    def changes(self) -> Changes:
        """Return the rows that differ from the limits in force."""
        return tuple(
            LimitChange(row.field.name, row.value, self.instrument)
            for row in self.rows
            if not isinstance(row.value, UnreadableText) and row.value != row.before
        )

    # The keys.

    def on_key(self, event: KeyPress) -> None:
        key = event.character or ""
        if is_number_key(key):
            event.stop()
            self._change(lambda entry: entry.typed(key))

    def action_row(self, step: int) -> None:
        """Go to another row; its first digit replaces the value."""
        self.at = max(0, min(len(self.rows) - 1, self.at + step))
        self._change(lambda entry: replace(entry, fresh=True))

    def action_turn(self) -> None:
        self._change(lambda entry: replace(entry, text="", fresh=True))

    def action_erase(self) -> None:
        """Erase a digit; all of them where nothing was typed yet."""
        self._change(Entry.erased)

    def action_scope(self) -> None:
        """Turn between the limits of the account and those of the instrument in the chart; typed ones must be kept first."""
        if self.changes() or self.trouble():
            return
        focus = self.context.store.focus
        self.instrument = "" if self.instrument else focus
        self.rows, self.at = rows_of(self.context.limits, self.instrument), 0
        self.redraw()

    def action_take(self) -> None:
        """Close with the changes; rows that cannot be kept stay open for correction."""
        self.refused = bool(self.trouble())
        if self.refused:
            self.redraw()
        elif self.is_active:
            self.dismiss(self.changes())

    def _change(self, change: Callable[[Entry], Entry]) -> None:
        row = self.rows[self.at]
        self.rows[self.at] = replace(row, entry=change(row.entry))
        self.refused = False
        self.redraw()


def _header() -> TextLine:
    blank = " " * (NAME_WIDTH + VALUE_WIDTH + UNIT_WIDTH + 5)
    return ((safe(blank), "muted"), ("now", "muted"))


def _usage(store: Store) -> Mapping[str, str]:
    """Return where the limits stand, by name, as far as that is known."""
    result, account, risk = day_result(store), store.account, open_risk_of(store)
    usage = {
        "cool_off_losses": f"{losses_in_a_row(store.closed)} in a row",
        "hard_open_trades": f"{risk.count}",
    }
    if result.loss is not None:
        used = share_used(store.loss_lock, result.loss)
        share = "" if used is None else f", {money(used, 0)} % used"
        usage["daily_loss"] = f"{money(-result.loss, signed=True)}{share}"
    if account is not None and account.nav > 0:
        usage["hard_open_risk_percent"] = (
            f"{UNLIMITED}, {risk.unprotected} no stop"
            if risk.unprotected
            else f"{money(risk.cash / account.nav * PERCENT)} %"
        )
    quote, known = store.quotes.get(store.focus), store.instruments.get(store.focus)
    if quote is not None and known is not None:
        spread = (quote.ask - quote.bid).scaleb(-known.pip_location)
        text = f"{money(spread, 1)} {pair(store.focus)}"
        usage |= {"hard_spread_pips": text, "soft_spread_pips": text}
    if store.health.rtt_ms is not None:
        usage["slow_ms"] = f"{store.health.rtt_ms:.0f}"
    return usage
