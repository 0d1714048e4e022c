"""The lines of a ticket's rarely changed members, its scale-out and its exit plan; one that differs from the usual is always shown."""

from collections.abc import Sequence
from datetime import tzinfo
from decimal import Decimal

from keydesk.calc.orders.fields import TICKET_CHOICES
from keydesk.calc.orders.lifetime import (
    EXPIRY_WORDS,
    TILL_CANCELLED,
    TYPED_EXPIRY,
    end_ns,
    expiry_ns,
)
from keydesk.calc.orders.member_checks import set_by_the_fill
from keydesk.calc.orders.order_options import (
    OPTIONS,
    TICKET_TEXTS,
    DependentName,
    Option,
    OptionName,
    OrderOptions,
    TextName,
)
from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitRules
from keydesk.calc.orders.plans.scale_out import OrderPart, ScaleOut, parse_scale_out
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_settings import Template
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.forms.modal_form import TextLine, Words, wrap_text
from keydesk.forms.text_fields import text_line
from keydesk.forms.ticket_lines import LABEL_WIDTH, choice_line
from keydesk.text.format import EMPTY, date_and_time, money, price, units
from keydesk.text.sanitize import Printable, clean, safe

TEXT_WIDTH = 16
USUAL = OrderOptions()


def member_lines(
    draft: Draft,
    plan: Plan,
    context: TradingContext,
    *,
    everything: bool,
    writing: TextName | None,
    now_ns: int,
    zone: tzinfo,
) -> list[TextLine]:
    """Return the lines of the members that differ from the usual, or of all of them."""
    members, pending = draft.members, draft.kind != "MARKET"
    lines: list[TextLine] = []
    if pending and (everything or draft.expiry == TYPED_EXPIRY):
        lines.append(member_line(draft, "until", _until_text(draft, now_ns, zone), writing))
    lines += _life_lines(draft, plan, now_ns, zone, everything=everything, writing=writing)
    if not plan.reduces and (everything or members.guaranteed):
        lines.append(_line("guarantee", *_guarantee_text(draft, plan, context)))
    if not pending and not plan.reduces and (everything or members.stop_from_fill):
        lines.append(
            choice_line(OPTIONS["trigger"].field, _stop_text(draft, plan, context), "stop at")
        )
    own: list[tuple[OptionName, Option]] = [
        (name, each) for name, each in OPTIONS.items() if not (each.opens and plan.reduces)
    ]
    lines += [
        choice_line(each.field, safe(each.words[members.text(name)]))
        for name, each in own
        if each.words and (pending or not each.rests)
        if everything or members.text(name) != USUAL.text(name)
    ]
    unreadable = isinstance(parse_scale_out(members.scale), str)
    typed = bool(members.scale) or writing == "scale"
    if not plan.reduces and (typed or everything):
        example = "" if members.scale else "33/33/34 1r 2r"
        words: Words = (safe(example), "muted")
        lines.append(member_line(draft, "scale", ("✗", "danger") if unreadable else words, writing))
    lines += [
        member_line(draft, name, (safe(""), "muted"), writing)
        for name, each in own
        if not each.words and (everything or members.text(name) or writing == name)
    ]
    return lines


def time_in_force_line(draft: Draft, *, everything: bool) -> TextLine:
    """Return the time in force, and the key that shows the other members."""
    more, expiry = "fewer" if everything else "more", TICKET_CHOICES["next_expiry"]
    return (
        (safe(f"{expiry.key} "), "bright"),
        (safe(f"{expiry.label} "), "muted"),
        (safe(f"{EXPIRY_WORDS.get(draft.expiry, draft.expiry):<21}"), "plain"),
        (safe(TICKET_CHOICES["more"].key), "bright"),
        (safe(f" {more} fields"), "muted"),
    )


