"""What happens when the engine is told something: each command has its rules in a room of its own."""

from keydesk_practice.engine.commands import (
    CancelOrder,
    ClosePosition,
    CloseTrade,
    Command,
    Configure,
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
from keydesk_practice.engine.configuring import configure, open_account, transfer_funds
from keydesk_practice.engine.fills.closing import close_position, close_trade
from keydesk_practice.engine.financing import finance
from keydesk_practice.engine.orders.changing_orders import (
    cancel_order,
    relabel_order,
    relabel_trade,
    replace_order,
)
from keydesk_practice.engine.orders.entries import place_entry
from keydesk_practice.engine.orders.placing_dependents import place_dependent
from keydesk_practice.engine.orders.protecting import set_dependents
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.requests import DependentRequest
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.ticking import tick
from keydesk_practice.engine.transactions import Transaction


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
