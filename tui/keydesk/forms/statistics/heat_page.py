"""What the pages of heat maps share: short amounts, the columns in sight, the chosen cell in words, and the tables below the map."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from operator import itemgetter

from keydesk.calc.trade_journal.charts import HeatCell
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, signed_money
from keydesk.forms.statistics.view import ViewInput
from keydesk.text.format import MINUS, counted, percent
from keydesk.text.sanitize import safe
from keydesk.widgets.theme import ChartRole
from keydesk_client.arithmetic.constants import ZERO

SHORT_AMOUNT, LONG_AMOUNT = 4, 5  # characters
LEAST_ROWS_OF_TABLES = (
    4  # a blank one, the names of columns, a row, and how many lines there are more
)
TENTHS, TEN, THOUSAND = (Decimal(text) for text in ("0.95", "9.95", "999.5"))


def joined(parts: Iterable[Words]) -> list[Words]:
    """Return words with neighbours of one role together, which takes fewer bytes."""
    runs = groupby(parts, key=itemgetter(1))
    return [(safe("".join(text for text, _ in run)), role) for role, run in runs]


def tint_of(strength: int) -> ChartRole:
    """Return the role of a cell of this strength."""
    return ChartRole(f"{'profit' if strength > 0 else 'loss'}%{abs(strength)}")


def window_of(first: int, last: int, chosen: int, room: int) -> range:
    """Return so many columns as there is room for: the last ones, or those around the chosen one."""
    count = max(1, min(last - first + 1, room))
    start = last - count + 1
    start = start if chosen >= start else max(first, chosen - count // 2)
    return range(start, start + count)


def least_amount(cells: Iterable[HeatCell]) -> int:
    """Return the columns that each amount fits in."""
    return max(
        (len(short_amount(each.result, SHORT_AMOUNT)) for each in cells), default=SHORT_AMOUNT
    )


def short_amount(value: Decimal, room: int = LONG_AMOUNT) -> str:
    """Return a signed amount in at most five characters; without tenths of a thousand where there is room for four."""
    size, unit = abs(value), ""
    for larger in "kM":
        if size >= THOUSAND:
            size, unit = size / 1000, larger
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    has_tenths = size < TEN and room >= LONG_AMOUNT if unit else 0 < size < TENTHS
    return f"{sign}{size:.{int(has_tenths)}f}{unit}"


def page_of(
    cells: Sequence[TextLine], below: Sequence[TextLine], tables: Sequence[TextLine], rows: int
) -> list[TextLine]:
    """Return the map, what is said of it, and the tables: those on the next page where none of their rows is in sight.

    Args:
        cells: The lines of the map.
        below: What is said of it.
        tables: The lines of the tables.
        rows: Of the page.
    """
    above = [*cells, *([BLANK] if below else []), *below]
    if not tables:
        return above
    if 0 <= len(above) + LEAST_ROWS_OF_TABLES - rows <= 1:  # a row is worth more than a blank one
        above = [*cells, *below]
    left = rows - len(above)
    is_next = left < min(LEAST_ROWS_OF_TABLES, len(tables) + 1)
    gap = 0 if left == len(tables) else max(1, left if is_next else 1)
    return [*above, *[BLANK] * gap, *tables]


def chosen_lines(name: str, cell: HeatCell | None, given: ViewInput) -> list[TextLine]:
    """Return the figures of the chosen cell."""
    if cell is None:
        return [((safe(name), "bright"), ("   no trade", "muted"))]
    in_r: list[Words] = [] if cell.r is None else [signed_money(cell.r), (" R   ", "muted")]
    won = percent(Decimal(cell.wins) / cell.n, 0)
    line: TextLine = (
        (safe(f"{name}   "), "bright"),
        signed_money(cell.result),
        (safe(f" {given.snapshot.currency}   "), "muted"),
        *in_r,
        (safe(f"{counted(cell.n, 'trade')}, {won} % won"), "muted"),
    )
    return fold_line(line, given.width)


def together(cells: Sequence[HeatCell]) -> HeatCell:
    """Return the trades of all cells as one."""
    rs = [each.r for each in cells if each.r is not None]
    return HeatCell(
        sum(each.n for each in cells),
        sum(each.wins for each in cells),
        sum((each.result for each in cells), ZERO),
        sum(rs, ZERO) if rs else None,
    )
