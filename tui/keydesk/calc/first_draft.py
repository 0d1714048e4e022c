"""A ticket as it opens: the size of the active preset, the template's bracket, and a price that rests."""

from dataclasses import replace
from decimal import Decimal

from keydesk.calc.instructions import RISK_PRESET, RefusedTicket, Template
from keydesk.calc.profit import price_down, price_up
from keydesk.calc.sizing import slippage_allowed
from keydesk.calc.ticket_draft import Draft, Entry, Side
from keydesk.calc.trading_context import NOTHING, TradingContext


def first_draft(
    side: Side, instrument: str, context: TradingContext | None, template: Template, preset: int
) -> Draft:
    """Return the ticket as it opens: the active preset, the template's bracket."""
    draft = Draft(
        side=side,
        instrument=instrument,
        size=preset_size(template, preset),
        stop=template.stop_entry(context),
        target=Entry("" if template.target_r is None else f"{template.target_r:f}", "R"),
        trail=template.own_trail,
    )
    required = context is not None and context.rules.guarantee == "REQUIRED"
    return draft.with_guarantee(guaranteed=required)


def on_field(refused: RefusedTicket) -> Draft:
    """Return a rejected ticket as it was typed, with the field at fault active."""
    name = refused.field
    for field in refused.draft.fields:
        if field == name:
            return refused.draft.pick(field)
    return refused.draft


def preset_size(template: Template, preset: int) -> Entry:
    """Return the size of a preset as a field holds it."""
    if preset == RISK_PRESET:
        return Entry(f"{template.risk_percent:f}", "risk %")
    return Entry(f"{template.sizes.get(preset, NOTHING):f}", "units")


def with_resting_price(draft: Draft, context: TradingContext) -> Draft:
    """Return the draft with the price at which a pending order rests: a limit at the near side, a stop beyond the far one."""
    if draft.kind == "MARKET":
        return draft
    return replace(draft, price=Entry(f"{_resting_price(draft, context):f}", "price"))


def _resting_price(draft: Draft, context: TradingContext) -> Decimal:
    buys = draft.direction > 0
    if draft.kind != "STOP":
        return context.bid if buys else context.ask
    away = slippage_allowed(context.bid, context.ask, context.rules.pip)
    precision = context.rules.price_precision
    if buys:
        return price_up(context.ask + away, precision)
    return price_down(context.bid - away, precision)
