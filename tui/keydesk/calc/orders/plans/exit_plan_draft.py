"""The fields of an exit plan as typed."""

from decimal import Decimal

from keydesk.calc.orders.field_draft import Entry, FieldDraft, UnreadableText, checked
from keydesk.calc.orders.fields import EXIT_PLAN_FIELDS, PlanField
from keydesk.calc.orders.plans.exit_plans import ExitPlan, ExitRules
from keydesk_client.arithmetic.constants import MINUTE

ExitPlanDraft = FieldDraft[PlanField]
"""What the form holds; an empty field leaves its part of the plan out."""


def typed_rules(draft: ExitPlanDraft) -> ExitRules | tuple[PlanField, UnreadableText]:
    """Return the rules, or the first field that cannot be read."""
    for name, field in EXIT_PLAN_FIELDS.items():
        reading = checked(draft.entry(name), field)
        if isinstance(reading, UnreadableText):
            return name, reading
    offset, time = draft.entry("offset").value, draft.entry("time").value
    return ExitRules(
        break_even_at=draft.entry("even"),
        break_even_offset_pips=offset if isinstance(offset, Decimal) else Decimal(0),
        trail_from=draft.entry("from"),
        trail_behind=draft.entry("behind"),
        trail_step=draft.entry("step"),
        close_after_minutes=time if isinstance(time, Decimal) else None,
    )


def draft_of_rules(rules: ExitRules) -> ExitPlanDraft:
    """Return a draft filled with the rules of a template."""
    entries: dict[PlanField, Entry] = {
        "even": rules.break_even_at,
        "offset": _pips(rules.break_even_offset_pips),
        "from": rules.trail_from,
        "behind": rules.trail_behind,
        "step": rules.trail_step,
        "time": _minutes(rules.close_after_minutes),
    }
    return FieldDraft(entries, "even")


def draft_of_plan(plan: ExitPlan, pip: Decimal, opened_ns: int) -> ExitPlanDraft:
    """Return a draft filled with a plan, in pips."""
    at, trails = plan.close_at_ns, plan.trail_after is not None
    entries: dict[PlanField, Entry] = {
        "even": _pips(plan.break_even_after, pip),
        "offset": _pips(plan.break_even_offset, pip),
        "from": _pips(plan.trail_after, pip),
        "behind": _pips(plan.trail_distance if trails else None, pip),
        "step": _pips(plan.trail_step if trails else None, pip),
        "time": _minutes(None if at is None else Decimal(at - opened_ns) / MINUTE),
    }
    return FieldDraft(entries, "even")


def _pips(distance: Decimal | None, pip: Decimal = Decimal(1)) -> Entry:
    return Entry("" if distance is None else _plain(distance / pip), "pips")


def _minutes(count: Decimal | None) -> Entry:
    return Entry("" if count is None else _plain(round(count, 2)), "min")


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"
