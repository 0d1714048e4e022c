"""What happens when the engine is told something: each command has its rules in a room of its own.

The market moved: orders expire and trigger, owed closes are made up for, and the margin rules look.
"""

from collections.abc import Iterable

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
from keydesk_practice.engine.configuring import configure, finance, open_account, transfer_funds
from keydesk_practice.engine.fills.closing import close_position, close_trade
from keydesk_practice.engine.fills.filling import cancel, fill_or_cancel
from keydesk_practice.engine.margin_calls import close_what_is_owed, margin_moved, watch_margin
from keydesk_practice.engine.orders.changes import (
    cancel_order,
    relabel_order,
    relabel_trade,
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


def tick(account: Account, command: Tick, market: Market) -> Decision | None:
    """Return what the prices of this instant set off, None when nothing; then nothing is copied."""
    expired = sorted(id_ for id_, time in account.expiries.items() if time <= market.now)
    triggered = sorted(_triggered(account, command, market))
    if not (expired or triggered or margin_moved(account, command, market)):
        return None
    decision = Decision(account, market)
    for order_id in expired:
        decision.begin_batch()
        cancel(decision, decision.account.orders[order_id], "TIME_IN_FORCE_EXPIRED")
    for order_id in triggered:
        if order_id in decision.account.orders:  # a fill before it may have ended it
            decision.begin_batch()
            fill_or_cancel(decision, order_id)
    close_what_is_owed(decision)
    watch_margin(decision)
    return decision


def _triggered(account: Account, command: Tick, market: Market) -> Iterable[int]:
    for instrument, resting in account.triggers.items():
        if command.instruments is not None and instrument not in command.instruments:
            continue
        quote = market.quote(instrument)
        if quote.tradeable:
            yield from (trigger.order_id for trigger in resting if is_met(trigger, quote))


def decide(account: Account, command: Command, market: Market) -> tuple[Transaction, ...]:
    """Return what happens; the account stays as it is until `apply` is given each transaction."""
    decision = decision_on(account, command, market)
    return () if decision is None else tuple(decision.transactions)


def decision_on(account: Account, command: Command, market: Market) -> Decision | None:
    """Return what happens together with the account after it; None when a tick sets nothing off."""
    if isinstance(command, Tick):
        return tick(account, command, market)
    decision = Decision(account, market, command.request_id)
    _carry_out(decision, command)
    return decision


def _carry_out(decision: Decision, command: Command) -> None:  # noqa: C901, PLR0912 - one line for each command
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
            relabel_order(decision, command)
        case SetTradeExtensions():
            relabel_trade(decision, command)
        case Configure():
            configure(decision, command)
        case TransferFunds():
            transfer_funds(decision, command)
        case OpenAccount():
            open_account(decision, command)
        case Finance():
            finance(decision)
        case _:
            raise TypeError(f"no command: {type(command).__name__}")


def _place(decision: Decision, command: PlaceOrder) -> None:
    if isinstance(command.order, DependentRequest):
        place_dependent(decision, command.order)
    else:
        place_entry(decision, command.order)
