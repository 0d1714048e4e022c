"""Checks of single values of the service that would break the arithmetic: too large, outside the calendar, or not a number.

A record that cannot be read is counted and left out, so that one wrong member does not hide the rest of an account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from keydesk_client.errors import message_of

if TYPE_CHECKING:
    from keydesk_client.models import ClientPrice, DateTime

T = TypeVar("T")
R = TypeVar("R")
READ_ERRORS: Final = (AttributeError, ArithmeticError, ValueError, LookupError, TypeError)
"""Errors of reading a record; those of this package derive from AttributeError and ValueError."""
MAX_VALUE: Final = Decimal(10) ** 15
"""Upper bound of prices, sizes and amounts; products of two keep all significant digits."""
MAX_ID_LENGTH: Final = 20
FIRST_NS: Final = 631_152_000_000_000_000  # 1990
LAST_NS: Final = 4_102_444_800_000_000_000  # 2100


class UnreadableCounter(Protocol):
    """Counts records that could not be read."""

    @property
    def unreadable(self) -> int:
        """How many could not be read so far."""
        ...

    def note_unreadable(self, text: str, count: int = 1, /) -> None:
        """Count unreadable records; `text` says why."""
        ...


class RecordReader(UnreadableCounter, Protocol):
    """Keeps text of records, and counts those that could not be read."""

    def printable(self, text: str) -> str:
        """Return text of the service (an alias, a tag) as it is kept."""
        ...


def readable(counter: UnreadableCounter, make: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield `make(item)` for each item; count and leave out those for which it raises."""
    for item in items:
        try:
            made = make(item)
        except READ_ERRORS as error:
            counter.note_unreadable(message_of(error))
        else:
            yield made


def try_to(counter: UnreadableCounter, action: Callable[[], object]) -> bool:
    """Run an action on one record; count it and return False if the record cannot be read."""
    try:
        action()
    except READ_ERRORS as error:
        counter.note_unreadable(message_of(error))
        return False
    return True


def amount(value: Decimal) -> Decimal:
    """Return a number between -`MAX_VALUE` and `MAX_VALUE`; raise ValueError for any other."""
    if not -MAX_VALUE < value < MAX_VALUE:
        raise ValueError(f"{value:.3e} is out of range for an amount, size or price")
    return value


def price(value: Decimal) -> Decimal:
    """Return a price between 0 and `MAX_VALUE`; raise ValueError for any other."""
    if not 0 < value < MAX_VALUE:
        raise ValueError(f"{value:.3e} is out of range for a price")
    return value


def bid_and_ask(price: ClientPrice, time_ns: int) -> tuple[Decimal, Decimal]:
    """Return the best bid and ask of a price, without liquidity those for closing out.

    Raises:
        ValueError: they, or `time_ns` (the time of the price), are out of range.
    """
    bid = price.bids[0].price if price.bids else price.closeout_bid
    ask = price.asks[0].price if price.asks else price.closeout_ask
    if not (0 < bid < MAX_VALUE and 0 < ask < MAX_VALUE and FIRST_NS <= time_ns < LAST_NS):
        name = (price.instrument or "")[:20]
        raise ValueError(f"{name} at {bid:.5g} and {ask:.5g} is out of range for a price")
    return bid, ask


def optional_price(value: Decimal | None) -> Decimal | None:
    """Return a price as `price` does, or None."""
    return None if value is None else price(value)


def checked_time_ns(time: DateTime) -> int:
    """Return a time between 1990 and 2100 in nanoseconds since 1970; raise ValueError for any other."""
    ns = time.ns
    if not FIRST_NS <= ns < LAST_NS:
        raise ValueError(f"{time.text[:40]!r} is not a time between 1990 and 2100")
    return ns


def number_of(id_: str) -> int:
    """Return the number of an id of the broker; raise ValueError for any other text."""
    if len(id_) > MAX_ID_LENGTH or not (id_.isascii() and id_.isdecimal()):
        raise ValueError(f"{id_[:MAX_ID_LENGTH]!r} is not an id (a decimal number)")
    return int(id_)
