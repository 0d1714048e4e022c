"""The trader's own price levels as values: a line or a ray at a price of an instrument, under a name."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

MAX_LEVELS = 50  # of an instrument
MAX_NAME_LENGTH = 20
NAME = re.compile("[a-z][a-z0-9-]{0,19}")
NAME_RULE = f"a letter, then letters, digits and -, at most {MAX_NAME_LENGTH}"


class PriceLevel(Struct, frozen=True):
    """A price that the trader named."""

    name: str
    price: Decimal
    since_ns: int | None = None  # a ray from this time on; None: a line

    @property
    def kind(self) -> str:
        """Return "line" or "ray"."""
        return "line" if self.since_ns is None else "ray"


PriceLevels = Mapping[str, Sequence[PriceLevel]]
"""The levels of each instrument, in the order of the file."""


def nearest_level(levels: Sequence[PriceLevel], price: Decimal) -> PriceLevel | None:
    """Return the level nearest to a price; of several at one distance the oldest, None where there is none."""
    return min(levels, key=lambda each: abs(each.price - price), default=None)


def name_trouble(name: str, levels: Sequence[PriceLevel]) -> str:
    """Return why a further level cannot have this name, "" if it can."""
    if not NAME.fullmatch(name):
        return f"A name is {NAME_RULE}"
    return f"There is a level {name} already" if name in {each.name for each in levels} else ""


def free_name(levels: Sequence[PriceLevel]) -> str:
    """Return the first free name of level1, level2 and so on."""
    taken = {each.name for each in levels}
    numbers = range(1, len(taken) + 2)
    return next(name for name in (f"level{number}" for number in numbers) if name not in taken)
