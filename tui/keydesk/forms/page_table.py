"""A table on a page: columns as wide as their widest cell, as many as fit, and a mark at the chosen row."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Generic

from msgspec.structs import replace
from rich.cells import cell_len

from keydesk.forms.modal_form import TextLine, Words
from keydesk.forms.page_lines import width_of
from keydesk.tables.column import Column, Row, fit, needed
from keydesk.text.format import shorten
from keydesk.text.sanitize import SafeText, safe

MARK = 2  # columns of the mark of the chosen row
GAPS = (3, 2, 1)  # columns between two, as far as there is room
Cells = Mapping[str, TextLine]


class PageColumn(Column, Generic[Row], frozen=True, kw_only=True):
    """A column of a page's table, with what it shows of a row; nothing where it has none."""

    cell: Callable[[Row], TextLine]
    page_from: int = 0  # columns of the page, from which on it is shown


def cells_of(columns: Sequence[PageColumn[Row]], row: Row) -> Cells:
    """Return what each column shows of a row."""
    return {column.key: column.cell(row) for column in columns}


def is_whole(columns: Sequence[Column], rows: Sequence[Cells], width: int, gap: int = 2) -> bool:
    """Return whether every column that has a cell fits, with such a gap and no cell cut."""
    return needed([_measured(own, rows) for own in _used(columns, rows)], gap) <= width - MARK


def share_bar(share: Decimal, cells: int) -> SafeText:
    """Return a thin bar for a share from 0 to 1, half a cell precise; any share above 0 is drawn."""
    halves = int(min(max(share, Decimal(0)), Decimal(1)) * 2 * cells + Decimal("0.5"))
    halves = max(halves, 1 if share > 0 else 0)
    return safe("━" * (halves // 2) + "╸" * (halves % 2))


def table_lines(
    columns: Sequence[Column],
    rows: Sequence[Cells],
    width: int,
    chosen: int | None = None,
    least_gap: int = 1,
) -> list[TextLine]:
    """Return the header and the rows; a column without any cell is left out, one without room too, the highest rank first.

    Args:
        columns: Their titles, ranks and sides; their widths are the least ones, to which flexible ones are cut.
        rows: The cells of each by the key of the column.
        width: Columns of the page.
        chosen: The row with the mark.
        least_gap: The columns between two at least: one is left out rather than that they stand closer.
    """
    measured = [_measured(each, rows) for each in _used(columns, rows)]
    kept = {each.key for each in fit(_narrowest(columns, measured), width - MARK, least_gap)}
    whole = [each for each in measured if each.key in kept]
    least = _narrowest(columns, whole)
    gap = next((size for size in GAPS if needed(whole, size) <= width - MARK), 1)
    if gap == 1 and needed(least, 2) <= width - MARK:
        gap = 2  # a gap is worth more than the end of a long text
    shown = _with_room(whole, least, width - MARK, gap)
    head: list[TextLine] = [_cell(((each.title, "muted"),), each) for each in shown]
    lines = [_joined((" " * MARK, "focus"), head, gap)]
    for at, row in enumerate(rows):
        mark: Words = ("▶ " if at == chosen else " " * MARK, "focus")
        cells = [_cell(row.get(each.key, ()), each) for each in shown]
        lines.append(_joined(mark, cells, gap))
    return lines


def _used(columns: Sequence[Column], rows: Sequence[Cells]) -> list[Column]:
    return [each for each in columns if any(row.get(each.key) for row in rows)]


def _measured(column: Column, rows: Sequence[Cells]) -> Column:
    widest = max((width_of(row.get(column.key, ())) for row in rows), default=0)
    least = 0 if column.flexible else column.width
    return replace(column, width=max(least, cell_len(column.title), widest))


def _narrowest(columns: Sequence[Column], measured: Sequence[Column]) -> list[Column]:
    """Return measured columns, flexible ones as narrow as they may be cut."""
    least = {each.key: each.width for each in columns if each.flexible}
    return [
        replace(each, width=min(each.width, least.get(each.key, each.width))) for each in measured
    ]


def _with_room(
    columns: Sequence[Column], least: Sequence[Column], width: int, gap: int
) -> list[Column]:
    """Return the columns with the flexible ones cut to what the others leave, the last one first, none below its least width."""
    least_widths = {each.key: each.width for each in least}
    over = max(0, needed(columns, gap) - width)
    cut: list[Column] = []
    for each in reversed(columns):
        spare = max(0, each.width - least_widths[each.key]) if each.flexible else 0
        cut.insert(0, replace(each, width=each.width - min(spare, over)))
        over -= min(spare, over)
    return cut


def _cell(line: TextLine, column: Column) -> TextLine:
    """Return a cell as wide as its column."""
    shown: list[Words] = []
    left = column.width
    for text, role in line:
        part = shorten(text, left)
        left -= cell_len(part)
        shown.append((part, role))
    blank: Words = (safe(" " * left), "plain")
    return (blank, *shown) if column.right else (*shown, blank)


def _joined(mark: Words, cells: Sequence[TextLine], gap: int) -> TextLine:
    line: list[Words] = [mark]
    for at, cell in enumerate(cells):
        if at:
            line.append((safe(" " * gap), "plain"))
        line += cell
    return tuple(line)


def rows_in_sight(count: int, chosen: int, room: int) -> range:
    """Return the rows that are shown, the chosen one among them."""
    first = max(0, min(chosen - room // 2, count - room))
    return range(first, min(count, first + room))
