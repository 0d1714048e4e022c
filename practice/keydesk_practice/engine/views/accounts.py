"""What some transactions did to an account: the orders, trades and positions that they touched, as they are now.

The account as the wire shows it: whole, in numbers only, or what moves with the prices.

Each list is an iterator that makes its items as they are asked for, so that a server can do other work in between.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from keydesk_practice.engine.margin import CLOSEOUT_SHARE, EMPTIED
from keydesk_practice.engine.quotes import NOTHING, ZERO, Market, bare, percent, text
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
    moving_order,
    moving_position,
    order,
    position,
    trade_summary,
)
from keydesk_practice.engine.views.valuation import Worth
from keydesk_practice.engine.wire_form import rfc3339

Views = Iterator[dict[str, Any]]


def account(one: Account, market: Market) -> dict[str, Any]:
    """Return the whole account: open trades, every position ever held, pending orders."""
    worth = Worth(one, market)
    lists = account_lists(one, market, worth)
    return {**_numbers(one, worth), **{name: list(items) for name, items in lists.items()}}


def account_lists(one: Account, market: Market, worth: Worth) -> dict[str, Views]:
    """Return the lists of the whole account."""
    return {
        "trades": (
            trade_summary(one, trade, market, worth.trades.get(trade.id))
            for trade in one.trades.values()
        ),
        "positions": (position(one, name, market, worth.position(name)) for name in one.positions),
        "orders": (order(pending, market) for pending in one.orders.values()),
    }


def summary(one: Account, market: Market, worth: Worth | None = None) -> dict[str, Any]:
    """Return the account's numbers."""
    return _numbers(one, worth or Worth(one, market))


def state(one: Account, market: Market) -> dict[str, Any]:
    """Return everything that moves with the prices, and the totals."""
    worth = Worth(one, market)
    lists = state_lists(one, market, worth)
    return {**totals(one, worth), **{name: list(items) for name, items in lists.items()}}


def margin_available(one: Account, worth: Worth) -> Decimal:
    """Return what is left for new positions."""
    return max(NOTHING, one.balance + worth.total("unrealized") - worth.total("margin"))


def totals(one: Account, worth: Worth) -> dict[str, Any]:
    """Return the account's totals, those that move with the prices first."""
    return {**_calculated(one, worth), **_accumulated(one)}


def state_lists(one: Account, market: Market, worth: Worth) -> dict[str, Views]:
    """Return what moves with the prices of each order, trade and position."""
    moving = (moving_order(pending, market) for pending in one.orders.values())
    return {
        "orders": (found for found in moving if found is not None),
        "trades": (
            {
                "id": str(id_),
                "unrealizedPL": text(found.unrealized),
                "marginUsed": text(found.margin),
            }
            for id_, found in worth.trades.items()
        ),
        "positions": (moving_position(name, found) for name, found in worth.positions.items()),
    }


def _numbers(one: Account, worth: Worth) -> dict[str, Any]:
    return {**_identity(one), **_accumulated(one), **_calculated(one, worth)}


def _identity(one: Account) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": one.id,
        "currency": one.currency,
        "createdByUserID": one.user_id,
        "createdTime": rfc3339(one.created_time),
        "guaranteedStopLossOrderMode": one.terms.guaranteed_mode,
        "openTradeCount": len(one.trades),
        "openPositionCount": sum(position.is_open for position in one.positions.values()),
        "pendingOrderCount": len(one.orders),
        "hedgingEnabled": one.terms.hedging,
        "lastTransactionID": str(one.last_transaction_id),
    }
    if one.alias is not None:
        shown["alias"] = one.alias
    if one.margin_rate is not None:
        shown["marginRate"] = text(bare(one.margin_rate))
    if one.last_order_fill_time is not None:
        shown["lastOrderFillTimestamp"] = rfc3339(one.last_order_fill_time)
    if one.terms.guaranteed_mode != "DISABLED":
        shown["guaranteedStopLossOrderParameters"] = {
            "mutabilityMarketOpen": one.terms.guaranteed_mutability_open,
            "mutabilityMarketHalted": one.terms.guaranteed_mutability_halted,
        }
    return shown


