"""A followed account, instruments, frames and closing everything, as a user writes it: every answer has a type."""

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import assert_type

from keydesk_client import (
    AccountState,
    Client,
    Columns,
    Factors,
    FileJournal,
    ItemOutcome,
    LateEffect,
    LatestPrice,
    Margin,
    OpenPosition,
    OpenTrade,
    Outcome,
    PendingOrder,
    PriceUpdated,
    Sender,
    SnapshotReloaded,
    StreamInterrupted,
    StreamRestored,
    Timeouts,
    TransactionApplied,
)
from keydesk_client.models import (
    Instrument,
    MarketOrderRequest,
    Order,
    Position,
    Trade,
    Transaction,
    TransactionID,
)


async def look(account: AccountState) -> None:
    assert_type(account.nav, Decimal)
    assert_type(account.balance, Decimal)
    assert_type(account.margin, Margin)
    assert_type(account.margin.available, Decimal)
    assert_type(account.newest, TransactionID)
    assert_type(account.trades, Mapping[str, OpenTrade])
    assert_type(account.positions, Mapping[str, OpenPosition])
    assert_type(account.orders, Mapping[str, PendingOrder])
    assert_type(account.prices, Mapping[str, LatestPrice])
    assert_type(account.prices["EUR_USD"].mid, Decimal)
    assert_type(account.units("EUR_USD"), Decimal)
    assert_type(account.conversion("USD"), Factors)
    assert_type(account.sender, Sender)
    assert_type(account.recovered, tuple[Outcome, ...])
    assert_type(await account.wait_for(lambda: int(account.newest) > 0, 1.0), bool)


async def size(client: Client, account: AccountState) -> MarketOrderRequest:
    pair = await client.instrument("EUR_USD")
    assert_type(pair, Instrument)
    assert_type(pair.base, str)
    assert_type(pair.quote, str)
    assert_type(pair.pips(Decimal("0.002")), Decimal)
    distance, conversion = 20 * pair.pip, account.conversion(pair.quote)
    units = pair.units_for_risk(Decimal(50), distance, conversion)
    assert_type(units, Decimal)
    assert_type(pair.margin(units, account.prices["EUR_USD"].mid, conversion), Decimal)
    (answer,) = (await client.pricing.get([pair], include_home_conversions=True)).prices
    assert answer.instrument == pair.name
    return MarketOrderRequest(instrument=pair, units=units)


async def listen(account: AccountState) -> None:
    async for event in account.events(prices=True):
        assert_type(
            event,
            TransactionApplied
            | PriceUpdated
            | SnapshotReloaded
            | StreamInterrupted
            | StreamRestored
            | LateEffect,
        )
        if isinstance(event, TransactionApplied):
            assert_type(event.transaction, Transaction)
            return


async def close(client: Client, sender: Sender) -> None:
    cancelled = await client.orders.cancel_all(sender)
    assert_type(cancelled, tuple[ItemOutcome[Order, Outcome], ...])
    trades = await client.trades.close_all(sender, instruments=["USD_JPY"])
    assert_type(trades, tuple[ItemOutcome[Trade, Outcome], ...])
    positions = await client.positions.close_all(sender)
    assert_type(positions, tuple[ItemOutcome[Position, Outcome], ...])
    assert positions


async def main(rest_url: str, stream_url: str, token: str, account_id: str) -> None:
    patient = Timeouts(connect=60.0, write=60.0, read=60.0, pool=60.0, whole=120.0)
    client = Client(
        rest_url=rest_url,
        stream_url=stream_url,
        token=token,
        account_id=account_id,
        timeouts=patient,
    )
    with tempfile.TemporaryDirectory() as folder:
        journal = FileJournal(Path(folder) / "private" / "orders.jsonl")
        async with client, client.follow(journal, instruments=["EUR_USD"]) as account:
            await look(account)
            listening = asyncio.create_task(listen(account))
            assert_type(await account.sender.create(await size(client, account)), Outcome)
            await listening
            await close(client, account.sender)
    period = {"from_": "2024-03-01T00:00:00Z", "to": "2024-03-05T00:00:00Z"}
    async with Client(
        rest_url=rest_url, stream_url=stream_url, token=token, timeouts=patient
    ) as reader:
        columns = await reader.candles.columns(
            "EUR_USD", from_=period["from_"], to=period["to"], granularity="D", numbers=float
        )
        assert_type(columns, Columns)
        assert_type(columns["close"], Sequence[object])


asyncio.run(main(*sys.stdin.read().split()))
