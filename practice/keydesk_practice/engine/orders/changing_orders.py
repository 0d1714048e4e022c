"""Cancelling, replacing and relabelling what is there."""

from keydesk_practice.engine.checks import label_problem
from keydesk_practice.engine.commands import (
    CancelOrder,
    ReplaceOrder,
    SetOrderExtensions,
    SetTradeExtensions,
)
from keydesk_practice.engine.fills.filling import cancel
from keydesk_practice.engine.orders.entries import Entry, create_entry, entry_problem, reject_entry
from keydesk_practice.engine.orders.mutability import mutability_problem
from keydesk_practice.engine.orders.placing_dependents import (
    CREATED,
    Dependent,
    create_dependent,
    kind_wanted,
    named_trade,
    reject_dependent,
    wish_of,
    wish_problem,
)
from keydesk_practice.engine.requests import (
    DependentRequest,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    OrderRequest,
    StopRequest,
)
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.state.records import Order
from keydesk_practice.engine.state.specifiers import label_in, number_in, open_trade, pending_order
from keydesk_practice.engine.transactions import (
    OrderCancelRejected,
    OrderExtensionsModified,
    OrderExtensionsModifyRejected,
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
        order_id=number_in(specifier),
        client_order_id=label_in(specifier),
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
        kept_labels=old.client_extensions,
        replaces_order_id=old.id,
        cancelling_transaction_id=ended.id,
    )


def _replace_dependent(decision: Decision, old: Order, request: Dependent) -> None:
    problem = _dependent_problem(decision.account, old, request)
    if problem is None:
        trade = decision.account.trades[old.dependent.trade_id] if old.dependent else None
        wish = None if trade is None else wish_of(decision, request, trade, old)
        problem = "REPLACING_ORDER_INVALID" if wish is None else wish_problem(decision, wish)
        problem = problem or mutability_problem(decision, old, "REPLACEABLE", wish)
    if problem is not None or wish is None:
        reject_dependent(decision, request, problem or "REPLACING_ORDER_INVALID", old)
        return
    ended = cancel(decision, old, "CLIENT_REQUEST_REPLACED", decision.next_id + 1)
    create_dependent(decision, wish, replaces_order_id=old.id, cancelling_transaction_id=ended.id)


def _dependent_problem(account: Account, old: Order, request: DependentRequest) -> str | None:
    if CREATED[kind_wanted(request)].order_type != old.created.order_type:
        return "REPLACING_ORDER_INVALID"
    trade = named_trade(account, request)
    if isinstance(trade, str):
        return trade
    same = old.dependent is not None and old.dependent.trade_id == trade.id
    return None if same else "REPLACING_TRADE_ID_INVALID"


def _type_of(request: OrderRequest) -> str:
    return next(name for kind, name in _ENTRY_TYPES.items() if isinstance(request, kind))


def relabel_order(decision: Decision, command: SetOrderExtensions) -> None:
    """Change the labels of a pending order, and those of the trade that it may open."""
    order = pending_order(decision.account, command.specifier)
    problem = _order_label_problem(decision.account, order, command)
    if order is None or problem:
        decision.record(
            OrderExtensionsModifyRejected,
            order_id=number_in(command.specifier),
            client_order_id=label_in(command.specifier),
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
    return label_problem(labels, account.order_ids, owner=order.id) or label_problem(
        command.trade_client_extensions, account.trade_ids, "TRADE"
    )


def relabel_trade(decision: Decision, command: SetTradeExtensions) -> None:
    """Change the labels of an open trade."""
    account = decision.account
    trade = open_trade(account, command.specifier)
    problem: str | None = "TRADE_DOESNT_EXIST"
    if trade is not None:
        missing = command.client_extensions is None
        problem = (
            "CLIENT_EXTENSIONS_DATA_MISSING"
            if missing
            else label_problem(
                command.client_extensions, account.trade_ids, "TRADE", owner=trade.id
            )
        )
    if trade is None or problem:
        decision.record(
            TradeExtensionsModifyRejected,
            trade_id=number_in(command.specifier),
            client_trade_id=label_in(command.specifier),
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
