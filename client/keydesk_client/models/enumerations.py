"""Enumerations of the interface; a value that is not listed is kept as it came, and refused in a request."""

# ruff: noqa: PYI051 - the values are for editors and type checkers, `str` for values to come

from typing import Annotated, Literal, TypeAlias, cast

from keydesk_client.models._core.record import validate_choice
from keydesk_client.models._core.scalars import OPEN
from keydesk_client.models._core.wire_names import enum_values

OrderType: TypeAlias = Annotated[
    Literal[
        "MARKET",
        "LIMIT",
        "STOP",
        "MARKET_IF_TOUCHED",
        "TAKE_PROFIT",
        "STOP_LOSS",
        "GUARANTEED_STOP_LOSS",
        "TRAILING_STOP_LOSS",
        "FIXED_PRICE",
    ]
    | str,
    OPEN,
]

CancellableOrderType: TypeAlias = Annotated[
    Literal[
        "LIMIT",
        "STOP",
        "MARKET_IF_TOUCHED",
        "TAKE_PROFIT",
        "STOP_LOSS",
        "GUARANTEED_STOP_LOSS",
        "TRAILING_STOP_LOSS",
    ]
    | str,
    OPEN,
]
"""Types of orders that can be pending."""

OrderState: TypeAlias = Annotated[
    Literal[
        "PENDING",
        "FILLED",
        "TRIGGERED",
        "CANCELLED",
    ]
    | str,
    OPEN,
]
"""PENDING: live; FILLED: ended by a fill; TRIGGERED: ended by its trigger, without a fill of its own; CANCELLED: ended
without a fill.
"""

OrderStateFilter: TypeAlias = Literal[
    "PENDING",
    "FILLED",
    "TRIGGERED",
    "CANCELLED",
    "ALL",
]
"""Default PENDING."""

TradeState: TypeAlias = Annotated[
    Literal[
        "OPEN",
        "CLOSED",
        "CLOSE_WHEN_TRADEABLE",
    ]
    | str,
    OPEN,
]
"""OPEN: live; CLOSED: fully closed; CLOSE_WHEN_TRADEABLE: waiting for its instrument to trade again, then closed."""

TradeStateFilter: TypeAlias = Literal[
    "OPEN",
    "CLOSED",
    "CLOSE_WHEN_TRADEABLE",
    "ALL",
]
"""Default OPEN."""

TradePL: TypeAlias = Annotated[
    Literal[
        "POSITIVE",
        "NEGATIVE",
        "ZERO",
    ]
    | str,
    OPEN,
]

TimeInForce: TypeAlias = Annotated[
    Literal[
        "GTC",
        "GTD",
        "GFD",
        "FOK",
        "IOC",
    ]
    | str,
    OPEN,
]
"""GTC: until cancelled; GTD: until gtdTime; GFD: until 17:00 New York; FOK: all now or nothing; IOC: what is
possible now, the rest is cancelled.
"""

OrderPositionFill: TypeAlias = Annotated[
    Literal[
        "OPEN_ONLY",
        "REDUCE_FIRST",
        "REDUCE_ONLY",
        "DEFAULT",
    ]
    | str,
    OPEN,
]
"""OPEN_ONLY: may only open or extend; REDUCE_FIRST: reduce the opposite side before opening; REDUCE_ONLY: may only
reduce; DEFAULT: REDUCE_FIRST without hedging, OPEN_ONLY with hedging.
"""

OrderTriggerCondition: TypeAlias = Annotated[
    Literal[
        "DEFAULT",
        "INVERSE",
        "BID",
        "ASK",
        "MID",
    ]
    | str,
    OPEN,
]
"""DEFAULT: ask for buys, bid for sells; INVERSE: bid for buys, ask for sells; BID: bid always; ASK: ask always;
MID: midpoint always.
"""

Direction: TypeAlias = Annotated[
    Literal[
        "LONG",
        "SHORT",
    ]
    | str,
    OPEN,
]

KnownTransactionType: TypeAlias = Literal[
    "CREATE",
    "CLOSE",
    "REOPEN",
    "CLIENT_CONFIGURE",
    "CLIENT_CONFIGURE_REJECT",
    "TRANSFER_FUNDS",
    "TRANSFER_FUNDS_REJECT",
    "MARKET_ORDER",
    "MARKET_ORDER_REJECT",
    "FIXED_PRICE_ORDER",
    "LIMIT_ORDER",
    "LIMIT_ORDER_REJECT",
    "STOP_ORDER",
    "STOP_ORDER_REJECT",
    "MARKET_IF_TOUCHED_ORDER",
    "MARKET_IF_TOUCHED_ORDER_REJECT",
    "TAKE_PROFIT_ORDER",
    "TAKE_PROFIT_ORDER_REJECT",
    "STOP_LOSS_ORDER",
    "STOP_LOSS_ORDER_REJECT",
    "GUARANTEED_STOP_LOSS_ORDER",
    "GUARANTEED_STOP_LOSS_ORDER_REJECT",
    "TRAILING_STOP_LOSS_ORDER",
    "TRAILING_STOP_LOSS_ORDER_REJECT",
    "ORDER_FILL",
    "ORDER_CANCEL",
    "ORDER_CANCEL_REJECT",
    "ORDER_CLIENT_EXTENSIONS_MODIFY",
    "ORDER_CLIENT_EXTENSIONS_MODIFY_REJECT",
    "TRADE_CLIENT_EXTENSIONS_MODIFY",
    "TRADE_CLIENT_EXTENSIONS_MODIFY_REJECT",
    "MARGIN_CALL_ENTER",
    "MARGIN_CALL_EXTEND",
    "MARGIN_CALL_EXIT",
    "DELAYED_TRADE_CLOSURE",
    "DAILY_FINANCING",
    "DIVIDEND_ADJUSTMENT",
    "RESET_RESETTABLE_PL",
]
"""The types of transactions that have a record of their own."""

