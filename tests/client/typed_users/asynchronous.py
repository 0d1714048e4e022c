"""An asynchronous script as a user writes it: every answer has a type, down to the last member."""

import asyncio
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import assert_type

from keydesk_client import Client, DateTime, Gap, HistoryLost, Reconnected
from keydesk_client.errors import InvalidRequest, MissingMember, NotFound, Rejection
from keydesk_client.models import (
    AccountSummary,
    Candlestick,
    CandlestickData,
    ClientPrice,
    Instrument,
    LimitOrderRequest,
    MarketOrderRequest,
    Order,
    OrderCreateResponse,
    OrderFillTransaction,
    Position,
    PositionCloseResponse,
    PricingHeartbeat,
    StopLossDetails,
    TakeProfitDetails,
    Trade,
    TradeCloseResponse,
    TradeOpen,
    TradeSummary,
    Transaction,
    TransactionHeartbeat,
    TransactionID,
    TransactionsResponse,
)
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.streams.settings import StreamHealth


async def look(client: Client) -> Instrument:
    summary = await client.accounts.summary()
    assert_type(summary.account, AccountSummary)
    assert_type(summary.account.nav, Decimal)
    assert_type(summary.last_transaction_id, TransactionID)
    assert_type(summary.request_id, str)
    assert_type(summary.unknown, Mapping[str, JsonValue])
    assert_type(summary.to_wire(), JsonObject)

    (euro,) = (await client.accounts.instruments(["EUR_USD"])).instruments
    assert_type(euro, Instrument)
    assert_type(euro.display_precision, int)
    assert_type(euro.minimum_trade_size, Decimal)

    account = (await client.accounts.get()).account
    assert_type(account.trades, tuple[TradeSummary, ...])
    assert_type(account.orders, tuple[Order, ...])
    assert_type(account.positions, tuple[Position, ...])
    return euro


async def read_history(client: Client) -> None:
    since = datetime.now(UTC) - timedelta(hours=3)
    async for candle in client.candles.iterate(
        "EUR_USD", from_=since, granularity="M5", price="MB", smooth=True
    ):
        assert_type(candle, Candlestick)
        assert_type(candle.time, DateTime)
        assert_type(candle.time.datetime, datetime)
        assert_type(candle.time.ns, int)
        assert_type(candle.mid, CandlestickData | None)
        if candle.bid is not None:
            assert_type(candle.bid.c, Decimal)
        break

    (price,) = (await client.pricing.get(["EUR_USD"], since=DateTime.of(since))).prices
    assert_type(price, ClientPrice)
    assert_type(price.bids[0].price, Decimal)


async def trade(client: Client, euro: Instrument) -> str:
    """The price as text, a Decimal or an int, as one has it; units likewise."""
    order = MarketOrderRequest(
        instrument="EUR_USD",
        units=1000,
        stop_loss_on_fill=StopLossDetails(distance="0.0100"),
        take_profit_on_fill=TakeProfitDetails(price=Decimal("2.5"), gtd_time=None),
    )
    assert_type(order.units, Decimal)
    created = await client.orders.create(order, instrument=euro)
    assert_type(created, OrderCreateResponse)
    fill = created.order_fill_transaction
    assert_type(fill, OrderFillTransaction | None)
    assert fill is not None
    assert_type(fill.trade_opened, TradeOpen | None)
    assert_type(fill.price, Decimal | None)
    assert fill.trade_opened is not None

    tomorrow = datetime.now(UTC) + timedelta(days=1)
    waiting = LimitOrderRequest(
        instrument="EUR_USD",
        units="-500",
        price=2,
        time_in_force="GTD",
        gtd_time=tomorrow,
        trigger_condition="BID",
        position_fill="REDUCE_FIRST",
    )
    assert_type(waiting.gtd_time, DateTime | None)
    made = await client.orders.create(waiting, instrument=euro)
    await client.orders.cancel(made.order_create_transaction.id)
    return fill.trade_opened.trade_id


async def leave(client: Client, trade_id: str) -> None:
    async for held in client.trades.iterate(state="OPEN", instrument="EUR_USD"):
        assert_type(held, Trade)
        assert_type(held.current_units, Decimal)
        assert_type(held.close_time, DateTime | None)
    closed = await client.trades.close(trade_id, units=Decimal(400))
    assert_type(closed, TradeCloseResponse)
    out = await client.positions.close("EUR_USD", long_units="ALL")
    assert_type(out, PositionCloseResponse)
    since = await client.transactions.since(trade_id)
    assert_type(since, TransactionsResponse)
    assert_type(since.transactions, tuple[Transaction, ...])


async def be_refused(client: Client, euro: Instrument) -> None:
    try:
        await client.orders.cancel("99999999")
    except NotFound as error:
        assert_type(error.status, int)
        assert_type(error.reject_reason, str | None)
        assert_type(error.reject_transactions, tuple[Rejection, ...])
        assert_type(error.retry_after, float | None)
    try:
        too_fine = LimitOrderRequest(instrument="EUR_USD", units=1, price="1.123456")
        await client.orders.create(too_fine, instrument=euro)
    except InvalidRequest as error:
        assert_type(error.field, str)
    except MissingMember as error:
        assert_type(error.member, str)


async def listen(client: Client) -> None:
    async with client.pricing.stream(["EUR_USD"]) as prices:
        assert_type(prices.health, StreamHealth)
        async for item in prices:
            assert_type(item, ClientPrice | PricingHeartbeat | Gap)
            break
    since = (await client.accounts.summary()).last_transaction_id
    async with client.transactions.stream(since=int(since) - 1) as transactions:
        async for happened in transactions:
            assert_type(happened, Transaction | TransactionHeartbeat | Reconnected | HistoryLost)
            break


async def main() -> None:
    rest_url, stream_url, token, account_id = sys.stdin.read().split()
    async with Client(
        rest_url=rest_url, stream_url=stream_url, token=token, account_id=account_id
    ) as client:
        assert_type(client, Client)
        euro = await look(client)
        await read_history(client)
        await leave(client, await trade(client, euro))
        await be_refused(client, euro)
        await listen(client)


asyncio.run(main())
