"""JSON read as far as it goes, into values that can be printed, pickled and written again whatever a service sent.

The quick way refuses a whole body for one odd member, and an order that was placed must not look like a failure for
that. NaN and numbers out of all proportion become text, half a character becomes a question mark, and what is nested
deeper than any record is cut off.
"""

import json
import math
import re
from typing import Final, Self

from keydesk_client.models._core.json_values import JsonValue

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