TransactionType: TypeAlias = Annotated[KnownTransactionType | str, OPEN]

TransactionFilter: TypeAlias = Literal["ORDER", "FUNDING", "ADMIN"] | KnownTransactionType
"""A transaction type that can be requested, or a family of them."""

GuaranteedStopLossOrderMode: TypeAlias = Annotated[
    Literal[
        "DISABLED",
        "ALLOWED",
        "REQUIRED",
    ]
    | str,
    OPEN,
]
"""DISABLED: not allowed; ALLOWED: optional; REQUIRED: every open trade needs one."""

GuaranteedStopLossOrderModeForInstrument: TypeAlias = Annotated[
    Literal[
        "DISABLED",
        "ALLOWED",
        "REQUIRED",
    ]
    | str,
    OPEN,
]

GuaranteedStopLossOrderMutability: TypeAlias = Annotated[
    Literal[
        "FIXED",
        "REPLACEABLE",
        "CANCELABLE",
        "PRICE_WIDEN_ONLY",
    ]
    | str,
    OPEN,
]
"""FIXED: no replace, no cancel; REPLACEABLE: replace only; CANCELABLE: replace or cancel; PRICE_WIDEN_ONLY:
replace only to move it further from the market.
"""

AccountFinancingMode: TypeAlias = Annotated[
    Literal[
        "NO_FINANCING",
        "SECOND_BY_SECOND",
        "DAILY",
        "DAILY_INSTRUMENT",
    ]
    | str,
    OPEN,
]
"""NO_FINANCING: none; SECOND_BY_SECOND: accrues each second, settled daily and at close; DAILY: one full day at
17:00 New York; DAILY_INSTRUMENT: daily by instrument calendar; observed only.
"""

PositionAggregationMode: TypeAlias = Annotated[
    Literal[
        "ABSOLUTE_SUM",
        "MAXIMAL_SIDE",
        "NET_SUM",
    ]
    | str,
    OPEN,
]
"""ABSOLUTE_SUM: long plus short; MAXIMAL_SIDE: larger side; NET_SUM: net units."""

InstrumentType: TypeAlias = Annotated[
    Literal[
        "CURRENCY",
        "CFD",
        "METAL",
    ]
    | str,
    OPEN,
]

DayOfWeek: TypeAlias = Annotated[
    Literal[
        "SUNDAY",
        "MONDAY",
        "TUESDAY",
        "WEDNESDAY",
        "THURSDAY",
        "FRIDAY",
        "SATURDAY",
    ]
    | str,
    OPEN,
]
"""In upper case, unlike WeeklyAlignment."""

PriceStatus: TypeAlias = Annotated[
    Literal[
        "tradeable",
        "non-tradeable",
        "invalid",
    ]
    | str,
    OPEN,
]
"""In lower case; invalid: there is no such instrument or no price."""

Granularity: TypeAlias = Literal[
    "S5",
    "S10",
    "S15",
    "S30",
    "M1",
    "M2",
    "M4",
    "M5",
    "M10",
    "M15",
    "M30",
    "H1",
    "H2",
    "H3",
    "H4",
    "H6",
    "H8",
    "H12",
    "D",
    "W",
    "M",
]
"""What candles can be requested."""


def granularity_of(text: str) -> Granularity:
    """Return a granularity that is known only when the program runs; raise InvalidRequest if it does not exist."""
    validate_choice("granularity", text, enum_values(Granularity))
    return cast("Granularity", text)


CandlestickGranularity: TypeAlias = Annotated[Granularity | str, OPEN]
"""S: seconds, M with a number: minutes, H: hours, D: a day, W: a week, M: a month."""

WeeklyAlignment: TypeAlias = Annotated[
    Literal[
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
        "Sunday",
    ]
    | str,
    OPEN,
]

AcceptDatetimeFormat: TypeAlias = Annotated[
    Literal[
        "UNIX",
        "RFC3339",
    ]
    | str,
    OPEN,
]
"""Default RFC3339."""
