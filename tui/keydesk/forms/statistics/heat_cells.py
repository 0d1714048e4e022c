"""The cells of the heat maps: weekdays below each other, a column for each hour or week, and the tables of their sums.

A cell is the stronger, the larger its result is beside the largest of the map; its colour is the sign. Where colours or shades are
missing, sign and strength are written: +4 to -4. Where there is room a cell has its amount and its number of trades below. A sum
has its amount alone, or the shade of the same steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from rich.cells import cell_len

from keydesk.calc.trade_journal.charts import LEVELS, HeatCell, level
from keydesk.calc.trade_journal.statistics import FEW_TRADES
from keydesk.forms.info_form import width_of
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, signed_money, wrap_text
from keydesk.forms.statistics.view import FEW_ROLE, ViewInput, bars_of, fitting_names, is_few
from keydesk.text.format import MINUS, counted, money, percent, shorten
from keydesk.text.sanitize import safe
from keydesk.widgets.theme import ChartRole, ColourRole, signed_role
from keydesk_client.arithmetic.constants import ZERO

SHADES, ASCII_SHADES = " :▒▓█", " :o#@"  # the weakest is of one byte: most cells have it
CURSOR: Final = "focus"
CURSOR_EDGES = "▐▌"  # of a shade, in the gaps: half a column stays free beside the neighbour
LABEL = 4  # columns of the names of weekdays
LEAST_CELL = 3  # columns of a cell with the gap behind it
WIDE_GAP_FROM = 8  # columns of a cell from which its gap has two
SHORT_AMOUNT, LONG_AMOUNT = 4, 5  # characters
AMOUNT_ROW, COUNT_ROW = 1, 2  # of a cell that has both
LEAST_ROWS_OF_TABLES = (
    4  # a blank one, the names of columns, a row, and how many lines there are more
)
SUM_BAR, LEAST_SUM_BAR = 5, 2  # cells of a bar to each side of its axis: usual ones, and at least
USUAL_NAMES = 17  # columns, also where win rate and R have no room beside them
WIDEST_BAR = 16
COUNT_WIDTH, WIN_WIDTH, R_WIDTH, RESULT_WIDTH = 5, 7, 9, 12
RESULT_GAP = 3  # columns around a result, of its own width
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
    return max(LEAST_CELL, (width - LABEL) // columns)


def window_of(first: int, last: int, chosen: int, room: int) -> range:
    """Return so many columns as there is room for: the last ones, or those around the chosen one."""
    count = max(1, min(last - first + 1, room))
    start = last - count + 1
    start = start if chosen >= start else max(first, chosen - count // 2)
    return range(start, start + count)


def fitting_size(style: "CellStyle", most: int, lines: tuple[int, int], rows: int) -> CellSize:
    """Return the highest size of cells that fits: with the tables, else without them, where they are on the next page.

    Args:
        style: Its cells are of one row.
        most: Their rows at most.
        lines: Those beside the cells, and those of the tables.
        rows: Of cells, below each other.
    """
    width, room = style.size.width, style.given.rows
    least = CellSize(width)
    if not style.has_amounts:
        return least
    others, tables = lines
    for taken in (others + 1 + tables, others + 1):
        for size in (CellSize(width, most, 1), *(CellSize(width, n) for n in range(most, 0, -1))):
            if rows * (size.rows + size.blank) + taken <= room:
                return size
    return least


def least_amount(cells: Iterable[HeatCell]) -> int:
    """Return the columns that each amount fits in."""
    return max((len(_short(each.result, SHORT_AMOUNT)) for each in cells), default=SHORT_AMOUNT)


class CellStyle(NamedTuple):
    """How the cells of a map are drawn: their size, the result that has the strongest shade, and for which page."""

    size: CellSize
    largest: Decimal
    given: ViewInput
    least_amount: int = LONG_AMOUNT  # columns that each amount fits in

    def lines(
        self, label: Words, cells: Sequence[HeatCell | None], chosen: int | None = None
    ) -> list[TextLine]:
        """Return a row of cells behind their name; the chosen one is marked."""
        lines: list[TextLine] = []
        name, role = label
        for row in range(self.size.rows):
            parts: list[Words] = [(safe(f"{'' if row else name:<{LABEL}}"), role)]
            for number, (each, width) in enumerate(
                zip(cells, self.widths(len(cells)), strict=True)
            ):
                part = self._part(each, row)
                if number != chosen:
                    parts.append((safe(part.text(self.size).ljust(width)), part.role))
                elif self._has_edges(part):
                    parts = _edged(parts, part, self.size)
                else:
                    parts += part.reversed(self.size, width)
            lines.append(parts)
        return [*lines, *[BLANK] * self.size.blank]

    def widths(self, count: int) -> list[int]:
        """Return the columns of so many cells beside each other: amounts alone are spread over the width of the page."""
        spare = 0
        if self.has_amounts and self.size.rows == 1 and not self.is_beside:
            spare = max(0, min(count, self.given.width - LABEL - count * self.size.width))
        return [
            self.size.width + (at + 1) * spare // count - at * spare // count for at in range(count)
        ]

    def sums(self, cells: Sequence[HeatCell | None]) -> TextLine:
        """Return the sums of columns: each amount without a shade, its right edge below those of the cells.

        In cells without amounts it has no sign where its colour says it, and a shade where it has no room so either.
        """
        amounts = [_short(c.result, self._room) if c is not None and c.n else "" for c in cells]
        if not self.has_amounts:
            amounts = [each.lstrip(f"+{MINUS}") for each in amounts]
            if _is_written(self.given) or max(map(len, amounts), default=0) > self.size.filled:
                style = self._replace(size=CellSize(self.size.width))
                return style.lines(("all", "bright"), cells)[0]
        parts: list[Words] = [(safe(f"{'all':<{LABEL}}"), "bright")]
        for cell, amount, width in zip(cells, amounts, self.widths(len(cells)), strict=True):
            part = self._part(cell, 0)
            if cell is not None and amount:
                role = signed_role(cell.result, zero="muted")
                part = _Part(amount, "  " * self.is_beside, role)
            parts.append((safe(part.text(self.size).ljust(width)), part.role))
        return parts

    @property
    def has_amounts(self) -> bool:
        """Whether every amount fits in a cell."""
        return self.size.filled >= self.least_amount

    def _has_edges(self, part: "_Part") -> bool:
        """Whether a chosen cell is marked by edges: its shade stays as it is, and words of several rows are framed."""
        return not self.given.ascii_only and (self.size.rows > 1 or not part.words.strip(" ·"))

    @property
    def is_beside(self) -> bool:
        """Whether a cell has its amount beside its shade."""
        return self.size.rows == 1 and self.size.filled >= self.least_amount + 2

    @property
    def _room(self) -> int:
        """The columns of an amount."""
        return self.size.filled - 2 * self.is_beside

    @property
    def _shades(self) -> str:
        return ASCII_SHADES if self.given.ascii_only else SHADES

    def legend(self, *doubts: str) -> list[TextLine]:
        """Return what the shades mean, and why they may mean little: in the first of these words that fit behind it."""
        width, currency = self.given.width, self.given.snapshot.currency
        steps = f"in steps of {money(self.largest / LEVELS)} {currency}".rstrip()
        shades = (self._shades[2:] if self.is_beside else self._shades).strip()
        has_shades = self.size.rows > 1 or self.is_beside or not self.has_amounts
        if _is_written(self.given) or not has_shades:
            marks = shades if self.has_amounts else f"1 to {LEVELS}"
            amounts = f"{marks} {steps}" if has_shades else f"in {currency}".removesuffix("in ")
            line: TextLine = ((safe(f"+ gain, {MINUS} loss, {amounts}"), "muted"),)
        else:
            line = (
                ("gain ", "muted"),
                (safe(shades), "profit"),
                ("  loss ", "muted"),
                (safe(shades), "loss"),
                (safe(f"  {steps}"), "muted"),
            )
        room = width - width_of(line)
        about = next((safe(f".  {each}") for each in doubts if len(each) + 3 <= room), safe(""))
        if about or not doubts:
            return fold_line((*line, (about, "muted")) if about else line, width)
        return [*fold_line(line, width), *wrap_text(safe(doubts[-1]), "muted", width)]

    def _part(self, cell: HeatCell | None, row: int) -> "_Part":
        """Return a row of a cell: its shade, its amount, its number of trades."""
        size = self.size
        if cell is None or not cell.n:
            dot = "·" if self.has_amounts else f"{'·':^{size.filled}}"
            return _Part("" if row else dot, "  " * self.is_beside, "grid")
        strength = level(cell.result, self.largest)
        role = signed_role(strength, zero="muted")
        if row == AMOUNT_ROW:
            return _Part(_short(cell.result, size.filled), "", role)
        if row == COUNT_ROW:
            return _Part(f"n {cell.n}", "", "faint")
        if size.rows == 1 and self.has_amounts:
            shade = self._shades[abs(strength)] if abs(strength) > 1 else " "
            return _Part(_short(cell.result, self._room), f" {shade}" * self.is_beside, role)
        if _is_written(self.given) and not self.has_amounts:
            text = f"{'-+'[strength > 0]}{abs(strength)}" if strength else "=0"
            return _Part(text, "", role)
        return _Part("", (self._shades[abs(strength)] if strength else "=") * size.filled, role)


class _Part(NamedTuple):
    """A row of a cell: words at its right edge, and the shade behind them."""

    words: str
    shade: str
    role: ColourRole

    def _padded(self, size: CellSize) -> str:
        return f"{self.words:>{size.filled - len(self.shade)}}"

    def text(self, size: CellSize) -> str:
        """Return it with the gap behind it."""
        return f"{self._padded(size)}{self.shade}".ljust(size.width)

    def reversed(self, size: CellSize, width: int) -> list[Words]:
        """Return it marked, with the gap behind it: all of it is reversed; a block beside its amount would be a hole there."""
        if not self.words or self.role == "faint":
            return [(safe(self.text(size).ljust(width)), self.role)]
        role = "muted" if self.role == "grid" else self.role
        shade = self.shade if self.shade.isascii() else " " * len(self.shade)
        return [
            (safe(self._padded(size) + shade), ChartRole(f"~{role}")),
            (safe(" " * (width - size.filled)), self.role),
        ]


def _edged(before: Sequence[Words], part: _Part, size: CellSize) -> list[Words]:
    """Return a row whose next part is marked by edges, which stand in the gaps."""
    (text, role), shown = before[-1], part.text(size)
    return [
        *before[:-1],
        (safe(text[:-1]), role),
        (safe(CURSOR_EDGES[0]), CURSOR),
        (safe(shown[: size.filled]), part.role),
        (safe(CURSOR_EDGES[1]), CURSOR),
        (safe(shown[size.filled + 1 :]), part.role),
    ]


def head_line(texts: Sequence[str], style: CellStyle) -> TextLine:
    """Return the names of columns, each above the right edge of the amounts."""
    size, behind = style.size, "  " * style.is_beside
    names = "".join(
        f"{text + behind:>{size.filled}}".ljust(width)
        for text, width in zip(texts, style.widths(len(texts)), strict=True)
    )
    return ((safe(" " * LABEL + names.rstrip()), "muted"),)


def _is_written(given: ViewInput) -> bool:
    return given.ascii_only or given.is_mono


def _short(value: Decimal, room: int = LONG_AMOUNT) -> str:
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
    above = [*cells, BLANK, *below]
    if 0 <= len(above) + LEAST_ROWS_OF_TABLES - rows <= 1:  # a row is worth more than a blank one
        above = [*cells, *below]
    left = rows - len(above)
    is_next = left < min(LEAST_ROWS_OF_TABLES, len(tables) + 1)
    return [*above, *[BLANK] * max(1, left if is_next else 1), *tables]


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


def names_width(names: Sequence[str], width: int) -> int:
    """Return the columns of these names in tables of sums, as far as the figures and bars beside them leave them room."""
    least = min(USUAL_NAMES, width - COUNT_WIDTH - RESULT_WIDTH - 2 * LEAST_SUM_BAR - 1)
    longest = max(map(cell_len, names), default=0) + 1
    return max(least, min(longest, width - SUM_WIDTH - R_WIDTH - WIN_WIDTH))


def results_width(cells: Iterable[HeatCell]) -> int:
    """Return the columns of these results in tables of sums: what they leave of the usual ones is their bars'."""
    widest = max((cell_len(signed_money(each.result)[0]) for each in cells), default=0)
    return min(RESULT_WIDTH, max(widest, len("result")) + RESULT_GAP)


