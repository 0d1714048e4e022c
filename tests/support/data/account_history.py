"""Account records for store tests, from as few words as the test is about."""

import json
from decimal import Decimal
from typing import Any

from keydesk.store.store import Store
from keydesk_client.account.snapshot import apply_snapshot
from keydesk_client.models import (
    Account,
    AccountChanges,
    AccountChangesState,
    Candlestick,
    ClientPrice,
    HomeConversions,
    Instrument,
    Transaction,
)
from keydesk_client.models._core.decoder import Reader

TIME = "2026-03-02T10:00:00.000000000Z"

_transactions: Reader[Transaction] = Reader(Transaction)
_prices = Reader(ClientPrice)
_accounts = Reader(Account)
_instruments = Reader(Instrument)
_conversions = Reader(HomeConversions)
_changes = Reader(AccountChanges)
_states = Reader(AccountChangesState)
_candles = Reader(Candlestick)


def transaction(id_: int, type_: str, **members: object) -> Transaction:
    """A transaction; members by their wire names."""
    head = {
        "id": str(id_),
        "accountID": "101-001-1-001",
        "userID": 1,
        "batchID": str(id_),
        "time": TIME,
        "type": type_,
    }
    return _transactions.read(json.dumps(head | members))


def fill(id_: int, instrument: str = "EUR_USD", **members: object) -> Transaction:
    """An ORDER_FILL that moved no money unless said."""
    standard = {
        "orderID": str(id_ - 1),
        "instrument": instrument,
        "units": _units_of(members),
        "reason": "MARKET_ORDER",
        "pl": "0.0000",
        "financing": "0.0000",
        "commission": "0.0000",
        "accountBalance": "10000.0000",
    }
    return transaction(id_, "ORDER_FILL", **(standard | members))


def _units_of(members: dict[str, Any]) -> str:
    """The units of a fill: those of the trades that it names."""
    parts = [*members.get("tradesClosed", ())]
    parts += [members[name] for name in ("tradeOpened", "tradeReduced") if name in members]
    return str(sum(Decimal(each["units"]) for each in parts))


def opening(id_: int, units: str, price: str, instrument: str = "EUR_USD") -> Transaction:
    """The fill that opens the trade of the same id."""
    opened = {"tradeID": str(id_), "units": units, "price": price}
    opened["initialMarginRequired"] = "100.0000"
    return fill(id_, instrument, units=units, tradeOpened=opened)


def reduction(
    trade_id: int, units: str, price: str, pl: str, financing: str = "0.0000"
) -> dict[str, str]:
    """A part of a trade that a fill closed."""
    return {
        "tradeID": str(trade_id),
        "units": units,
        "price": price,
        "realizedPL": pl,
        "financing": financing,
    }


def open_trade(id_: int, **members: object) -> dict[str, object]:
    """A long of EUR_USD as a snapshot or a poll has it."""
    sent: dict[str, object] = {
        "id": str(id_),
        "instrument": "EUR_USD",
        "price": "1.08500",
        "openTime": TIME,
        "state": "OPEN",
        "initialUnits": "50000",
        "currentUnits": "50000",
        "initialMarginRequired": "100.0000",
        "realizedPL": "0.0000",
        "financing": "0.0000",
        "dividendAdjustment": "0.0000",
    }
    return sent | members


def price(instrument: str, bid: str, ask: str, time: str = TIME, **members: object) -> ClientPrice:
    """A price with one level of depth."""
    sent = {
        "type": "PRICE",
        "instrument": instrument,
        "time": time,
        "tradeable": True,
        "bids": [{"price": bid, "liquidity": 1000000}],
        "asks": [{"price": ask, "liquidity": 1000000}],
        "closeoutBid": bid,
        "closeoutAsk": ask,
    }
    return _prices.read(json.dumps(sent | members))


def conversions(currency: str, gain: str, loss: str, value: str) -> HomeConversions:
    """What a currency is worth at home."""
    sent = {
        "currency": currency,
        "accountGain": gain,
        "accountLoss": loss,
        "positionValue": value,
    }
    return _conversions.read(json.dumps(sent))


def instrument(name: str, pip_location: int = -4, margin_rate: str = "0.0333") -> Instrument:
    """An instrument's terms."""
    sent = {
        "name": name,
        "type": "CURRENCY",
        "displayName": name.replace("_", "/"),
        "pipLocation": pip_location,
        "displayPrecision": 1 - pip_location,
        "tradeUnitsPrecision": 0,
        "minimumTradeSize": "1",
        "maximumTrailingStopDistance": "1.00000",
        "minimumTrailingStopDistance": "0.00050",
        "maximumPositionSize": "0",
        "maximumOrderUnits": "100000000",
        "marginRate": margin_rate,
    }
    return _instruments.read(json.dumps(sent))


def account(**members: object) -> Account:
    """An account with 10,000 dollars and nothing open."""
    sent: dict[str, object] = {
        "id": "101-001-1-001",
        "alias": "Primary",
        "currency": "USD",
        "createdByUserID": 1,
        "createdTime": "2026-01-01T00:00:00.000000000Z",
        "guaranteedStopLossOrderMode": "DISABLED",
        "openTradeCount": 0,
        "openPositionCount": 0,
        "pendingOrderCount": 0,
        "hedgingEnabled": False,
        "lastTransactionID": "3",
        "trades": [],
        "positions": [],
        "orders": [],
    }
    for name in ("pl", "resettablePL", "financing", "commission", "dividendAdjustment"):
        sent[name] = "0.0000"
    sent |= {"balance": "10000.0000", "guaranteedExecutionFees": "0.0000"}
    return _accounts.read(json.dumps(sent | PRICED | members))


PRICED = {
    "unrealizedPL": "0.0000",
    "NAV": "10000.0000",
    "marginUsed": "0.0000",
    "marginAvailable": "10000.0000",
    "positionValue": "0.0000",
    "marginCloseoutUnrealizedPL": "0.0000",
    "marginCloseoutNAV": "10000.0000",
    "marginCloseoutMarginUsed": "0.0000",
    "marginCloseoutPercent": "0.00000",
    "marginCloseoutPositionValue": "0.0000",
    "withdrawalLimit": "10000.0000",
    "marginCallMarginUsed": "0.0000",
    "marginCallPercent": "0.00000",
}


def changes(**members: object) -> AccountChanges:
    """What a poll says has changed."""
    names: tuple[str, ...] = ("ordersCreated", "ordersCancelled", "ordersFilled", "ordersTriggered")
    names += ("tradesOpened", "tradesReduced", "tradesClosed", "positions", "transactions")
    return _changes.read(json.dumps({name: [] for name in names} | members))


def state(**members: object) -> AccountChangesState:
    """What a poll says of everything that moves with prices."""
    return _states.read(
        json.dumps(PRICED | {"orders": [], "trades": [], "positions": []} | members)
    )


def candle(time: str, ohlc: str, *, complete: bool = True) -> Candlestick:
    """A mid candle from `open high low close` in one string."""
    data = dict(zip("ohlc", ohlc.split(), strict=True))
    sent = {"time": time, "volume": 10, "complete": complete, "mid": data}
    return _candles.read(json.dumps(sent))


def fresh_store(**members: object) -> Store:
    """A store with a snapshot, EUR_USD and USD_JPY known."""
    store = Store()
    for each in (instrument("EUR_USD"), instrument("USD_JPY", -2), instrument("EUR_GBP")):
        store.instruments[each.name] = each
    apply_snapshot(store, account(**members))
    return store
