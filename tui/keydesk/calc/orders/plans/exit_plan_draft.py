"""The fields of an exit plan as typed."""

from decimal import Decimal

from keydesk.calc.orders.field_draft import Entry, FieldDraft, Reading, UnreadableText
from keydesk.calc.orders.fields import EXIT_PLAN_FIELDS, PlanField
from keydesk.calc.orders.plans.exit_plans import ExitPlan, ExitRules
from keydesk_client.arithmetic.constants import MINUTE

MAX_MINUTES = Decimal(525_600)  # a year


ExitPlanDraft = FieldDraft[PlanField]
"""What the form holds; an empty field leaves its part of the plan out."""


def empty_draft() -> ExitPlanDraft:
    """Return a draft without a plan."""
    return FieldDraft(
        {name: Entry("", field.units[0]) for name, field in EXIT_PLAN_FIELDS.items()}, "even"
    )


def plan_reading(draft: ExitPlanDraft, name: PlanField) -> Reading:
    """Return the number in a field, None if it is empty, else why it cannot be read."""
    value = draft.entry(name).value
    if not isinstance(value, Decimal):
        return value
    if value < 0 or (name in {"behind", "step", "time"} and not value):
        least = "is below 0" if value < 0 else "is not above 0"
        return UnreadableText(draft.entry(name).text, least)
    if name == "time" and value > MAX_MINUTES:
        return UnreadableText(draft.entry(name).text, "is more than a year")
    return value


def typed_rules(draft: ExitPlanDraft) -> ExitRules | tuple[PlanField, UnreadableText]:
    """Return the rules, or the first field that cannot be read."""
    for name in EXIT_PLAN_FIELDS:
        reading = plan_reading(draft, name)
        if isinstance(reading, UnreadableText):
            return name, reading
    offset, time = plan_reading(draft, "offset"), plan_reading(draft, "time")
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
