"""The same tasks with oandapyV20 0.7.2."""

# ruff: noqa: ANN401, PLW0603, RET503 - other clients have no types, and scripts are as short as can be

import json
from itertools import islice
from typing import Any

from oandapyV20 import API, V20Error
from oandapyV20.contrib.factories import InstrumentsCandlesFactory
from oandapyV20.endpoints import accounts, orders, positions, pricing, transactions
from oandapyV20.oandapyV20 import TRADING_ENVIRONMENTS

ACCOUNT = ""


def connect(url: str, token: str, account: str) -> Any:
    global ACCOUNT
    ACCOUNT = account
    TRADING_ENVIRONMENTS["bench"] = {"api": url, "stream": url}
    return API(access_token=token, environment="bench")


def nav(api: Any) -> Any:
    return api.request(accounts.AccountSummary(ACCOUNT))["account"]["NAV"]


def bracket(api: Any, stop: str, target: str) -> Any:
    order: Any = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}
    order |= {"stopLossOnFill": {"price": stop}, "takeProfitOnFill": {"price": target}}
    answer = api.request(orders.OrderCreate(ACCOUNT, data={"order": order}))
    return answer["orderFillTransaction"]["id"]


def year_of_hours(api: Any) -> Any:
    year = {"from": "2023-01-01T00:00:00Z", "to": "2024-01-01T00:00:00Z", "granularity": "H1"}
    pages = InstrumentsCandlesFactory("EUR_USD", params=year)
    return [candle for page in pages for candle in api.request(page)["candles"]]


def ten_prices(api: Any) -> Any:
    stream = api.request(pricing.PricingStream(ACCOUNT, params={"instruments": "EUR_USD"}))
    return [item["bids"][0]["price"] for item in islice(stream, 10) if item["type"] == "PRICE"]


def no_transaction_lost(api: Any, since: str) -> Any:
    seen = int(since)
    stream = api.request(transactions.TransactionsStream(ACCOUNT))
    for item in stream:
        last = int(item.get("id") or item["lastTransactionID"])
        if last > seen:
            missed = transactions.TransactionsSinceID(ACCOUNT, params={"id": seen})
            found = api.request(missed)["transactions"]
            return [each["id"] for each in found][:3]


def all_transactions(api: Any) -> Any:
    index = api.request(transactions.TransactionList(ACCOUNT))
    found = []
    for page in index["pages"]:
        first, last = (each.split("=")[1] for each in page.split("?")[1].split("&")[:2])
        ids = {"from": first, "to": last}
        found += api.request(transactions.TransactionIDRange(ACCOUNT, params=ids))["transactions"]
    return found


def close_all(api: Any) -> Any:
    closed = []
    for position in api.request(positions.OpenPositions(ACCOUNT))["positions"]:
        sides = [side for side in ("long", "short") if position[side]["units"] != "0"]
        data = {f"{side}Units": "ALL" for side in sides}
        close = positions.PositionClose(ACCOUNT, position["instrument"], data=data)
        closed.append(api.request(close))
    return closed


def reject_reason(api: Any) -> Any:
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": "10000000000"}
    try:
        api.request(orders.OrderCreate(ACCOUNT, data={"order": order}))
    except V20Error as error:
        return json.loads(error.msg)["orderRejectTransaction"]["rejectReason"]
