"""What may be done to a guaranteed stop once it stands; any other order may be replaced and cancelled.

Placing a take-profit, stop-loss, trailing or guaranteed stop for an open trade.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from keydesk_practice.engine.checks import (
    first,
    guaranteed_problem,
    has_twin,
    label_problem,
    level_problem,
    life_problem,
    pending_problem,
    required,
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
from keydesk_practice.engine.orders.entries import shown
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
class Wish:
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


def kind_wanted(request: DependentRequest) -> Kind:
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
    wish = wish_of(decision, request, trade, replaces)
    problem = wish_problem(decision, wish) or pending_problem(decision.account)
    if problem:
        reject_dependent(decision, request, problem)
    else:
        create_dependent(decision, wish)


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


def wish_of(decision: Decision, request: Dependent, trade: Trade, replaces: Order | None) -> Wish:
    """Return what a stand-alone request wants; its distance counts from the price now: the ask for a long trade."""
    quote = decision.market.quote(trade.instrument)
    labels = request.client_extensions
    if labels is None and replaces is not None:
        labels = replaces.client_extensions
    return Wish(
        kind=kind_wanted(request),
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


def wish_problem(decision: Decision, wish: Wish) -> str | None:
    """Return why a dependent order cannot be had."""
    account, now = decision.account, decision.market.now
    specification = specification_of(decision.market, wish.trade.instrument)
    replaced = wish.replaces.id if wish.replaces else None
    return first(
        [
            level_problem(wish.order_type, wish.price, wish.distance, specification),
            life_problem(wish.order_type, wish.time_in_force, wish.gtd_time, now),
            label_problem(wish.client_extensions, account.order_ids, owner=replaced),
            _place_problem(account, wish),
            _guaranteed_problem(decision, wish, specification),
        ]
    )


def _place_problem(account: Account, wish: Wish) -> str | None:
    """At most one of each kind; a guaranteed stop stands alone."""
    live = wish.trade.dependents
    held = live.get(wish.kind)
    if held is not None and (wish.replaces is None or wish.replaces.id != held):
        return f"{wish.order_type}_ORDER_ALREADY_EXISTS"
    if has_twin(account, wish.trade):
        return f"{wish.order_type}_ORDER_WOULD_VIOLATE_FIFO_VIOLATION_SAFEGUARD"
    if wish.kind == "take_profit":
        return None
    others = set(live) - {"take_profit", wish.kind}
    clash = f"{wish.order_type}_ORDER_RMO_MUTUAL_EXCLUSIVITY"
    if others and "guaranteed_stop_loss" in {wish.kind, *others}:
        return f"{clash}_GSLO_EXCLUDES_OTHERS_VIOLATION"
    exclusive = account.terms.exclusive_stops and others
    return f"{clash}_MUTUALLY_EXCLUSIVE_VIOLATION" if exclusive else None


def _guaranteed_problem(decision: Decision, wish: Wish, specification: Specification) -> str | None:
    if wish.kind != "guaranteed_stop_loss" or wish.level is None:
        return None
    account = decision.account
    quote = decision.market.quote(wish.trade.instrument)
    units = wish.trade.current_units
    replaced = wish.replaces.id if wish.replaces else None
    side = watched_side(wish.trigger_condition, not wish.trade.long)
    if wish.trigger_condition == "MID" or side != ("bid" if wish.trade.long else "ask"):
        return "TRIGGER_CONDITION_INVALID"
    problem = _halted_problem(wish, quote) or guaranteed_problem(
        account, specification, quote, units, wish.level, replaces=replaced
    )
    return f"GUARANTEED_STOP_LOSS_ORDER_{problem}" if problem else None


def _halted_problem(wish: Wish, quote: Quote) -> str | None:
    """While halted a guaranteed stop is not created, and only moves away from the market."""
    if quote.tradeable:
        return None
    old = wish.replaces.created if wish.replaces else None
    if not isinstance(old, PricedDependentCreated):
        return "HALTED_CREATE_VIOLATION"
    level = wish.level or old.price
    tighter = level > old.price if wish.trade.long else level < old.price
    return "HALTED_TIGHTEN_VIOLATION" if tighter else None


def reject_dependent(
    decision: Decision, request: DependentRequest, reason: str, replaces: Order | None = None
) -> None:
    """Record that a dependent order was refused."""
    decision.record(
        REJECTED[kind_wanted(request)],
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


def create_dependent(decision: Decision, wish: Wish, **replacement: object) -> None:
    """Create a dependent order that was found right; it acts at once when its price is already there."""
    specification = specification_of(decision.market, wish.trade.instrument)
    kind = CREATED[wish.kind]
    members: dict[str, object] = {}
    if issubclass(kind, PricedDependentCreated):
        members["price"] = shown(wish.level, specification)
    if kind is GuaranteedStopLossCreated:
        members["guaranteed_execution_premium"] = specification.guaranteed_premium
    created = decision.record(
        kind,
        reason="REPLACEMENT" if replacement else "CLIENT_ORDER",
        trade_id=wish.trade.id,
        client_trade_id=wish.trade.client_id,
        time_in_force=wish.time_in_force,
        gtd_time=wish.gtd_time if wish.time_in_force == "GTD" else None,
        trigger_condition=wish.trigger_condition,
        distance=wish.distance,
        client_extensions=wish.client_extensions,
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
