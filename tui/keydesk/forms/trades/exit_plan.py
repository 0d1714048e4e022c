"""The form that sets, changes or takes away the exit plan of a trade."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import ClassVar

from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry, UnreadableText, opening
from keydesk.calc.orders.fields import EXIT_PLAN_FIELDS, PlanField, Unit
from keydesk.calc.orders.instructions import SetExitPlan
from keydesk.calc.orders.plans.exit_plan_draft import (
    ExitPlanDraft,
    draft_of_plan,
    draft_of_rules,
    typed_rules,
)
from keydesk.calc.orders.plans.exit_plans import (
    ExitPlan,
    Units,
    initial_risk_of,
    is_due,
    plan_text,
    problem_of,
    resolved,
)
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.forms.number_fields import NumberFields
from keydesk.forms.planned_lines import planned_lines
from keydesk.forms.trades.close_trade import entry_and_now
from keydesk.forms.trades.trade_form import TradeForm
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import EXIT_PLAN
from keydesk.store.risk import costs_until_closed
from keydesk.text.format import date_and_time, money, price
from keydesk.text.sanitize import safe
from keydesk.values import TradeRow
from keydesk_client.arithmetic.risk import break_even_stop

RUNS_HERE = (
    "It only tightens the stop or closes the trade, and only while Keydesk runs: "
    "after that the stop stays at the broker as it is"
)


class ExitPlanForm(TradeForm[SetExitPlan], NumberFields[SetExitPlan, PlanField]):
    """Sets the plan of one trade; with all fields empty it takes the plan away."""

    VERB: ClassVar[str] = "plan the exit of"
    ACTION: ClassVar[Action] = Action.ADD_PROTECTION
    KEY_CONTEXT: ClassVar[str] = EXIT_PLAN
    FIELDS = EXIT_PLAN_FIELDS

    def first_draft(self) -> ExitPlanDraft:
        """Return the plan that runs, else the template's; without both, break-even at 1R."""
        trade, plan = self.trade, self.plan
        known = None if trade is None else self.trading_context(trade)
        if trade is None or known is None:
            return opening(EXIT_PLAN_FIELDS)
        if plan is not None:
            return draft_of_plan(plan, known.rules.pip, trade.open_time_ns)
        template = self.context.template_of(trade.instrument)
        if not template.exit_rules.is_empty:
            return draft_of_rules(template.exit_rules)
        offset = Entry(f"{template.break_even_offset_pips.normalize():f}", "pips")
        return (
            opening(EXIT_PLAN_FIELDS)
            .with_field("offset", offset)
            .with_field("even", Entry("1", "R"))
        )

    @property
    def plan(self) -> ExitPlan | None:
        """The plan that runs for the trade."""
        return self.context.store.exit_plans.get(self.trade_id)

    def typed_plan(self, trade: TradeRow, context: TradingContext) -> ExitPlan | str:
        """Return the plan as typed, or why it cannot be set."""
        rules = typed_rules(self.draft)
        if isinstance(rules, tuple):
            name, text = rules
            return f"{EXIT_PLAN_FIELDS[name].label.strip()}: {text.text} {text.reason}"
        plan = resolved(rules, self._units(trade, context), trade.open_time_ns)
        if isinstance(plan, UnreadableText):
            return f"{plan.text} {plan.reason}: give pips with m"
        return plan

    def _units(self, trade: TradeRow, context: TradingContext) -> Units:
        return Units(context.rules.pip, initial_risk_of(trade), context.average_range)

    def headline(self) -> TextLine:
        """Return the trade that it is about."""
        return self.headline_of("EXIT PLAN ")

    def effect(self) -> Sequence[TextLine]:
        """Show the trade, and what runs now."""
        known = self.trade_and_context()
        if known is None:
            return ()
        return [
            *entry_and_now(*known),
            *self._plan_now(known[1]),
            BLANK,
            *wrap_text(safe(RUNS_HERE), "muted", self.inside),
        ]

    def _plan_now(self, context: TradingContext) -> list[TextLine]:
        if self.plan is None:
            return [(("no exit plan is running", "muted"),)]
        text = plan_text(self.plan, context.rules.pip, self.context.store.zone)
        state = self.context.store.exit_plan_states.get(self.trade_id, "")
        lines = wrap_text(safe(f"runs now: {text}"), "plain", self.inside)
        return lines + (wrap_text(safe(state), "warn", self.inside) if state else [])

    def meaning(self, name: PlanField) -> Words:
        """Return the price or the time that a field comes to."""
        known = self.trade_and_context()
        if known is None:
            return ("", "plain")
        trade, context = known
        plan = self.typed_plan(trade, context)
        if isinstance(plan, str):
            return ("✗ not known" if self.draft.entries[name].text else "", "plain")
        at: dict[PlanField, Callable[[], str]] = {
            "even": lambda: self._at(plan.break_even_after, trade, context),
            "offset": lambda: self._stop_text(plan, trade, context),
            "from": lambda: self._at(plan.trail_after, trade, context),
            "behind": lambda: self._first_trail(plan, trade, context),
            "step": lambda: self._step_text(plan, context),
            "time": lambda: self._time_text(plan),
        }
        return (safe(at[name]()), "plain")

    def _at(self, after: Decimal | None, trade: TradeRow, context: TradingContext) -> str:
        if after is None:
            return "off"
        at = _beyond(trade, after)
        return f"= {price(at, context.rules.price_precision)} {_pips_text(after, context)}"

    def _stop_text(self, plan: ExitPlan, trade: TradeRow, context: TradingContext) -> str:
        if plan.break_even_after is None:
            return ""
        stop = self._break_even(plan, trade, context)
        done = ", done" if plan.break_even_done else ""
        return f"stop then {price(stop, context.rules.price_precision)}{done}"

    def _first_trail(self, plan: ExitPlan, trade: TradeRow, context: TradingContext) -> str:
        if plan.trail_after is None:
            return ""
        at = _beyond(trade, plan.trail_after - plan.trail_distance)
        return f"first stop {price(at, context.rules.price_precision)}"

    def _step_text(self, plan: ExitPlan, context: TradingContext) -> str:
        if not plan.trail_step:
            return ""
        as_typed = self.draft.entries["step"].unit == "pips" and self.draft.entries["step"].text
        return "" if as_typed else _pips_text(plan.trail_step, context)

    def _time_text(self, plan: ExitPlan) -> str:
        if plan.close_at_ns is None:
            return "off"
        return f"at {date_and_time(plan.close_at_ns, self.context.store.zone)}"

    def _break_even(self, plan: ExitPlan, trade: TradeRow, context: TradingContext) -> Decimal:
        return break_even_stop(
            entry=trade.price,
            units=trade.units,
            costs=costs_until_closed(self.context.store, trade),
            factors=context.factors,
            precision=context.rules.price_precision,
            offset=plan.break_even_offset,
        )

    def planned(self) -> tuple[str, Sequence[PriceLine]]:
        """Return the price of break-even and the first stop of the trail."""
        trade = self.trade
        context = self.trading_context(trade) if trade else None
        plan = self.typed_plan(trade, context) if trade is not None and context is not None else ""
        if trade is None or context is None or isinstance(plan, str):
            return "", ()
        even = plan.break_even_after
        stop = None if even is None else self._break_even(plan, trade, context)
        trail = None
        if plan.trail_after is not None:
            trail = _beyond(trade, plan.trail_after - plan.trail_distance)
        return trade.instrument, planned_lines(stop=stop, trail=trail)

    def refusals(self) -> Sequence[str]:
        """Refuse what cannot be read, makes no sense, or is due already."""
        known = self.trade_and_context()
        if known is None:
            return [self.unready()]
        plan = self.typed_plan(*known)
        problem = plan if isinstance(plan, str) else self._problem(plan)
        return [problem] if problem else []

    def _problem(self, plan: ExitPlan) -> str:
        if plan.is_empty:
            return "" if self.plan else "No exit plan yet: e t h pick a field, digits fill it"
        if is_due(plan, self.context.store.now_ns):
            return "The trade has been open longer than that: give more minutes, or close it"
        known = None if self.plan is None else replace(self.plan, break_even_done=False)
        if known is not None and replace(known, opened_ns=plan.opened_ns) == plan:
            return "No change yet: digits or ↑ ↓ change it, w removes the plan"
        return problem_of(plan)

    def warnings(self) -> Sequence[str]:
        """Say that the plan goes where all fields are empty, and what it would do at once."""
        trade = self.trade
        context = self.trading_context(trade) if trade else None
        plan = self.typed_plan(trade, context) if trade is not None and context is not None else ""
        if not isinstance(plan, str) and plan.is_empty and self.plan is not None:
            return ["This removes the exit plan; stop and target stay as they are"]
        return ()

    def request(self) -> SetExitPlan | None:
        """Return the plan as typed; None in it takes the plan away."""
        known = self.trade_and_context()
        if known is None:
            return None
        trade, context = known
        plan = self.typed_plan(trade, context)
        if isinstance(plan, str):
            return None
        return SetExitPlan(trade.id, trade.instrument, None if plan.is_empty else plan)

    # The keys.

    def in_unit(self, name: PlanField, unit: Unit) -> Entry:
        """Return a field in another unit, at the same distance where that is known."""
        entry, known = self.draft.entries[name], self.trade_and_context()
        converted = replace(entry, unit=unit)
        if known is not None and entry.fresh:
            units = self._units(*known)
            distance, one = units.distance(entry), units.distance(Entry("1", unit))
            if isinstance(distance, Decimal) and isinstance(one, Decimal) and one:
                converted = converted.set(round(distance / one, 2).normalize())
        return converted

    def action_no_plan(self) -> None:
        """Empty all fields: what is sent then takes the plan away."""
        self.draft = opening(EXIT_PLAN_FIELDS)
        self.redraw()


def _beyond(trade: TradeRow, distance: Decimal) -> Decimal:
    return trade.price + distance if trade.units > 0 else trade.price - distance


def _pips_text(distance: Decimal, context: TradingContext) -> str:
    return f"{money(distance / context.rules.pip, 1)} pips"
