"""Single values of the wire: names and ids as text, numbers exactly as they came.

A number is decimal text on the wire. It becomes a Decimal with every digit kept, trailing zeros included, and goes
out again as the same text. Exponents, NaN and Infinity are no numbers here: "1E+999999999" would fill the memory as
soon as somebody prints it.
"""

import re
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Final, TypeAlias

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

MOST_DIGITS: Final = 64
COUNTER_TEXT: Final = r"^[0-9]+$"
LONGEST_COUNTER: Final = 20
DECIMAL_TEXT: Final = r"[+-]?[0-9]+(\.[0-9]+)?"

_is_decimal_text = re.compile(DECIMAL_TEXT).fullmatch
_is_plain_text = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?").fullmatch
"""What is written back as it came; "+1.5" and "007.10" go the slow way, which keeps them beside the number."""


# 500 trades have 3,000 numbers: with fewer places, each that is read would push out the next.
@lru_cache(maxsize=4096)
def _read(text: str) -> Decimal:
    """Prices come again and again, and "0.0000" always: a number that is known is neither checked nor made again."""
    if not _is_plain_text(text):
        raise ValueError(f"{text!r} is not a plain decimal number")
    return Decimal(text)


def decimal_of(value: object) -> Decimal:
    """A finite Decimal of sane length from a Decimal, an int or decimal text; ValueError for all else."""
    if isinstance(value, Decimal):
        if (
            value.is_finite()
            and abs(value.adjusted()) < MOST_DIGITS
            and len(value.as_tuple().digits) <= MOST_DIGITS
        ):
            return value
    elif isinstance(value, int) and not isinstance(value, bool):
        if abs(value) < 10**MOST_DIGITS:
            return Decimal(value)
    elif isinstance(value, str) and len(value) <= MOST_DIGITS and _is_decimal_text(value):
        return Decimal(value)
    shown = (
        "so long a number"
        if isinstance(value, int) and abs(value) > 1
        else f"{str(value)[:MOST_DIGITS]!r}"
    )
    why = "a float, and floats are not exact" if isinstance(value, float) else "no decimal number"
    raise ValueError(f"{shown} is {why}: give a Decimal, an int or digits as text")


def decimal_text(value: Decimal) -> str:
    """The number as the wire wants it: digits, no exponent."""
    return format(value, "f")


# One for all members: several hundred of them would hold 3 kB each of their own.
_DECIMAL_SCHEMA: Final = core_schema.json_or_python_schema(
    json_schema=core_schema.no_info_after_validator_function(
        _read, core_schema.str_schema(max_length=MOST_DIGITS)
    ),
    python_schema=core_schema.no_info_plain_validator_function(decimal_of),
    serialization=core_schema.plain_serializer_function_ser_schema(decimal_text),
)


class _DecimalOnTheWire:
    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return _DECIMAL_SCHEMA.copy()


class _LiquidityOnTheWire:
    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        number = _DecimalOnTheWire.__get_pydantic_core_schema__(source, handler)
        whole = core_schema.int_schema(strict=True)
        return core_schema.union_schema([whole, number], mode="left_to_right")


class _CounterOnTheWire:
    """Text that every reader may take for a number: what is none is a member that can not be read."""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.str_schema(pattern=COUNTER_TEXT, max_length=LONGEST_COUNTER)


class _Open:
    """Marks an enumeration whose unknown members are kept: known ones for the type checker, any text at run time."""

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.str_schema()


OPEN: Final = _Open()

Number: TypeAlias = Decimal | int | str
"""What an exact number is made from; a float is none."""
DecimalNumber: TypeAlias = Annotated[Decimal, _DecimalOnTheWire]
AccountUnits: TypeAlias = DecimalNumber
"""Money in the account's home currency."""
PriceValue: TypeAlias = DecimalNumber
"""A price, in quote currency for one unit of base currency."""
Liquidity: TypeAlias = Annotated[int | Decimal, _LiquidityOnTheWire]
"""Units on offer: a whole number in prices, a Decimal inside the full price of a fill."""

AccountID: TypeAlias = str
TransactionID: TypeAlias = Annotated[str, _CounterOnTheWire]
"""A decimal counter as text: compare as int, "9" comes before "10"."""
OrderID: TypeAlias = str
"""The id of the transaction that created the order."""
TradeID: TypeAlias = str
"""The id of the fill that opened the trade."""
ClientID: TypeAlias = str
ClientTag: TypeAlias = str
ClientComment: TypeAlias = str
RequestID: TypeAlias = str
InstrumentName: TypeAlias = str
"""BASE_QUOTE, as in EUR_USD."""
Currency: TypeAlias = str
"""A three-letter ISO code."""
