"""A trade's dependent orders, set together: each kind created, changed, cancelled or left as it is; all of it or nothing."""

from collections.abc import Iterator

from keydesk_practice.engine.commands import Omitted, SetDependents
from keydesk_practice.engine.fills.filling import cancel
from keydesk_practice.engine.orders.mutability import mutability_problem
from keydesk_practice.engine.orders.placing_dependents import (
    REJECTED,
    Wish,
    create_dependent,
    wish_problem,
)
from keydesk_practice.engine.requests import DependentDetails, StopLossDetails
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.state.records import Kind, Order, Trade
from keydesk_practice.engine.state.specifiers import number_in, open_trade
from keydesk_practice.engine.transactions import (
    OrderCancelRejected,
    PricedDependentCreated,
)

Step = tuple[Kind, Order | None, Wish | None]  # what is there, what is wanted; None: nothing


def set_dependents(decision: Decision, command: SetDependents) -> None:
    """Carry out what a client wants for a trade's dependent orders."""
    trade = open_trade(decision.account, command.specifier)
    if trade is None:
        _refuse_all(decision, command)
        return
    steps = list(_steps(decision, command, trade))
    problems = [_problem(decision, old, wish) for _, old, wish in steps]
    if any(problems):
        for step, problem in zip(steps, problems, strict=True):
            if problem:
                _refuse(decision, trade, step, problem)
        return
    for _, old, wish in steps:
        _carry_out(decision, old, wish)


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


def _wish(kind: Kind, trade: Trade, details: DependentDetails, old: Order | None) -> Wish:
    """Return what is wanted; what the details leave out is inherited from the live order."""
    held = old.dependent if old else None
    price, distance = getattr(details, "price", None), details.distance
    if price is None and distance is None and held is not None:
        distance = held.distance
        if isinstance(held, PricedDependentCreated) and distance is None:
            price = held.price
    labels = details.client_extensions
    return Wish(
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


def _problem(decision: Decision, old: Order | None, wish: Wish | None) -> str | None:
    if old is not None and (problem := mutability_problem(decision, old, _need(wish), wish)):
        return problem
    return None if wish is None else wish_problem(decision, wish)


def _need(wish: Wish | None) -> str:
    return "CANCELABLE" if wish is None else "REPLACEABLE"


def _carry_out(decision: Decision, old: Order | None, wish: Wish | None) -> None:
    if wish is not None and wish.trade.id not in decision.account.trades:
        return  # an order of this very request closed the trade
    live = old is not None and old.id in decision.account.orders
    if wish is None:
        if old is not None and live:
            cancel(decision, old, "CLIENT_REQUEST")
    elif old is None or not live:
        create_dependent(decision, wish)
    else:
        ended = cancel(decision, old, "CLIENT_REQUEST_REPLACED", decision.next_id + 1)
        create_dependent(
            decision, wish, replaces_order_id=old.id, cancelling_transaction_id=ended.id
        )


def _refuse(decision: Decision, trade: Trade, step: Step, reason: str) -> None:
    kind, old, wish = step
    if wish is None:
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
        time_in_force=wish.time_in_force,
        gtd_time=wish.gtd_time,
        trigger_condition=wish.trigger_condition,
        price=wish.price,
        distance=wish.distance,
        client_extensions=wish.client_extensions,
        intended_replaces_order_id=old.id if old else None,
        reject_reason=reason,
    )


def _refuse_all(decision: Decision, command: SetDependents) -> None:
    """The trade does not exist: whatever was asked for it is refused."""
    number = number_in(command.specifier)
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
