"""Searching and copying the transactions of one account, whichever ledger holds them."""

import json

from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.records import (
    LedgerAccount,
    LedgerBatch,
    MarkRecord,
    WireTransaction,
    entry_of,
)


def first_id_not_before(ledger: LedgerInterface, account: str, time: int) -> int:
    """Return the lowest id that happened at `time` or later; one above the last when none did."""
    low, high = 1, ledger.last_id(account) + 1
    while low < high:  # ids and times ascend together
        middle = (low + high) // 2
        happened = ledger.time_of(account, middle)
        if happened is not None and happened < time:
            low = middle + 1
        else:
            high = middle
    return low


def clone_account(ledger: LedgerInterface, source: str, copy: LedgerAccount) -> None:
    """Store a copy of an account's transactions and marks under another id."""
    number = int(copy.id.rpartition("-")[2])
    entries = []
    for text in ledger.bodies(source, 1, ledger.last_id(source)):
        body = WireTransaction(json.loads(text), accountID=copy.id)
        if "accountNumber" in body:
            body["accountNumber"] = number
        entries.append(entry_of(body, ledger.time_of(source, int(body["id"])) or 0))
    ledger.create_account(copy, entries)
    marks = (MarkRecord(order_id, level) for order_id, level in ledger.marks(source))
    ledger.commit([LedgerBatch(copy.id, marks)])
