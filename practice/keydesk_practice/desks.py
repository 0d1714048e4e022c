"""One account at the broker: who it belongs to and what it holds."""

from dataclasses import dataclass

from keydesk_practice.ledger import LedgerAccount


@dataclass(slots=True)
class AccountDesk:
    """An account's place at the broker."""

    account: LedgerAccount
