"""What some transactions did to an account: the orders, trades and positions that they touched, as they are now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.transactions import (
    DailyFinanced,
    OrderCancelled,
    OrderCreated,
    OrderFilled,
    Transaction,
    to_wire,
)
from keydesk_practice.engine.views.accounts import Views
from keydesk_practice.engine.views.orders import order
from keydesk_practice.engine.views.positions import position
from keydesk_practice.engine.views.trades import trade_summary
from keydesk_practice.engine.views.worth import Worth

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
