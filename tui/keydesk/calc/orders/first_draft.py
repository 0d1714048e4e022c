"""A ticket as it opens: the size of the active preset, the template's bracket, and a price that rests."""

from decimal import Decimal

from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import RefusedTicket
from keydesk.calc.orders.lifetime import PENDING_EXPIRIES
from keydesk.calc.orders.order_options import OrderOptions
from keydesk.calc.orders.ticket_draft import MARKET_EXPIRIES, Draft, Side
from keydesk.calc.orders.ticket_settings import RISK_PRESET, Template
from keydesk.calc.risk.sizing import slippage_allowed
from keydesk.calc.risk.trading_context import TradingContext
from keydesk_client.arithmetic.constants import ZERO
from keydesk_client.arithmetic.profit import round_price_down, round_price_up


def first_draft(
    side: Side, instrument: str, context: TradingContext | None, template: Template, preset: int
) -> Draft:
    """Return the ticket as it opens: the active preset, the template's bracket."""
    kind = template.kind
    usual = MARKET_EXPIRIES[0] if kind == "MARKET" else PENDING_EXPIRIES[0]
    bound = template.bound_pips
    draft = Draft(
        side=side,
        instrument=instrument,
        kind=kind,
        size=template.size or preset_size(template, preset),
        stop=template.stop_entry(context),
        target=template.target_entry,
        trail=template.own_trail,
        bound=Entry("" if bound is None or kind == "LIMIT" else f"{bound:f}", "pips"),
        expiry=template.expiry or usual,
        members=OrderOptions(scale=template.scale_out.text if template.scale_out.shares else ""),
        active="size" if kind == "MARKET" else "price",
    )
    if context is not None:
        draft = with_resting_price(draft, context)
        draft = draft.with_guarantee(guaranteed=context.rules.guarantee == "REQUIRED")
    return draft


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
    return Entry(f"{template.sizes.get(preset, ZERO):f}", "units")


def with_resting_price(draft: Draft, context: TradingContext) -> Draft:
    """Return the draft with the price at which a pending order rests: a limit at the near side, a stop beyond the far one."""
    if draft.kind == "MARKET":
        return draft
    return replace(draft, price=Entry(f"{_resting_price(draft, context):f}", "price"))


def _resting_price(draft: Draft, context: TradingContext) -> Decimal:
    buys = draft.direction > 0
    if draft.kind != "STOP":
        return context.bid if buys else context.ask
    slippage = slippage_allowed(context.bid, context.ask, context.rules.pip)
    precision = context.rules.price_precision
    if buys:
        return round_price_up(context.ask + slippage, precision)
    return round_price_down(context.bid - slippage, precision)
