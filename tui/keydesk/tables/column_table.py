"""Tables whose columns are declared: what a column says of itself draws its cells, sorts the rows and finds them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic

from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.tables.column import Measured, Row, ValueColumn
from keydesk.tables.sorted_table import SortedTable
from keydesk.widgets.lines import Run


class ColumnTable(SortedTable, Generic[Row]):
    """Rows of records, each drawn, sorted and searched by its columns."""

    COLUMNS: ClassVar[tuple[ValueColumn[Any], ...]] = ()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.by_key = {column.key: column for column in self.COLUMNS}
        self._old = False  # prices are stale

    @abstractmethod
    def record(self, key: str, store: Store) -> Row | None:
        """Return what the columns read of a row; None when it is gone."""

    def cell(self, key: str, column: str, frame: Frame) -> Sequence[Run]:
        """Return one cell of a row."""
        record = self.record(key, frame.store)
        return (
            [] if record is None else self.by_key[column].cell(record, self.palette, old=self._old)
        )

    def measure(self, key: str, column: str, store: Store) -> Measured:
        """Return what a column measures of a row."""
        value, record = self.by_key[column].value, self.record(key, store)
        return None if value is None or record is None else value(record)

    def text_of(self, key: str, store: Store) -> str:
        """Return the words of all columns that a row is found by."""
        record = self.record(key, store)
        if record is None:
            return ""
        return " ".join(
            each.search_text(record) for each in self.COLUMNS if each.search_text is not None
        )

    @property
    def now_ns(self) -> int:
        """The time of the frame that is drawn."""
        return 0 if self.frame is None else self.frame.time_ns