def member_line(draft: Draft, name: TextName, meaning: Words, writing: TextName | None) -> TextLine:
    """Return a field of text; the one that keys go to is framed, and shows its end."""
    text, active = clean(draft.text(name)), writing == name
    shown = text if len(text) <= TEXT_WIDTH else f"…{text[1 - TEXT_WIDTH :]}"
    cursor = "_" if active and len(shown) < TEXT_WIDTH else ""
    padded = safe(f"{shown + cursor:<{TEXT_WIDTH}}")
    field = TICKET_TEXTS[name]
    label = safe(f"{field.label:<{LABEL_WIDTH}}")
    return text_line(safe(field.key), label, padded, meaning, active=active)


def _line(action: str, *words: Words, label: str = "") -> TextLine:
    choice = TICKET_CHOICES[action]
    name = safe(f"{label or choice.label:<{LABEL_WIDTH}} ")
    return ((safe(f"{choice.key} "), "bright"), (name, "muted"), *words)


def _life_lines(
    draft: Draft,
    plan: Plan,
    now_ns: int,
    zone: tzinfo,
    *,
    everything: bool,
    writing: TextName | None,
) -> list[TextLine]:
    """Return how long each level lives that the fill sets, where one ends by time; else, among all members, one line."""
    levels = set_by_the_fill(draft, plan)
    lines: list[TextLine] = []
    for name in levels:
        lifetime, written = draft.members.lifetime(name), writing == "ends" and draft.active == name
        if written:
            lines.append(member_line(draft, "ends", _end_text(draft, name, now_ns, zone), writing))
        elif lifetime != TILL_CANCELLED:
            lines.append(
                _line("next_lifetime", _end_text(draft, name, now_ns, zone), label=f"{name} ends")
            )
    if lines or not everything or not levels:
        return lines
    names = safe(", ".join(levels))
    return [_line("next_lifetime", (safe(f"{names}: till cancelled"), "plain"))]


def _end_text(draft: Draft, name: DependentName, now_ns: int, zone: tzinfo) -> Words:
    """Return when a level ends."""
    lifetime = draft.members.lifetime(name)
    end = end_ns(lifetime, now_ns, zone)
    if isinstance(end, int):
        return (date_and_time(end, zone), "plain")
    if lifetime.choice == TYPED_EXPIRY:
        return ("✗ no end", "danger") if lifetime.text else ("18:30, 4h, a date", "muted")
    return (safe(EXPIRY_WORDS[lifetime.choice]), "plain")


def _until_text(draft: Draft, now_ns: int, zone: tzinfo) -> Words:
    if draft.expiry != TYPED_EXPIRY:
        return ("18:30, 4h, a date", "muted")
    expiry = expiry_ns(draft.members.gtd_text, draft.members.gtd_typed_ns, now_ns, zone)
    if not isinstance(expiry, int):
        return (safe("✗ no expiry"), "danger")
    return (date_and_time(expiry, zone), "plain")


def _stop_text(draft: Draft, plan: Plan, context: TradingContext) -> Printable:
    """Return how the stop of a market order is sent."""
    if not draft.stop_counts_from_fill:
        return "its price, wherever it fills"
    if plan.levels.stop is None:
        return "its distance from the fill: no stop yet"
    fill = plan.average or plan.levels.entry
    if not isinstance(fill, Decimal) or not isinstance(plan.levels.stop, Decimal):
        return "its distance from the fill"
    distance_pips = money(abs(fill - plan.levels.stop) / context.rules.pip, 1)
    return safe(f"{distance_pips} pips from the fill")


def _guarantee_text(draft: Draft, plan: Plan, context: TradingContext) -> Sequence[Words]:
    rules = context.rules
    if rules.guarantee == "DISABLED" and not draft.members.guaranteed:
        return ((safe(f"{EMPTY} not offered here"), "muted"),)
    pips = money(rules.guarantee_premium / rules.pip, 1)
    if not draft.members.guaranteed:
        return ((safe(f"off, premium {pips} pips if it fills"), "plain"),)
    cost = safe(f", premium {money(plan.premium)} {context.funds.currency} if it fills")
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
            gain: Words = (safe(f" {money(part.at_target, signed=True)}"), "profit")
            lines.append(
                ((size, "plain"), (safe(f"target {price(part.target, digits)}"), "plain"), gain)
            )
        elif part.trail is not None:
            behind = safe(f"trails {money(part.trail / pip, 1)} pips behind")
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
