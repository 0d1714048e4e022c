"""Records as rows of a table and as columns: what files and data frames are made of, ten times smaller and faster than a dict a row."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import ModuleType
from typing import Any, Self, TypeAlias, cast

from keydesk_client.models._core.scalars import DateTime

NumberConverter: TypeAlias = Callable[[Decimal], object]
"""Converts the numbers of a row, as `float` or `str` does."""
TimeConverter: TypeAlias = Callable[[str], object]
"""Converts the times of a row from RFC 3339 text in UTC, as `pandas.Timestamp` or `str` does."""
Column: TypeAlias = Sequence[object]


class Tabular(ABC):
    """A record that can be flattened into one row of a table, for a data frame, a CSV file or a database."""

    __slots__ = ()

    def row(
        self, *, numbers: NumberConverter | None = None, times: TimeConverter | None = None
    ) -> dict[str, object]:
        """Return the members that were sent, flat: nested records by dotted names, as in `trade_opened.price`.

        Numbers stay Decimal and times DateTime unless a converter is given: `row(numbers=float,
        times=pandas.Timestamp)`. A member with several records becomes a list of rows. A member that was sent in a form
        that cannot be read is left out; `unknown` has it.
        """
        return dict(self._flat("", numbers, times))

    @abstractmethod
    def _sent(self) -> Mapping[str, object]:
        """Return the members that were sent, by Python name; unknown ones by wire name."""

    @abstractmethod
    def _unreadable(self) -> Collection[str]:
        """Return the wire names of members that this library knows and could not read."""

    def _flat(
        self, prefix: str, numbers: NumberConverter | None, times: TimeConverter | None
    ) -> Iterator[tuple[str, object]]:
        unreadable = self._unreadable()
        for name, value in self._sent().items():
            if name in unreadable:
                continue
            if isinstance(value, Tabular):
                yield from value._flat(f"{prefix}{name}.", numbers, times)  # noqa: SLF001 - the same class
            elif value is not None:
                yield prefix + name, _cell(value, numbers, times)


def _cell(value: object, numbers: NumberConverter | None, times: TimeConverter | None) -> object:
    match value:
        case Decimal():
            return value if numbers is None else numbers(value)
        case DateTime():
            return value if times is None else times(utc_text(value))
        case tuple():
            items = cast("tuple[object, ...]", value)
            return [_cell(item, numbers, times) for item in items]
        case Tabular():
            return value.row(numbers=numbers, times=times)
        case _:
            return value


def utc_text(time: DateTime) -> str:
    """Return a time as RFC 3339 text in UTC."""
    return time.text if time.text.endswith("Z") else DateTime.from_ns(time.ns).text


class Columns(dict[str, Column]):
    """The columns of a table by name, all of one length; `pandas.DataFrame(columns)` and `polars.DataFrame(columns)` take it.

    Numbers are Decimal and times DateTime unless converters were given. With `numbers=float`, a column without gaps is an
    `array` of 8 bytes a number. None stands where a record has no such member.
    """

    @classmethod
    def of(
        cls,
        records: Iterable[Tabular],
        *,
        numbers: NumberConverter | None = None,
        times: TimeConverter | None = None,
    ) -> Self:
        """Return the columns of any records, named as in their `row()`: `Columns.of(fills, numbers=float)`."""
        columns: dict[str, list[object]] = {}
        length = 0
        for record in records:
            for name, value in record.row(numbers=numbers, times=times).items():
                column = columns.setdefault(name, [])
                column.extend([None] * (length - len(column)))
                column.append(value)
            length += 1
        for column in columns.values():
            column.extend([None] * (length - len(column)))
        return cls({name: compact(column) for name, column in columns.items()})

    def to_pandas(self, *, index: str | None = None) -> Any:  # noqa: ANN401 - pandas need not be installed
        """Return a pandas.DataFrame; times become timestamps in UTC, exact to the nanosecond.

        Args:
            index: the column that becomes the index, such as "time".

        Raises:
            ImportError: pandas is not installed.
        """
        pandas = cast("Any", _module("pandas"))

        def timestamps(ns: "array[int]") -> object:
            return pandas.to_datetime(pandas.Series(ns, dtype="int64"), unit="ns", utc=True)

        frame = pandas.DataFrame(_with_times(self, timestamps))
        return frame if index is None else frame.set_index(index)

    def to_polars(self) -> Any:  # noqa: ANN401 - polars need not be installed
        """Return a polars.DataFrame; times become Datetime in UTC, exact to the nanosecond.

        Raises:
            ImportError: polars is not installed.
        """
        polars = cast("Any", _module("polars"))

        def timestamps(ns: "array[int]") -> object:
            series = polars.from_epoch(polars.Series(ns, dtype=polars.Int64), time_unit="ns")
            return series.dt.replace_time_zone("UTC")

        return polars.DataFrame(_with_times(self, timestamps))


def compact(column: list[object]) -> Column:
    """Return a column of floats without gaps as an array; any other unchanged."""
    if column and all(type(value) is float for value in column):
        return array("d", cast("list[float]", column))
    return column


def converted(values: Iterable[Decimal], numbers: NumberConverter | None) -> Column:
    """Return a column of numbers."""
    if numbers is None:
        return list(values)
    if numbers is float:
        return array("d", map(float, values))
    return compact([numbers(value) for value in values])


def _with_times(
    columns: Columns, timestamps: Callable[["array[int]"], object]
) -> Mapping[str, object]:
    """Return the columns with those of times converted."""
    return {
        name: timestamps(array("q", (each.ns for each in cast("list[DateTime]", column))))
        if column and all(isinstance(each, DateTime) for each in column)
        else column
        for name, column in columns.items()
    }


def _module(name: str) -> ModuleType:
    from importlib import import_module  # noqa: PLC0415 - with the frames only

    try:
        return import_module(name)
    except ImportError:
        pass
    raise ImportError(f"{name} is not installed: pip install 'keydesk-client[frames]'")