def _accumulated(one: Account) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "balance": text(one.balance),
        "pl": text(one.pl),
        "resettablePL": text(one.pl),
        "financing": text(one.financing),
        "commission": text(one.commission),
        "dividendAdjustment": text(one.dividend_adjustment),
        "guaranteedExecutionFees": text(one.guaranteed_execution_fees),
    }
    if one.margin_call_enter_time is None:
        return shown
    shown["marginCallEnterTime"] = rfc3339(one.margin_call_enter_time)
    shown["marginCallExtensionCount"] = one.margin_call_extension_count
    if one.last_margin_call_extension_time is not None:
        shown["lastMarginCallExtensionTime"] = rfc3339(one.last_margin_call_extension_time)
    return shown


def _calculated(one: Account, worth: Worth) -> dict[str, str]:
    unrealized, at_mid = worth.total("unrealized"), worth.total("at_mid")
    used, value = worth.total("margin"), worth.total("value")
    nav, closeout_nav = one.balance + unrealized, one.balance + at_mid
    available = text(margin_available(one, worth))
    share = _share(used, closeout_nav)
    return {
        "unrealizedPL": text(unrealized),
        "NAV": text(nav),
        "marginUsed": text(used),
        "marginAvailable": available,
        "positionValue": text(value),
        "marginCloseoutUnrealizedPL": text(at_mid),
        "marginCloseoutNAV": text(closeout_nav),
        "marginCloseoutMarginUsed": text(used),
        "marginCloseoutPercent": text(percent(share * CLOSEOUT_SHARE)),
        "marginCloseoutPositionValue": text(value),
        "withdrawalLimit": available,
        "marginCallMarginUsed": text(used),
        "marginCallPercent": text(percent(share)),
    }


def _share(used: Decimal, net: Decimal) -> Decimal:
    if not used:
        return ZERO
    return used / net if net > 0 else EMPTIED / CLOSEOUT_SHARE


Ids = dict[int, None]  # a set that keeps its order


@dataclass(slots=True)
class Touched:
    """The ids of what some transactions touched, in the order in which they did."""

    created: Ids = field(default_factory=dict)
    cancelled: Ids = field(default_factory=dict)
    filled: Ids = field(default_factory=dict)
    opened: Ids = field(default_factory=dict)
    reduced: Ids = field(default_factory=dict)
    closed: Ids = field(default_factory=dict)
    positions: dict[str, None] = field(default_factory=dict)

    def add(self, transaction: Transaction) -> None:
        """Note what a transaction touched."""
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


def changes(
    account: Account, transactions: Sequence[Transaction], market: Market
) -> dict[str, Any]:
    """Return what the transactions changed; an order created and filled among them is in both lists."""
    touched = Touched()
    for transaction in transactions:
        touched.add(transaction)
    lists = changes_lists(account, touched, market, Worth(account, market))
    return {
        **{name: list(items) for name, items in lists.items()},
        "transactions": [to_wire(transaction) for transaction in transactions],
    }


def changes_lists(
    account: Account, touched: Touched, market: Market, worth: Worth
) -> dict[str, Views]:
    """Return what was touched, as it is now; each list makes its items as they are asked for."""
    return {
        "ordersCreated": _orders(account, touched.created, market),
        "ordersCancelled": _orders(account, touched.cancelled, market),
        "ordersFilled": _orders(account, touched.filled, market),
        "ordersTriggered": iter(()),  # nothing ends there any more
        "tradesOpened": _trades(account, touched.opened, market),
        "tradesReduced": _trades(account, touched.reduced, market),
        "tradesClosed": _trades(account, touched.closed, market),
        "positions": (
            position(account, name, market, worth.position(name)) for name in touched.positions
        ),
    }


def _orders(account: Account, ids: Iterable[int], market: Market) -> Views:
    found = (account.order(id_) for id_ in ids)
    return (order(one, market) for one in found if one is not None)


def _trades(account: Account, ids: Iterable[int], market: Market) -> Views:
    found = (account.trade(id_) for id_ in ids)
    return (trade_summary(account, one, market) for one in found if one is not None)
