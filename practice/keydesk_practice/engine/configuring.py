"""Opening, funding and configuring an account."""

from decimal import Decimal

from keydesk_practice.engine.commands import Configure, OpenAccount, TransferFunds
from keydesk_practice.engine.money import home
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.transactions import (
    AccountCreated,
    ClientConfigured,
    ClientConfigureRejected,
    FundsTransferred,
    TransferFundsRejected,
)
from keydesk_practice.engine.valuation import CLOSEOUT_SHARE, margin_available, margin_call_share

LONGEST_ALIAS = 128
LARGEST_TRANSFER = Decimal(1_000_000_000_000)


def open_account(decision: Decision, command: OpenAccount) -> None:
    """Create, name and fund the account: three events, as the service's own accounts begin."""
    site, division, user, number = (int(part) for part in _parts(decision.account.id))
    decision.record(
        AccountCreated,
        division_id=division,
        site_id=site,
        account_user_id=user,
        account_number=number,
        home_currency=decision.account.currency,
    )
    if command.alias is not None:
        decision.begin_batch()
        decision.record(ClientConfigured, alias=command.alias)
    if command.deposit:
        decision.begin_batch()
        transfer_funds(decision, TransferFunds(amount=command.deposit))


def _parts(account_id: str) -> list[str]:
    return account_id.split("-")


def transfer_funds(decision: Decision, command: TransferFunds) -> None:
    """Move money in or out; not more out than is free."""
    members = {"funding_reason": command.funding_reason, "comment": command.comment}
    amount = home(command.amount) if abs(command.amount) <= LARGEST_TRANSFER else command.amount
    if problem := _transfer_problem(decision, amount):
        decision.record(TransferFundsRejected, amount=amount, reject_reason=problem, **members)
        return
    balance = decision.account.balance + amount
    decision.record(FundsTransferred, amount=amount, account_balance=balance, **members)


def _transfer_problem(decision: Decision, amount: Decimal) -> str | None:
    if not amount or abs(amount) > LARGEST_TRANSFER:
        return "AMOUNT_INVALID"
    if amount > 0:
        return None
    free = min(decision.account.balance, margin_available(decision.account, decision.market))
    return "INSUFFICIENT_FUNDS" if -amount > free else None


def configure(decision: Decision, command: Configure) -> None:
    """Change the client's own settings, all that is given or nothing."""
    members = {"alias": command.alias, "margin_rate": command.margin_rate}
    if problem := _configure_problem(decision, command):
        decision.record(ClientConfigureRejected, reject_reason=problem, **members)
        return
    decision.record(ClientConfigured, **members)


def _configure_problem(decision: Decision, command: Configure) -> str | None:
    if command.unreadable is not None:
        return command.unreadable
    if command.alias is None and command.margin_rate is None:
        return "CLIENT_CONFIGURE_DATA_MISSING"
    if command.alias is not None and len(command.alias) > LONGEST_ALIAS:
        return "ALIAS_INVALID"
    if command.margin_rate is None:
        return None
    if not 0 < command.margin_rate <= 1:
        return "MARGIN_RATE_INVALID"
    return _margin_rate_problem(decision, command.margin_rate)


def _margin_rate_problem(decision: Decision, rate: Decimal) -> str | None:
    """A rate under which the positions held would be called or closed is refused."""
    trial = decision.account.copy()
    trial.margin_rate = rate
    share = margin_call_share(trial, decision.market)
    if share * CLOSEOUT_SHARE >= 1:
        return "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT"
    return "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL" if share >= 1 else None
