"""The order ticket: side and instrument stay the same from opening to sending."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import ClassVar

from keydesk.calc import average_range
from keydesk.calc.checks import Circumstances, Verdict, judge
from keydesk.calc.instructions import RISK_PRESET, OpenOrder, Template
from keydesk.calc.order_parser import ParsedOrder
from keydesk.calc.sizing import slippage_allowed
from keydesk.calc.ticket import Plan, fields_of, levels_of, sendable, work_out
from keydesk.calc.ticket_draft import (
    DISTANCES,
    TYPED_BEHIND_A_DIGIT,
    UNITS,
    Draft,
    Entry,
    FieldName,
    Side,
    Unit,
    UnreadableText,
    is_number_key,
    shown_number,
)
from keydesk.calc.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms import ticket_sheet
from keydesk.forms.form import FIELD_HINTS, Form
from keydesk.forms.planned_lines import behind, planned_lines
from keydesk.forms.sheet import FormContext, TextLine
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import KEYMAP, TICKET
from keydesk.store.risk import open_risk_of
from keydesk.text.format import pair

NOTHING = Decimal(0)
REACTION = 0.5  # seconds; a younger price cannot be what the trader decided on


def first_draft(
    side: Side, instrument: str, context: TradingContext | None, template: Template, preset: int
) -> Draft:
    """Return the ticket as it opens: the active preset, the template's bracket."""
    if preset == RISK_PRESET:
        size = Entry(f"{template.risk_percent:f}", "risk %")
    else:
        size = Entry(f"{template.sizes.get(preset, NOTHING):f}", "units")
    return Draft(
        side=side,
        instrument=instrument,
        size=size,
        stop=template.stop_entry(context),
        target=Entry("" if template.target_r is None else f"{template.target_r:f}", "R"),
        trail=template.own_trail,
    )


