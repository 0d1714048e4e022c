"""The cells of the heat maps: weekdays below each other, a column for each hour or week, and the tables of their sums.

A cell is the stronger, the larger its result is beside the largest of the map; its colour is the sign. Where colours or shades are
missing, sign and strength are written: +4 to -4. Where there is room a cell has its amount and its number of trades below.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from keydesk.calc.trade_journal.charts import LEVELS, HeatCell, level
from keydesk.forms.info_form import width_of
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, signed_money, wrap_text
from keydesk.forms.panel import WordsRole
from keydesk.forms.statistics.view import FEW_ROLE, ViewInput, bars_of, is_few
from keydesk.text.format import MINUS, counted, money, percent, shorten
from keydesk.text.sanitize import safe
from keydesk.widgets.theme import ColourRole, signed_role
from keydesk_client.arithmetic.constants import ZERO

SHADES = " :▒▓█"  # the weakest is of one byte: most cells have it
SHADES_BESIDE = "  ▒▓█"  # an amount, whose weakest needs none
CURSOR: Final = "focus"
LABEL = 4  # columns of the names of weekdays
LEAST_CELL, WIDEST_CELL = 3, 16  # columns of a cell with the gap behind it
WIDE_GAP_FROM = 8  # columns of a cell from which its gap has two
AMOUNT_FROM, BOTH_FROM = 6, 7  # columns of a cell with its amount below its shade, and beside it
APART_FROM = 9  # columns of a cell with a blank between its amount and its shade
AMOUNT_ROW, COUNT_ROW = 1, 2  # of a cell that has both
LEAST_TABLE_ROWS = 4  # in sight, else the tables begin on the next page
SUM_BAR = 5  # cells of a bar to each side of its axis, where there is no room for more
WIDEST_BAR = 16
COUNT_WIDTH, WIN_WIDTH, R_WIDTH, RESULT_WIDTH = 5, 7, 9, 12
SUM_WIDTH = COUNT_WIDTH + RESULT_WIDTH + 2 * SUM_BAR + 1  # columns beside the name
TABLE_GAP = 4
TENTHS, TEN, THOUSAND = (Decimal(text) for text in ("0.95", "9.95", "999.5"))


class CellSize(NamedTuple):
    """The columns of a cell with the gap behind it, its rows, and the blank ones below them."""

    width: int
    rows: int = 1
    blank: int = 0

    @property
    def filled(self) -> int:
        """The columns without the gap."""
        return self.width - (2 if self.width >= WIDE_GAP_FROM else 1)


def cell_width(columns: int, width: int) -> int:
    """Return the columns of each cell of a map with so many of them beside each other."""
    return max(LEAST_CELL, min(WIDEST_CELL, (width - LABEL) // columns))


def window_of(first: int, last: int, chosen: int, room: int) -> range:
    """Return so many columns as there is room for: the last ones, or those around the chosen one."""
    count = max(1, min(last - first + 1, room))
    start = last - count + 1
    start = start if chosen >= start else max(first, chosen - count // 2)
    return range(start, start + count)


def fitting_size(width: int, most: int, others: int, rows: int, room: int) -> CellSize:
    """Return the highest size of cells that fits.

    Args:
        width: Its columns.
        most: Its rows at most.
        others: The lines beside those of cells.
        rows: Of cells, below each other.
        room: Lines of the page.
    """
    sizes = (CellSize(width, most, 1), *(CellSize(width, n) for n in range(most, 1, -1)))
    fitting = (each for each in sizes if rows * (each.rows + each.blank) + others <= room)
    least = CellSize(width)
    return next(fitting, least) if width >= AMOUNT_FROM else least


class CellStyle(NamedTuple):
    """How the cells of a map are drawn: their size, the result that has the strongest shade, and for which page."""

    size: CellSize
    largest: Decimal
    given: ViewInput

    def lines(
        self, label: Words, cells: Sequence[HeatCell | None], chosen: int | None = None
    ) -> list[TextLine]:
        """Return a row of cells behind their name, the chosen one in brackets."""
        lines: list[TextLine] = []
        name, role = label
        for row in range(self.size.rows):
            parts: list[Words] = [(safe(f"{'' if row else name:<{LABEL}}"), role)]
            parts += [self._cell(each, row) for each in cells]
            lines.append(parts if chosen is None else _marked(parts, chosen + 1, self.size.filled))
        return [*lines, *[BLANK] * self.size.blank]

    @property
    def _is_beside(self) -> bool:
        """Whether a cell has its amount beside its shade."""
        return self.size.rows == 1 and self.size.width >= BOTH_FROM

    def legend(self, doubt: str = "") -> list[TextLine]:
        """Return what the shades mean, and why they may mean little."""
        width, currency = self.given.width, self.given.snapshot.currency
        steps = f"in steps of {money(self.largest / LEVELS)} {currency}".rstrip()
        if _is_written(self.given):
            amounts = f"in {currency}" if self._is_beside else f"1 to {LEVELS} {steps}"
            text = f"+ gain, {MINUS} loss, {amounts}. {doubt}".strip()
            return wrap_text(safe(text), "muted", width)
        shades = (SHADES_BESIDE if self._is_beside else SHADES).strip()
        line: TextLine = (
            ("gain ", "muted"),
            (safe(shades), "profit"),
            ("  loss ", "muted"),
            (safe(shades), "loss"),
            (safe(f"  {steps}"), "muted"),
        )
        about = safe(f".  {doubt}")
        if not doubt or width_of(line) + len(about) <= width:
            return fold_line((*line, (about, "muted")) if doubt else line, width)
        return [*fold_line(line, width), *wrap_text(safe(doubt), "muted", width)]

    def _cell(self, cell: HeatCell | None, row: int) -> Words:
        """Return a row of a cell: its shade, its amount, its number of trades."""
        size = self.size
        if cell is None or not cell.n:
            dot = "·" if row == (size.rows - 1) // 2 else ""
            return safe(f"{dot:^{size.filled}}".ljust(size.width)), "grid"
        strength = level(cell.result, self.largest)
        role: WordsRole = signed_role(strength, zero="muted")
        if row == AMOUNT_ROW:
            text = _short(cell.result)
        elif row == COUNT_ROW:
            text, role = f"n {cell.n}", "faint"
        elif self._is_beside:
            gap = " " * (size.width >= APART_FROM)
            shade = SHADES_BESIDE[abs(strength)]
            text = _short(cell.result) + ("" if _is_written(self.given) else gap + shade)
        elif _is_written(self.given):
            text = f"{'-+'[strength > 0]}{abs(strength)}" if strength else "=0"
        else:
            text = (SHADES[abs(strength)] if strength else "=") * size.filled
        return safe(f"{text:>{size.filled}}".ljust(size.width)), role


def _marked(parts: Sequence[Words], at: int, filled: int) -> list[Words]:
    """Return a row with a part in brackets, which stand in the gaps: a shade stays as it is."""
    (before, its), (text, role) = parts[at - 1], parts[at]
    return [
        *parts[: at - 1],
        (safe(before[:-1]), its),
        ("[", CURSOR),
        (safe(text[:filled]), role),
        ("]", CURSOR),
        (safe(text[filled + 1 :]), role),
        *parts[at + 1 :],
    ]


def head_line(texts: Sequence[str], size: CellSize) -> TextLine:
    """Return the names of columns, each above the right edge of its cells."""
    names = "".join(f"{text:>{size.filled}}".ljust(size.width) for text in texts)
    return ((safe(" " * LABEL + names.rstrip()), "muted"),)


def _is_written(given: ViewInput) -> bool:
    return given.ascii_only or given.is_mono


def _short(value: Decimal) -> str:
    """Return a signed amount in at most five characters."""
    size, unit = abs(value), ""
    for larger in "kM":
        if size >= THOUSAND:
            size, unit = size / 1000, larger
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    has_tenths = size < TEN if unit else 0 < size < TENTHS
    return f"{sign}{size:.{int(has_tenths)}f}{unit}"


def with_tables(above: Sequence[TextLine], tables: Sequence[TextLine], rows: int) -> list[TextLine]:
    """Return the map with the tables below it; on the next page where too few of their rows are in sight."""
    gap = 1 if rows - len(above) > min(LEAST_TABLE_ROWS, len(tables)) else rows - len(above)
    return [*above, *[BLANK] * max(1, gap), *tables]


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


# Sums.


def together(cells: Sequence[HeatCell]) -> HeatCell:
    """Return the trades of all cells as one."""
    rs = [each.r for each in cells if each.r is not None]
    return HeatCell(
        sum(each.n for each in cells),
        sum(each.wins for each in cells),
        sum((each.result for each in cells), ZERO),
        sum(rs, ZERO) if rs else None,
    )


def sum_lines(
    name: str, cells: Mapping[str, HeatCell], width: int, label_width: int = 9
) -> list[TextLine]:
    """Return a table of cells, with a bar beside each result; win rate and R where there is room."""
    shown = {label: cell for label, cell in cells.items() if cell.n}
    room = width - label_width - SUM_WIDTH
    has_r, has_win = room >= R_WIDTH, room >= R_WIDTH + WIN_WIDTH
    room -= WIN_WIDTH * has_win + R_WIDTH * has_r
    size = min(WIDEST_BAR, SUM_BAR + max(0, room) // 2)
    bars = bars_of([each.result for each in shown.values()], size)
    head = f"{name:<{label_width}}{'n':>{COUNT_WIDTH}}{'win %' if has_win else '':>{WIN_WIDTH * has_win}}"
    head += f"{'R' if has_r else '':>{R_WIDTH * has_r}}{'result':>{RESULT_WIDTH - 1}}"
    lines: list[TextLine] = [((safe(head), "muted"),)]
    for (label, cell), bar in zip(shown.items(), bars, strict=True):
        role: ColourRole = FEW_ROLE if is_few(cell.n) else "plain"
        won = percent(Decimal(cell.wins) / cell.n, 0)
        in_r, r_role = signed_money(cell.r)
        result, result_role = signed_money(cell.result)
        line: list[Words] = [
            (safe(f"{shorten(safe(label), label_width - 1):<{label_width}}"), role),
            (
                safe(f"{cell.n:>{COUNT_WIDTH},}{won if has_win else '':>{WIN_WIDTH * has_win}}"),
                role,
            ),
            (safe(f"{in_r:>{R_WIDTH}}" if has_r else ""), r_role),
            (safe(f"{result:>{RESULT_WIDTH - 1}} "), result_role),
            *bar,
        ]
        lines.append(line)
    return lines
