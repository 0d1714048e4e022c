"""A trade's dependent orders, set together: each kind created, changed, cancelled or left as it is; all of it or nothing.

Cancelling, replacing and relabelling what is there.
"""

from collections.abc import Iterator

from keydesk_practice.engine.checks import extensions_problem
from keydesk_practice.engine.commands import (
    CancelOrder,
    DependentDetails,
    DependentRequest,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    Omitted,
    OrderRequest,
    ReplaceOrder,
    SetDependents,
    SetOrderExtensions,
    SetTradeExtensions,
    StopLossDetails,
    StopRequest,
)
from keydesk_practice.engine.fills.filling import cancel
from keydesk_practice.engine.orders.dependents import (
    CREATED,
    REJECTED,
    Dependent,
    DependentDraft,
    create_dependent,
    dependent_kind,
    draft_of,
    draft_problem,
    mutability_problem,
    named_trade,
    reject_dependent,
)
from keydesk_practice.engine.orders.entries import Entry, create_entry, entry_problem, reject_entry
from keydesk_practice.engine.state.account import (
    Account,
    client_id_in,
    id_in,
    open_trade,
    pending_order,
)
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.records import Kind, Order, Trade
from keydesk_practice.engine.transactions import (
    OrderCancelRejected,
    OrderExtensionsModified,
    OrderExtensionsModifyRejected,
    PricedDependentCreated,
    TradeExtensionsModified,
    TradeExtensionsModifyRejected,
)

_ENTRY_TYPES: dict[type[Entry], str] = {
    MarketRequest: "MARKET",
    LimitRequest: "LIMIT",
    StopRequest: "STOP",
    MarketIfTouchedRequest: "MARKET_IF_TOUCHED",
}


def cancel_order(decision: Decision, command: CancelOrder) -> None:
    """Cancel a pending order at the client's wish."""
    order = pending_order(decision.account, command.specifier)
    if order is None:
        _refuse_cancel(decision, command.specifier, "ORDER_DOESNT_EXIST")
    elif problem := mutability_problem(decision, order, "CANCELABLE"):
        _refuse_cancel(decision, command.specifier, problem)
    else:
        cancel(decision, order, "CLIENT_REQUEST")


def _refuse_cancel(decision: Decision, specifier: str, reason: str) -> None:
    decision.record(
        OrderCancelRejected,
        order_id=id_in(specifier),
        client_order_id=client_id_in(specifier),
        reject_reason=reason,
    )


def replace_order(decision: Decision, command: ReplaceOrder) -> None:
    """Cancel a pending order and create its replacement; when that is refused nothing is cancelled."""
    old = pending_order(decision.account, command.specifier)
    if old is None:
        _refuse_cancel(decision, command.specifier, "ORDER_DOESNT_EXIST")
    elif isinstance(command.order, DependentRequest):
        _replace_dependent(decision, old, command.order)
    else:
        _replace_entry(decision, old, command.order)


def _replace_entry(decision: Decision, old: Order, request: Entry) -> None:
    same = _type_of(request) == old.created.order_type
    problem = entry_problem(decision, request, old) if same else "REPLACING_ORDER_INVALID"
    if problem:
        reject_entry(decision, request, problem, old)
        return
    ended = cancel(decision, old, "CLIENT_REQUEST_REPLACED", decision.next_id + 1)
    create_entry(
        decision,
        request,
        kept_extensions=old.client_extensions,
        replaces_order_id=old.id,
        cancelling_transaction_id=ended.id,
    )


def _replace_dependent(decision: Decision, old: Order, request: Dependent) -> None:
    problem = _dependent_problem(decision.account, old, request)
    if problem is None:
        trade = decision.account.trades[old.dependent.trade_id] if old.dependent else None
        draft = None if trade is None else draft_of(decision, request, trade, old)
        problem = "REPLACING_ORDER_INVALID" if draft is None else draft_problem(decision, draft)
        problem = problem or mutability_problem(decision, old, "REPLACEABLE", draft)
    if problem is not None or draft is None:
        reject_dependent(decision, request, problem or "REPLACING_ORDER_INVALID", old)
        return
    ended = cancel(decision, old, "CLIENT_REQUEST_REPLACED", decision.next_id + 1)
    create_dependent(decision, draft, replaces_order_id=old.id, cancelling_transaction_id=ended.id)


