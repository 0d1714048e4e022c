"""Heat maps: results as tinted cells, with the sums of their rows and columns at the same edges, and bars of those of columns.

A cell has its amount, and its number of trades where there is room, on a tint of its sign, the stronger the larger the result is
beside the largest of the map. Where a terminal has no tints the stronger half is reversed; where no amount fits either, sign and
strength are written: +4 to -4.
"""

from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.trade_journal.charts import LEVELS, HeatCell, level
from keydesk.chart.plots import EIGHTHS
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, signed_money, wrap_text
from keydesk.forms.page_lines import width_of
from keydesk.forms.panel import WordsRole
from keydesk.forms.statistics.heat_page import (
    LEAST_ROWS_OF_TABLES,
    LONG_AMOUNT,
    joined,
    least_amount,
    short_amount,
    tint_of,
    together,
)
from keydesk.forms.statistics.view import BAR_NAME, ViewInput, bars_of
from keydesk.text.format import MINUS, money, percent
from keydesk.text.sanitize import safe
from keydesk.widgets.theme import ChartRole, ColourRole, signed_role
from keydesk_client.arithmetic.constants import ZERO

CURSOR: Final = "focus"
EDGES = (
    "[",
    "]",
)  # of the chosen cell: of its columns where neighbours join, else in the gaps beside it
LEAST_CELL, MOST_CELL = 3, 12  # columns of a cell with the gap behind it
SUM, RESULT, WIN_RATE = "sum", "result", "win %"
SIDES = (RESULT, "n", WIN_RATE, "R"), (RESULT, "n", WIN_RATE), (RESULT, "n"), ("short",), ()
"""What stands beside a row of cells, where there is room: the first of these."""
SIDE_GAP = 3  # columns before it
SIDE_WIDTHS = {"n": 6, WIN_RATE: 7, "R": 9}
LEAST_BAR, MOST_BAR = 4, 16  # cells of a bar beside a row, to each side of its axis
BAR_GAP = 2
# Above and below the axis together: 3 on one side say which is longer; no more than columns.
LEAST_BAR_ROWS, MOST_BAR_ROWS = 5, 10
BAR_EDGE = 2  # columns of a cell that its bar leaves free
TILE = "  "  # of the legend


class HeatRows(NamedTuple):
    """How many rows a map takes: those of a cell, of the bars, and of figures below the sums."""

    cell: int = 1
    bars: int = 0
    figures: int = 0


