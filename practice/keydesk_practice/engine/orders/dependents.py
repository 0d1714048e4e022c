"""What may be done to a guaranteed stop once it stands; any other order may be replaced and cancelled.

Placing a take-profit, stop-loss, trailing or guaranteed stop for an open trade.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from keydesk_practice.engine.checks import (
    extensions_problem,
    first_problem,
    guaranteed_problem,
    guaranteed_stop_required,
    has_equal_trade,
    level_problem,
    pending_orders_problem,
    time_in_force_problem,
)
from keydesk_practice.engine.commands import (
    ClientExtensions,
    DependentRequest,
    GuaranteedStopLossRequest,
    StopLossRequest,
    TakeProfitRequest,
    TrailingStopLossRequest,
)
from keydesk_practice.engine.fills.filling import fill_or_cancel
from keydesk_practice.engine.orders.entries import rounded_price
from keydesk_practice.engine.quotes import Quote, Specification, specification_of
from keydesk_practice.engine.state.account import Account, Mutability
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.records import Kind, Order, Trade
from keydesk_practice.engine.state.triggers import is_met, trigger_of, watched_side
from keydesk_practice.engine.transactions import (
    DependentOrderCreated,
    DependentOrderRejected,
    GuaranteedStopLossCreated,
    GuaranteedStopLossRejected,
    PricedDependentCreated,
    StopLossCreated,
    StopLossRejected,
    TakeProfitCreated,
    TakeProfitRejected,
    TrailingStopLossCreated,
    TrailingStopLossRejected,
)

CREATED: Mapping[Kind, type[DependentOrderCreated]] = {
    "take_profit": TakeProfitCreated,
    "stop_loss": StopLossCreated,
    "trailing_stop_loss": TrailingStopLossCreated,
    "guaranteed_stop_loss": GuaranteedStopLossCreated,
}
REJECTED: Mapping[Kind, type[DependentOrderRejected]] = {
    "take_profit": TakeProfitRejected,
    "stop_loss": StopLossRejected,
    "trailing_stop_loss": TrailingStopLossRejected,
    "guaranteed_stop_loss": GuaranteedStopLossRejected,
}
Dependent = (
    TakeProfitRequest | StopLossRequest | GuaranteedStopLossRequest | TrailingStopLossRequest
)
_KINDS: Mapping[type[Dependent], Kind] = {
    TakeProfitRequest: "take_profit",
    StopLossRequest: "stop_loss",
    GuaranteedStopLossRequest: "guaranteed_stop_loss",
    TrailingStopLossRequest: "trailing_stop_loss",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DependentDraft:
    """A dependent order wanted for a trade, from whichever endpoint; `reference` is where a distance counts from."""

    kind: Kind
    trade: Trade
    reference: Decimal
    price: Decimal | None
    distance: Decimal | None
    time_in_force: str
    gtd_time: int | None
    trigger_condition: str = "DEFAULT"
    client_extensions: ClientExtensions | None = None
    replaces: Order | None = None

    @property
    def order_type(self) -> str:
        """The type of the order wanted."""
        return CREATED[self.kind].order_type

    @property
    def level(self) -> Decimal | None:
        """The price wanted, given or at a distance."""
        if self.price is not None or self.distance is None:
            return self.price
        above = self.trade.long == (self.kind == "take_profit")
        return self.reference + (self.distance if above else -self.distance)


def dependent_kind(request: DependentRequest) -> Kind:
    """Return which of the four a request is for; the older `guaranteed` flag of a stop-loss asks for a guaranteed one."""
    if isinstance(request, StopLossRequest) and request.guaranteed:
        return "guaranteed_stop_loss"
    return next(kind for known, kind in _KINDS.items() if isinstance(request, known))


def place_dependent(decision: Decision, request: Dependent, replaces: Order | None = None) -> None:
    """Create a dependent order for an open trade, or refuse it."""
    trade = named_trade(decision.account, request)
    if isinstance(trade, str):
        reject_dependent(decision, request, trade)
        return
    draft = draft_of(decision, request, trade, replaces)
    problem = draft_problem(decision, draft) or pending_orders_problem(decision.account)
    if problem:
        reject_dependent(decision, request, problem)
    else:
        create_dependent(decision, draft)


def named_trade(account: Account, request: DependentRequest) -> Trade | str:
    """Return the open trade that a request names by id, client id or both; else why not."""
    if request.trade_id is None and request.client_trade_id is None:
        return "TRADE_ID_UNSPECIFIED"
    by_label = account.trade_ids.get(request.client_trade_id or "")
    trade_id = by_label if request.trade_id is None else request.trade_id
    trade = account.trades.get(trade_id or 0)
    if trade is None:
        return "TRADE_DOESNT_EXIST"
    if request.client_trade_id is not None and by_label != trade.id:
        return "TRADE_IDENTIFIER_INCONSISTENCY"
    return trade


def draft_of(
    decision: Decision, request: Dependent, trade: Trade, replaces: Order | None
) -> DependentDraft:
    """Return what a stand-alone request wants; its distance counts from the price now: the ask for a long trade."""
    quote = decision.market.quote(trade.instrument)
    labels = request.client_extensions
    if labels is None and replaces is not None:
        labels = replaces.client_extensions
    return DependentDraft(
        kind=dependent_kind(request),
        trade=trade,
        reference=quote.ask if trade.long else quote.bid,
        price=request.price,
        distance=request.distance,
        time_in_force=request.time_in_force,
        gtd_time=request.gtd_time,
        trigger_condition=request.trigger_condition,
        client_extensions=labels,
        replaces=replaces,
    )


def draft_problem(decision: Decision, draft: DependentDraft) -> str | None:
    """Return why a dependent order cannot be had."""
    account, now = decision.account, decision.market.now
    specification = specification_of(decision.market, draft.trade.instrument)
    replaced = draft.replaces.id if draft.replaces else None
    return first_problem(
        [
            level_problem(draft.order_type, draft.price, draft.distance, specification),
            time_in_force_problem(draft.order_type, draft.time_in_force, draft.gtd_time, now),
            extensions_problem(draft.client_extensions, account.order_ids, owner=replaced),
            _place_problem(account, draft),
            _guaranteed_problem(decision, draft, specification),
        ]
    )


def _place_problem(account: Account, draft: DependentDraft) -> str | None:
    """At most one of each kind; a guaranteed stop stands alone."""
    live = draft.trade.dependents
    held = live.get(draft.kind)
    if held is not None and (draft.replaces is None or draft.replaces.id != held):
        return f"{draft.order_type}_ORDER_ALREADY_EXISTS"
    if has_equal_trade(account, draft.trade):
        return f"{draft.order_type}_ORDER_WOULD_VIOLATE_FIFO_VIOLATION_SAFEGUARD"
    if draft.kind == "take_profit":
        return None
    others = set(live) - {"take_profit", draft.kind}
    clash = f"{draft.order_type}_ORDER_RMO_MUTUAL_EXCLUSIVITY"
    if others and "guaranteed_stop_loss" in {draft.kind, *others}:
        return f"{clash}_GSLO_EXCLUDES_OTHERS_VIOLATION"
    exclusive = account.terms.exclusive_stops and others
    return f"{clash}_MUTUALLY_EXCLUSIVE_VIOLATION" if exclusive else None


def _guaranteed_problem(
    decision: Decision, draft: DependentDraft, specification: Specification
) -> str | None:
    if draft.kind != "guaranteed_stop_loss" or draft.level is None:
        return None
    account = decision.account
    quote = decision.market.quote(draft.trade.instrument)
    units = draft.trade.current_units
    replaced = draft.replaces.id if draft.replaces else None
    side = watched_side(draft.trigger_condition, not draft.trade.long)
    if draft.trigger_condition == "MID" or side != ("bid" if draft.trade.long else "ask"):
        return "TRIGGER_CONDITION_INVALID"
    problem = _halted_problem(draft, quote) or guaranteed_problem(
        account, specification, quote, units, draft.level, replaces=replaced
    )
    return f"GUARANTEED_STOP_LOSS_ORDER_{problem}" if problem else None


def _halted_problem(draft: DependentDraft, quote: Quote) -> str | None:
    """While halted a guaranteed stop is not created, and only moves away from the market."""
    if quote.tradeable:
        return None
    old = draft.replaces.created if draft.replaces else None
    if not isinstance(old, PricedDependentCreated):
        return "HALTED_CREATE_VIOLATION"
    level = draft.level or old.price
    tighter = level > old.price if draft.trade.long else level < old.price
    return "HALTED_TIGHTEN_VIOLATION" if tighter else None


def reject_dependent(
    decision: Decision, request: DependentRequest, reason: str, replaces: Order | None = None
) -> None:
    """Record that a dependent order was refused."""
    decision.record(
        REJECTED[dependent_kind(request)],
        reason="REPLACEMENT" if replaces else "CLIENT_ORDER",
        trade_id=request.trade_id,
        client_trade_id=request.client_trade_id,
        time_in_force=request.time_in_force,
        gtd_time=request.gtd_time,
        trigger_condition=request.trigger_condition,
        price=request.price,
        distance=request.distance,
        client_extensions=request.client_extensions,
        intended_replaces_order_id=replaces.id if replaces else None,
        reject_reason=reason,
    )


def create_dependent(decision: Decision, draft: DependentDraft, **replacement: object) -> None:
    """Create a dependent order that was found right; it acts at once when its price is already there."""
    specification = specification_of(decision.market, draft.trade.instrument)
    kind = CREATED[draft.kind]
    members: dict[str, object] = {}
    if issubclass(kind, PricedDependentCreated):
        members["price"] = rounded_price(draft.level, specification)
    if kind is GuaranteedStopLossCreated:
        members["guaranteed_execution_premium"] = specification.guaranteed_premium
    created = decision.record(
        kind,
        reason="REPLACEMENT" if replacement else "CLIENT_ORDER",
        trade_id=draft.trade.id,
        client_trade_id=draft.trade.client_id,
        time_in_force=draft.time_in_force,
        gtd_time=draft.gtd_time if draft.time_in_force == "GTD" else None,
        trigger_condition=draft.trigger_condition,
        distance=draft.distance,
        client_extensions=draft.client_extensions,
        **members,
        **replacement,
    )
    _act_at_once(decision, created.id)


def _act_at_once(decision: Decision, order_id: int) -> None:
    order = decision.account.orders[order_id]
    quote = decision.market.quote(order.instrument)
    trigger = trigger_of(order)
    if quote.tradeable and trigger is not None and is_met(trigger, quote):
        fill_or_cancel(decision, order_id)


NAME = "GUARANTEED_STOP_LOSS_ORDER"


def mutability_problem(
    decision: Decision, order: Order, need: str, draft: DependentDraft | None = None
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
    tighter = draft is not None and _is_tighter(created, draft)
    return (
        f"{NAME}_{halted}TIGHTEN_VIOLATION" if tighter and allowed == "PRICE_WIDEN_ONLY" else None
    )


def _is_required(decision: Decision, order: Order) -> bool:
    return guaranteed_stop_required(
        decision.account, specification_of(decision.market, order.instrument)
    )


def _in_force(decision: Decision, order: Order) -> tuple[Mutability, str]:
    """Return what is allowed now, and the word for a halt in the reasons' names."""
    terms = decision.account.terms
    if decision.market.quote(order.instrument).tradeable:
        return terms.guaranteed_mutability_open, ""
    return terms.guaranteed_mutability_halted, "HALTED_"


def _is_tighter(old: PricedDependentCreated, draft: DependentDraft) -> bool:
    level = draft.level if draft.level is not None else old.price
    return level > old.price if draft.trade.long else level < old.price
