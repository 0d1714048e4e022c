"""What clients read: the account and everything in it as the wire shows it, at the prices of an instant."""

from keydesk_practice.engine.views.accounts import account, state, summary
from keydesk_practice.engine.views.changes import changes
from keydesk_practice.engine.views.orders import order
from keydesk_practice.engine.views.positions import position
from keydesk_practice.engine.views.prices import client_price
from keydesk_practice.engine.views.trades import trade, trade_summary

__all__ = [
    "account",
    "changes",
    "client_price",
    "order",
    "position",
    "state",
    "summary",
    "trade",
    "trade_summary",
]
