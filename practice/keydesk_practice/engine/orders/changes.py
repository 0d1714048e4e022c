"""Cancel, replace and modify pending orders, and set all dependent orders of a trade in one request."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from keydesk_practice.engine.checks import extensions_problem
from keydesk_practice.engine.commands import (
    CancelOrder,
    DependentDetails,
    DependentRequest,
    Omitted,
    ReplaceOrder,
    SetDependents,
    SetOrderExtensions,
    SetTradeExtensions,
    StopLossDetails,
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
from keydesk_practice.engine.orders.entries import (
    Entry,
    create_entry,
    entry_problem,
    order_type_of,
    reject_entry,
)
from keydesk_practice.engine.state.account import (
    Account,
    Kind,
    Order,
    Trade,
    client_id_in,
    id_in,
    open_trade,
    pending_order,
)
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.apply_account import merged_extensions
from keydesk_practice.engine.transactions import (
    OrderCancelRejected,
    OrderExtensionsModified,
    OrderExtensionsModifyRejected,
    PricedDependentCreated,
    TradeExtensionsModified,
    TradeExtensionsModifyRejected,
)

# Kind, live order (None: there is none), requested order (None: cancel the live one).
DependentChange = tuple[Kind, Order | None, DependentDraft | None]
_REQUESTED = 0  # in place of the id of an order that the same request creates


def cancel_order(decision: Decision, command: CancelOrder) -> None:
    """Cancel a pending order at the client's request."""
    order = pending_order(decision.account, command.specifier)
    if order is None:
        _reject_cancel(decision, command.specifier, "ORDER_DOESNT_EXIST")
    elif problem := mutability_problem(decision, order, "CANCELABLE"):
        _reject_cancel(decision, command.specifier, problem)
    else:
        cancel(decision, order, "CLIENT_REQUEST")


def replace_order(decision: Decision, command: ReplaceOrder) -> None:
    """Cancel a pending order and create its replacement; if that is rejected, nothing is cancelled."""
    old = pending_order(decision.account, command.specifier)
    if old is None:
        _reject_cancel(decision, command.specifier, "ORDER_DOESNT_EXIST")
    elif isinstance(command.order, DependentRequest):
        _replace_dependent(decision, old, command.order)
    else:
        _replace_entry(decision, old, command.order)


def modify_order_extensions(decision: Decision, command: SetOrderExtensions) -> None:
    """Change the client extensions of a pending order, and of the trade that it may open."""
    order = pending_order(decision.account, command.specifier)
    problem = _order_extensions_problem(decision.account, order, command)
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


def modify_trade_extensions(decision: Decision, command: SetTradeExtensions) -> None:
    """Change the client extensions of an open trade."""
    account = decision.account
    trade = open_trade(account, command.specifier)
    problem: str | None
    if trade is None:
        problem = "TRADE_DOESNT_EXIST"
    elif command.client_extensions is None:
        problem = "CLIENT_EXTENSIONS_DATA_MISSING"
    else:
        extensions = command.client_extensions
        problem = extensions_problem(extensions, account.trade_ids, "TRADE", owner=trade.id)
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


def set_dependents(decision: Decision, command: SetDependents) -> None:
    """Create, replace and cancel dependent orders of a trade: all that is requested, or nothing."""
    trade = open_trade(decision.account, command.specifier)
    if trade is None:
        _reject_all(decision, command)
        return
    changes = _with_siblings(list(_requested_changes(decision, command, trade)), trade)
    problems = list(_problems(decision, changes))
    if any(problems):
        for change, problem in zip(changes, problems, strict=True):
            if problem:
                _reject(decision, trade, change, problem)
        return
    for _, old, draft in sorted(changes, key=_creates):
        _make_change(decision, old, draft)


def _reject_cancel(decision: Decision, specifier: str, reason: str) -> None:
    decision.record(
        OrderCancelRejected,
        order_id=id_in(specifier),
        client_order_id=client_id_in(specifier),
        reject_reason=reason,
    )


def _replace_entry(decision: Decision, old: Order, request: Entry) -> None:
    same = order_type_of(request) == old.created.order_type
    problem = entry_problem(decision, request, old) if same else "REPLACING_ORDER_INVALID"
    if problem:
        reject_entry(decision, request, problem, old)
        return
    create_entry(decision, request, replaces=old)


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
    create_dependent(decision, draft, replaces=old)


def _dependent_problem(account: Account, old: Order, request: DependentRequest) -> str | None:
    if CREATED[dependent_kind(request)].order_type != old.created.order_type:
        return "REPLACING_ORDER_INVALID"
    trade = named_trade(account, request)
    if isinstance(trade, str):
        return trade
    same = old.dependent is not None and old.dependent.trade_id == trade.id
    return None if same else "REPLACING_TRADE_ID_INVALID"


def _order_extensions_problem(
    account: Account, order: Order | None, command: SetOrderExtensions
) -> str | None:
    if order is None:
        return "ORDER_DOESNT_EXIST"
    if command.client_extensions is None and command.trade_client_extensions is None:
        return "CLIENT_EXTENSIONS_DATA_MISSING"
    extensions = command.client_extensions
    return extensions_problem(extensions, account.order_ids, owner=order.id) or extensions_problem(
        command.trade_client_extensions, account.trade_ids, "TRADE"
    )


