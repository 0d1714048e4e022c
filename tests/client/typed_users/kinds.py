"""Orders and transactions told apart by their class: each then has its own members, and no others."""

import asyncio
import sys
from decimal import Decimal
from typing import Literal, assert_never, assert_type

from keydesk_client import Client
from keydesk_client.models import (
    FixedPriceOrder,
    GuaranteedStopLossOrder,
    LimitOrder,
    LimitOrderRequest,
    MarketIfTouchedOrder,
    MarketOrder,
    MarketOrderTransaction,
    Order,
    OrderCancelTransaction,
    OrderFillTransaction,
    StopLossOrder,
    StopOrder,
    TakeProfitOrder,
    TrailingStopLossOrder,
    Transaction,
    TransactionID,
    UnknownOrder,
    UnknownTransaction,
)


def level(order: Order) -> Decimal | None:
    """Where it fills; a kind of order that is left out here is an error of the type checker."""
    match order:
        case LimitOrder() | StopOrder() | MarketIfTouchedOrder():
            assert_type(order.type, Literal["LIMIT", "STOP", "MARKET_IF_TOUCHED"])
            return order.price
        case TakeProfitOrder() | StopLossOrder() | GuaranteedStopLossOrder():
            assert_type(order.trade_id, str)
            return order.price
        case TrailingStopLossOrder(trailing_stop_value=value):
            assert_type(value, Decimal | None)
            return value
        case MarketOrder():
            return order.price_bound
        case FixedPriceOrder():
            return order.price
        case UnknownOrder():
            assert_type(order.type, str)
            return None
        case _:
            assert_never(order)


def profit(transaction: Transaction) -> Decimal:
    assert_type(transaction.id, TransactionID)
    if isinstance(transaction, OrderFillTransaction):
        assert_type(transaction.type, Literal["ORDER_FILL"])
        assert_type(transaction.pl, Decimal)
        return transaction.pl
    match transaction:
        case MarketOrderTransaction():
            assert_type(transaction.units, Decimal)
        case OrderCancelTransaction(order_id=order_id):
            assert_type(order_id, str)
        case UnknownTransaction(type=word):
            assert_type(word, str)
        case _:
            pass
    return Decimal(0)


async def main() -> None:
    rest_url, stream_url, token, account_id = sys.stdin.read().split()
    async with Client(
        rest_url=rest_url, stream_url=stream_url, token=token, account_id=account_id
    ) as client:
        request = LimitOrderRequest(instrument="EUR_USD", units=1, price="0.50000")
        number = (await client.orders.create(request)).order_create_transaction.id
        assert level((await client.orders.get(number)).order) == Decimal("0.50000")
        await client.orders.cancel(number)
        assert [profit(each) async for each in client.transactions.iterate_since(0)]


asyncio.run(main())
