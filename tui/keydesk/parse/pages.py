"""The pages that the command line opens by name; the instrument's may name another instrument."""

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

PageName = Literal[
    "account",
    "accounts",
    "exposure",
    "instrument",
    "outcomes",
    "journal",
    "note",
    "statistics",
    "calendar",
    "what-if",
    "day",
    "week",
    "limits",
    "sessions",
    "hours",
    "audit",
    "plan",
    "alerts",
    "tag",
    "configure",
    "settings",
]
PAGES: Mapping[PageName, str] = {
    "account": "shows the account in full",
    "accounts": "shows every account of your profiles",
    "exposure": "shows the exposure by currency and the risk together",
    "instrument": "shows the terms of the instrument",
    "outcomes": "shows what became of the orders, slippage, times",
    "journal": "shows your trades, their R and notes",
    "note": "writes tags and note of the selected trade",
    "statistics": "shows statistics of your closed trades",
    "calendar": "shows the result of each trading day",
    "what-if": "shows what another stop or target would have made",
    "day": "shows the last trading day in short",
    "week": "shows the last trading week in short",
    "limits": "shows your limits",
    "sessions": "shows the market hours",
    "hours": "shows the market hours",
    "audit": "shows the audit log",
    "alerts": "shows your alerts, and which fired",
    "plan": "plans the exit of the selected trade",
    "tag": "edits tag and comment of the selected trade or order",
    "settings": "changes how the desk looks and notifies",
    "configure": "changes name and margin rate of the account",
}


OrdersIn = Literal["ALL", "FILLED", "CANCELLED", "TRIGGERED", "PENDING"]
ORDER_STATES: tuple[OrdersIn, ...] = get_args(OrdersIn)
"""What the page of the account's orders can show."""


class ShowOrders(Struct, frozen=True):
    """Show the orders of the account in a state."""

    state: OrdersIn

    @property
    def text(self) -> str:
        """Return what it does."""
        state = "in every state" if self.state == "ALL" else f"that are {self.state.lower()}"
        return f"shows the orders of the account {state}"


class ShowPage(Struct, frozen=True):
    """Show a page of its own."""

    name: PageName
    instrument: str = ""  # that it is about; "": the one that the keys act on

    @property
    def text(self) -> str:
        """Return what it does."""
        about = f" {self.instrument.replace('_', '/')}" if self.instrument else ""
        return f"{PAGES[self.name]}{about}"
