"""What may be done to a guaranteed stop once it stands; any other order may be replaced and cancelled."""

from keydesk_practice.engine.guaranteed import required
from keydesk_practice.engine.orders.placing_dependents import Wish
from keydesk_practice.engine.state.account import Mutability
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.state.records import Order
from keydesk_practice.engine.transactions import GuaranteedStopLossCreated, PricedDependentCreated
from keydesk_practice.engine.valuation import specification_of

NAME = "GUARANTEED_STOP_LOSS_ORDER"


def mutability_problem(
    decision: Decision, order: Order, need: str, wish: Wish | None = None
) -> str | None:
    """Return why a guaranteed stop may not be cancelled (`need` CANCELABLE) or replaced (REPLACEABLE)."""
    created = order.created
    if not isinstance(created, GuaranteedStopLossCreated):
        return None
    if need == "CANCELABLE" and _is_required(decision, order):
        return f"{NAME}_REQUIRED"
    allowed, halted = _in_force(decision, order)
    if allowed == "CANCELABLE":
        return None
    if need == "CANCELABLE" or allowed == "FIXED":
        verb = "CANCELABLE" if need == "CANCELABLE" else "REPLACEABLE"
        return f"{NAME}_{halted}NOT_{verb}"
    tighter = wish is not None and _is_tighter(created, wish)
    return (
        f"{NAME}_{halted}TIGHTEN_VIOLATION" if tighter and allowed == "PRICE_WIDEN_ONLY" else None
    )


def _is_required(decision: Decision, order: Order) -> bool:
    return required(decision.account, specification_of(decision.market, order.instrument))


def _in_force(decision: Decision, order: Order) -> tuple[Mutability, str]:
    """Return what is allowed now, and the word for a halt in the reasons' names."""
    terms = decision.account.terms
    if decision.market.quote(order.instrument).tradeable:
        return terms.guaranteed_mutability_open, ""
    return terms.guaranteed_mutability_halted, "HALTED_"


def _is_tighter(old: PricedDependentCreated, wish: Wish) -> bool:
    level = wish.level if wish.level is not None else old.price
    return level > old.price if wish.trade.long else level < old.price
