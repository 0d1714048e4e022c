"""What a reject reason says to a person: one sentence each, and a plain reading of the code for the rare ones."""

_SENTENCES = {
    "CLIENT_CONFIGURE_DATA_MISSING": "Neither an alias nor a margin rate was given",
    "CLIENT_EXTENSIONS_DATA_MISSING": "No client extensions were given",
    "CLIENT_ORDER_ID_ALREADY_EXISTS": "The client order ID is already used by a pending order",
    "CLIENT_TRADE_ID_ALREADY_EXISTS": "The client trade ID is already used by an open trade",
    "CLOSEOUT_POSITION_DOESNT_EXIST": "The position to close does not exist",
    "CLOSEOUT_POSITION_INCOMPLETE_SPECIFICATION": "Neither side of the position was asked to close",
    "CLOSEOUT_POSITION_REJECT": "The other side of the position could not be closed",
    "CLOSEOUT_POSITION_UNITS_EXCEED_POSITION_SIZE": "More units were asked to close than the position holds",
    "CLOSE_TRADE_UNITS_EXCEED_TRADE_SIZE": "More units were asked to close than the trade holds",
    "INSTRUMENT_NOT_TRADEABLE": "The instrument is not tradeable on this account",
    "INSTRUMENT_PRICE_UNKNOWN": "There is no price for the instrument",
    "INSTRUMENT_UNKNOWN": "The instrument is not known",
    "INSUFFICIENT_MARGIN": "The account has not enough margin available",
    "MARGIN_RATE_INVALID": "The margin rate is not valid",
    "MARGIN_RATE_WOULD_TRIGGER_CLOSEOUT": "The margin rate would trigger a margin closeout",
    "MARGIN_RATE_WOULD_TRIGGER_MARGIN_CALL": "The margin rate would trigger a margin call",
    "ORDER_DOESNT_EXIST": "The order specified does not exist or is not pending",
    "PRICE_BOUND_INVALID": "The price bound is not valid",
    "PRICE_BOUND_PRECISION_EXCEEDED": "The price bound has more decimals than the instrument allows",
    "PRICE_DISTANCE_MAXIMUM_EXCEEDED": "The price distance is above the instrument's maximum",
    "PRICE_DISTANCE_MINIMUM_NOT_MET": "The price distance is below the instrument's minimum",
    "PRICE_DISTANCE_MISSING": "The price distance is missing",
    "PRICE_INVALID": "The price is not valid",
    "PRICE_MISSING": "The price is missing",
    "PRICE_PRECISION_EXCEEDED": "The price has more decimals than the instrument allows",
    "REPLACING_ORDER_INVALID": "The replacement is of another type than the order",
    "REPLACING_TRADE_ID_INVALID": "The replacement is for another trade than the order",
    "TIME_IN_FORCE_GTD_TIMESTAMP_IN_PAST": "The good-till time lies in the past",
    "TIME_IN_FORCE_GTD_TIMESTAMP_MISSING": "The good-till time is missing",
    "TIME_IN_FORCE_INVALID": "The time in force is not allowed for this type of order",
    "TRADE_DOESNT_EXIST": "The trade specified does not exist",
    "UNITS_INVALID": "The units are not valid",
    "UNITS_LIMIT_EXCEEDED": "The units are above the instrument's maximum for an order",
    "UNITS_MINIMUM_NOT_MET": "The units are below the instrument's minimum",
    "UNITS_PRECISION_EXCEEDED": "The units have more decimals than the instrument allows",
}


def sentence_of(reason: str) -> str:
    """Return the sentence of a reject reason."""
    return _SENTENCES.get(reason) or reason.replace("_", " ").capitalize()
