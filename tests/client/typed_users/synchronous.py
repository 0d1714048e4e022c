"""A script without async: every call of `keydesk_client.sync` has the parameters and the answer of its twin."""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias, assert_type

from keydesk_client import (
    Client,
    Columns,
    FileJournal,
    Gap,
    HistoryLost,
    ItemOutcome,
    LateEffect,
    OpenTrade,
    Outcome,
    PriceUpdated,
    Reconnected,
    SnapshotReloaded,
    StreamInterrupted,
    StreamRestored,
    TransactionApplied,
    Unconfirmed,
    sync,
)
from keydesk_client.models import (
    AccountChangesResponse,
    AccountResponse,
    AccountsResponse,
    AccountSummaryResponse,
    Candlestick,
    CandlestickResponse,
    ClientExtensions,
    ClientPrice,
    ConfigureAccountResponse,
    InstrumentsResponse,
    LatestCandlesResponse,
    LimitOrderRequest,
    MarketOrderRequest,
    Order,
    OrderBookResponse,
    OrderCancelResponse,
    OrderClientExtensionsResponse,
    OrderCreateResponse,
    OrderReplaceResponse,
    OrderResponse,
    OrdersResponse,
    Position,
    PositionBookResponse,
    PositionCloseResponse,
    PositionResponse,
    PositionsResponse,
    PricingHeartbeat,
    PricingResponse,
    StopLossDetails,
    Trade,
    TradeClientExtensionsResponse,
    TradeCloseResponse,
    TradeDependentOrdersResponse,
    TradeResponse,
    TradesResponse,
    Transaction,
    TransactionHeartbeat,
    TransactionPageIndex,
    TransactionResponse,
    TransactionsResponse,
)
from keydesk_client.orders.outcome import Intent
from keydesk_client.streams.settings import StreamHealth


def use_accounts(accounts: sync.Accounts) -> None:
    assert_type(accounts.list(), AccountsResponse)
    assert_type(accounts.get(), AccountResponse)
    assert_type(accounts.summary(), AccountSummaryResponse)
    assert_type(accounts.instruments(["EUR_USD"]), InstrumentsResponse)
    assert_type(accounts.configure(alias="typed", margin_rate="0.05"), ConfigureAccountResponse)
    assert_type(accounts.changes(since=1), AccountChangesResponse)


def use_history(client: sync.Client) -> None:
    assert_type(client.books.order("EUR_USD"), OrderBookResponse)
    assert_type(client.books.position("EUR_USD"), PositionBookResponse)
    assert_type(client.candles.get("EUR_USD", count=2, granularity="H1"), CandlestickResponse)
    assert_type(client.candles.get_for_account("EUR_USD", units=Decimal(1000)), CandlestickResponse)
    assert_type(client.candles.latest(["EUR_USD:S10:BM"]), LatestCandlesResponse)
    candles = client.candles.iterate("EUR_USD", from_="2024-03-01T00:00:00Z", granularity="D")
    assert_type(candles, Iterator[Candlestick])
    assert_type(next(candles).volume, int)
    day = "2024-03-01T00:00:00Z"
    columns = client.candles.columns("EUR_USD", from_=day, granularity="D", numbers=float)
    assert_type(columns, Columns)
    assert_type(columns["open"], Sequence[object])
    last = client.candles.last("EUR_USD", granularity="M1", count=5001)
    assert_type(last, tuple[Candlestick, ...])
    with client.candles.stream("EUR_USD", granularity="S5", from_=last[-3].time) as finished:
        assert_type(finished.next(timeout=30), Candlestick)
    assert_type(client.pricing.get(["EUR_USD"]), PricingResponse)


def use_orders(orders: sync.Orders) -> str:
    placed = orders.limit("EUR_USD", 100, "0.5", stop_loss="20p", take_profit="2r")
    assert_type(placed, OrderCreateResponse)
    orders.cancel(placed.order_create_transaction.id)
    placed = orders.stop("EUR_USD", -100, "0.5", stop_loss="0.6000", position_fill="OPEN_ONLY")
    orders.cancel(placed.order_create_transaction.id)
    assert_type(orders.market("EUR_USD", 1, take_profit="10p"), OrderCreateResponse)
    order = LimitOrderRequest(instrument="EUR_USD", units=1000, price="0.5")
    created = orders.create(order)
    assert_type(created, OrderCreateResponse)
    number = created.order_create_transaction.id
    assert_type(orders.list(state="ALL", count=5), OrdersResponse)
    assert_type(orders.pending(), OrdersResponse)
    assert_type(orders.get(number), OrderResponse)
    tags = ClientExtensions(tag="typed")
    assert_type(
        orders.set_client_extensions(number, client_extensions=tags), OrderClientExtensionsResponse
    )
    replaced = orders.replace(number, order)
    assert_type(replaced, OrderReplaceResponse)
    assert_type(orders.iterate(state="PENDING"), Iterator[Order])
    assert_type(orders.cancel(replaced.order_create_transaction.id), OrderCancelResponse)
    filled = orders.create(MarketOrderRequest(instrument="EUR_USD", units=1000))
    assert filled.order_fill_transaction is not None
    return filled.order_fill_transaction.id


