"""JSON read as far as it goes, into values that can be printed, pickled and written again whatever a service sent.

The quick way refuses a whole body for one odd member, and an order that was placed must not look like a failure for
that. NaN and numbers out of all proportion become text, half a character becomes a question mark, and what is nested
deeper than any record is cut off.

Limits of what is decoded: no answer may fill the memory or hold the event loop.

Measured with CPython 3.11 and pydantic 2: decoding costs up to 52 bytes of memory and 45 ns for each byte of JSON, most
for empty lists (100 bytes each) and objects with one member (320 bytes). Small bodies are harmless whatever they hold. In
larger ones the arrays, objects and values are counted before they are decoded.
What JSON can hold, for type checkers: a value that is looked into is known by then, and never `Any`.
Validators that give up at the first missing member and at the first broken element of a list.

pydantic keeps every error, each with a copy of the JSON value around it: 1 MB of empty lists where trades belong cost
a gigabyte. What went wrong is of no interest here: salvage.py reads such a body again, member by member.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Self, TypeAlias

from pydantic_core import CoreSchema

from keydesk_client.errors import AnswerTooLarge


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
    """Bytes of a body whose containers and values are not counted: counting takes 1 ms for 1 MB."""

    def check(self, body: bytes | str, *, counted: bool = False) -> None:
        """Raise AnswerTooLarge when the body exceeds a limit; `counted`: count also in a small one."""
        if len(body) > self.size:
            raise too_large(self.size)
        if len(body) <= self.uncounted and not counted:
            return
        containers, commas = _counts(body)
        if containers > self.containers:
            raise AnswerTooLarge(f"the answer has more than {self.containers:,} arrays and objects")
        if commas + containers > self.values:
            raise AnswerTooLarge(f"the answer has more than {self.values:,} values")


SMALL: Final = BodyLimits(1_000_000, 20_000, 60_000)
"""One record, or a list that the service keeps short: accounts, a book."""
INSTRUMENTS: Final = BodyLimits(2_500_000, 40_000, 120_000, uncounted=250_000)
"""1,000 instruments with all their terms are 1.1 MB, their prices with four levels a side 1.0 MB."""
WRITE: Final = BodyLimits(4_000_000, 50_000, 200_000)
"""The answer to an order: closing 5,000 trades at once is 1.3 MB a side."""
CANDLES: Final = BodyLimits(4_000_000, 40_000, 150_000, uncounted=800_000)
"""5,000 candles are 0.75 MB, of all three components 2.1 MB."""
LIST: Final = BodyLimits(6_000_000, 100_000, 300_000, uncounted=250_000)
"""5,000 open trades with a stop and a target each are 4.1 MB; 1,000 transactions, the most of a page, 3 MB."""
ERROR: Final = BodyLimits(256_000, 20_000, 60_000)
PRICE_LINE: Final = BodyLimits(64_000, 5_000, 20_000)
TRANSACTION_LINE: Final = BodyLimits(1024 * 1024, 20_000, 100_000)
"""Daily financing names every open trade."""


def _counts(body: bytes | str) -> tuple[int, int]:
    """Opening brackets and commas; those inside of text count as well, which errs on the safe side."""
    if isinstance(body, str):
        return body.count("[") + body.count("{"), body.count(",")
    return body.count(b"[") + body.count(b"{"), body.count(b",")


def too_large(most: int) -> AnswerTooLarge:
    """The error of a body with more bytes than its kind of answer may have."""
    return AnswerTooLarge(f"the answer is larger than {most} bytes")


JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
"""Any value that was read from JSON, or can be written as it."""
JsonObject: TypeAlias = dict[str, JsonValue]
"""An object of names and values."""


LISTS: Final = frozenset({"model-field", "dataclass-field", "default", "nullable"})


class IncompleteRecord(Exception):
    """A record lacks a member that it must have."""


def fail_fast(schema: CoreSchema, *, members: bool = True) -> CoreSchema:
    """The schema of one record, changed in place; `members`: whether a missing one ends the validation as Incomplete."""
    for field in _fields(schema):
        _fail_at_first_element(field)
        inner = field["schema"]
        if members and inner["type"] != "default":
            field["schema"] = {
                "type": "default",
                "schema": inner,
                "default_factory": _give_up,
                "default_factory_takes_data": False,
            }
    return schema


def _give_up() -> NoReturn:
    raise IncompleteRecord


def _fields(schema: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - schemas are dictionaries of many shapes
    """The members of a pydantic model or dataclass; none of what it is not."""
    while schema.get("type") in {"model", "dataclass", "definitions"}:
        schema = schema["schema"]
    fields = schema.get("fields", ())
    yield from fields.values() if isinstance(fields, dict) else fields


def _fail_at_first_element(schema: Any) -> None:  # noqa: ANN401 - same
    while schema["type"] in LISTS:
        schema = schema["schema"]
    if schema["type"] == "tuple":
        schema["fail_fast"] = True


LONGEST_NUMBER: Final = 100
"""Characters of a number that is read as one: more can not be money, and Python refuses 4,300."""
DEEPEST: Final = 40
"""Levels that are kept; the deepest answer known has seven, and printing a thousand would overflow the stack."""
AROUND: Final = " \t\r\n\0\ufeff"

_half_character = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]").search


class WrittenFloat(float):
    """A JSON number with a point that remembers how it was written: as a Decimal it is exact after all."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        made = super().__new__(cls, text)
        made.text = text
        return made


def loads(content: bytes | str) -> JsonValue:
    """The value that a JSON text holds; ValueError or RecursionError when it holds none."""
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    held: JsonValue = json.loads(
        text.strip(AROUND), parse_float=_decimal, parse_int=_whole, parse_constant=str, strict=False
    )
    _cut(held)
    return _with_whole_characters(held) if _half_character(text) else held


def _decimal(text: str) -> WrittenFloat | str:
    if len(text) > LONGEST_NUMBER:
        return text
    number = WrittenFloat(text)
    return number if math.isfinite(number) else text


def _whole(text: str) -> int | str:
    return int(text) if len(text) <= LONGEST_NUMBER else text


def _cut(held: JsonValue) -> None:
    """Empty the lists and objects that lie too deep, level by level: recursion is what they would break."""
    level = [held]
    for _ in range(DEEPEST):
        level = [each for outer in level for each in _inside(outer)]
        if not level:
            return
    for each in level:
        if isinstance(each, dict | list):
            each.clear()


def _inside(held: JsonValue) -> list[JsonValue]:
    if isinstance(held, dict):
        return [each for each in held.values() if isinstance(each, dict | list)]
    if isinstance(held, list):
        return [each for each in held if isinstance(each, dict | list)]
    return []


def _with_whole_characters(held: JsonValue) -> JsonValue:
    if isinstance(held, str):
        return held.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(held, list):
        return [_with_whole_characters(each) for each in held]
    if isinstance(held, dict):
        return {
            name.encode("utf-8", "replace").decode(): _with_whole_characters(each)
            for name, each in held.items()
        }
    return held