def _requested_details(command: SetDependents) -> Iterator[tuple[Kind, DependentDetails | None]]:
    requested: dict[Kind, DependentDetails | Omitted | None] = {
        "take_profit": command.take_profit,
        "stop_loss": command.stop_loss,
        "trailing_stop_loss": command.trailing_stop_loss,
        "guaranteed_stop_loss": command.guaranteed_stop_loss,
    }
    for kind, details in requested.items():
        if isinstance(details, StopLossDetails) and details.guaranteed:
            yield "guaranteed_stop_loss", details  # the older way to request one
        elif not isinstance(details, Omitted):
            yield kind, details


def _requested_changes(
    decision: Decision, command: SetDependents, trade: Trade
) -> Iterator[DependentChange]:
    for kind, details in _requested_details(command):
        order_id = trade.dependents.get(kind)
        old = None if order_id is None else decision.account.orders[order_id]
        if details is None:
            if old is not None:  # there is nothing to cancel otherwise
                yield kind, old, None
        else:
            yield kind, old, _draft_of_details(kind, trade, details, old)


def _creates(change: DependentChange) -> bool:
    """Whether a change creates an order: cancels go first, so that no order stands beside one that excludes it."""
    return change[2] is not None


def _with_siblings(changes: Sequence[DependentChange], trade: Trade) -> list[DependentChange]:
    """Return the changes whose drafts know the trade's other orders as they are after all of the changes."""
    cancelled = {kind for kind, _, draft in changes if draft is None}
    created = {kind for kind, _, draft in changes if draft is not None}
    after = frozenset((trade.dependents.keys() - cancelled) | created)
    return [
        (kind, old, None if draft is None else replace(draft, siblings=after))
        for kind, old, draft in changes
    ]


def _draft_of_details(
    kind: Kind, trade: Trade, details: DependentDetails, old: Order | None
) -> DependentDraft:
    """Return the requested order; members that the details leave out are inherited from the live order."""
    live = old.dependent if old else None
    price, distance = getattr(details, "price", None), details.distance
    if price is None and distance is None and live is not None:
        distance = live.distance
        if isinstance(live, PricedDependentCreated) and distance is None:
            price = live.price
    return DependentDraft(
        kind=kind,
        trade=trade,
        reference=trade.price,  # details of a trade's orders measure distances from its open price
        price=price,
        distance=distance,
        time_in_force=details.time_in_force or (live.time_in_force if live else "GTC"),
        gtd_time=details.gtd_time or (live.gtd_time if live else None),
        trigger_condition=live.trigger_condition if live else "DEFAULT",
        client_extensions=merged_extensions(
            old.client_extensions if old else None, details.client_extensions
        ),
        replaces=old,
    )


def _problems(decision: Decision, changes: Sequence[DependentChange]) -> Iterator[str | None]:
    """Yield the reject reason of each change, or None; the client id of a cancelled order is free for the others."""
    cancelled = {old.id for _, old, draft in changes if draft is None and old is not None}
    ids = decision.account.order_ids
    taken = {client_id: id_ for client_id, id_ in ids.items() if id_ not in cancelled}
    created = set[Kind]()
    for kind, old, draft in changes:
        repeated = f"{kind.upper()}_ORDER_ALREADY_EXISTS" if kind in created else None
        yield repeated or _problem(decision, old, draft, taken)
        if draft is not None:
            created.add(kind)
            if draft.client_extensions is not None and draft.client_extensions.id is not None:
                taken[draft.client_extensions.id] = _REQUESTED


def _problem(
    decision: Decision, old: Order | None, draft: DependentDraft | None, taken: Mapping[str, int]
) -> str | None:
    need = "CANCELABLE" if draft is None else "REPLACEABLE"
    if old is not None and (problem := mutability_problem(decision, old, need, draft)):
        return problem
    return None if draft is None else draft_problem(decision, draft, taken)


def _make_change(decision: Decision, old: Order | None, draft: DependentDraft | None) -> None:
    if draft is not None and draft.trade.id not in decision.account.trades:
        return  # an order of the same request closed the trade
    live = old is not None and old.id in decision.account.orders
    if draft is None:
        if old is not None and live:
            cancel(decision, old, "CLIENT_REQUEST")
    elif old is None or not live:
        create_dependent(decision, draft)
    else:
        create_dependent(decision, draft, replaces=old)


def _reject(decision: Decision, trade: Trade, change: DependentChange, reason: str) -> None:
    kind, old, draft = change
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


def _reject_all(decision: Decision, command: SetDependents) -> None:
    """Reject every requested order: the trade does not exist."""
    trade_id = id_in(command.specifier)
    for kind, details in _requested_details(command):
        if details is None:
            decision.record(OrderCancelRejected, reject_reason="TRADE_DOESNT_EXIST")
            continue
        decision.record(
            REJECTED[kind],
            reason="CLIENT_ORDER",
            trade_id=trade_id,
            time_in_force=details.time_in_force or "GTC",
            gtd_time=details.gtd_time,
            price=getattr(details, "price", None),
            distance=details.distance,
            client_extensions=details.client_extensions,
            reject_reason="TRADE_DOESNT_EXIST",
        )