class HeatMap(Struct, frozen=True, dict=True):
    """A map: the names of its rows, their cells, the sums of columns and rows, and how they are drawn.

    Args:
        names: Of the rows.
        cells: Of each row; None, or one of no trades, where there was none.
        columns: The sums of the columns.
        rows: The sums of the rows; beside them only where no column is out of sight.
        chosen: The row and column of the chosen cell.
        label: Columns of the names.
        largest: The result that has the strongest tint.
        marks: What stands before the numbers of trades in the cells of each row.
    """

    names: Sequence[str]
    cells: Sequence[Sequence[HeatCell | None]]
    columns: Sequence[HeatCell]
    rows: Sequence[HeatCell]
    chosen: tuple[int, int]
    label: int
    largest: Decimal
    given: ViewInput
    size: HeatRows = HeatRows()
    marks: Sequence[Sequence[str]] = ()

    # Its columns.

    @cached_property
    def _least(self) -> int:
        """The columns that each amount fits in."""
        known = [each for row in (*self.cells, self.columns) for each in row if each and each.n]
        return least_amount(known)

    @cached_property
    def side(self) -> tuple[str, ...]:
        """The names of the figures beside a row."""
        room, count = self.given.width - self.label, len(self.columns)
        cell = next(
            (w for w in (self._least + 2, self._least + 1, LEAST_CELL + 1) if w * count <= room),
            LEAST_CELL,
        )
        sums = () if count > 1 else (RESULT, "short")  # of one column they are its cells
        sides = [tuple(name for name in each if name not in sums) for each in SIDES]
        return next(each for each in sides if self._side_width(each) <= max(0, room - cell * count))

    def _side_width(self, names: Sequence[str]) -> int:
        return sum(self._figure_width(name) for name in names)

    def _figure_width(self, name: str) -> int:
        if name == "short":
            return self._least + 1
        if name == RESULT:
            return max(len(signed_money(each.result)[0]) for each in self.rows) + SIDE_GAP
        return SIDE_WIDTHS[name]

    @cached_property
    def cell(self) -> int:
        """The columns of a cell with the gap behind it."""
        room = self.given.width - self.label - self._side_width(self.side)
        return max(LEAST_CELL, min(MOST_CELL, room // len(self.columns)))

    @cached_property
    def filled(self) -> int:
        """The columns of a cell without the gap."""
        return self.cell - 1

    @cached_property
    def has_amounts(self) -> bool:
        """Whether every amount fits in its cell."""
        return self.filled >= self._least

    @cached_property
    def _has_cents(self) -> bool:
        """Whether every amount fits in its cell with cents, which add up as printed."""
        known = [each for row in (*self.cells, self.columns) for each in row if each and each.n]
        return all(len(signed_money(each.result)[0]) <= self.filled - self._pad for each in known)

    def _amount(self, cell: HeatCell) -> str:
        return (
            signed_money(cell.result)[0]
            if self._has_cents
            else short_amount(cell.result, self.filled)
        )

    @property
    def _is_joined(self) -> bool:
        """Whether the gap behind a cell has its tint."""
        return self.has_amounts and self.given.has_tints

    # Its lines.

    def lines(self, heads: Sequence[str]) -> list[TextLine]:
        """Return the names of columns, the rows of cells, and the sums of columns as the axis of their bars."""
        placed = [self._placed(text)[: self.cell] for text in heads]
        head: TextLine = [(safe("".join([" " * self.label, *placed])), "muted")]
        bars = self._bars()
        head = self._with_side_heads(head)
        if bars:
            head = [*head, (safe(" " * BAR_GAP + BAR_NAME), "muted")]
        lines: list[TextLine] = [head]
        for number in range(len(self.names)):
            lines += self._row(number, bars[number] if bars else ())
        above, below = self._column_bars()
        lines += [BLANK, *above] if above or below else []
        lines += [self._sums(), *below]
        if self.size.figures:
            won = [percent(Decimal(c.wins) / c.n, 0) if c.n else "" for c in self.columns]
            lines.append(self._figures("n", [f"{c.n:,}" if c.n else "" for c in self.columns]))
            lines.append(self._figures(WIN_RATE, won))
        return lines

    def _placed(self, text: str) -> str:
        """Return a text at the right edge of a cell, with the gap behind it."""
        return f"{text:>{self.filled - self._pad}}{'':{self._pad + 1}}"

    @property
    def _pad(self) -> int:
        """The columns of a wide cell that are free behind its text."""
        return 1 if self.filled > LONG_AMOUNT else 0

    def _with_side_heads(self, head: TextLine) -> TextLine:
        names = [SUM if name in {RESULT, "short"} else name for name in self.side]
        texts = [
            f"{text:>{self._figure_width(name)}}"
            for name, text in zip(self.side, names, strict=True)
        ]
        blank = self.label + self.cell * len(self.columns) - width_of(head)
        return [*head, (safe(" " * blank + "".join(texts)), "muted")] if texts else head

    def _row(self, number: int, bar: TextLine) -> list[TextLine]:
        row, column = self.chosen
        side = [*self._side(self.rows[number]), *bar]
        lines: list[TextLine] = []
        for at in range(self.size.cell):
            name = "" if at else self.names[number]
            parts: list[Words] = [(safe(f"{name:<{self.label - 1}}"), "muted"), (" ", "plain")]
            for place, each in enumerate(self.cells[number]):
                text, role = self._part(each, at)
                marked = (
                    f"{self.marks[number][place]}  {text}".rstrip() if at and self.marks else text
                )
                parts += self._tile(marked if len(marked) <= self.filled else text, role)
            if number == row:
                left, right = EDGES
                own, own_text = 2 * column + 2, str(parts[2 * column + 2][0])
                if self._is_joined:
                    role = ChartRole(f"~{CURSOR}")
                    if own_text[0] == " ":
                        own_text = left + own_text[1:]
                    else:  # the amount takes all of its cell
                        parts[own - 1] = (safe(left), role)
                    parts[own : own + 2] = (safe(own_text), role), (safe(right), role)
                else:
                    parts[own - 1], parts[own + 1] = (safe(left), CURSOR), (safe(right), CURSOR)
            lines.append([*joined(parts), *([] if at else side)])
        return lines

    def _tile(self, text: str, role: ColourRole | ChartRole) -> tuple[Words, Words]:
        """Return a cell and the gap behind it: of its tint where it has words, so that neighbours join and cost fewer bytes."""
        gap: Words = (" ", role if self._is_joined else "plain")
        return (safe(self._placed(text)[: self.filled]), role), gap

    def _part(self, cell: HeatCell | None, row: int) -> tuple[str, ColourRole | ChartRole]:
        """Return what a row of a cell says, and its tint."""
        if cell is None or not cell.n:
            return "" if row else "·", "grid"
        strength = level(cell.result, self.largest)
        if not strength:
            return f"n {cell.n}" if row else "0" if self.has_amounts else "=", "muted"
        role = tint_of(strength)
        if row:
            return f"n {cell.n}", role
        if self.has_amounts:
            return self._amount(cell), role
        return "" if self.given.has_tints else f"{strength:+}", role

    @cached_property
    def sums(self) -> Sequence[str]:
        """The amounts of the sums of columns: without a plus where only that fits, a minus in the gap; none where they do not fit."""
        amounts = [self._amount(c) if c.n else "·" for c in self.columns]
        if max(map(len, amounts)) > self.filled:
            amounts = [each.lstrip("+") for each in amounts]
        widest = max(len(each.lstrip(MINUS)) for each in amounts)
        return amounts if widest <= self.filled else ()

    def _sums(self) -> TextLine:
        """Return the sums of columns: their amounts, or their tints where these do not fit."""
        if not self.sums:
            parts: list[Words] = [(safe(f"{SUM:<{self.label}}"), "bright")]
            for cell in self.columns:
                parts += self._tile(*self._part(cell, 0))
            return [*joined(parts), *self._side(together(self.rows))]
        parts = [(safe(f"{SUM:<{self.label - 1}}"), "bright")]
        for text, cell in zip(self.sums, self.columns, strict=True):
            placed = f"{text:>{self.cell - self._pad}}{'':{self._pad}}"
            parts.append((safe(placed), signed_role(cell.result, zero="grid")))
        return [*joined(parts), (" ", "plain"), *self._side(together(self.rows))]

    def _figures(self, name: str, texts: Sequence[str]) -> TextLine:
        return (
            (safe(f"{name:<{self.label}}"), "muted"),
            (safe("".join(map(self._placed, texts)).rstrip()), "muted"),
        )

    def _side(self, cell: HeatCell) -> list[Words]:
        """Return the figures beside a row."""
        parts: list[Words] = []
        for name in self.side:
            text, role = self._figure(name, cell)
            parts.append((safe(f"{text:>{self._figure_width(name)}}"), role))
        return parts

    def _figure(self, name: str, cell: HeatCell) -> tuple[str, WordsRole]:
        if not cell.n:
            return ("·", "grid") if name in {RESULT, "short"} else ("", "plain")
        if name in {RESULT, "R"}:
            return signed_money(cell.result if name == RESULT else cell.r)
        if name == "short":
            return short_amount(cell.result, self._least), signed_role(cell.result, zero="muted")
        text = f"{cell.n:,}" if name == "n" else percent(Decimal(cell.wins) / cell.n, 0)
        return text, "muted"

    # Its bars.

    def _bars(self) -> list[TextLine]:
        """Return the bars beside the rows, where there is room."""
        taken = self.label + self.cell * len(self.columns) + self._side_width(self.side) + BAR_GAP
        cells = min(MOST_BAR, (self.given.width - taken - 1) // 2)
        if cells < LEAST_BAR or len([each for each in self.rows if each.n]) < 2:  # noqa: PLR2004 - to compare
            return []
        bars = bars_of([each.result for each in self.rows], cells)
        return [[(safe(" " * BAR_GAP), "plain"), *bar] for bar in bars]

    def _column_bars(self) -> tuple[list[TextLine], list[TextLine]]:
        """Return the rows of the bars of columns above and below the sums, an eighth of a row precise."""
        values = [each.result for each in self.columns]
        up, down = max(ZERO, *values), max(ZERO, *(-each for each in values))
        if not self.size.bars or len([each for each in values if each]) < 2:  # noqa: PLR2004 - to compare
            return [], []
        above = max(
            int(up > 0),
            min(self.size.bars - int(down > 0), _rounded(self.size.bars * up / (up + down))),
        )
        below = self.size.bars - above
        unit = max(up / above if above else ZERO, down / below if below else ZERO) / len(EIGHTHS)
        levels = [
            _rounded(each / unit) or (1 if each > 0 else -1 if each else 0) for each in values
        ]
        return (
            [self._bar_row(levels, at, "rise") for at in reversed(range(above))],
            [self._bar_row([-each for each in levels], at, "fall") for at in range(below)],
        )

    def _bar_row(self, levels: Sequence[int], row: int, role: ColourRole) -> TextLine:
        """Return a row of the bars, counted from their axis; of a hanging one the glyph is what is free below it."""
        width, full = max(self.filled - BAR_EDGE, 2), len(EIGHTHS)
        parts: list[Words] = [(safe(" " * self.label), "plain")]
        for each in levels:
            level = max(0, min(full, each - row * full))
            level = full if level and self.given.ascii_only else level
            text = EIGHTHS[(level if role == "rise" else -level) % full]
            is_filled = level == full or (level and role == "fall")
            parts += [
                (safe(" " * (self.filled - width)), "plain"),
                (safe(text * width), ChartRole(f"~{role}") if is_filled else role),
                (" ", "plain"),
            ]
        return joined(parts)

    def legend(self, doubt: str = "") -> list[TextLine]:
        """Return what the tints mean, and why they may mean little: behind it where that fits."""
        width, currency = self.given.width, self.given.snapshot.currency
        step = self.largest / LEVELS
        line: list[Words] = [(safe(f"  in steps of {money(step)} {currency}".rstrip()), "muted")]
        if self.given.has_tints:
            losses = [(safe(TILE), tint_of(-each)) for each in range(LEVELS, 0, -1)]
            gains = [(safe(TILE), tint_of(each)) for each in range(1, LEVELS + 1)]
            line = [("loss ", "muted"), *losses, *gains, (" gain", "muted"), *line]
        else:
            amounts = f"reversed from {money(2 * step)} {currency}".rstrip()
            about = amounts if self.has_amounts else f"1 to {LEVELS}{line[0][0][1:]}"
            line = [(safe(f"+ gain, {MINUS} loss, {about}"), "muted")]
        if doubt and width_of(line) + len(doubt) + 3 <= width:
            return [[*line, (safe(f".  {doubt}"), "muted")]]
        return [*fold_line(line, width), *(wrap_text(safe(doubt), "muted", width) if doubt else [])]


def _rounded(value: Decimal) -> int:
    return int(value.to_integral_value())


def rows_of(shown: HeatMap, others: int, tables: int = 0, *, figures: int = 0) -> HeatMap:
    """Return the map in the rows that there are: figures first, then the tables, bars, and the number of trades in each cell.

    Args:
        shown: The map; its cells are of one row.
        others: Lines above and below it.
        tables: Lines of the tables below them; 0: they take what is left.
        figures: Rows of figures below the sums.
    """
    free = shown.given.rows - others - len(shown.names) - 2  # names of columns, sums
    figures = figures if shown.has_amounts and free >= figures else 0
    free -= figures
    free -= min(free, tables + 1) if tables else 0
    traded = len([each for each in shown.columns if each.n])
    bars = min(MOST_BAR_ROWS, free - 1, traded) if shown.sums else 0
    bars = bars if bars >= LEAST_BAR_ROWS else 0
    free -= bars + bool(bars)
    is_tall = shown.has_amounts and free >= len(shown.names) + LEAST_ROWS_OF_TABLES
    is_tall = is_tall and any(
        each is not None and each.n > 1 for row in shown.cells for each in row
    )
    return replace(shown, size=HeatRows(1 + is_tall, bars, figures))
