"""What clients read: the account and everything in it as the wire shows it, at the prices of an instant."""

from keydesk_practice.engine.views.accounts import (
    Views,
    account,
    account_lists,
    margin_available,
    state,
    state_lists,
    summary,
    totals,
)
from keydesk_practice.engine.views.changes import Touched, changes, changes_lists
from keydesk_practice.engine.views.orders import order
from keydesk_practice.engine.views.positions import position
from keydesk_practice.engine.views.prices import client_price
from keydesk_practice.engine.views.trades import trade, trade_summary
from keydesk_practice.engine.views.worth import TradeWorth, Worth, trade_worths

__all__ = [
    "Touched",
    "TradeWorth",
    "Views",
    "Worth",
    "account",
    "account_lists",
    "changes",
    "changes_lists",
    "client_price",
    "margin_available",
    "order",
    "position",
    "state",
    "state_lists",
    "summary",
    "totals",
    "trade",
    "trade_summary",
    "trade_worths",
]
