"""Bringing an account back to where it was: its newest snapshot, the transactions since, and what the market showed it.

A snapshot is only a shortcut: it is used when it has the form that this engine keeps accounts in, and the ledger can
always do without.
"""

import json

from keydesk_practice.engine.state.account import Account, Terms, empty_account
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.state.order_states import ImpossibleTransition
from keydesk_practice.engine.state.records import Mark
from keydesk_practice.engine.transactions import from_wire
from keydesk_practice.errors import LedgerUnavailable
from keydesk_practice.ledger.ended_shelf import EndedShelf
from keydesk_practice.ledger.keeping import account_of, form, kept_account
from keydesk_practice.ledger.ledger import Ledger, LedgerAccount
from keydesk_practice.ledger.ledger_file import BEGIN_ANEW

WORTH_A_SNAPSHOT = 5_000  # transactions that would have to be read again
PIECE = 1_000


def restored(ledger: Ledger, account: LedgerAccount) -> Account:
    """Return the account as the ledger says it is."""
    kept = ledger.snapshot(account.id, form())
    if kept is None:
        ledger.forget_ended(account.id)
        begun, state = 0, new_account(account)
    else:
        begun, state = kept[0], account_of(json.loads(kept[1]))
    state.ended = EndedShelf(ledger, account.id)
    _fold(ledger, state)
    for order_id, level in ledger.marks(account.id):
        if order_id in state.orders:
            apply(state, Mark(order_id, level))
    ledger.forget_marks(account.id, state.orders)
    if state.last_transaction_id - begun > WORTH_A_SNAPSHOT:
        keep_snapshot(ledger, state)
    return state


def keep_snapshot(ledger: Ledger, state: Account) -> None:
    """Note the account as it stands, so that the next start need not read what made it so."""
    kept = json.dumps(kept_account(state), separators=(",", ":")).encode("ascii")
    ledger.keep_snapshot(state.id, state.last_transaction_id, form(), kept)


def _fold(ledger: Ledger, state: Account) -> None:
    while True:
        first = state.last_transaction_id + 1
        texts = ledger.bodies(state.id, first, first + PIECE - 1)
        for text in texts:
            _apply_text(state, text)
        ledger.commit()  # what ended on the way
        if not texts:
            return


def _apply_text(state: Account, text: str) -> None:
    try:
        apply(state, from_wire(json.loads(text)))
    except (LookupError, ValueError, TypeError, ArithmeticError, ImpossibleTransition) as error:
        place = f"transaction {state.last_transaction_id + 1} of account {state.id}"
        raise LedgerUnavailable(
            f"the ledger is damaged: {place} cannot be applied ({type(error).__name__}): {BEGIN_ANEW}"
        ) from error


def new_account(account: LedgerAccount) -> Account:
    """Return the account before anything happened to it."""
    _, _, user, _ = account.id.split("-")
    terms = Terms(currency=account.currency, hedging=account.hedging, fifo=account.fifo)
    return empty_account(account.id, int(user), terms)
