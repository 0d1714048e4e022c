"""A record as one row of a table: for a frame, a CSV file or a database."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TypeAlias, cast

from keydesk_client.models._core.times import DateTime

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
        return dict(self._flat("", numbers or _kept, times))

    def _sent(self) -> Mapping[str, object]:
        raise NotImplementedError

    def _flat(
        self, prefix: str, numbers: Numbers, times: Times | None
    ) -> Iterator[tuple[str, object]]:
        for name, value in self._sent().items():
            if isinstance(value, Rowed):
                yield from value._flat(f"{prefix}{name}.", numbers, times)  # noqa: SLF001 - the same class
            elif value is not None:
                yield prefix + name, _cell(value, numbers, times)


def _cell(value: object, numbers: Numbers, times: Times | None) -> object:
    match value:
        case Decimal():
            return numbers(value)
        case DateTime():
            return value if times is None else times(utc_text(value))
        case tuple():
            items = cast("tuple[object, ...]", value)
            return [_cell(each, numbers, times) for each in items]
        case Rowed():
            return value.row(numbers=numbers, times=times)
        case _:
            return value


def utc_text(moment: DateTime) -> str:
    """RFC 3339 in UTC, whichever form the wire has."""
    return moment.text if moment.text.endswith("Z") else DateTime.from_ns(moment.ns).text


def _kept(number: Decimal) -> object:
    return number
