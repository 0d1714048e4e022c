"""Place take-profit, stop-loss, trailing stop-loss and guaranteed stop-loss orders of an open trade, and check their changes."""

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct

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
from keydesk_practice.engine.fills.filling import fill_if_triggered
from keydesk_practice.engine.orders.entries import replacement_members, rounded_price
from keydesk_practice.engine.quotes import Quote, Specification, specification_of
from keydesk_practice.engine.state.account import Account, Kind, Mutability, Order, Trade
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.triggers import watched_side
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

_GUARANTEED = "GUARANTEED_STOP_LOSS_ORDER"  # prefix of reject reasons

_KINDS: Mapping[type[Dependent], Kind] = {
    TakeProfitRequest: "take_profit",
    StopLossRequest: "stop_loss",
    GuaranteedStopLossRequest: "guaranteed_stop_loss",
    TrailingStopLossRequest: "trailing_stop_loss",
}


class DependentDraft(Struct, frozen=True, kw_only=True):
    """A requested dependent order of a trade, from any endpoint; a distance is measured from `reference`."""

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
    siblings: frozenset[Kind] = frozenset()  # the trade's other orders after the request

    @property
    def order_type(self) -> str:
        """The order type on the wire."""
        return CREATED[self.kind].order_type

    @property
    def level(self) -> Decimal | None:
        """The requested price: as given, or at the distance from the reference."""
        if self.price is not None or self.distance is None:
            return self.price
        above = self.trade.long == (self.kind == "take_profit")
        return self.reference + (self.distance if above else -self.distance)


def place_dependent(decision: Decision, request: Dependent, replaces: Order | None = None) -> None:
    """Create a dependent order of an open trade, or reject it."""
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


def draft_of(
    decision: Decision, request: Dependent, trade: Trade, replaces: Order | None
) -> DependentDraft:
    """Return the draft of a stand-alone request; its distance is measured from the price now: the ask for a long trade."""
    quote = decision.market.quote(trade.instrument)
    extensions = request.client_extensions
    if extensions is None and replaces is not None:
        extensions = replaces.client_extensions
    return DependentDraft(
        kind=dependent_kind(request),
        trade=trade,
        reference=quote.ask if trade.long else quote.bid,
        price=request.price,
        distance=request.distance,
        time_in_force=request.time_in_force,
        gtd_time=request.gtd_time,
        trigger_condition=request.trigger_condition,
        client_extensions=extensions,
        replaces=replaces,
        siblings=frozenset(trade.dependents),
    )


def draft_problem(
    decision: Decision, draft: DependentDraft, taken: Mapping[str, int] | None = None
) -> str | None:
    """Return the reject reason for a requested dependent order, or None; `taken` are the client ids in use."""
    account, now = decision.account, decision.market.now
    specification = specification_of(decision.market, draft.trade.instrument)
    replaced = draft.replaces.id if draft.replaces else None
    return first_problem(
        [
            level_problem(draft.order_type, draft.price, draft.distance, specification),
            time_in_force_problem(draft.order_type, draft.time_in_force, draft.gtd_time, now),
            extensions_problem(
                draft.client_extensions,
                account.order_ids if taken is None else taken,
                owner=replaced,
            ),
            _exclusivity_problem(account, draft),
            _guaranteed_problem(decision, draft, specification),
        ]
    )


def create_dependent(
    decision: Decision, draft: DependentDraft, replaces: Order | None = None
) -> None:
    """Create a dependent order that passed its checks, and fill it if the price triggers it now.

    `replaces` is a pending order to cancel in the same batch.
    """
    specification = specification_of(decision.market, draft.trade.instrument)
    kind = CREATED[draft.kind]
    members = replacement_members(decision, replaces)
    if issubclass(kind, PricedDependentCreated):
        members["price"] = rounded_price(draft.level, specification)
    if kind is GuaranteedStopLossCreated:
        members["guaranteed_execution_premium"] = specification.guaranteed_premium
    created = decision.record(
        kind,
        trade_id=draft.trade.id,
        client_trade_id=draft.trade.client_id,
        time_in_force=draft.time_in_force,
        gtd_time=draft.gtd_time if draft.time_in_force == "GTD" else None,
        trigger_condition=draft.trigger_condition,
        distance=draft.distance,
        client_extensions=draft.client_extensions,
        **members,
    )
    fill_if_triggered(decision, decision.account.orders[created.id])


