"""JSON text: limits on what is decoded, and a lenient parser.

The limits keep one body from filling the memory or holding the event loop. Decoding costs up to 52 bytes of memory and
45 ns for each byte of JSON (CPython 3.11, pydantic 2), most for empty lists (100 bytes each) and objects with one
member (320 bytes). Small bodies are harmless whatever they hold; in larger ones the arrays, objects and values are
counted before they are decoded, by `decoder.check_limits`.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from keydesk_client.errors import AnswerTooLarge

JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
"""Any value that was read from JSON, or can be written as JSON."""
JsonObject: TypeAlias = dict[str, JsonValue]
"""An object of names and values."""

MAX_NUMBER_LENGTH: Final = 100
"""Characters of a number that is parsed as one: no amount of money is longer, and Python refuses 4,300."""
MAX_DEPTH: Final = 40
"""Levels that are kept: the deepest answer known has seven, and printing a thousand would overflow the stack."""
PADDING: Final = " \t\r\n\0\ufeff"


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The largest body that is decoded of one kind of answer, after decompression."""

    size: int
    """Bytes."""
    containers: int
    """JSON arrays and objects."""
    values: int
    """Elements of arrays and members of objects."""
    uncounted: int = 100_000
    """Bytes of a body whose containers and values are not counted: counting takes 0.6 ms for 1 MB."""


SMALL: Final = BodyLimits(1_000_000, 20_000, 60_000)
"""One record, or a list that the service keeps short: accounts, a book."""
INSTRUMENTS: Final = BodyLimits(2_500_000, 40_000, 120_000, uncounted=250_000)
"""1,000 instruments with all their terms are 1.1 MB, their prices with four levels a side 1.0 MB."""
WRITE: Final = BodyLimits(4_000_000, 50_000, 200_000)
"""The answer to an order: closing 5,000 trades at once is 1.3 MB a side."""
CANDLES: Final = BodyLimits(4_000_000, 40_000, 150_000, uncounted=800_000)
"""5,000 candles are 0.75 MB, of all three components 2.1 MB."""
LIST: Final = BodyLimits(6_000_000, 100_000, 300_000, uncounted=500_000)
"""500 trades with a stop and a target each, the most of a page, are 0.4 MB, and 5,000 are 4.1 MB; 1,000 transactions,
the most of a page, 3 MB."""
ERROR: Final = BodyLimits(256_000, 20_000, 60_000)
PRICE_LINE: Final = BodyLimits(64_000, 5_000, 20_000)
TRANSACTION_LINE: Final = BodyLimits(1024 * 1024, 20_000, 100_000)
"""A line of daily financing names every open trade."""


def too_large(size: int) -> AnswerTooLarge:
    """Return the error of a body that is larger than `size`, the limit of its kind of answer, in bytes."""
    return AnswerTooLarge(f"the answer is larger than {size} bytes")


class WrittenFloat(float):
    """A JSON number with a decimal point that keeps its text, so that it can become an exact Decimal."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, text)
        made.text = text
        return made


def loads(content: bytes | str) -> JsonValue:
    """Parse JSON into values that can be printed, pickled and written again.

    NaN, Infinity and numbers of more than 100 characters become text, lone surrogates become question marks, and what
    is nested deeper than 40 levels is emptied. Raise ValueError or RecursionError if the text is not JSON.
    """
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    value: JsonValue = json.loads(
        text.strip(PADDING),
        parse_float=_parse_float,
        parse_int=_parse_int,
        parse_constant=str,
        strict=False,
    )
    _truncate(value)
    return _replace_surrogates(value) if _find_surrogate(text) else value


def _parse_float(text: str) -> WrittenFloat | str:
    if len(text) > MAX_NUMBER_LENGTH:
        return text
    number = WrittenFloat(text)
    return number if math.isfinite(number) else text


def _parse_int(text: str) -> int | str:
    return int(text) if len(text) <= MAX_NUMBER_LENGTH else text


def _truncate(value: JsonValue) -> None:
    """Empty the containers below MAX_DEPTH, level by level: recursion could overflow the stack."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inner_containers(outer)]
        if not level:
            return
    for container in level:
        if isinstance(container, dict | list):
            container.clear()


def _inner_containers(value: JsonValue) -> list[JsonValue]:
    if isinstance(value, dict):
        return [inner for inner in value.values() if isinstance(inner, dict | list)]
    if isinstance(value, list):
        return [inner for inner in value if isinstance(inner, dict | list)]
    return []


_find_surrogate = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]").search


def _replace_surrogates(value: JsonValue) -> JsonValue:
    """Join surrogate pairs and replace lone surrogates, in values and names."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {
            name.encode("utf-8", "replace").decode(): _replace_surrogates(item)
            for name, item in value.items()
        }
    return value
