"""The desk's window as signing in and changing the account see it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from keydesk.widgets.terminal_app import TerminalApp

if TYPE_CHECKING:
    from keydesk.app.account_sources import AccountAddress, AccountSource
    from keydesk.app.desk import TradingDesk
    from keydesk.app.desk_accounts import DeskAccounts
    from keydesk.text.sanitize import Printable


class AccountWindow(TerminalApp[int], inherit_bindings=False):
    """A window that has one account open and can be given another one."""

    accounts: DeskAccounts
    desk: TradingDesk
    target: AccountAddress | None  # None before it is known
    is_changing = False  # another account is being put in place
    are_keys_dropped = False  # some were typed meanwhile

    @property
    @abstractmethod
    def account_name(self) -> Printable:
        """The open account in words."""

    @property
    @abstractmethod
    def source_name(self) -> str:
        """The profile that is open, or the practice market."""

    @abstractmethod
    async def change_desk(self, source: AccountSource, target: AccountAddress) -> None:
        """Build the desk anew on another account, disarmed, and open that; the one before has been left."""
