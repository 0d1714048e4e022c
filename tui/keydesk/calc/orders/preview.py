"""What an order changes beside its own risk: financing, exposure by currency, and the open risk of the account."""

from decimal import Decimal

from msgspec import Struct

from keydesk.calc.orders.field_draft import UnreadableText
from keydesk.calc.orders.position_effect import reduced_lots
from keydesk.calc.orders.ticket import Plan
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.risk.exposure import ExposureChange, Holding, exposure_changes
from keydesk.calc.risk.financing import NextCharge, days_to_friday, financing_of, next_charge
from keydesk.calc.risk.trading_context import TradingContext
from keydesk_client.arithmetic.constants import ZERO


class Preview(Struct, frozen=True):
    """Figures of the account before and after an order; money in home currency."""

    swap_a_day: Decimal | None  # of the trade that it opens; None: not known
    swap_to_friday: Decimal | None
    next_charge: NextCharge | None  # None: not known, or there is none
    exposure: tuple[ExposureChange, ...]
    risk_before: Decimal | None  # None: not known
    risk_after: Decimal | None
    unprotected_before: int
    unprotected_after: int


def preview_of(draft: Draft, plan: Plan, context: TradingContext, wall_ns: int) -> Preview:
    """Return what an order changes, as if it filled at the ticket's price."""
    opened = draft.direction * plan.effect.opened
    signed = draft.direction * (plan.effect.opened + plan.effect.reduced)
    charged = context.rules.financing_days
    to_friday = days_to_friday(wall_ns, charged)
    before, after = _risks(draft, plan, context)
    is_readable = not any(
        isinstance(each, UnreadableText) for each in (plan.levels.stop, plan.levels.trail)
    )
    opens_unprotected = bool(opened) and plan.distance is None and is_readable
    return Preview(
        swap_a_day=financing_of(context, opened, 1) if opened else None,
        swap_to_friday=None
        if to_friday is None or not opened
        else financing_of(context, opened, to_friday),
        next_charge=next_charge(wall_ns, charged),
        exposure=exposure_changes(
            context.funds.exposure, Holding(context.rules.name, signed, context.mid)
        ),
        risk_before=before,
        risk_after=after if is_readable else None,
        unprotected_before=context.funds.unprotected_trades,
        unprotected_after=context.funds.unprotected_trades
        - _unprotected_closed(draft, plan, context)
        + opens_unprotected,
    )


def _risks(
    draft: Draft, plan: Plan, context: TradingContext
) -> tuple[Decimal | None, Decimal | None]:
    """Return the risk of all open trades before and after; the trades that are reduced take theirs with them."""
    before = context.funds.open_risk
    if before is None:
        return None, None
    parts = reduced_lots(context.funds.lots, draft.direction * plan.units, plan.effect.reduced)
    gone = sum((part.risk or ZERO for part in parts), ZERO)
    added = ZERO if plan.risk is None else plan.risk - plan.premium  # counted as the account's is
    return before, before - gone + added


def _unprotected_closed(draft: Draft, plan: Plan, context: TradingContext) -> int:
    """Return how many trades without a stop the order closes in full."""
    whole = {lot.units for lot in context.funds.lots if lot.risk is None}
    parts = reduced_lots(context.funds.lots, draft.direction * plan.units, plan.effect.reduced)
    return sum(part.risk is None and part.units in whole for part in parts)
