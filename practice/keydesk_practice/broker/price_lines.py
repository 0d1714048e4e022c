"""One line of the price stream."""

import json
from collections.abc import Sequence
from typing import Any

from keydesk_practice.broker.board import PriceBoard
from keydesk_practice.engine.datetimes import rfc3339, unix
from keydesk_practice.engine.quotes import Level, Quote
from keydesk_practice.engine.wire_form import plain


def price_line(board: PriceBoard, quote: Quote, home: str | None, unix_times: bool) -> bytes:
    """Return the line of a price; with a home currency, the factors to it stand beside it."""
    price: dict[str, Any] = {
        "type": "PRICE",
        "instrument": quote.instrument,
        "time": (unix if unix_times else rfc3339)(quote.time),
        "status": "tradeable" if quote.tradeable else "non-tradeable",
        "tradeable": quote.tradeable,
        "bids": _levels(quote.bids),
        "asks": _levels(quote.asks),
        "closeoutBid": plain(quote.closeout_bid),
        "closeoutAsk": plain(quote.closeout_ask),
    }
    if home is not None:
        price["homeConversions"] = home_conversions(board, [quote.instrument], home)
    return json.dumps(price, separators=(",", ":")).encode("ascii") + b"\n"


def home_conversions(board: PriceBoard, names: Sequence[str], home: str) -> list[dict[str, str]]:
    """Return the factors of every currency of some instruments, each once."""
    specifications = [board.specification(name) for name in names]
    currencies = dict.fromkeys(
        currency
        for one in specifications
        if one is not None
        for currency in (one.base, one.quote_currency)
    )
    factors = [board.conversion(currency, home) for currency in currencies]
    return [
        {
            "currency": one.currency,
            "accountGain": plain(one.gain),
            "accountLoss": plain(one.loss),
            "positionValue": plain(one.value),
        }
        for one in factors
    ]


def _levels(levels: Sequence[Level]) -> list[dict[str, Any]]:
    return [{"price": plain(level.price), "liquidity": level.liquidity} for level in levels]
