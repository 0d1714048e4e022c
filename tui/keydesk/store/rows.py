"""Put the broker's reasons into words."""

from keydesk.text.sanitize import clean

WORDS = {
    "CLIENT_REQUEST": "asked by you",
    "CLIENT_REQUEST_REPLACED": "replaced",
    "LINKED_TRADE_CLOSED": "its trade is closed",
    "TIME_IN_FORCE_EXPIRED": "its time is over",
    "MARKET_HALTED": "the market is halted",
    "INSUFFICIENT_MARGIN": "not enough margin",
    "INSUFFICIENT_LIQUIDITY": "not enough liquidity at the price",
    "BOUNDS_VIOLATION": "the price moved past the bound",
    "FIFO_VIOLATION": "an older or opposite trade has to be closed first",
    "TAKE_PROFIT_ON_FILL_LOSS": "the target is on the losing side",
    "LOSING_TAKE_PROFIT": "the target is on the losing side",
    "STOP_LOSS_ON_FILL_LOSS": "the stop is on the winning side",
    "STOP_LOSS_ON_FILL_REQUIRED": "this account wants a stop on every trade",
    "GUARANTEED_STOP_LOSS_ON_FILL_REQUIRED": "this account wants a guaranteed stop on every trade",
    "POSITION_SIZE_EXCEEDED": "the position would be too large",
    "OPEN_TRADES_ALLOWED_EXCEEDED": "too many open trades",
    "PENDING_ORDERS_ALLOWED_EXCEEDED": "too many pending orders",
    "POSITION_CLOSEOUT_FAILED": "there is nothing to reduce",
    "CLIENT_ORDER_ID_ALREADY_EXISTS": "a pending order has this id already",
    "CLIENT_TRADE_ID_ALREADY_EXISTS": "an open trade has this id already",
    "ORDER_DOESNT_EXIST": "there is no such order",
    "TRADE_DOESNT_EXIST": "there is no such trade",
    "CLOSEOUT_POSITION_DOESNT_EXIST": "there is no such position",
    "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE": "the trade is smaller than that",
    "INSTRUMENT_NOT_TRADEABLE": "this account may not trade it",
    "INSTRUMENT_PRICE_UNKNOWN": "there is no price",
    "UNITS_INVALID": "the units make no sense",
    "UNITS_PRECISION_EXCEEDED": "the units have too many decimals",
    "UNITS_LIMIT_EXCEEDED": "too many units for one order",
    "UNITS_MINIMUM_NOT_MET": "too few units",
    "UNITS_MIMIMUM_NOT_MET": "too few units",  # the service's own old spelling
    "PRICE_INVALID": "the price makes no sense",
    "PRICE_PRECISION_EXCEEDED": "the price has too many decimals",
    "PRICE_DISTANCE_MINIMUM_NOT_MET": "the distance is too small",
    "PRICE_DISTANCE_MAXIMUM_EXCEEDED": "the distance is too large",
    "TIME_IN_FORCE_INVALID": "this order cannot have that time in force",
    "TIME_IN_FORCE_GTD_TIMESTAMP_IN_PAST": "the expiry is in the past",
    "INTERNAL_SERVER_ERROR": "the service failed",
    "ACCOUNT_LOCKED": "the account is locked",
    "ACCOUNT_NOT_ACTIVE": "the account is not active",
    "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT": "that margin rate would close the positions out",
    "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL": "that margin rate would make a margin call",
}
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
}


def in_words(code: str) -> str:
    """Return a reason of the broker in words; an unknown one is spelt out."""
    return WORDS.get(code) or clean(code.replace("_", " ").lower())


def fill_in_words(code: str) -> str:
    """Return the reason of a fill in words."""
    return FILLS.get(code) or in_words(code)