def use_trades(trades: sync.Trades, number: str) -> None:
    assert_type(trades.list(count=1), TradesResponse)
    assert_type(trades.open(), TradesResponse)
    assert_type(trades.get(number), TradeResponse)
    assert_type(trades.iterate(), Iterator[Trade])
    assert_type(
        trades.set_dependent_orders(number, stop_loss=StopLossDetails(distance="0.02")),
        TradeDependentOrdersResponse,
    )
    assert_type(
        trades.set_client_extensions(number, ClientExtensions(comment="typed")),
        TradeClientExtensionsResponse,
    )
    assert_type(trades.close(number, units=100), TradeCloseResponse)


def use_positions(positions: sync.Positions) -> None:
    assert_type(positions.list(), PositionsResponse)
    assert_type(positions.open(), PositionsResponse)
    assert_type(positions.get("EUR_USD"), PositionResponse)
    assert_type(positions.close("EUR_USD", long_units="ALL"), PositionCloseResponse)


def use_transactions(transactions: sync.Transactions) -> None:
    assert_type(transactions.list(page_size=10), TransactionPageIndex)
    assert_type(transactions.get(1), TransactionResponse)
    assert_type(transactions.since(1), TransactionsResponse)
    assert_type(transactions.range(1, 2), TransactionsResponse)
    assert_type(transactions.recent(3, type_=["ORDER_FILL"]), TransactionsResponse)
    assert_type(transactions.iterate(), Iterator[Transaction])
    assert_type(transactions.iterate_since(1), Iterator[Transaction])


def listen(client: sync.Client, since: int) -> None:
    with client.pricing.stream(["EUR_USD"], snapshot=True) as prices:
        assert_type(prices.health, StreamHealth)
        assert_type(next(prices), ClientPrice | PricingHeartbeat | Gap)
    with client.transactions.stream(since=since) as transactions:
        for item in transactions:
            assert_type(item, Transaction | TransactionHeartbeat | Reconnected | HistoryLost)
            break


def send(client: sync.Client, folder: Path) -> None:
    newest = int(client.accounts.summary().last_transaction_id)
    sender = sync.Sender(client, FileJournal(folder / "orders.jsonl"), lambda: newest)
    assert_type(sender.recover(), tuple[Outcome, ...])
    order = LimitOrderRequest(instrument="EUR_USD", units=1000, price="0.5")
    resting = sender.create(order)
    assert_type(resting, Outcome)
    assert_type(sender.replace("@nothing", order), Outcome)
    assert_type(sender.cancel("@nothing"), Outcome)
    assert_type(sender.close_trade("@nothing", units=1), Outcome)
    assert_type(sender.close_position("EUR_USD", short_units="ALL"), Outcome)
    assert_type(sender.set_dependent_orders("@nothing", stop_loss=None), Outcome)
    assert_type(sender.market("EUR_USD", 1), Outcome)
    assert_type(sender.limit("EUR_USD", 1, "0.5"), Outcome)
    assert_type(sender.stop("EUR_USD", -1, "0.5"), Outcome)
    if isinstance(resting, Unconfirmed):
        assert_type(sender.resolve(resting), Outcome)
        sender.dismiss(resting)
    assert_type(sender.unconfirmed(), tuple[Intent, ...])
    sender.reconcile(client.accounts.changes(newest).changes, newest)
    orders, trades, positions = client.orders, client.trades, client.positions
    assert_type(orders.cancel_all(sender), tuple[ItemOutcome[Order, Outcome], ...])
    assert_type(trades.close_all(sender), tuple[ItemOutcome[Trade, Outcome], ...])
    assert_type(positions.close_all(sender), tuple[ItemOutcome[Position, Outcome], ...])
    for happened in client.transactions.since(newest).transactions:
        sender.watch(happened)


AccountEvent: TypeAlias = (
    TransactionApplied
    | PriceUpdated
    | SnapshotReloaded
    | StreamInterrupted
    | StreamRestored
    | LateEffect
)


def follow(client: sync.Client, folder: Path) -> None:
    journal = FileJournal(folder / "followed.jsonl")
    with client.follow(journal, instruments=["EUR_USD"]) as account:
        assert_type(account, sync.AccountState)
        assert_type(account.nav, Decimal)
        assert_type(account.trades, Mapping[str, OpenTrade])
        assert_type(account.prices["EUR_USD"].mid, Decimal)
        account.add("USD_JPY")
        account.remove("USD_JPY")
        assert_type(account.sender, sync.Sender)
        assert_type(account.recovered, tuple[Outcome, ...])
        assert_type(account.wait_for(lambda: account.nav > 0, 1.0), bool)
        events = account.events(prices=True)
        assert_type(events.next(timeout=30), AccountEvent)
        for each in events:
            assert_type(each, AccountEvent)
            break


rest_url, stream_url, token, account_id = sys.stdin.read().split()
asynchronous = Client(rest_url=rest_url, stream_url=stream_url, token=token, account_id=account_id)
with sync.Client(asynchronous) as client:
    use_accounts(client.accounts)
    use_history(client)
    number = use_orders(client.orders)
    use_trades(client.trades, number)
    use_positions(client.positions)
    use_transactions(client.transactions)
    listen(client, int(number))
    with tempfile.TemporaryDirectory() as made:
        send(client, Path(made))
        follow(client, Path(made))
