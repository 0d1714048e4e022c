"""The trader's price levels in typed text: @ and a name is the price of that level, in an order, an alert and a ticket."""

from collections.abc import Container, Sequence
from decimal import Decimal

from keydesk.calc.market.price_levels import PriceLevel

SIGN = "@"


class UnknownLevelError(Exception):
    """The instrument has no level of that name; the text says which there are."""


def price_of_level(name: str, levels: Sequence[PriceLevel]) -> Decimal:
    """Return the price of a level.

    Raises:
        UnknownLevelError: there is none of that name.
    """
    price = next((each.price for each in levels if each.name == name), None)
    if price is None:
        known = ", ".join(f"{SIGN}{each.name}" for each in levels)
        there = f"there are: {known}" if known else "the instrument has none, write @1.0830"
        raise UnknownLevelError(f"there is no level {name}; {there}")
    return price


def with_prices(
    words: Sequence[str], levels: Sequence[PriceLevel], before_price: Container[str]
) -> list[str]:
    """Return the tokens of a line with the price of each level; after a word of `before_price` the sign is left out.

    Raises:
        UnknownLevelError: there is no level of a name.
    """
    priced: list[str] = []
    for word in words:
        follows_sign = priced[-1:] == [SIGN]
        if follows_sign and word[0].isalpha():
            word = f"{price_of_level(word, levels):f}"  # noqa: PLW2901 - from here on a price
        if follows_sign and len(priced) > 1 and priced[-2] in before_price:
            priced.pop()
        priced.append(word)
    return priced
