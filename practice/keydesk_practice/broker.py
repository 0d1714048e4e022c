"""The broker: accounts, market and ledger behind one door, without any HTTP."""

import asyncio
from collections.abc import Callable

from keydesk_practice.desks import AccountDesk
from keydesk_practice.ledger import Ledger, LedgerAccount
from keydesk_practice.options import Options


class Broker:
    """The shell around the engine: it owns the clock, the ledger and the subscribers."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.desks: dict[str, AccountDesk] = {}
        self.failed = False
        self.when_failed: Callable[[], None] = lambda: None

    @classmethod
    def open(cls, options: Options, owners: int) -> "Broker":
        """Open the ledger and bring every account to where it was."""
        broker = cls(Ledger.open(options.data))
        for owner in range(owners):
            for account in _default_accounts(owner):
                broker.desks[account.id] = AccountDesk(account)
        return broker

    def accounts_of(self, owner: int) -> list[LedgerAccount]:
        """Return the accounts that a token opens."""
        return [desk.account for desk in self.desks.values() if desk.account.owner == owner]

    async def run(self) -> None:
        """Let the market go on until cancelled."""
        await asyncio.Event().wait()

    async def settled(self) -> None:
        """Return when everything decided so far is on disk."""

    def end_streams(self) -> None:
        """End every stream."""

    def close(self) -> None:
        """Give the ledger back."""
        self._ledger.close()


FIRST_USER = 1_000_001


def _default_accounts(owner: int) -> list[LedgerAccount]:
    user = FIRST_USER + owner
    return [
        LedgerAccount(f"101-001-{user}-001", owner, "USD", hedging=False),
        LedgerAccount(f"101-001-{user}-002", owner, "EUR", hedging=True),
    ]
