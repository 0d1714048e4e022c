"""The lines of a ticket's rarely changed members, its scale-out and its exit plan; one that differs from the usual is always shown."""

from collections.abc import Sequence
from datetime import tzinfo

from keydesk.calc.orders.expiry_time import expiry_ns
from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitRules
from keydesk.calc.orders.plans.scale_out import OrderPart, ScaleOut, parse_scale_out
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import (
    FILL_WORDS,
    TEXT_KEYS,
    TRIGGER_WORDS,
    TYPED_EXPIRY,
    Draft,
    Members,
    TextName,
)
from keydesk.calc.orders.ticket_settings import Template
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.sheet import TextLine, Words, wrap_text
from keydesk.forms.text_fields import text_line
from keydesk.text.format import EMPTY, date_and_time, money, price, units
from keydesk.text.sanitize import clean, safe

NAME_WIDTH = 9
TEXT_WIDTH = 16
USUAL = Members()
SHORT_FILL_WORDS = {**FILL_WORDS, "DEFAULT": "as account", "REDUCE_FIRST": "reduces first"}
MORE_KEY = "n"


def member_lines(
    draft: Draft,
    plan: Plan,
    context: TradingContext,
    *,
    everything: bool,
    narrow: bool,
    writing: TextName | None,
    now_ns: int,
    zone: tzinfo,
) -> list[TextLine]:
    """Return the lines of the members that differ from the usual, or of all of them."""
    members, pending = draft.members, draft.kind != "MARKET"
    lines: list[TextLine] = []
    if pending and (everything or draft.expiry == TYPED_EXPIRY):
        lines.append(
            member_line(draft, "until", _until_text(draft, now_ns, zone, narrow=narrow), writing)
        )
    if not plan.reduces and (everything or members.guaranteed):
        lines.append(_line("w", "guarantee", *_guarantee_text(draft, plan, context, narrow=narrow)))
    if pending and (everything or members.trigger != USUAL.trigger):
        trigger = TRIGGER_WORDS[members.trigger]
        lines.append(
            _line("i", "trigger", (safe(trigger.split(":")[0] if narrow else trigger), "plain"))
        )
    if everything or members.fill != USUAL.fill:
        fills = (SHORT_FILL_WORDS if narrow else FILL_WORDS)[members.fill]
        lines.append(_line("l", "fills", (safe(fills), "plain")))
    unreadable = isinstance(parse_scale_out(members.scale), str)
    typed = bool(members.scale) or writing == "scale"
    if not plan.reduces and (
        typed or (everything and not narrow)
    ):  # no row of a docked ticket for an empty one
        example = "" if narrow or members.scale else "33/33/34 1r 2r"
        words: Words = (safe(example), "muted")
        lines.append(member_line(draft, "scale", ("✗", "danger") if unreadable else words, writing))
    names: Sequence[TextName] = ("tag", "comment")
    lines += [
        member_line(draft, name, (safe(""), "muted"), writing)
        for name in names
        if everything or members.text(name) or writing == name
    ]
    return lines


def expiry_line(draft: Draft, *, everything: bool, narrow: bool) -> TextLine:
    """Return the time in force, and the key that shows the other members."""
    text = "typed below" if draft.expiry == TYPED_EXPIRY and not narrow else draft.expiry
    more = "fewer" if everything else "more"
    more, width = (more, 8) if narrow else (f"{more} fields", 18)
    return (
        ("e ", "bright"),
        ("expiry ", "muted"),
        (safe(f" {text:<{width}}"), "plain"),
        (MORE_KEY, "bright"),
        (safe(f" {more}"), "muted"),
    )


def member_line(draft: Draft, name: TextName, meaning: Words, writing: TextName | None) -> TextLine:
    """Return a field of text; the one that keys go to is framed, and shows its end."""
    text, active = clean(draft.members.text(name)), writing == name
    shown = text if len(text) <= TEXT_WIDTH else f"…{text[1 - TEXT_WIDTH :]}"
    cursor = "_" if active and len(shown) < TEXT_WIDTH else ""
    padded = safe(f"{shown + cursor:<{TEXT_WIDTH}}")
    return text_line(safe(TEXT_KEYS[name]), safe(f"{name:<7}"), padded, meaning, active=active)


def _line(key: str, name: str, *words: Words) -> TextLine:
    return ((safe(f"{key} "), "bright"), (safe(f"{name:<{NAME_WIDTH}} "), "muted"), *words)


def _until_text(draft: Draft, now_ns: int, zone: tzinfo, *, narrow: bool) -> Words:
    if draft.expiry != TYPED_EXPIRY:
        return (safe("" if narrow else "18:30, 4h, a date"), "muted")
    expiry = expiry_ns(draft.members.until, draft.members.until_typed_ns, now_ns, zone)
    if not isinstance(expiry, int):
        return (safe("✗ no expiry"), "danger")
    return (date_and_time(expiry, zone), "plain")


def _guarantee_text(
    draft: Draft, plan: Plan, context: TradingContext, *, narrow: bool
) -> Sequence[Words]:
    rules = context.rules
    if rules.guarantee == "DISABLED" and not draft.members.guaranteed:
        return ((safe(f"{EMPTY} not offered{'' if narrow else ' here'}"), "muted"),)
    pips = money(rules.guarantee_premium / rules.pip, 1)
    if not draft.members.guaranteed:
        text = f"off, fee {pips}p" if narrow else f"off, premium {pips}p if it fills"
        return ((safe(text), "plain"),)
    if narrow:
        return (("on", "bright"), (safe(f", fee {money(plan.premium)}"), "plain"))
    cost = safe(f", premium {pips}p = {money(plan.premium)} {context.funds.currency} if it fills")
    return (("on", "bright"), (cost, "plain"))


def scale_out_lines(
    scale_out: ScaleOut, parts: Sequence[OrderPart] | str, context: TradingContext
) -> Sequence[TextLine]:
    """Return the steps, nothing where there are none or they cannot be divided: the refusal says that."""
    if isinstance(parts, str) or not parts:
        return ()
    digits, pip = context.rules.price_precision, context.rules.pip
    lines: list[TextLine] = [
        ((safe(f"scale-out {scale_out.text}: {len(parts)} orders at the broker"), "muted"),)
    ]
    for part in parts:
        size = safe(f"  {units(abs(part.units)):>10} ")
        if part.target is not None:
            gain = (safe(f" {money(part.at_target, signed=True)}"), "profit")
            lines.append(
                ((size, "plain"), (safe(f"target {price(part.target, digits)}"), "plain"), gain)
            )
        elif part.trail is not None:
            behind = safe(f"trails {money(part.trail / pip, 1)}p behind")
            lines.append(((size, "plain"), (behind, "plain")))
    return lines


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
    text = f"exit plan: {template.exit_rules.text}; runs while Keydesk runs"
    return wrap_text(safe(text), "muted", width)


def exit_plan_refusals(
    template: Template, plan: Plan | None, context: TradingContext | None
) -> Sequence[str]:
    """Refuse a ticket whose exit plan counts in units that are not known."""
    if plan is None or context is None or exit_rules_of(template, plan, context) is not None:
        return ()
    if plan.distance is None:
        return ("stop: the template's exit plan counts in R: s, then digits",)
    return ("The template's exit plan counts in ATR, which is not known: h turns to another",)
