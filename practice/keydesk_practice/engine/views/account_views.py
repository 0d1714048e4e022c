"""The account as JSON values: whole, its numbers only, what changes with the prices, and what transactions changed.

Lists are returned as iterators that make their items on demand, so that a server can interleave other work.
"""

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct, field

from keydesk_practice.engine.margin import (
    CLOSEOUT_FACTOR,
    DEFAULT_MARGIN_RATE,
    AccountValuation,
    margin_call_percent,
)
from keydesk_practice.engine.quotes import ZERO_MONEY, Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.transactions import (
    DailyFinanced,
    OrderCancelled,
    OrderCreated,
    OrderFilled,
    Transaction,
    to_wire,
)
from keydesk_practice.engine.views.resources import (
    calculated_position_state,
    calculated_trade_state,
    dynamic_order_state,
    order,
    position,
    trade_summary,
)
from keydesk_practice.engine.wire_form import plain, rfc3339, round_percent, strip_zeros

Views = Iterator[dict[str, Any]]


Ids = dict[int, None]  # an ordered set


class ChangedItems(Struct):
    """The ids of orders, trades and positions that some transactions changed, in the order of the changes."""

    created: Ids = field(default_factory=dict)
    cancelled: Ids = field(default_factory=dict)
    filled: Ids = field(default_factory=dict)
    opened: Ids = field(default_factory=dict)
    reduced: Ids = field(default_factory=dict)
    closed: Ids = field(default_factory=dict)
    positions: dict[str, None] = field(default_factory=dict)

    def add(self, transaction: Transaction) -> None:
        """Add the ids of what a transaction changed."""
        match transaction:
            case OrderCreated():
                self.created[transaction.id] = None
            case OrderCancelled():
                self.cancelled[transaction.order_id] = None
            case OrderFilled():
                self._add_fill(transaction)
            case DailyFinanced():
                self.positions |= dict.fromkeys(
                    part.instrument for part in transaction.position_financings
                )

    def _add_fill(self, fill: OrderFilled) -> None:
        self.filled[fill.order_id] = None
        self.positions[fill.instrument] = None
        if fill.trade_opened is not None:
            self.opened[fill.trade_opened.trade_id] = None
        if fill.trade_reduced is not None:
            self.reduced[fill.trade_reduced.trade_id] = None
        self.closed |= dict.fromkeys(part.trade_id for part in fill.trades_closed or ())


def account(account: Account, market: Market) -> dict[str, Any]:
    """Return the v20 `Account`: numbers, open trades, all positions ever held, pending orders."""
    valuation = AccountValuation(account, market)
    lists = account_lists(account, market, valuation)
    return {**_summary(account, valuation), **{name: list(items) for name, items in lists.items()}}


def account_lists(
    account: Account, market: Market, valuation: AccountValuation
) -> dict[str, Views]:
    """Return the lists of the v20 `Account`."""
    return {
        "trades": (
            trade_summary(account, trade, market, valuation.trades.get(trade.id))
            for trade in account.trades.values()
        ),
        "positions": (
            position(account, name, market, valuation.position(name)) for name in account.positions
        ),
        "orders": (order(pending, market) for pending in account.orders.values()),
    }


def summary(
    account: Account, market: Market, valuation: AccountValuation | None = None
) -> dict[str, Any]:
    """Return the v20 `AccountSummary`: the account without its lists."""
    return _summary(account, valuation or AccountValuation(account, market))


def state(account: Account, market: Market) -> dict[str, Any]:
    """Return the v20 `AccountChangesState`: everything that changes with the prices, and the totals."""
    valuation = AccountValuation(account, market)
    lists = state_lists(account, market, valuation)
    return {**totals(account, valuation), **{name: list(items) for name, items in lists.items()}}


def margin_available(account: Account, valuation: AccountValuation) -> Decimal:
    """Return the margin left for new positions, from a valuation of the account."""
    return max(
        ZERO_MONEY, account.balance + valuation.total("unrealized") - valuation.total("margin")
    )


def totals(account: Account, valuation: AccountValuation) -> dict[str, Any]:
    """Return the account's totals, those that change with the prices first."""
    return {**_calculated_totals(account, valuation), **_accumulated_totals(account)}


def state_lists(account: Account, market: Market, valuation: AccountValuation) -> dict[str, Views]:
    """Return the members of orders, trades and positions that change with the prices."""
    states = (dynamic_order_state(pending, market) for pending in account.orders.values())
    return {
        "orders": (one for one in states if one is not None),
        "trades": (calculated_trade_state(id_, trade) for id_, trade in valuation.trades.items()),
        "positions": (
            calculated_position_state(name, one) for name, one in valuation.positions.items()
        ),
    }


