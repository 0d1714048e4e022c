"""Bodies for timings: a summary, a filled order, 5,000 candles, 500 trades, lines of the price stream."""

import json
from random import Random
from typing import Any

OPENED = "2025-01-02T10:00:00.123456789Z"

SUMMARY: dict[str, Any] = {
    "id": "101-004-1-001",
    "alias": "Primary",
    "currency": "USD",
    "createdByUserID": 1,
    "createdTime": OPENED,
    "guaranteedStopLossOrderMode": "DISABLED",
    "resettablePLTime": OPENED,
    "marginRate": "0.02",
    "openTradeCount": 2,
    "openPositionCount": 1,
    "pendingOrderCount": 3,
    "hedgingEnabled": False,
    "unrealizedPL": "12.3456",
    "NAV": "100012.3456",
    "marginUsed": "440.0000",
    "marginAvailable": "99572.3456",
    "positionValue": "22000.0000",
    "marginCloseoutUnrealizedPL": "12.9876",
    "marginCloseoutNAV": "100012.9876",
    "marginCloseoutMarginUsed": "440.0000",
    "marginCloseoutPercent": "0.00220",
    "marginCloseoutPositionValue": "22000.0000",
    "withdrawalLimit": "99572.3456",
    "marginCallMarginUsed": "440.0000",
    "marginCallPercent": "0.00440",
    "balance": "100000.0000",
    "pl": "0.0000",
    "resettablePL": "0.0000",
    "financing": "0.0000",
    "commission": "0.0000",
    "dividendAdjustment": "0",
    "guaranteedExecutionFees": "0.0000",
    "lastTransactionID": "42",
}

BATCH: dict[str, Any] = {
    "accountID": "1",
    "userID": 1,
    "batchID": "41",
    "requestID": "42",
    "time": OPENED,
}

PRICE: dict[str, Any] = {
    "type": "PRICE",
    "instrument": "EUR_USD",
    "time": OPENED,
    "status": "tradeable",
    "tradeable": True,
    "bids": [
        {"price": "1.10000", "liquidity": 1000000},
        {"price": "1.09990", "liquidity": 5000000},
    ],
    "asks": [
        {"price": "1.10015", "liquidity": 1000000},
        {"price": "1.10025", "liquidity": 5000000},
    ],
    "closeoutBid": "1.09990",
    "closeoutAsk": "1.10025",
}


def summary_body() -> bytes:
    """Return an account summary, 1 kB."""
    return json.dumps({"account": SUMMARY, "lastTransactionID": "42"}).encode()


def order_body() -> bytes:
    """Return a market order and its fill, 1.5 kB."""
    created = BATCH | {
        "id": "41",
        "type": "MARKET_ORDER",
        "instrument": "EUR_USD",
        "units": "100",
        "timeInForce": "FOK",
        "positionFill": "DEFAULT",
        "reason": "CLIENT_ORDER",
    }
    filled = BATCH | {
        "id": "42",
        "type": "ORDER_FILL",
        "orderID": "41",
        "instrument": "EUR_USD",
        "units": "100",
        "price": "1.10015",
        "pl": "0.0000",
        "financing": "0.0000",
        "commission": "0.0000",
        "guaranteedExecutionFee": "0.0000",
        "accountBalance": "100000.0000",
        "halfSpreadCost": "0.0075",
        "reason": "MARKET_ORDER",
        "tradeOpened": {"tradeID": "42", "units": "100", "price": "1.10015"},
        "fullPrice": {each: PRICE[each] for each in ("bids", "asks", "closeoutBid", "closeoutAsk")},
    }
    answer = {
        "orderCreateTransaction": created,
        "orderFillTransaction": filled,
        "relatedTransactionIDs": ["41", "42"],
        "lastTransactionID": "42",
    }
    return json.dumps(answer).encode()


def candles_body(count: int = 5000, seed: int = 1) -> bytes:
    """Return candles of one minute with mid prices, 0.7 MB."""
    rng = Random(seed)
    price = 1.1
    candles = []
    for minute in range(count):
        o, price = price, price + rng.gauss(0, 0.0002)
        high, low = max(o, price) + 0.0001, min(o, price) - 0.0001
        prices = {"o": f"{o:.5f}", "h": f"{high:.5f}", "l": f"{low:.5f}", "c": f"{price:.5f}"}
        at = f"2025-01-{1 + minute // 1440:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00.000000000Z"
        candles.append({"complete": True, "volume": rng.randint(1, 500), "time": at, "mid": prices})
    return json.dumps({"instrument": "EUR_USD", "granularity": "M1", "candles": candles}).encode()


def trades_body(count: int = 500, seed: int = 2) -> bytes:
    """Return open trades, every other one with a take-profit and a stop-loss, 0.3 MB."""
    rng = Random(seed)
    order = {
        "createTime": OPENED,
        "state": "PENDING",
        "tradeID": "1",
        "timeInForce": "GTC",
        "triggerCondition": "DEFAULT",
    }
    trades = []
    for number in range(count):
        trade = _trade(str(number), rng)
        if number % 2:
            profit = {"id": f"{number + 1}", "type": "TAKE_PROFIT", "price": _price(rng)}
            loss = {"id": f"{number + 2}", "type": "STOP_LOSS", "price": _price(rng)}
            trade |= {"takeProfitOrder": order | profit, "stopLossOrder": order | loss}
        trades.append(trade)
    return json.dumps({"trades": trades, "lastTransactionID": "9"}).encode()


def _trade(number: str, rng: Random) -> dict[str, Any]:
    units = str(rng.randrange(1, 100) * 1000)
    return {
        "id": number,
        "instrument": "EUR_USD",
        "price": _price(rng),
        "openTime": OPENED,
        "state": "OPEN",
        "initialUnits": units,
        "initialMarginRequired": f"{rng.uniform(20, 2000):.4f}",
        "currentUnits": units,
        "realizedPL": "0.0000",
        "unrealizedPL": f"{rng.gauss(0, 300):.4f}",
        "marginUsed": f"{rng.uniform(20, 2000):.4f}",
        "financing": f"{rng.gauss(0, 3):.4f}",
        "dividendAdjustment": "0.0000",
    }


def _price(rng: Random) -> str:
    return f"{1.1 + rng.gauss(0, 0.01):.5f}"


def price_lines(count: int = 200) -> bytes:
    """Return different lines of the price stream, 0.4 kB each."""
    rng = Random(3)
    bid = 1.1
    lines = []
    for number in range(count):
        bid += rng.gauss(0, 0.00003)
        ask = bid + 0.00015
        moved = {
            "time": f"2025-01-02T10:00:{number // 4:02d}.{rng.randrange(10**9):09d}Z",
            "bids": _ladder(bid, -0.0001),
            "asks": _ladder(ask, 0.0001),
            "closeoutBid": f"{bid - 0.0001:.5f}",
            "closeoutAsk": f"{ask + 0.0001:.5f}",
        }
        lines.append(json.dumps(PRICE | moved).encode() + b"\n")
    return b"".join(lines)


def _ladder(best: float, step: float) -> list[dict[str, Any]]:
    return [
        {"price": f"{best:.5f}", "liquidity": 1000000},
        {"price": f"{best + step:.5f}", "liquidity": 5000000},
    ]
