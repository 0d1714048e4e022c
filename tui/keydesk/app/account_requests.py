"""What forms ask of the open account: orders, a price, the summary; each in a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.app import App

from keydesk.app.desk_account import DeskAccount
from keydesk.keys.guarded_app import NoticeLevel

if TYPE_CHECKING:
    from keydesk.calc.orders.instructions import Instruction
    from keydesk.forms.sheet import FormContext


class AccountRequests:
    """Runs what forms ask of the account.

    Args:
        app: Runs the workers.
        account: Is asked, once it is open.
        tell: Shows one line to the trader.
    """

    def __init__(
        self, app: App[int], account: DeskAccount, tell: Callable[[NoticeLevel, str], None]
    ) -> None:
        self._app, self._account, self._tell = app, account, tell

    def facts_for_form(self, context: FormContext) -> FormContext:
        """Return the context of a form with what the open account knows of orders."""
        if self._account.connection is None:
            return context
        commands = self._account.connection.commands
        return replace(
            context,
            no_orders=commands.no_orders,
            sent_like_this=commands.sent_like_this,
            take_refused=commands.refused.take,
            quote_trouble=lambda instrument: commands.quote_trouble.get(instrument, ""),
        )

    def carry_out(self, instruction: Instruction | None) -> None:
        """Start a command in its own worker."""
        if instruction is None:
            return
        if self._account.connection is None:
            self._tell("bad", "NOT SENT: the account is not open yet")
            return
        self._app.run_worker(
            self._account.connection.carry_out(instruction),
            type(instruction).__name__,
            group="commands",
            exit_on_error=False,
        )

    def ask_price(self, instrument: str) -> None:
        """Read the price of an instrument again for an open form."""
        if self._account.connection is not None:
            asking = self._account.connection.commands.requote(instrument)
            name = f"price of {instrument}"
            self._app.run_worker(asking, name, group="quotes", exit_on_error=False)
