"""The page of limits: each with its value and its present use; digits change one, Enter saves them."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len
from textual.events import Key as KeyPress

from keydesk.calc.daily_loss import refused_limit
from keydesk.calc.market.trading_day import DAY_END_TEXT
from keydesk.calc.orders.field_draft import Entry, UnreadableText, above_zero, is_number_key
from keydesk.calc.orders.limits import (
    LIMIT_FIELDS,
    MAX_DIGITS,
    LimitEffect,
    LimitField,
    LimitGroup,
    has_sane_size,
    losses_in_a_row,
)
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.config.limits import LimitChange, with_limit
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, Words, wrap_text
from keydesk.keys.keymap import LIMITS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.settings.values import WHOLE_LIMITS
from keydesk.store.frame import Frame
from keydesk.store.risk import day_result, open_risk_of
from keydesk.store.store import Store
from keydesk.store.trading_context import trading_context_of
from keydesk.text.format import UNLIMITED, money, pair, units
from keydesk.text.sanitize import Printable, safe
from keydesk.values import TradeRow
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import PERCENT, ZERO
from keydesk_client.arithmetic.profit import notional

Changes = tuple[LimitChange, ...]
EFFECT_WIDTH, NAME_WIDTH, VALUE_WIDTH, UNIT_WIDTH, NOW_WIDTH = 10, 24, 10, 9, 18
BEFORE_NOW = 2 + EFFECT_WIDTH + NAME_WIDTH + VALUE_WIDTH + 2 + UNIT_WIDTH + 1
IN_ONE_LINE = BEFORE_NOW + NOW_WIDTH
WIDE_NOW = 30  # where the meaning of each limit stands beside it
MEANING_FROM = BEFORE_NOW + WIDE_NOW + max(len(each.meaning) for each in LIMIT_FIELDS)
DAILY = frozenset(("daily_loss", "daily_loss_percent"))
FROM_NEXT_DAY = f"counts from the next day, {DAY_END_TEXT}"
EFFECT_ROLES: Mapping[LimitEffect, ColourRole] = {
    LimitEffect.EXIT_ONLY: "loss",
    LimitEffect.PAUSES: "loss",
    LimitEffect.REFUSES: "loss",
    LimitEffect.ASKS: "warn",
}
LEGEND = "refuses: the order is not sent.  asks: a letter sends it.  Exits are never refused."
NEAR, REACHED = Decimal("0.7"), Decimal(1)  # shares of a limit


class Usage(Struct, frozen=True):
    """Where a limit stands: how much is used now, and in what words."""

    text: str
    amount: Decimal | None = None  # None: it cannot be compared with the limit
    about: str = ""  # of what it is, behind the limit


class LimitRow(Struct, frozen=True):
    """A limit as typed."""

    field: LimitField
    before: Decimal | None  # None: no limit, or none of the instrument's own
    entry: Entry

    @property
    def value(self) -> Decimal | UnreadableText | None:
        """The limit that is typed, None for none; else why it cannot be one."""
        number = above_zero(self.entry.value)
        if (
            isinstance(number, Decimal)
            and self.field.name in WHOLE_LIMITS
            and number != int(number)
        ):
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
    WIDTH: ClassVar[int] = 176

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

    def take_limits(self, limits: Limits) -> None:
        """Show the limits that are in force now; what is being typed stays."""
        self.context = replace(self.context, limits=limits)
        if not self.changes():
            self.rows = rows_of(limits, self.instrument)
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
        hints = (f"{keeps} saves", "Space off", f"{scope} {other}")
        return self.keys_that_fit(*hints, leave="Esc drops")

    def lines(self) -> Sequence[TextLine]:
        """Return the rows that fit, and the details of the one under the cursor."""
        below = self._below()
        header = [self._header()] if self._is_wide else []
        room = max(1, self.room - len(below) - len(header))
        now = _usage(self.context.store, self.context.clock())
        blocks = [self._block(at, now, room) for at in range(len(self.rows))]
        first, height = self.at, len(blocks[self.at])
        while first > 0 and height + len(blocks[first - 1]) <= room:
            first -= 1
            height += len(blocks[first])
        shown = [line for block in blocks[first:] for line in block]
        shown = shown[1:] if shown[0] == BLANK else shown
        return [*header, *shown[:room], *below]

    @property
    def _is_wide(self) -> bool:
        """Whether a row fits in one line; else its name has a line of its own, and no figure is cut off."""
        return self.inside >= IN_ONE_LINE

    def _block(self, at: int, now: Mapping[str, Usage], room: int) -> list[TextLine]:
        """Return the lines of a limit, with the name of its group above the first of it."""
        group = self.rows[at].field.group
        lines = self._row(at, self.rows[at], now)
        if at and self.rows[at - 1].field.group is group:
            return lines
        gap = [BLANK] if at and room >= len(self.rows) + 2 * len(LimitGroup) else []
        return [*gap, ((safe(group.value), "bright"),), *lines]

    def _below(self) -> list[TextLine]:
        trouble = self.trouble()
        if trouble:
            role: ColourRole = "danger" if self.refused else "warn"
            return [BLANK, *wrap_text(safe(f"✗ {trouble}"), role, self.inside)]
        field = self.rows[self.at].field
        texts = [] if self.inside >= MEANING_FROM else [field.meaning]
        texts += [self._of_the_day()] if field.name in DAILY else [LEGEND]
        lines = [line for text in texts for line in wrap_text(safe(text), "muted", self.inside)]
        groups = len({row.field.group for row in self.rows})
        spare = self.room - 1 - groups - len(self.rows)  # beside header and rows of one line
        return [BLANK, *lines] if spare > len(lines) else lines

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

    def _row(self, at: int, row: LimitRow, now: Mapping[str, Usage]) -> list[TextLine]:
        active = at == self.at
        text = row.entry.text
        role: ColourRole = "bright" if text else "muted"
        if not text:
            common = value_in(self.context.limits, row.field.name) if self.instrument else None
            text = "off" if common is None else f"({common:f})"
        usage, usage_role = _usage_text(now.get(row.field.name), row.value)
        unit = self._unit(row.field)
        left, right = ("[", "]") if active else (" ", " ")
        effect, name = row.field.effect, row.field.text
        if self._is_wide:
            unit, text = f"{unit:<{UNIT_WIDTH}}", f"{text:>{VALUE_WIDTH}}"
            name = f"{name:<{NAME_WIDTH}}"
        named: TextLine = (
            ("▶ " if active else "  ", "focus"),
            (safe(f"{effect.value:<{EFFECT_WIDTH}}"), EFFECT_ROLES[effect]),
            (safe(name), "bright" if active else "plain"),
        )
        value: TextLine = (
            (left, "focus"),
            (safe(text), role),
            (right, "focus"),
            (safe(f" {unit}"), "muted"),
        )
        if self._is_wide:
            return self._beside((*named, *value), (safe(usage), usage_role), row.field.meaning)
        value = (("    ", "plain"), *value)
        if not usage:
            return [named, value]
        suffix, width = f"  now {usage}", sum(cell_len(words) for words, _ in value)
        if width + cell_len(suffix) <= self.inside:
            return [named, (*value, (safe(suffix), usage_role))]
        return [named, value, ((safe(f"   {suffix}"), usage_role),)]

    def _beside(self, row: TextLine, usage: Words, meaning: str) -> list[TextLine]:
        """Return the row with where it stands and what it means; what is too long for that has a line of its own."""
        if self.inside >= MEANING_FROM:
            gap = " " * max(2, WIDE_NOW - cell_len(usage[0]))
            return [(*row, usage, (gap, "plain"), (safe(meaning), "muted"))]
        if BEFORE_NOW + cell_len(usage[0]) <= self.inside:
            return [(*row, usage)]
        blank = " " * max(0, self.inside - cell_len(usage[0]))
        return [row, ((safe(blank), "plain"), usage)]

    def _header(self) -> TextLine:
        blank = " " * (2 + EFFECT_WIDTH + NAME_WIDTH + VALUE_WIDTH - 4)
        now, meaning = f"{'now / limit':<{WIDE_NOW}}", "what it counts"
        words = f"{blank}limit{'':{UNIT_WIDTH + 2}}{now}"
        words += meaning if self.inside >= MEANING_FROM else ""
        return ((safe(words.rstrip()), "muted"),)

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

    @property
    def holds_changes(self) -> bool:
        return bool(self.changes())

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


def _usage_text(usage: Usage | None, limit: Decimal | UnreadableText | None) -> Words:
    """Return how much is used of a limit, in the colour of how near it is."""
    if usage is None:
        return ("", "plain")
    if usage.amount is None or not isinstance(limit, Decimal) or not limit:
        return (safe(f"{usage.text}{usage.about}"), "plain")
    share = usage.amount / limit
    role: ColourRole = "danger" if share >= REACHED else "warn" if share >= NEAR else "plain"
    return (safe(f"{usage.text} / {limit:f}{usage.about}"), role)


def _usage(store: Store, now: float) -> Mapping[str, Usage]:
    """Return where the limits stand, by name, as far as that is known."""
    risk, losses = open_risk_of(store), losses_in_a_row(store.closed)
    usage = {
        "cool_off_losses": Usage(f"{losses}", Decimal(losses)),
        "hard_open_trades": Usage(f"{risk.count}", Decimal(risk.count)),
        **_day_usage(store),
        **_trade_usage(store, now),
    }
    account = store.account
    if account is not None and account.nav > 0:
        share = risk.cash / account.nav * PERCENT
        usage["hard_open_risk_percent"] = (
            Usage(f"{UNLIMITED}, {risk.unprotected} no stop")
            if risk.unprotected
            else Usage(f"{money(share)}", share)
        )
    quote, known = store.quotes.get(store.focus), store.instruments.get(store.focus)
    if quote is not None and known is not None:
        spread = (quote.ask - quote.bid).scaleb(-known.pip_location)
        of = Usage(f"{money(spread, 1)}", spread, f" {pair(store.focus)}")
        usage |= {"hard_spread_pips": of, "soft_spread_pips": of}
    if (rtt := store.health.rtt_ms) is not None:
        usage["slow_ms"] = Usage(f"{rtt:.0f}", Decimal(f"{rtt:.0f}"))
    return usage


def _day_usage(store: Store) -> Mapping[str, Usage]:
    """Return the loss of the day, in money and in per cent."""
    result = day_result(store)
    if result.loss is None:
        return {}
    lost = max(ZERO, result.loss - store.loss_lock.accepted)
    usage = {"daily_loss": Usage(f"{money(lost)}", lost)}
    if result.base:
        share = lost / result.base * PERCENT
        usage["daily_loss_percent"] = Usage(f"{money(share)}", share)
    return usage


def _trade_usage(store: Store, now: float) -> Mapping[str, Usage]:
    """Return the largest of the open trades by what each limit of a trade counts."""
    trades, account = store.trades.values(), store.account
    if not trades or account is None or account.nav <= 0:
        return {}
    about = " largest"
    most = max(abs(each.units) for each in trades)
    usage = {"hard_units": Usage(f"{units(most)}", most, about)}
    risks = [each.risk for each in trades if each.risk is not None]
    if len(risks) < len(trades):
        usage |= dict.fromkeys(("hard_risk_percent", "soft_risk_percent"), Usage(UNLIMITED))
    else:
        share = max(risks) / account.nav * PERCENT
        of = Usage(f"{money(share)}", share, about)
        usage |= dict.fromkeys(("hard_risk_percent", "soft_risk_percent"), of)
    values = [_value_of(each, store, now) for each in trades]
    if known := [each for each in values if each is not None]:
        usage["hard_notional"] = Usage(f"{money(max(known), 0)}", max(known), about)
        times = max(known) / account.nav
        of = Usage(f"{money(times, 1)}", times, about)
        usage |= dict.fromkeys(("hard_leverage", "soft_leverage"), of)
    return usage


def _value_of(trade: TradeRow, store: Store, now: float) -> Decimal | None:
    """Return the value of a trade in the account's currency; None while it is not known."""
    context = trading_context_of(store, trade.instrument, now)
    if context is None or trade.now is None:
        return None
    return notional(trade.units, trade.now, context.factors)