def reject_dependent(
    decision: Decision, request: DependentRequest, reason: str, replaces: Order | None = None
) -> None:
    """Record the rejection of a dependent order."""
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


def mutability_problem(
    decision: Decision, order: Order, need: str, draft: DependentDraft | None = None
) -> str | None:
    """Return why a guaranteed stop may not be cancelled (`need` CANCELABLE) or replaced (REPLACEABLE)."""
    created = order.created
    if not isinstance(created, GuaranteedStopLossCreated):
        return None
    specification = specification_of(decision.market, order.instrument)
    if need == "CANCELABLE" and guaranteed_stop_required(decision.account, specification):
        return f"{_GUARANTEED}_REQUIRED"
    allowed, halted = _mutability_now(decision, order)
    if allowed == "CANCELABLE":
        return None
    if need == "CANCELABLE" or allowed == "FIXED":
        verb = "CANCELABLE" if need == "CANCELABLE" else "REPLACEABLE"
        return f"{_GUARANTEED}_{halted}NOT_{verb}"
    tighter = draft is not None and _is_tighter(created, draft)
    forbidden = tighter and allowed == "PRICE_WIDEN_ONLY"
    return f"{_GUARANTEED}_{halted}TIGHTEN_VIOLATION" if forbidden else None


def dependent_kind(request: DependentRequest) -> Kind:
    """Return the kind of a requested order; a stop-loss with the older flag `guaranteed` is a guaranteed stop-loss."""
    if isinstance(request, StopLossRequest) and request.guaranteed:
        return "guaranteed_stop_loss"
    return next(kind for known, kind in _KINDS.items() if isinstance(request, known))


def named_trade(account: Account, request: DependentRequest) -> Trade | str:
    """Return the open trade that a request names by id, client id or both, or the reject reason."""
    if request.trade_id is None and request.client_trade_id is None:
        return "TRADE_ID_UNSPECIFIED"
    by_client_id = account.trade_ids.get(request.client_trade_id or "")
    trade_id = by_client_id if request.trade_id is None else request.trade_id
    trade = account.trades.get(trade_id or 0)
    if trade is None:
        return "TRADE_DOESNT_EXIST"
    if request.client_trade_id is not None and by_client_id != trade.id:
        return "TRADE_IDENTIFIER_INCONSISTENCY"
    return trade


def _exclusivity_problem(account: Account, draft: DependentDraft) -> str | None:
    """Allow at most one order of each kind, and no other stop beside a guaranteed stop."""
    held = draft.trade.dependents.get(draft.kind)
    if held is not None and (draft.replaces is None or draft.replaces.id != held):
        return f"{draft.order_type}_ORDER_ALREADY_EXISTS"
    if has_equal_trade(account, draft.trade):
        return f"{draft.order_type}_ORDER_WOULD_VIOLATE_FIFO_VIOLATION_SAFEGUARD"
    if draft.kind == "take_profit":
        return None
    others = draft.siblings - {"take_profit", draft.kind}
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
    return f"{_GUARANTEED}_{problem}" if problem else None


def _halted_problem(draft: DependentDraft, quote: Quote) -> str | None:
    """While trading is halted a guaranteed stop cannot be created, and can only be moved away from the market."""
    if quote.tradeable:
        return None
    old = draft.replaces.created if draft.replaces else None
    if not isinstance(old, PricedDependentCreated):
        return "HALTED_CREATE_VIOLATION"
    return "HALTED_TIGHTEN_VIOLATION" if _is_tighter(old, draft) else None


def _mutability_now(decision: Decision, order: Order) -> tuple[Mutability, str]:
    """Return the mutability in force, and the infix of the reject reasons while trading is halted."""
    terms = decision.account.terms
    if decision.market.quote(order.instrument).tradeable:
        return terms.guaranteed_mutability_open, ""
    return terms.guaranteed_mutability_halted, "HALTED_"


def _is_tighter(old: PricedDependentCreated, draft: DependentDraft) -> bool:
    level = draft.level if draft.level is not None else old.price
    return level > old.price if draft.trade.long else level < old.price
