"""Put the broker's reasons into words."""

from keydesk.store.reason_words import meaning_of
from keydesk.text.sanitize import clean

FILLS = {
    "TAKE_PROFIT_ORDER": "target",
    "STOP_LOSS_ORDER": "stop hit",
    "GUARANTEED_STOP_LOSS_ORDER": "guaranteed stop hit",
    "TRAILING_STOP_LOSS_ORDER": "trailing stop hit",
    "LIMIT_ORDER": "limit order",
    "STOP_ORDER": "stop order",
    "MARKET_IF_TOUCHED_ORDER": "price touched",
    "MARKET_ORDER": "market order",
    "MARKET_ORDER_TRADE_CLOSE": "closed by you",
    "MARKET_ORDER_POSITION_CLOSEOUT": "position closed by you",
    "MARKET_ORDER_MARGIN_CLOSEOUT": "MARGIN CLOSEOUT",
    "MARKET_ORDER_DELAYED_TRADE_CLOSE": "closed after the halt",
    "FIXED_PRICE_ORDER": "fixed price, by the broker",
    "FIXED_PRICE_ORDER_PLATFORM_ACCOUNT_MIGRATION": "moved to another platform",
    "FIXED_PRICE_ORDER_DIVISION_ACCOUNT_MIGRATION": "moved to another division",
    "FIXED_PRICE_ORDER_ADMINISTRATIVE_ACTION": "by the broker's staff",
}


def in_words(code: str) -> str:
    """Return a reason of the broker in words; an unknown one is spelt out."""
    found = meaning_of(code)
    return clean(code.replace("_", " ").lower()) if found is None else found[0]


def fill_in_words(code: str) -> str:
    """Return the reason of a fill in words."""
    return FILLS.get(code) or in_words(code)
