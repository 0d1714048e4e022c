"""What clients read: the account and everything in it as the wire shows it, at the prices of an instant."""

from keydesk_practice.engine.views.accounts import (
    Touched,
    Views,
    account,
    account_lists,
    changes,
    changes_lists,
    margin_available,
    state,
    state_lists,
    summary,
    totals,
)
from keydesk_practice.engine.views.resources import order, position, trade, trade_summary
from keydesk_practice.engine.views.valuation import TradeWorth, Worth, client_price, trade_worths

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
