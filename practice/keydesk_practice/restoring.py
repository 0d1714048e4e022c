"""Bringing an account back to where it was: its newest snapshot, the transactions since, and what the market showed it.

A snapshot is only a shortcut: it is used when the very same engine made it, and the ledger can always do without.
"""

import hashlib
import json
import pickle
import sys
from functools import cache
from pathlib import Path

from keydesk_practice import engine
from keydesk_practice.engine.account import Account, Terms, empty_account
from keydesk_practice.engine.apply import apply
from keydesk_practice.engine.records import Mark
from keydesk_practice.engine.transactions import from_wire
from keydesk_practice.ledger import Ledger, LedgerAccount

WORTH_A_SNAPSHOT = 5_000  # transactions that would have to be read again


def restored(ledger: Ledger, account: LedgerAccount) -> Account:
    """Return the account as the ledger says it is."""
    kept = ledger.snapshot(account.id, _made_by())
    last, state = (0, new_account(account)) if kept is None else (kept[0], _unpacked(kept[1]))
    for text in ledger.bodies(account.id, last + 1, sys.maxsize):
        apply(state, from_wire(json.loads(text)))
    for order_id, level in ledger.marks(account.id):
        if order_id in state.orders:
            apply(state, Mark(order_id, level))
    ledger.forget_marks(account.id, state.orders)
    if state.last_transaction_id - last > WORTH_A_SNAPSHOT:
        ledger.keep_snapshot(account.id, state.last_transaction_id, _made_by(), pickle.dumps(state))
    return state


def new_account(account: LedgerAccount) -> Account:
    """Return the account before anything happened to it."""
    _, _, user, _ = account.id.split("-")
    return empty_account(
        account.id, int(user), Terms(currency=account.currency, hedging=account.hedging)
    )


def _unpacked(state: bytes) -> Account:
    found = pickle.loads(state)  # noqa: S301 - our own, from the owner's private file
    assert isinstance(found, Account)  # noqa: S101
    return found


@cache
def _made_by() -> str:
    """Return a fingerprint of the engine: another engine folds anew."""
    digest = hashlib.sha256(sys.version.encode())
    folder = Path(engine.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
