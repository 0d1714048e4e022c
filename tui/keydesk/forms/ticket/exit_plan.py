"""The exit plan that a template brings along to a ticket: its rules as they are sent along, its line, and what refuses it."""

from collections.abc import Sequence

from keydesk.calc.orders.instructions import Template
from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitRules
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.sheet import TextLine, wrap_words
from keydesk.text.sanitize import safe


def exit_rules_of(template: Template, plan: Plan, context: TradingContext) -> ExitRules | None:
    """Return the exit plan of the trade that the ticket opens; None where its units are not known."""
    rules = template.exit_rules
    if plan.reduces or rules.is_empty:
        return NO_RULES
    if rules.counts_in_r and plan.distance is None:
        return None
    return rules.without_atr(context.average_range, context.rules.pip)


def exit_plan_lines(
    template: Template, plan: Plan, context: TradingContext, width: int
) -> Sequence[TextLine]:
    """Return the exit plan in words, nothing where there is none."""
    if exit_rules_of(template, plan, context) == NO_RULES:
        return ()
    words = f"exit plan: {template.exit_rules.words}; runs while Keydesk runs"
    return wrap_words(safe(words), "muted", width)


def exit_plan_refusals(
    template: Template, plan: Plan | None, context: TradingContext | None
) -> Sequence[str]:
    """Refuse a ticket whose exit plan counts in units that are not known."""
    if plan is None or context is None or exit_rules_of(template, plan, context) is not None:
        return ()
    if plan.distance is None:
        return ("stop: the template's exit plan counts in R: s, then digits",)
    return ("The template's exit plan counts in ATR, which is not known: h turns to another",)
