"""The broker's reasons of rejections, cancellations and fills in words, and the field of a ticket that each is about.

Reasons about the orders that a trade brings with it are made of an order and a fault ("STOP_LOSS_ON_FILL" and
"PRICE_MISSING"), and so are their words. All others have a line of their own.
"""

from collections.abc import Mapping

from keydesk.calc.orders.ticket_draft import TicketField
from keydesk.text.sanitize import clean

Meaning = tuple[str, TicketField]

DEPENDENTS: Mapping[str, Meaning] = {  # the longest first: one is the end of another
    "GUARANTEED_STOP_LOSS": ("the guaranteed stop", "guarantee"),
    "TRAILING_STOP_LOSS": ("the trailing stop", "trail"),
    "TAKE_PROFIT": ("the target", "target"),
    "STOP_LOSS": ("the stop", "stop"),
}
FAULTS: Mapping[str, str] = {
    "PRICE_MISSING": "has no price",
    "PRICE_INVALID": "has an invalid price",
    "PRICE_PRECISION_EXCEEDED": "has too many decimals",
    "PRICE_WITHIN_SPREAD": "is inside the spread",
    "PRICE_DISTANCE_MISSING": "has no distance",
    "PRICE_DISTANCE_INVALID": "has an invalid distance",
    "PRICE_DISTANCE_PRECISION_EXCEEDED": "has a distance with too many decimals",
    "PRICE_DISTANCE_MAXIMUM_EXCEEDED": "is too far away",
    "PRICE_DISTANCE_MINIMUM_NOT_MET": "is too near",
    "PRICE_AND_DISTANCE_BOTH_SPECIFIED": "has both a price and a distance: only one is allowed",
    "PRICE_AND_DISTANCE_BOTH_MISSING": "has neither a price nor a distance",
    "DISTANCE_INVALID": "has an invalid distance",
    "DISTANCE_PRECISION_EXCEEDED": "has a distance with too many decimals",
    "MINIMUM_DISTANCE_NOT_MET": "is nearer to the market than allowed",
    "LEVEL_RESTRICTION_EXCEEDED": "would exceed the number of guaranteed stops allowed near that price",
    "LEVEL_RESTRICTION_VOLUME_EXCEEDED": "would guarantee too many units near that price",
    "LEVEL_RESTRICTION_PRICE_RANGE_EXCEEDED": "is outside the price range that is guaranteed",
    "TIME_IN_FORCE_MISSING": "has no time in force",
    "TIME_IN_FORCE_INVALID": "cannot have that time in force",
    "GTD_TIMESTAMP_MISSING": "has no expiry",
    "GTD_TIMESTAMP_IN_PAST": "has an expiry in the past",
    "CLIENT_ORDER_ID_INVALID": "has an invalid id",
    "CLIENT_ORDER_ID_ALREADY_EXISTS": "has the id of another pending order",
    "CLIENT_ORDER_TAG_INVALID": "has an invalid tag",
    "CLIENT_ORDER_COMMENT_INVALID": "has an invalid comment",
    "TRIGGER_CONDITION_MISSING": "has no trigger condition",
    "TRIGGER_CONDITION_INVALID": "cannot have that trigger condition",
    "LOSS": "is on the wrong side of the price",
    "REQUIRED": "is missing: this account requires one on every trade",
    "REQUIRED_FOR_PENDING_ORDER": "is missing: this account requires one on every pending order",
    "NOT_ALLOWED": "is not offered for this account or instrument",
    "HEDGING_NOT_ALLOWED": "is not allowed while the other side is held",
    "BID_HALTED": "cannot be set: the bid is halted",
    "ASK_HALTED": "cannot be set: the ask is halted",
    "ALREADY_EXISTS": "already exists",
    "WOULD_VIOLATE_FIFO_VIOLATION_SAFEGUARD": "would close a younger trade of that size first",
    "RMO_MUTUAL_EXCLUSIVITY_MUTUALLY_EXCLUSIVE_VIOLATION": "cannot be combined with the other stop",
    "RMO_MUTUAL_EXCLUSIVITY_GSLO_EXCLUDES_OTHERS_VIOLATION": "excludes every other stop",
    "HALTED_CREATE_VIOLATION": "cannot be set while the market is halted",
    "CREATE_VIOLATION": "cannot be set now",
    "HALTED_TIGHTEN_VIOLATION": "cannot be tightened while the market is halted",
    "TIGHTEN_VIOLATION": "may only be moved away from the market",
    "NOT_CANCELABLE": "cannot be cancelled",
    "HALTED_NOT_CANCELABLE": "cannot be cancelled while the market is halted",
    "NOT_REPLACEABLE": "cannot be moved",
    "HALTED_NOT_REPLACEABLE": "cannot be moved while the market is halted",
}
OF_A_TICKET: Mapping[str, Meaning] = {
    "UNITS_MISSING": ("the units are missing", "size"),
    "UNITS_INVALID": ("the units are invalid", "size"),
    "UNITS_PRECISION_EXCEEDED": ("the units have too many decimals", "size"),
    "UNITS_LIMIT_EXCEEDED": ("too many units for one order", "size"),
    "UNITS_MINIMUM_NOT_MET": ("too few units", "size"),
    "UNITS_MIMIMUM_NOT_MET": ("too few units", "size"),  # an old misspelling of the service
    "INSUFFICIENT_MARGIN": ("not enough margin", "size"),
    "INSUFFICIENT_LIQUIDITY": ("not enough liquidity at the price", "size"),
    "POSITION_SIZE_EXCEEDED": ("the position would be too large", "size"),
    "ACCOUNT_POSITION_VALUE_LIMIT_EXCEEDED": ("the account's positions would be too large", "size"),
    "PRICE_MISSING": ("the price is missing", "price"),
    "PRICE_INVALID": ("the price is invalid", "price"),
    "PRICE_PRECISION_EXCEEDED": ("the price has too many decimals", "price"),
    "PRICE_DISTANCE_MISSING": ("the distance is missing", "trail"),
    "PRICE_DISTANCE_INVALID": ("the distance is invalid", "trail"),
    "PRICE_DISTANCE_PRECISION_EXCEEDED": ("the distance has too many decimals", "trail"),
    "PRICE_DISTANCE_MAXIMUM_EXCEEDED": ("the distance is too large", "trail"),
    "PRICE_DISTANCE_MINIMUM_NOT_MET": ("the distance is too small", "trail"),
    "PRICE_BOUND_INVALID": ("the bound is invalid", "bound"),
    "PRICE_BOUND_PRECISION_EXCEEDED": ("the bound has too many decimals", "bound"),
    "BOUNDS_VIOLATION": ("the price moved past the bound", "bound"),
    "TIME_IN_FORCE_MISSING": ("the time in force is missing", "expiry"),
    "TIME_IN_FORCE_INVALID": ("this order cannot have that time in force", "expiry"),
    "TIME_IN_FORCE_GTD_TIMESTAMP_MISSING": ("the expiry is missing", "expiry"),
    "TIME_IN_FORCE_GTD_TIMESTAMP_IN_PAST": ("the expiry is in the past", "expiry"),
    "TRIGGER_CONDITION_MISSING": ("the trigger condition is missing", "trigger"),
    "TRIGGER_CONDITION_INVALID": ("this order cannot have that trigger condition", "trigger"),
    "ORDER_FILL_POSITION_ACTION_MISSING": ("the position fill is missing", "fill"),
    "ORDER_FILL_POSITION_ACTION_INVALID": ("this account cannot have that position fill", "fill"),
    "POSITION_CLOSEOUT_FAILED": ("there is nothing to reduce", "fill"),
    "FIFO_VIOLATION": ("an older or opposite trade has to be closed first", "fill"),
    "CLIENT_ORDER_TAG_INVALID": ("the order's tag is invalid", "tag"),
    "CLIENT_TRADE_TAG_INVALID": ("the trade's tag is invalid", "tag"),
    "CLIENT_ORDER_COMMENT_INVALID": ("the order's comment is invalid", "comment"),
    "CLIENT_TRADE_COMMENT_INVALID": ("the trade's comment is invalid", "comment"),
    "TRADE_ON_FILL_CLIENT_EXTENSIONS_NOT_SUPPORTED": (
        "this account does not accept tags of trades",
        "tag",
    ),
    "LOSING_TAKE_PROFIT": ("the target is on the losing side", "target"),
    "TAKE_PROFIT_ON_FILL_LOSS": ("the target is on the losing side", "target"),
    "STOP_LOSS_ON_FILL_LOSS": ("the stop is on the winning side", "stop"),
    "TRAILING_STOP_LOSS_ORDERS_NOT_SUPPORTED": (
        "this account does not accept trailing stops",
        "trail",
    ),
    "ORDERS_ON_FILL_RMO_MUTUAL_EXCLUSIVITY_MUTUALLY_EXCLUSIVE_VIOLATION": (
        "stop and trailing stop exclude each other on this account",
        "trail",
    ),
    "ORDERS_ON_FILL_RMO_MUTUAL_EXCLUSIVITY_GSLO_EXCLUDES_OTHERS_VIOLATION": (
        "a guaranteed stop excludes every other stop",
        "guarantee",
    ),
    "HEDGING_GSLO_VIOLATION": ("the other side has a guaranteed stop", "guarantee"),
}
OF_THE_ACCOUNT: Mapping[str, str] = {
    "INTERNAL_SERVER_ERROR": "an internal error of the broker",
    "CLIENT_REQUEST": "requested by you",
    "CLIENT_REQUEST_REPLACED": "replaced",
    "DIVIDEND_ADJUSTMENT_REPLACED": "replaced, adjusted for a dividend",
    "MIGRATION": "the account moved to another platform",
    "LINKED_TRADE_CLOSED": "its trade is closed",
    "TIME_IN_FORCE_EXPIRED": "expired",
    "MARKET_HALTED": "the market is halted",
    "INSTRUMENT_BID_HALTED": "the bid of this instrument is halted",
    "INSTRUMENT_ASK_HALTED": "the ask of this instrument is halted",
    "INSTRUMENT_BID_REDUCE_ONLY": "sells may only reduce in this instrument now",
    "INSTRUMENT_ASK_REDUCE_ONLY": "buys may only reduce in this instrument now",
    "INSTRUMENT_MISSING": "the instrument is missing",
    "INSTRUMENT_UNKNOWN": "the instrument does not exist",
    "INSTRUMENT_NOT_TRADEABLE": "this account may not trade the instrument",
    "INSTRUMENT_PRICE_UNKNOWN": "the instrument has no price",
    "ACCOUNT_NOT_ACTIVE": "the account is not active",
    "ACCOUNT_LOCKED": "the account is locked",
    "ACCOUNT_NEW_POSITIONS_LOCKED": "the account may not open positions",
    "ACCOUNT_ORDER_CREATION_LOCKED": "the account may not create orders",
    "ACCOUNT_ORDER_FILL_LOCKED": "the account's orders may not be filled",
    "ACCOUNT_ORDER_CANCEL_LOCKED": "the account may not cancel orders",
    "ACCOUNT_CONFIGURATION_LOCKED": "the account's settings are locked",
    "ACCOUNT_DEPOSIT_LOCKED": "the account does not accept deposits",
    "ACCOUNT_WITHDRAWAL_LOCKED": "the account does not allow withdrawals",
    "OPEN_TRADES_ALLOWED_EXCEEDED": "too many open trades",
    "PENDING_ORDERS_ALLOWED_EXCEEDED": "too many pending orders",
    "FIFO_VIOLATION_SAFEGUARD_VIOLATION": "a trade of the same size is open: take one unit more or less",
    "FIFO_VIOLATION_SAFEGUARD_PARTIAL_CLOSE_VIOLATION": (
        "the rest would have the size of another trade: close one unit more or less"
    ),
    "ORDER_ID_UNSPECIFIED": "no order was named",
    "ORDER_DOESNT_EXIST": "the order does not exist",
    "ORDER_IDENTIFIER_INCONSISTENCY": "the two ids name different orders",
    "ORDER_CANCEL_WOULD_TRIGGER_CLOSEOUT": "without that order there would be a margin closeout",
    "TRADE_ID_UNSPECIFIED": "no trade was named",
    "TRADE_DOESNT_EXIST": "the trade does not exist",
    "TRADE_IDENTIFIER_INCONSISTENCY": "the two ids name different trades",
    "CLIENT_ORDER_ID_INVALID": "the order's id is invalid",
    "CLIENT_ORDER_ID_ALREADY_EXISTS": "a pending order has this id already",
    "CLIENT_TRADE_ID_INVALID": "the trade's id is invalid",
    "CLIENT_TRADE_ID_ALREADY_EXISTS": "an open trade has this id already",
    "ORDERS_ON_FILL_DUPLICATE_CLIENT_ORDER_IDS": "two of its orders have the same id",
    "CLIENT_EXTENSIONS_DATA_MISSING": "there is nothing to change in tag and comment",
    "ORDER_PARTIAL_FILL_OPTION_MISSING": "the order does not say whether it may be filled in part",
    "ORDER_PARTIAL_FILL_OPTION_INVALID": "the partial fill option is invalid",
    "INVALID_REISSUE_IMMEDIATE_PARTIAL_FILL": "an immediate order cannot be reissued after a partial fill",
    "OCA_ORDER_IDS_STOP_LOSS_NOT_ALLOWED": "a stop cannot cancel other orders",
    "REPLACING_ORDER_INVALID": "the order to replace cannot be replaced by this one",
    "REPLACING_TRADE_ID_INVALID": "the order to replace is of another trade",
    "CLOSE_TRADE_TYPE_MISSING": "the request does not say how much to close",
    "CLOSE_TRADE_PARTIAL_UNITS_MISSING": "the units to close are missing",
    "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE": "the trade is smaller than that",
    "CLOSEOUT_POSITION_DOESNT_EXIST": "the position does not exist",
    "CLOSEOUT_POSITION_INCOMPLETE_SPECIFICATION": "the request does not say which side to close",
    "CLOSEOUT_POSITION_UNITS_EXCEED_POSITION_SIZE": "the position is smaller than that",
    "CLOSEOUT_POSITION_REJECT": "the position cannot be closed now",
    "CLOSEOUT_POSITION_PARTIAL_UNITS_MISSING": "the units to close are missing",
    "MARKUP_GROUP_ID_INVALID": "the account's price group is invalid",
    "POSITION_AGGREGATION_MODE_INVALID": "the position aggregation mode is invalid",
    "ADMIN_CONFIGURE_DATA_MISSING": "there is nothing to change in the settings",
    "CLIENT_CONFIGURE_DATA_MISSING": "there is nothing to change in the settings",
    "ALIAS_INVALID": "the account name is invalid",
    "MARGIN_RATE_INVALID": "the margin rate is invalid",
    "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT": "the margin rate would cause a margin closeout",
    "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL": "the margin rate would cause a margin call",
    "AMOUNT_INVALID": "the amount is invalid",
    "AMOUNT_MISSING": "the amount is missing",
    "INSUFFICIENT_FUNDS": "not enough funds",
    "FUNDING_REASON_MISSING": "the transfer's reason is missing",
}


