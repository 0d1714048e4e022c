"""Outcomes of the order protocol as commands meet them, from few words."""

from decimal import Decimal
from typing import Any

from keydesk_client.models import Transaction, TransactionID
from keydesk_client.models._core.json import JsonObject
from keydesk_client.orders.outcome import Action, Done, Intent, OrderResult
from support.data.account_history import fill

D = Decimal


def intent(action: Action = Action.CREATE, target: str = "", **body: str) -> Intent:
    """An intent of the test's account; a buy of 50,000 EUR_USD unless said."""
    usual = {"type": "MARKET", "instrument": "EUR_USD", "units": "50000"}
    asked: JsonObject = dict(body or usual)
    return Intent("kd-1", action, 6417, 1, "101-004-1234567-001", target, asked)


PRICE_AT_FILL = {
    "bids": [{"price": "1.08490", "liquidity": 1000000}],
    "asks": [{"price": "1.08500", "liquidity": 1000000}],
    "closeoutBid": "1.08490",
    "closeoutAsk": "1.08500",
    "timestamp": "2026-03-02T10:00:00.000000000Z",
}


def opening_fill(
    price: str = "1.08502", units: str = "50000", trade_id: int = 6419, **members: object
) -> Transaction:
    """A fill that opens a trade."""
    sent: dict[str, Any] = {"fullPrice": PRICE_AT_FILL} | members
    return fill(
        trade_id,
        units=units,
        fullVWAP=price,
        **sent,
        tradeOpened={
            "tradeID": str(trade_id),
            "units": units,
            "price": price,
            "initialMarginRequired": "1806.4400",
        },
    )


def done(
    *transactions: Transaction, result: OrderResult = OrderResult.FILLED, reason: str = ""
) -> Done:
    """A good answer."""
    ids = tuple(each.id for each in transactions)
    return Done(
        intent=intent(),
        result=result,
        transactions=transactions,
        reason=reason,
        order_id="6418",
        related_transaction_ids=ids,
        last_transaction_id=TransactionID(ids[-1] if ids else 6418),
    )