def sum_lines(
    name: str,
    cells: Mapping[str, HeatCell],
    width: int,
    label_width: int,
    name_role: ColourRole = "muted",
    *,
    result_width: int = RESULT_WIDTH,
) -> list[TextLine]:
    """Return a table of cells, with a bar beside each result; win rate and R where there is room."""
    shown = {label: cell for label, cell in cells.items() if cell.n}
    room = width - label_width - SUM_WIDTH + RESULT_WIDTH - result_width
    has_r, has_win = room >= R_WIDTH, room >= R_WIDTH + WIN_WIDTH
    room -= WIN_WIDTH * has_win + R_WIDTH * has_r
    size = max(LEAST_SUM_BAR, min(WIDEST_BAR, SUM_BAR + room // 2))
    bars = bars_of([each.result for each in shown.values()], size)
    title = shorten(safe(name), label_width + COUNT_WIDTH - 2)
    head = f"{'':<{label_width}}{'n':>{COUNT_WIDTH}}{'win %' if has_win else '':>{WIN_WIDTH * has_win}}"
    head += f"{'R' if has_r else '':>{R_WIDTH * has_r}}{'result':>{result_width - 1}}"
    lines: list[TextLine] = [((title, name_role), (safe(head[cell_len(title) :]), "muted"))]
    labels = fitting_names(list(shown), label_width - 1)
    for label, cell, bar in zip(labels, shown.values(), bars, strict=True):
        role: ColourRole = FEW_ROLE if is_few(cell.n) else "plain"
        won = percent(Decimal(cell.wins) / cell.n, 0)
        in_r, r_role = signed_money(cell.r)
        result, result_role = signed_money(cell.result)
        line: list[Words] = [
            (safe(f"{label:<{label_width}}"), role),
            (
                safe(f"{cell.n:>{COUNT_WIDTH},}{won if has_win else '':>{WIN_WIDTH * has_win}}"),
                role,
            ),
            (safe(f"{in_r:>{R_WIDTH}}" if has_r else ""), r_role),
            (safe(f"{result:>{result_width - 1}} "), result_role),
            *bar,
        ]
        lines.append(line)
    return lines


def say_few(
    tables: Sequence[list[TextLine]], given: ViewInput, *cells: Mapping[str, HeatCell]
) -> None:
    """Say below the shortest table what the dimmer rows are, where there are any: in one colour none is dimmer."""
    if not given.is_mono and any(
        cell.n and is_few(cell.n) for each in cells for cell in each.values()
    ):
        min(tables, key=len).append(((safe(f"dim: under {FEW_TRADES} trades"), "faint"),))
