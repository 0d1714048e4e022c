"""Decide what a command does to an account: the transactions that it makes.

`decide` dispatches each command to the module with its rules. A `Tick` (prices moved) expires and triggers orders, closes
delayed trades and checks the margin.
"""

from collections.abc import Iterable

from keydesk_practice.engine.account_commands import (
    configure,
    finance,
    open_account,
    transfer_funds,
)
from keydesk_practice.engine.commands import (
    CancelOrder,
    ClosePosition,
    CloseTrade,
    Command,
    Configure,
    DependentRequest,
    Finance,
    OpenAccount,
    PlaceOrder,
    ReplaceOrder,
    SetDependents,
    SetOrderExtensions,
    SetTradeExtensions,
    Tick,
    TransferFunds,
)
from keydesk_practice.engine.fills.closing import close_position, close_trade
from keydesk_practice.engine.fills.filling import cancel, fill_or_cancel
from keydesk_practice.engine.margin_calls import (
    check_margin,
    close_delayed_trades,
    needs_margin_check,
)
from keydesk_practice.engine.orders.changes import (
    cancel_order,
    modify_order_extensions,
    modify_trade_extensions,
    replace_order,
    set_dependents,
)
from keydesk_practice.engine.orders.dependents import place_dependent
from keydesk_practice.engine.orders.entries import place_entry
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.apply import Decision
from keydesk_practice.engine.state.triggers import is_met
from keydesk_practice.engine.transactions import Transaction


def decide(account: Account, command: Command, market: Market) -> tuple[Transaction, ...]:
    """Return the transactions of a command; `apply` each of them to change the account."""
    decision = decision_on(account, command, market)
    return () if decision is None else tuple(decision.transactions)


def decision_on(account: Account, command: Command, market: Market) -> Decision | None:
    """Return the decision with the account after it; None if a tick changes nothing."""
    if isinstance(command, Tick):
        return tick(account, command, market)
    decision = Decision(account, market, command.request_id)
    _dispatch(decision, command)
    return decision


def tick(account: Account, command: Tick, market: Market) -> Decision | None:
    """Return the decision on the prices of this instant; None, without a copy of the account, if nothing happens."""
    expired = sorted(id_ for id_, time in account.expiries.items() if time <= market.now)
    triggered = sorted(_triggered(account, command, market))
    if not (expired or triggered or needs_margin_check(account, command, market)):
        return None
    decision = Decision(account, market)
    for order_id in expired:
        decision.begin_batch()
        cancel(decision, decision.account.orders[order_id], "TIME_IN_FORCE_EXPIRED")
    for order_id in triggered:
        if order_id in decision.account.orders:  # an earlier fill may have ended it
            decision.begin_batch()
            fill_or_cancel(decision, order_id)
    close_delayed_trades(decision)
    check_margin(decision)
    return decision


def _triggered(account: Account, command: Tick, market: Market) -> Iterable[int]:
    for instrument, resting in account.triggers.items():
        if command.instruments is not None and instrument not in command.instruments:
            continue
        quote = market.quote(instrument)
        if quote.tradeable:
            yield from (trigger.order_id for trigger in resting if is_met(trigger, quote))


def _dispatch(decision: Decision, command: Command) -> None:  # noqa: C901, PLR0912 - one line for each command
    match command:
        case PlaceOrder():
            _place(decision, command)
        case CancelOrder():
            cancel_order(decision, command)
        case ReplaceOrder():
            replace_order(decision, command)
        case CloseTrade():
            close_trade(decision, command)
        case ClosePosition():
            close_position(decision, command)
        case SetDependents():
            set_dependents(decision, command)
        case SetOrderExtensions():
            modify_order_extensions(decision, command)
        case SetTradeExtensions():
            modify_trade_extensions(decision, command)
        case Configure():
            configure(decision, command)
        case TransferFunds():
            transfer_funds(decision, command)
        case OpenAccount():
            open_account(decision, command)
        case Finance():
            finance(decision)
        case _:
            raise TypeError(f"unknown command: {type(command).__name__}")


def _place(decision: Decision, command: PlaceOrder) -> None:
    if isinstance(command.order, DependentRequest):
        place_dependent(decision, command.order)
    else:
        place_entry(decision, command.order)
