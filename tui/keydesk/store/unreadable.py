"""Records of the service that cannot be used: they are counted and left out, and everything else goes on.

A member may be missing or unreadable (the client raises when it is read), and a number or time may be beyond all reason:
it would pass every type check, and break the arithmetic or freeze what only ever moves forward.
"""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from typing import Final, TypeVar

from keydesk.store.store import Store
from keydesk_client.models import DateTime

T = TypeVar("T")
R = TypeVar("R")

READ_ERRORS: Final = (AttributeError, ArithmeticError, ValueError, LookupError, TypeError)
"""What reading a record may raise; the client's errors of this kind are AttributeError and ValueError, too."""
LARGEST: Final = Decimal(10) ** 15
"""No price, size or amount reaches this; products of two keep every digit that matters."""
LONGEST_ID: Final = 20
FIRST_NS: Final = 631_152_000_000_000_000  # 1990
LAST_NS: Final = 4_102_444_800_000_000_000  # 2100


def readable(store: Store, make: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """What `make` makes of each item; those for which it raises are counted and left out."""
    for item in items:
        try:
            made = make(item)
        except READ_ERRORS as error:
            store.note_unreadable(str(error))
        else:
            yield made


def try_to(store: Store, action: Callable[[], object]) -> bool:
    """Do something with one record; False, and one more on the count, when the record cannot be read."""
    try:
        action()
    except READ_ERRORS as error:
        store.note_unreadable(str(error))
        return False
    return True


def amount(value: Decimal) -> Decimal:
    """A number of sane size; ValueError for any other."""
    if not -LARGEST < value < LARGEST:
        raise ValueError(f"{value:.3e} is no amount, size or price that there can be")
    return value


def price(value: Decimal) -> Decimal:
    """A price above zero and of sane size; ValueError for any other."""
    if not 0 < value < LARGEST:
        raise ValueError(f"{value:.3e} is no price that there can be")
    return value


def optional_price(value: Decimal | None) -> Decimal | None:
    """The same, of a price that may be absent."""
    return None if value is None else price(value)


def moment(time: DateTime) -> int:
    """Nanoseconds since 1970 of a time between 1990 and 2100; ValueError for any other."""
    ns = time.ns
    if not FIRST_NS <= ns < LAST_NS:
        raise ValueError(f"{time.text[:40]!r} is no time that there can be")
    return ns


def number_of(id_: str) -> int:
    """The number that an id of the service is; ValueError for any other text."""
    if len(id_) > LONGEST_ID or not (id_.isascii() and id_.isdecimal()):
        raise ValueError(f"{id_[:LONGEST_ID]!r} is no id")
    return int(id_)