class TicketForm(Form[OpenOrder]):
    """The ticket; it shows every figure of the order before the send key counts."""

    KEY_CONTEXT: ClassVar[str] = TICKET
    WIDTH: ClassVar[int] = 60
    HINTS: ClassVar[TextLine] = FIELD_HINTS
    BINDINGS = KEYMAP.bindings(TICKET)

    def __init__(
        self,
        form_context: FormContext,
        side: Side,
        instrument: str,
        fields: ParsedOrder | None = None,
    ) -> None:
        super().__init__(form_context)
        context = self.trading_context_about(instrument)
        draft = first_draft(side, instrument, context, form_context.template, form_context.preset)
        self.draft = draft if fields is None else fields.on(draft)
        self._seen_prices: deque[tuple[float, Decimal]] = deque()
        self._drawn: tuple[Draft, Plan] | None = None  # as on the screen

    def headline(self) -> TextLine:
        """Say side, units, instrument and price."""
        context = self.trading_context()
        return ticket_sheet.headline(self.draft, self.plan(context), context)

    def body(self) -> Sequence[TextLine]:
        """Show fields and figures."""
        context = self.trading_context()
        plan = self.plan(context)
        if context is None or plan is None:
            return ()
        return ticket_sheet.body(self.draft, plan, context)

    def action(self) -> Action:
        """Return OPEN, OPEN_AGAINST_WARNING or, for a reduction, SCALE_OUT."""
        if self.reduces():
            return Action.SCALE_OUT
        return Action.OPEN_AGAINST_WARNING if self.verdict().warnings else Action.OPEN

    def planned(self) -> tuple[str, Sequence[PriceLine]]:
        """Return the ticket's entry, stop, trailing stop, target and bound."""
        plan = self.plan(self.trading_context())
        if plan is None:
            return "", ()
        entry, direction = plan.levels.entry, self.draft.direction
        return self.draft.instrument, planned_lines(
            entry=entry,
            bound=plan.levels.bound,
            stop=plan.levels.stop,
            target=plan.levels.target,
            trail=behind(entry, plan.levels.trail, direction),
        )

    def opens_on(self) -> str:
        """Return the ticket's instrument."""
        return self.draft.instrument

    def opens(self) -> bool:
        """Return whether it may open a trade: one that only reduces is an exit."""
        return not self.reduces()

    def refusals(self) -> Sequence[str]:
        """Return the checks' refusals."""
        return self.verdict().refusals

    def warnings(self) -> Sequence[str]:
        """Return the checks' warnings."""
        return self.verdict().warnings

    def result(self) -> OpenOrder | None:
        """Freeze the plan on the screen into an order; None while a field cannot be read."""
        context = self.trading_context()
        plan = self.plan(context)
        levels = None if plan is None else sendable(plan.levels)
        if plan is None or levels is None:
            return None
        return OpenOrder(
            instrument=self.draft.instrument,
            kind=self.draft.kind,
            units=self.draft.direction * self._drawn_plan(plan).units,
            price=None if self.draft.kind == "MARKET" else levels.entry,
            bound=levels.bound,
            expected=levels.entry,
            stop=levels.stop,
            target=levels.target,
            trail=levels.trail,
            expiry=self.draft.expiry,
            reduces=plan.reduces,
        )

    def lines(self) -> Sequence[TextLine]:
        """Return the lines, and remember the price and the plan that the trader sees from now on."""
        with self.drawing():
            context, now = self.trading_context(), self.context.clock()
            plan = self.plan(context)
            self._drawn = None if plan is None else (self.draft, plan)
            if context is not None:
                self._seen_prices.append((now, self._touch(context)))
            while len(self._seen_prices) > 1 and self._seen_prices[1][0] <= now - REACTION:
                self._seen_prices.popleft()
            return super().lines()

    def doubt(self) -> str:
        """Ask for a second press when price or position changed faster than a person can react."""
        context = self.trading_context()
        plan = self.plan(context)
        if plan is not None and plan.reduces != self._drawn_plan(plan).reduces:
            return "The position just changed: press again to send this"
        if context is None or plan is None or self.draft.kind != "MARKET" or not self._seen_prices:
            return ""
        touch, seen = self._touch(context), self._seen_prices[0][1]
        allowed = slippage_allowed(context.bid, context.ask, context.rules.pip)
        if plan.distance is not None:
            allowed = min(allowed, plan.distance / 4)
        if self.draft.direction * (touch - seen) <= allowed:
            return ""
        self._seen_prices.clear()
        return f"The price just moved from {seen} to {touch}: press again to send at that"

    def _drawn_plan(self, plan: Plan) -> Plan:
        """Return the plan on the screen: prices and NAV move on between the drawing and the key."""
        if self._drawn is None or self._drawn[0] != self.draft:
            return plan
        return self._drawn[1]

    def trading_context(self) -> TradingContext | None:
        """Return rules, price and funds for the instrument, None while one is missing."""
        return self.trading_context_about(self.draft.instrument)

    def reduces(self) -> bool:
        """Whether it opens nothing now, so that it is an exit."""
        plan = self.plan(self.trading_context())
        return plan is not None and plan.reduces

    def plan(self, context: TradingContext | None) -> Plan | None:
        """Compute the plan of the ticket, None while there is no price."""
        if context is None:
            return None
        return self.once(
            ("plan", self.draft), lambda: work_out(self.draft, context, self.context.limits)
        )

    def verdict(self) -> Verdict:
        """Return the refusals and warnings of the ticket as it stands."""
        return self.once(("verdict", self.draft), self._judge)

    def _judge(self) -> Verdict:
        context = self.trading_context()
        plan = self.plan(context)
        if context is None or plan is None:
            return Verdict((f"Waiting for a price of {pair(self.draft.instrument)}",))
        return judge(self.draft, plan, context, self.context.limits, self._circumstances())

    def _circumstances(self) -> Circumstances:
        store, draft = self.context.store, self.draft
        return Circumstances(
            wall_ns=self.context.wall_ns(),
            rtt_ms=store.health.rtt_ms,
            sent_like_this=self.context.sent_like_this(draft.instrument, draft.kind, draft.side),
            in_flight=store.in_flight_of(draft.instrument),
            quote_trouble=self.context.quote_trouble(draft.instrument),
            open_risk=open_risk_of(store),
        )

    # The keys.

    def typed(self, key: str) -> bool:
        """Fill the active field."""
        if not is_number_key(key):
            return False
        if self._has_field(self.draft.active):
            self.draft = self.draft.typed(key)
        return True

    def _has_field(self, name: FieldName) -> bool:
        """Whether the ticket has the field now; says why when it has none because it only reduces."""
        plan = self.plan(self.trading_context())
        there = plan is None or name in fields_of(self.draft, plan)
        missed = not there and name in self.draft.fields
        self._hint = f"It only reduces: a {name} is for a new trade" if missed else ""
        return there

    def action_pick(self, name: FieldName) -> None:
        """Make a field the active one."""
        self.draft = self.draft.pick(name)  # one that is not there takes no digits either
        self._has_field(name)
        self.redraw()

    def action_next_field(self, step: int) -> None:
        """Go to the next field."""
        plan = self.plan(self.trading_context())
        there = self.draft.fields if plan is None else fields_of(self.draft, plan)
        self.draft = self.draft.next_field(step)
        while self.draft.active not in there:
            self.draft = self.draft.next_field(step)
        self.redraw()

    def action_next_kind(self) -> None:
        """Turn to the next order type."""
        self.draft = self.draft.next_kind()
        self.redraw()

    def action_next_expiry(self) -> None:
        """Turn to the next time in force."""
        self.draft = self.draft.next_expiry()
        self.redraw()

    def action_next_unit(self) -> None:
        """Count the active field in its next unit; a size or level keeps its meaning."""
        name = self.draft.active
        entry, choices = self.draft.entry(name), UNITS[name]
        unit = choices[(choices.index(entry.unit) + 1) % len(choices)]
        if unit != entry.unit:
            turned = self._in_unit(name, unit)
            self.draft = self.draft.put(name, turned or entry)
            missing = f"{average_range.NAME} is not known" if unit == "ATR" else "there is no price"
            stays = f"The {name} stays in {entry.unit}: {missing} to count it in {unit} yet"
            self._hint = "" if turned else stays
        self.redraw()

    def action_count_in_atr(self) -> None:
        """Count the active distance in average true ranges: typed digits stay, an old distance is converted."""
        name, entry = self.draft.active, self.draft.entry(self.draft.active)
        if name not in DISTANCES:
            self._hint = f"The {name} is no distance: s t r pick one that a counts in ATR"
        elif entry.unit != "ATR":
            turned = self._in_unit(name, "ATR") if entry.fresh else None
            self.draft = self.draft.put(name, turned or replace(entry, unit="ATR"))
        self.redraw()

    def action_erase(self) -> None:
        """Take a digit out of the active field."""
        self.draft = self.draft.erased()
        self.redraw()

    def action_nudge(self, steps: int) -> None:
        """Move the active field; behind a digit the full stop and the comma are text of it."""
        if not self._has_field(self.draft.active):
            self.redraw()
            return
        entry = self.draft.entry(self.draft.active)
        if steps in TYPED_BEHIND_A_DIGIT and not entry.fresh:
            self.draft = self.draft.typed(TYPED_BEHIND_A_DIGIT[steps])
        else:
            self.draft = self.draft.put(self.draft.active, self._nudged(entry, steps))
        self.redraw()

    def _nudged(self, entry: Entry, steps: int) -> Entry:
        context, value = self.trading_context(), entry.value
        if isinstance(value, UnreadableText):
            self._hint = f"{value.text} {value.reason}: digits set it anew"
            return entry
        if context is None:
            return entry
        if entry.unit == "price":
            start = value if value is not None and value > 0 else self._touch(context)
            return entry.set(start + steps * context.rules.pip)
        return entry.set(max(NOTHING, (value or NOTHING) + steps * step_of(entry, context)))

    def _touch(self, context: TradingContext) -> Decimal:
        return context.ask if self.draft.direction > 0 else context.bid

    def _in_unit(self, name: FieldName, unit: Unit) -> Entry | None:
        """Return the field in another unit; None where its level is not known, so that it cannot be turned."""
        context, entry = self.trading_context(), self.draft.entry(name)
        value = entry.value
        if isinstance(value, UnreadableText) or (value is None and name != "size"):
            return replace(entry, unit=unit)  # empty, or text that stays to be mended
        if context is None:
            return None
        if name == "size":
            fresh = first_draft(
                self.draft.side,
                self.draft.instrument,
                context,
                self.context.template,
                RISK_PRESET if unit == "risk %" else self.context.preset or 1,
            )
            return fresh.size
        return self._level_in_unit(name, unit, context)

    def _level_in_unit(self, name: FieldName, unit: Unit, context: TradingContext) -> Entry | None:
        levels = levels_of(self.draft, context)
        of_field = {
            "price": levels.entry,
            "stop": levels.stop,
            "target": levels.target,
            "trail": levels.trail,
        }
        level, entry = shown_number(of_field.get(name)), shown_number(levels.entry)
        empty = Entry("", unit)
        if level is None or entry is None:
            return None
        if unit == "price":
            return empty.set(level)
        if unit in {"pips", "ATR"}:
            origin = self._touch(context) if name == "price" else entry
            length = level if name == "trail" else abs(level - origin)
            counted = average_range.in_unit(length, unit, context)
            return None if counted is None else empty.set(counted)
        stop = shown_number(levels.stop)
        if stop is None or stop == entry:
            return None
        return empty.set(((level - entry) / (entry - stop)).quantize(Decimal("0.01")))


def step_of(entry: Entry, context: TradingContext) -> Decimal:
    """Return the step of one nudge in a field that holds no price."""
    match entry.unit:
        case "units":
            digits = len(str(int(shown_number(entry.value) or 1)))
            return max(context.rules.minimum_units, Decimal(10) ** max(0, digits - 2))
        case "risk %" | "R" | "ATR":
            return Decimal("0.1")
        case _:
            return Decimal(1)