def _dependent_problem(account: Account, old: Order, request: DependentRequest) -> str | None:
    if CREATED[dependent_kind(request)].order_type != old.created.order_type:
        return "REPLACING_ORDER_INVALID"
    trade = named_trade(account, request)
    if isinstance(trade, str):
        return trade
    same = old.dependent is not None and old.dependent.trade_id == trade.id
    return None if same else "REPLACING_TRADE_ID_INVALID"


def _type_of(request: OrderRequest) -> str:
    return next(name for kind, name in _ENTRY_TYPES.items() if isinstance(request, kind))


def modify_order_extensions(decision: Decision, command: SetOrderExtensions) -> None:
    """Change the labels of a pending order, and those of the trade that it may open."""
    order = pending_order(decision.account, command.specifier)
    problem = _order_label_problem(decision.account, order, command)
    if order is None or problem:
        decision.record(
            OrderExtensionsModifyRejected,
            order_id=id_in(command.specifier),
            client_order_id=client_id_in(command.specifier),
            client_extensions_modify=command.client_extensions,
            trade_client_extensions_modify=command.trade_client_extensions,
            reject_reason=problem or "ORDER_DOESNT_EXIST",
        )
        return
    decision.record(
        OrderExtensionsModified,
        order_id=order.id,
        client_order_id=order.client_id,
        client_extensions_modify=command.client_extensions,
        trade_client_extensions_modify=command.trade_client_extensions,
    )


def _order_label_problem(
    account: Account, order: Order | None, command: SetOrderExtensions
) -> str | None:
    if order is None:
        return "ORDER_DOESNT_EXIST"
    if command.client_extensions is None and command.trade_client_extensions is None:
        return "CLIENT_EXTENSIONS_DATA_MISSING"
    labels = command.client_extensions
    return extensions_problem(labels, account.order_ids, owner=order.id) or extensions_problem(
        command.trade_client_extensions, account.trade_ids, "TRADE"
    )


def modify_trade_extensions(decision: Decision, command: SetTradeExtensions) -> None:
    """Change the labels of an open trade."""
    account = decision.account
    trade = open_trade(account, command.specifier)
    problem: str | None = "TRADE_DOESNT_EXIST"
    if trade is not None:
        missing = command.client_extensions is None
        problem = (
            "CLIENT_EXTENSIONS_DATA_MISSING"
            if missing
            else extensions_problem(
                command.client_extensions, account.trade_ids, "TRADE", owner=trade.id
            )
        )
    if trade is None or problem:
        decision.record(
            TradeExtensionsModifyRejected,
            trade_id=id_in(command.specifier),
            client_trade_id=client_id_in(command.specifier),
            trade_client_extensions_modify=command.client_extensions,
            reject_reason=problem,
        )
        return
    decision.record(
        TradeExtensionsModified,
        trade_id=trade.id,
        client_trade_id=trade.client_id,
        trade_client_extensions_modify=command.client_extensions,
    )


Step = tuple[
    Kind, Order | None, DependentDraft | None
]  # what is there, what is wanted; None: nothing


def set_dependents(decision: Decision, command: SetDependents) -> None:
    """Carry out what a client wants for a trade's dependent orders."""
    trade = open_trade(decision.account, command.specifier)
    if trade is None:
        _refuse_all(decision, command)
        return
    steps = list(_steps(decision, command, trade))
    problems = [_problem(decision, old, draft) for _, old, draft in steps]
    if any(problems):
        for step, problem in zip(steps, problems, strict=True):
            if problem:
                _refuse(decision, trade, step, problem)
        return
    for _, old, draft in steps:
        _carry_out(decision, old, draft)


def _asked(command: SetDependents) -> Iterator[tuple[Kind, DependentDetails | None]]:
    wanted: dict[Kind, DependentDetails | Omitted | None] = {
        "take_profit": command.take_profit,
        "stop_loss": command.stop_loss,
        "trailing_stop_loss": command.trailing_stop_loss,
        "guaranteed_stop_loss": command.guaranteed_stop_loss,
    }
    for kind, details in wanted.items():
        if isinstance(details, StopLossDetails) and details.guaranteed:
            yield "guaranteed_stop_loss", details  # the interface's older way to ask for one
        elif not isinstance(details, Omitted):
            yield kind, details


