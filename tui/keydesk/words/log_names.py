"""The orders and trades that transactions name although they are not open: log lines of other transactions use these names.

A page of old transactions holds, for example, the cancellation of a stop whose order and trade are gone from the account.
"""

from contextlib import suppress
from decimal import Decimal
from typing import TypeVar

from msgspec import Struct, field

from keydesk_client import models as m
from keydesk_client.account.rows import kind_of
from keydesk_client.account.values import READ_ERRORS

MAX_NAMES = 20_000  # orders, and trades, that are remembered
MAX_IDS = 100  # of one transaction: financing may concern any number of trades
LINKS = (
    *("order_id", "trade_id", "replaces_order_id", "replaced_by_order_id"),
    *("intended_replaces_order_id", "order_fill_transaction_id", "cancelling_transaction_id"),
)
T = TypeVar("T")


class NamedOrder(Struct, frozen=True):
    """An order as the transaction that made it says."""

    type: str
    instrument: str
    price: Decimal | None
    trade_id: str  # of a dependent order, else ""


class LogNames(Struct):
    """Orders by their id, and the instruments of trades by theirs; the newest names are kept."""

    orders: dict[str, NamedOrder] = field(default_factory=dict)
    trades: dict[str, str] = field(default_factory=dict)

    def remember(self, transaction: m.Transaction) -> None:
        """Remember the order or the trades of a transaction; one that cannot be read is ignored."""
        try:
            if isinstance(transaction, m.OrderFillTransaction):
                for trade_id in _trades_of(transaction):
                    _remember(self.trades, trade_id, transaction.instrument)
            elif transaction.type.endswith("_ORDER"):
                _remember(self.orders, transaction.id, self._order_of(transaction))
        except READ_ERRORS:
            return

    def _order_of(self, transaction: m.Transaction) -> NamedOrder:
        trade_id = getattr(transaction, "trade_id", None) or ""
        instrument = getattr(transaction, "instrument", "") or self.trades.get(trade_id, "")
        price = getattr(transaction, "price", None)
        return NamedOrder(kind_of(transaction.type), instrument, price, trade_id)


def ids_of(transaction: m.Transaction) -> tuple[str, ...]:
    """Return the ids of the orders, trades and transactions that a transaction names, each once.

    A part of it that cannot be read names nothing.
    """
    ids = [getattr(transaction, member, None) for member in LINKS]
    with suppress(*READ_ERRORS):
        ids += _further_ids(transaction)
    return tuple(dict.fromkeys(str(each) for each in ids[:MAX_IDS] if each))


def _further_ids(transaction: m.Transaction) -> list[str | None]:
    match transaction:
        case m.OrderFillTransaction():
            return [*_trades_of(transaction)]
        case m.MarketOrderTransaction() | m.MarketOrderRejectTransaction():
            closes = (transaction.trade_close, transaction.delayed_trade_close)
            return [getattr(each, "trade_id", None) for each in closes]
        case m.DelayedTradeClosureTransaction():
            return [*transaction.trade_ids]
        case m.DailyFinancingTransaction():
            positions = transaction.position_financings
            return [each.trade_id for held in positions for each in held.open_trade_financings]
        case m.DividendAdjustmentTransaction():
            return [each.trade_id for each in transaction.open_trade_dividend_adjustments]
        case _:
            return []


def _trades_of(fill: m.OrderFillTransaction) -> list[str]:
    parts = [fill.trade_opened, *(fill.trades_closed or ()), fill.trade_reduced]
    return [part.trade_id for part in parts if part is not None]


def _remember(names: dict[str, T], key: str, value: T) -> None:
    names.pop(key, None)
    names[key] = value
    if len(names) > MAX_NAMES:
        del names[next(iter(names))]
