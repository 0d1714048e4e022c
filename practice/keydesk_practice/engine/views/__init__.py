"""The account and its orders, trades, positions and prices as JSON values, at the prices of an instant."""

from keydesk_practice.engine.margin import AccountValuation, TradeValuation, trade_valuations
from keydesk_practice.engine.views.account_views import (
    ChangedItems,
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
from keydesk_practice.engine.views.resources import (
    client_price,
    order,
    position,
    trade,
    trade_summary,
)

__all__ = [
    "AccountValuation",
    "ChangedItems",
    "TradeValuation",
    "Views",
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
    "trade_valuations",
]