def _steps(decision: Decision, command: SetDependents, trade: Trade) -> Iterator[Step]:
    for kind, details in _asked(command):
        order_id = trade.dependents.get(kind)
        old = None if order_id is None else decision.account.orders[order_id]
        if details is None:
            if old is not None:  # cancelling what is not there changes nothing
                yield kind, old, None
        else:
            yield kind, old, _wish(kind, trade, details, old)


def _wish(kind: Kind, trade: Trade, details: DependentDetails, old: Order | None) -> DependentDraft:
    """Return what is wanted; what the details leave out is inherited from the live order."""
    held = old.dependent if old else None
    price, distance = getattr(details, "price", None), details.distance
    if price is None and distance is None and held is not None:
        distance = held.distance
        if isinstance(held, PricedDependentCreated) and distance is None:
            price = held.price
    labels = details.client_extensions
    return DependentDraft(
        kind=kind,
        trade=trade,
        reference=trade.price,  # the details of a trade's orders count distances from its open price
        price=price,
        distance=distance,
        time_in_force=details.time_in_force or (held.time_in_force if held else "GTC"),
        gtd_time=details.gtd_time or (held.gtd_time if held else None),
        trigger_condition=held.trigger_condition if held else "DEFAULT",
        client_extensions=old.client_extensions if old and labels is None else labels,
        replaces=old,
    )


def _problem(decision: Decision, old: Order | None, draft: DependentDraft | None) -> str | None:
    if old is not None and (problem := mutability_problem(decision, old, _need(draft), draft)):
        return problem
    return None if draft is None else draft_problem(decision, draft)


def _need(draft: DependentDraft | None) -> str:
    return "CANCELABLE" if draft is None else "REPLACEABLE"


def _carry_out(decision: Decision, old: Order | None, draft: DependentDraft | None) -> None:
    if draft is not None and draft.trade.id not in decision.account.trades:
        return  # an order of this very request closed the trade
    live = old is not None and old.id in decision.account.orders
    if draft is None:
        if old is not None and live:
            cancel(decision, old, "CLIENT_REQUEST")
    elif old is None or not live:
        create_dependent(decision, draft)
    else:
        ended = cancel(decision, old, "CLIENT_REQUEST_REPLACED", decision.next_id + 1)
        create_dependent(
            decision, draft, replaces_order_id=old.id, cancelling_transaction_id=ended.id
        )


def _refuse(decision: Decision, trade: Trade, step: Step, reason: str) -> None:
    kind, old, draft = step
    if draft is None:
        decision.record(
            OrderCancelRejected,
            order_id=old.id if old else None,
            client_order_id=old.client_id if old else None,
            reject_reason=reason,
        )
        return
    decision.record(
        REJECTED[kind],
        reason="REPLACEMENT" if old else "CLIENT_ORDER",
        trade_id=trade.id,
        client_trade_id=trade.client_id,
        time_in_force=draft.time_in_force,
        gtd_time=draft.gtd_time,
        trigger_condition=draft.trigger_condition,
        price=draft.price,
        distance=draft.distance,
        client_extensions=draft.client_extensions,
        intended_replaces_order_id=old.id if old else None,
        reject_reason=reason,
    )


def _refuse_all(decision: Decision, command: SetDependents) -> None:
    """The trade does not exist: whatever was asked for it is refused."""
    number = id_in(command.specifier)
    for kind, details in _asked(command):
        if details is None:
            decision.record(OrderCancelRejected, reject_reason="TRADE_DOESNT_EXIST")
            continue
        decision.record(
            REJECTED[kind],
            reason="CLIENT_ORDER",
            trade_id=number,
            time_in_force=details.time_in_force or "GTC",
            gtd_time=details.gtd_time,
            price=getattr(details, "price", None),
            distance=details.distance,
            client_extensions=details.client_extensions,
            reject_reason="TRADE_DOESNT_EXIST",
        )