FILLS: Mapping[str, str] = {
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


def meaning_of(code: str) -> Meaning | None:
    """Return a reason in words and the field that it is about, "" if it is about none; None for an unknown reason."""
    if code in OF_A_TICKET:
        return OF_A_TICKET[code]
    if code in OF_THE_ACCOUNT:
        return OF_THE_ACCOUNT[code], ""
    return _of_a_dependent(code)


def _of_a_dependent(code: str) -> Meaning | None:
    for prefix, subject in DEPENDENTS.items():
        for kind in ("_ON_FILL_", "_ORDER_"):
            if code.startswith(prefix + kind):
                return _with_fault(subject, code.removeprefix(prefix + kind))
    return None


def _with_fault(subject: Meaning, fault: str) -> Meaning | None:
    guaranteed = "GUARANTEED_"  # of services without an order type for it
    if subject is DEPENDENTS["STOP_LOSS"] and fault.startswith(guaranteed):
        return _with_fault(DEPENDENTS["GUARANTEED_STOP_LOSS"], fault.removeprefix(guaranteed))
    text, (name, field) = FAULTS.get(fault), subject
    return None if text is None else (f"{name} {text}", _field_of(fault, field))


def _field_of(fault: str, field: TicketField) -> TicketField:
    """Return the field of a fault; a guaranteed stop's level is typed in the stop's field."""
    of_level = fault.startswith(("PRICE_", "DISTANCE_", "MINIMUM_", "LEVEL_")) or fault == "LOSS"
    return "stop" if field == "guarantee" and of_level else field


def in_text(code: str) -> str:
    """Return a reason of the broker in words; an unknown one is spelt out."""
    meaning = meaning_of(code)
    return clean(code.replace("_", " ").lower()) if meaning is None else meaning[0]


def fill_in_text(code: str) -> str:
    """Return the reason of a fill in words."""
    return FILLS.get(code) or in_text(code)
