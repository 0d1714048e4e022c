"""A record as one row of a table: for a frame, a CSV file or a database."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TypeAlias

from keydesk_client.models.times import DateTime

Numbers: TypeAlias = Callable[[Decimal], object]
"""What becomes of a number, as in `float` or `str`."""
Times: TypeAlias = Callable[[str], object]
"""What becomes of a moment's RFC 3339 text in UTC, as in `pandas.Timestamp` or `str`."""


class Rowed:
    """A record that can be laid flat."""

    __slots__ = ()

    def row(
        self, *, numbers: Numbers | None = None, times: Times | None = None
    ) -> dict[str, object]:
        """The members that were sent, flat: a nested record's by dotted names, as in `trade_opened.price`.

        Numbers stay Decimal and times DateTime unless said: `row(numbers=float, times=pandas.Timestamp)`. Several
        records in one member stay a list, of rows.
        """
        laid = _Laid(numbers or _kept, times)
        return dict(laid.flat(self))

    def _sent(self) -> Mapping[str, object]:
        raise NotImplementedError


class _Laid:
    def __init__(self, numbers: Numbers, times: Times | None) -> None:
        self._numbers, self._times = numbers, times

    def flat(self, record: Rowed, prefix: str = "") -> Iterator[tuple[str, object]]:
        for name, value in record._sent().items():  # noqa: SLF001 - the same class
            if isinstance(value, Rowed):
                yield from self.flat(value, f"{prefix}{name}.")
            elif value is not None:
                yield prefix + name, self.cell(value)

    def cell(self, value: object) -> object:
        match value:
            case Decimal():
                return self._numbers(value)
            case DateTime():
                return value if self._times is None else self._times(utc_text(value))
            case tuple():
                return [self.cell(each) for each in value]
            case Rowed():
                return dict(self.flat(value))
            case _:
                return value


def utc_text(moment: DateTime) -> str:
    """RFC 3339 in UTC, whichever form the wire has."""
    return moment.text if moment.text.endswith("Z") else DateTime.from_ns(moment.ns).text


def _kept(number: Decimal) -> object:
    return number