def changes(
    account: Account, transactions: Sequence[Transaction], market: Market
) -> dict[str, Any]:
    """Return the v20 `AccountChanges` of transactions; an order created and filled by them is in both lists."""
    touched = ChangedItems()
    for transaction in transactions:
        touched.add(transaction)
    lists = changes_lists(account, touched, market, AccountValuation(account, market))
    return {
        **{name: list(items) for name, items in lists.items()},
        "transactions": [to_wire(transaction) for transaction in transactions],
    }


def changes_lists(
    account: Account, touched: ChangedItems, market: Market, valuation: AccountValuation
) -> dict[str, Views]:
    """Return the lists of the v20 `AccountChanges`: what was changed, as it is now."""
    return {
        "ordersCreated": _orders(account, touched.created, market),
        "ordersCancelled": _orders(account, touched.cancelled, market),
        "ordersFilled": _orders(account, touched.filled, market),
        "ordersTriggered": iter(()),  # no current order type ends in TRIGGERED
        "tradesOpened": _trades(account, touched.opened, market),
        "tradesReduced": _trades(account, touched.reduced, market),
        "tradesClosed": _trades(account, touched.closed, market),
        "positions": (
            position(account, name, market, valuation.position(name)) for name in touched.positions
        ),
    }


def _summary(account: Account, valuation: AccountValuation) -> dict[str, Any]:
    return {
        **_details(account),
        **_accumulated_totals(account),
        **_calculated_totals(account, valuation),
    }


def _details(account: Account) -> dict[str, Any]:
    members: dict[str, Any] = {
        "id": account.id,
        "currency": account.currency,
        "createdByUserID": account.user_id,
        "createdTime": rfc3339(account.created_time),
        "guaranteedStopLossOrderMode": account.terms.guaranteed_mode,
        "openTradeCount": len(account.trades),
        "openPositionCount": sum(position.is_open for position in account.positions.values()),
        "pendingOrderCount": len(account.orders),
        "marginRate": plain(strip_zeros(account.margin_rate or DEFAULT_MARGIN_RATE)),
        "hedgingEnabled": account.terms.hedging,
        "lastTransactionID": str(account.last_transaction_id),
    }
    if account.alias is not None:
        members["alias"] = account.alias
    if account.last_order_fill_time is not None:
        members["lastOrderFillTimestamp"] = rfc3339(account.last_order_fill_time)
    if account.terms.guaranteed_mode != "DISABLED":
        members["guaranteedStopLossOrderParameters"] = {
            "mutabilityMarketOpen": account.terms.guaranteed_mutability_open,
            "mutabilityMarketHalted": account.terms.guaranteed_mutability_halted,
        }
    return members


def _accumulated_totals(account: Account) -> dict[str, Any]:
    members: dict[str, Any] = {
        "balance": plain(account.balance),
        "pl": plain(account.pl),
        "resettablePL": plain(account.pl),
        "financing": plain(account.financing),
        "commission": plain(account.commission),
        "dividendAdjustment": plain(account.dividend_adjustment),
        "guaranteedExecutionFees": plain(account.guaranteed_execution_fees),
    }
    if account.margin_call_enter_time is None:
        return members
    members["marginCallEnterTime"] = rfc3339(account.margin_call_enter_time)
    members["marginCallExtensionCount"] = account.margin_call_extension_count
    if account.last_margin_call_extension_time is not None:
        members["lastMarginCallExtensionTime"] = rfc3339(account.last_margin_call_extension_time)
    return members


def _calculated_totals(account: Account, valuation: AccountValuation) -> dict[str, str]:
    unrealized, at_mid = valuation.total("unrealized"), valuation.total("at_mid")
    used, value = valuation.total("margin"), valuation.total("value")
    nav, closeout_nav = account.balance + unrealized, account.balance + at_mid
    available = plain(margin_available(account, valuation))
    call_percent = margin_call_percent(used, closeout_nav)
    return {
        "unrealizedPL": plain(unrealized),
        "NAV": plain(nav),
        "marginUsed": plain(used),
        "marginAvailable": available,
        "positionValue": plain(value),
        "marginCloseoutUnrealizedPL": plain(at_mid),
        "marginCloseoutNAV": plain(closeout_nav),
        "marginCloseoutMarginUsed": plain(used),
        "marginCloseoutPercent": plain(round_percent(call_percent * CLOSEOUT_FACTOR)),
        "marginCloseoutPositionValue": plain(value),
        "withdrawalLimit": available,
        "marginCallMarginUsed": plain(used),
        "marginCallPercent": plain(round_percent(call_percent)),
    }


def _orders(account: Account, ids: Iterable[int], market: Market) -> Views:
    records = (account.order(id_) for id_ in ids)
    return (order(record, market) for record in records if record is not None)


def _trades(account: Account, ids: Iterable[int], market: Market) -> Views:
    records = (account.trade(id_) for id_ in ids)
    return (trade_summary(account, record, market) for record in records if record is not None)
