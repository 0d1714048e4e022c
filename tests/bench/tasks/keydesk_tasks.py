"""Eight tasks with keydesk_client, without async."""

# ruff: noqa: ANN401 - other clients have no types, and scripts are as short as can be

import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from keydesk_client import Client, FileJournal, sync
from keydesk_client.errors import Refused
from keydesk_client.models import MarketOrderRequest

FOLDER = Path(tempfile.mkdtemp(prefix="kd-tasks-"))


def connect(url: str, token: str, account: str) -> Any:
    return sync.Client(Client(token=token, rest_url=url, stream_url=url, account_id=account))


def nav(client: Any) -> Any:
    return client.accounts.summary().account.nav


def bracket(client: Any, stop: str, target: str) -> Any:
    answer = client.orders.market("EUR_USD", 1000, stop_loss=stop, take_profit=target)
    return answer.order_fill_transaction.id


def year_of_hours(client: Any) -> Any:
    year = {"from_": "2023-01-01T00:00:00Z", "to": "2024-01-01T00:00:00Z"}
    return list(client.candles.iterate("EUR_USD", granularity="H1", **year))


def ten_prices(client: Any) -> Any:
    with client.pricing.stream(["EUR_USD"]) as prices:
        return [item.bid for item in islice(prices, 10) if item.type == "PRICE"]


def no_transaction_lost(client: Any, since: str) -> Any:
    with client.transactions.stream(since=since) as transactions:
        return [item.id for item in islice(transactions, 3)]


def all_transactions(client: Any) -> Any:
    return list(client.transactions.iterate_since(0))


def close_all(client: Any) -> Any:
    sender = sync.Sender(client, FileJournal(FOLDER / "orders.jsonl"), lambda: 0)
    return client.positions.close_all(sender)


def reject_reason(client: Any) -> Any:
    try:
        client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=10_000_000_000))
    except Refused as error:
        return error.reject_reason
