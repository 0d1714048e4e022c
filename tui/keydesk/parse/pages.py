"""The pages that the command line opens by name; the instrument's may name another instrument."""

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

from keydesk.values import Task

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


class Page(Struct, frozen=True):
    """A page: what opening it does, and the id of the key that opens it, too."""

    text: str
    key: str = ""
    task: Task = Task.MOVE
    is_listed: bool = True  # False: another name of one that is


PAGES: Mapping[PageName, Page] = {
    "account": Page("shows the account in full", "account-page", Task.REVIEW),
    "accounts": Page("shows every account of your profiles"),
    "exposure": Page(
        "shows the exposure by currency and the risk together", "exposure-page", Task.REVIEW
    ),
    "instrument": Page("shows the terms of the instrument", "instrument-page", Task.READ),
    "outcomes": Page("shows what became of the orders, slippage, times", "outcomes", Task.REVIEW),
    "journal": Page("shows your trades, their R and notes", "journal", Task.REVIEW),
    "note": Page("writes tags and note of the selected trade", "note", Task.REVIEW),
    "statistics": Page("shows statistics of your closed trades", "statistics", Task.REVIEW),
    "calendar": Page("shows the result of each trading day", task=Task.REVIEW),
    "what-if": Page("shows what another stop or target would have made", task=Task.REVIEW),
    "day": Page("shows the last trading day in short", "day-page", Task.REVIEW),
    "week": Page("shows the last trading week in short", task=Task.REVIEW),
    "limits": Page("shows your limits", "limits", Task.REVIEW),
    "sessions": Page("shows the market hours", "sessions", Task.READ),
    "hours": Page("shows the market hours", is_listed=False),
    "audit": Page("shows the audit log", "log-audit", Task.REVIEW),
    "alerts": Page("shows your alerts, and which fired", "alerts", Task.MANAGE),
    "plan": Page("plans the exit of the selected trade", "exit-plan", Task.MANAGE),
    "tag": Page("edits tag and comment of the selected trade or order", "labels", Task.MANAGE),
    "settings": Page("changes how the desk looks and notifies"),
    "configure": Page("changes name and margin rate of the account"),
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
        return f"{PAGES[self.name].text}{about}"
