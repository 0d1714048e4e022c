"""The pages that the command line opens by name, a row each; the instrument's may name another instrument."""

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

from keydesk.values import Task


class Page(Struct, frozen=True):
    """A page: what opening it does, and the id of the key that opens it, too; without a key, the action that opens it."""

    text: str
    key: str = ""
    task: Task = Task.MOVE
    action: str = ""
    is_listed: bool = True  # False: another name of one that is


PAGES: Mapping[str, Page] = {
    "account": Page("shows the account in full", "account-page", Task.REVIEW),
    "accounts": Page("shows every account of your profiles", action="accounts"),
    "exposure": Page(
        "shows the exposure by currency and the risk together", "exposure-page", Task.REVIEW
    ),
    "instrument": Page("shows the terms of the instrument", "instrument-page", Task.READ),
    "outcomes": Page("shows what became of the orders, slippage, times", "outcomes", Task.REVIEW),
    "journal": Page("shows your trades, their R and notes", "journal", Task.REVIEW),
    "note": Page("writes tags and note of the selected trade", "note", Task.REVIEW),
    "statistics": Page("shows statistics of your closed trades", "statistics", Task.REVIEW),
    "calendar": Page(
        "shows the result of each trading day", task=Task.REVIEW, action="statistics(7)"
    ),
    "what-if": Page(
        "shows what another stop or target would have made",
        task=Task.REVIEW,
        action="statistics(8)",
    ),
    "day": Page("shows the last trading day in short", "day-page", Task.REVIEW),
    "week": Page("shows the last trading week in short", task=Task.REVIEW, action="week"),
    "limits": Page("shows your limits", "limits", Task.REVIEW),
    "sessions": Page("shows the market hours", "sessions", Task.READ),
    "hours": Page("shows the market hours", action="sessions", is_listed=False),
    "audit": Page("shows the audit log", "log-audit", Task.REVIEW),
    "alerts": Page("shows your alerts, and which fired", "alerts", Task.MANAGE),
    "plan": Page("plans the exit of the selected trade", "exit-plan", Task.MANAGE),
    "tag": Page("edits tag and comment of the selected trade or order", "labels", Task.MANAGE),
    "settings": Page("changes how the desk looks and notifies", action="settings"),
    "configure": Page("changes name and margin rate of the account", action="configure"),
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

    name: str
    instrument: str = ""  # that it is about; "": the one that the keys act on

    @property
    def text(self) -> str:
        """Return what it does."""
        about = f" {self.instrument.replace('_', '/')}" if self.instrument else ""
        return f"{PAGES[self.name].text}{about}"
