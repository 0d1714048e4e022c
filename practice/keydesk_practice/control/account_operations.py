"""Accounts and tokens: add, reset, clone, fund, and set the margin."""

import re
import secrets
from collections.abc import Iterable
from decimal import Decimal

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.broker.startup import (
    FIRST_USER,
    create_account,
    default_accounts,
    replace_account,
    restore_session,
)
from keydesk_practice.control.bodies import (
    AccountState,
    AddAccount,
    AddToken,
    NoMembers,
    ResetAccount,
    SetMargin,
    TokenAccounts,
    Transfer,
)
from keydesk_practice.control.context import Control, account_state
from keydesk_practice.control.replay_operations import checked_balance
from keydesk_practice.engine.commands import Command, Configure, TransferFunds
from keydesk_practice.http.error_responses import HttpError, invalid_value, reject_message
from keydesk_practice.http.middleware import TOKEN_FACT, digest_of
from keydesk_practice.ledger.interface import copy_account
from keydesk_practice.ledger.records import LedgerAccount
from keydesk_practice.market.instruments import CURRENCIES
from keydesk_practice.options import MAX_TOKEN, MIN_TOKEN

MAX_ACCOUNTS = 999  # of a token: the last part of an id has three digits
FIRST_ADDED_OWNER = 100_000  # above every token of the command line, so that ids never meet
_TOKEN = re.compile(rf"[!-~]{{{MIN_TOKEN},{MAX_TOKEN}}}")


async def add_account(control: Control, request: AddAccount) -> AccountState:
    """Add an account to a token."""
    account = _account_to_add(control, request)
    create_account(
        control.broker,
        account,
        checked_balance(request.balance),
        request.alias,
        _margin_rate(request.margin_rate),
    )
    return account_state(control.session(account.id))


def _account_to_add(control: Control, request: AddAccount) -> LedgerAccount:
    """Return the account that a request adds; raise a 400 or 409 `HttpError`."""
    if request.owner not in control.authenticator.owners():
        raise invalid_value("owner", ": there is no such token")
    account = LedgerAccount(
        _next_id(control.broker.sessions, request.owner),
        request.owner,
        _currency(request.currency),
        request.hedging,
        request.fifo,
    )
    if request.hedging and request.fifo:
        raise invalid_value("fifo", ": an account with hedging has no FIFO rules")
    return account


async def reset_account(control: Control, request: ResetAccount, account: str) -> AccountState:
    """Begin an account anew under its id."""
    session = control.session(account)
    new = _account_after_reset(session.account, request)
    balance, rate = checked_balance(request.balance), _margin_rate(request.margin_rate)
    control.broker.commits.flush()
    replace_account(control.broker, new, balance, rate)
    session.transactions.close()
    return account_state(control.session(new.id))


def _account_after_reset(old: LedgerAccount, request: ResetAccount) -> LedgerAccount:
    """Return the account that begins anew in place of an old one; raise a 400 `HttpError`."""
    hedging = old.hedging if request.hedging is None else request.hedging
    return LedgerAccount(
        old.id,
        old.owner,
        _currency(request.currency or old.currency),
        hedging,
        fifo=old.fifo and not hedging,
    )


async def clone_account(control: Control, _: NoMembers, account: str) -> AccountState:
    """Add a copy of an account, with its orders, trades and history, to the same token."""
    session = control.session(account)
    control.broker.commits.flush()
    copy = LedgerAccount(
        _next_id(control.broker.sessions, session.account.owner),
        session.account.owner,
        session.account.currency,
        session.account.hedging,
        session.account.fifo,
    )
    copy_account(control.broker.ledger, session.account.id, copy)
    restore_session(control.broker, copy)
    return account_state(control.session(copy.id))


async def transfer(control: Control, request: Transfer, account: str) -> AccountState:
    """Deposit or withdraw."""
    session = control.session(account)
    await _execute(control, session, TransferFunds(amount=request.amount, comment=request.comment))
    return account_state(session)


async def set_margin(control: Control, request: SetMargin, account: str) -> AccountState:
    """Set the margin rate."""
    session = control.session(account)
    await _execute(control, session, Configure(margin_rate=request.margin_rate))
    return account_state(session)


async def add_token(control: Control, request: AddToken) -> TokenAccounts:
    """Add a token; only its digest is kept, so the answer is the one place that shows it."""
    token = _checked_token(request)
    digest = digest_of(token.encode())
    if control.authenticator.knows(digest):
        raise HttpError(409, "This token is in use already: choose another one")
    owner = max((FIRST_ADDED_OWNER - 1, *control.authenticator.owners())) + 1
    control.broker.ledger.set_fact(f"{TOKEN_FACT}{owner}", digest.hex())
    control.authenticator.add(digest, owner)
    accounts = default_accounts(owner, fifo=control.options.fifo)
    for account in accounts:
        create_account(control.broker, account)
    return TokenAccounts(token=token, owner=owner, accounts=tuple(one.id for one in accounts))


def _checked_token(request: AddToken) -> str:
    """Return the token of a request, a random one when it names none; raise a 400 `HttpError`."""
    token = request.token or secrets.token_hex(32)
    if not _TOKEN.fullmatch(token):
        raise invalid_value("token", f": use {MIN_TOKEN} to {MAX_TOKEN} printable ASCII characters")
    return token


async def _execute(control: Control, session: AccountSession, command: Command) -> None:
    made = control.broker.execute(session, command)
    await control.broker.commits.wait_until_committed(session.account.id)
    for one in made:
        if reason := one.get("rejectReason"):
            raise HttpError(409, reject_message(reason), reason)


def _next_id(known: Iterable[str], owner: int) -> str:
    """Return the id of a token's next account; raise a 409 `HttpError` when it has too many."""
    user = FIRST_USER + owner
    used = {int(id_.rpartition("-")[2]) for id_ in known if f"-{user}-" in id_}
    number = max(used, default=0) + 1
    if number > MAX_ACCOUNTS:
        raise HttpError(409, f"A token has {MAX_ACCOUNTS} accounts at most: reset one of them")
    return f"101-001-{user}-{number:03}"


def _currency(name: str) -> str:
    if name not in {*CURRENCIES, "EUR"}:
        raise invalid_value("currency", ": use one with rates, such as USD, EUR or GBP")
    return name


def _margin_rate(rate: Decimal | None) -> Decimal | None:
    if rate is not None and not 0 < rate <= 1:
        raise invalid_value("marginRate", ": use a fraction above 0, at most 1")
    return rate
