"""The tables of sums: the trades of each group in a row, with a bar beside the result."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from rich.cells import cell_len

from keydesk.calc.trade_journal.charts import HeatCell
from keydesk.calc.trade_journal.statistics import FEW_TRADES
from keydesk.forms.modal_form import TextLine, Words, signed_money
from keydesk.forms.statistics.view import FEW_ROLE, ViewInput, bars_of, fitting_names, is_few
from keydesk.text.format import percent, shorten
from keydesk.text.sanitize import safe
from keydesk.widgets.theme import ColourRole

SUM_BAR, LEAST_SUM_BAR = 5, 2  # cells of a bar to each side of its axis: usual ones, and at least
USUAL_NAMES = 17  # columns, also where win rate and R have no room beside them
WIDEST_BAR = 12
COUNT_WIDTH, WIN_WIDTH, R_WIDTH, RESULT_WIDTH = 5, 7, 9, 12
RESULT_GAP, LEAST_RESULT_GAP = 3, 2  # columns around a result, of its own width
SUM_WIDTH = COUNT_WIDTH + RESULT_WIDTH + 2 * SUM_BAR + 1  # columns beside the name


def names_width(names: Sequence[str], width: int) -> int:
    """Return the columns of these names in tables of sums, as far as the figures and bars beside them leave them room."""
    least = min(USUAL_NAMES, width - COUNT_WIDTH - RESULT_WIDTH - 2 * LEAST_SUM_BAR - 1)
    longest = max(map(cell_len, names), default=0) + 1
    return max(least, min(longest, width - SUM_WIDTH - R_WIDTH - WIN_WIDTH))


def results_width(cells: Iterable[HeatCell]) -> int:
    """Return the columns of these results in tables of sums: what they leave of the usual ones is their bars'."""
    widest = max((cell_len(signed_money(each.result)[0]) for each in cells), default=0)
    usual = min(RESULT_WIDTH, max(widest, len("result")) + RESULT_GAP)
    return max(usual, widest + LEAST_RESULT_GAP)


def bar_cells(width: int, label_width: int, result_width: int) -> int:
    """Return the cells of a bar to each side of its axis in a table of sums of this width."""
    room = width - label_width - SUM_WIDTH + RESULT_WIDTH - result_width
    room -= R_WIDTH * (room >= R_WIDTH) + WIN_WIDTH * (room >= R_WIDTH + WIN_WIDTH)
    return max(LEAST_SUM_BAR, min(WIDEST_BAR, SUM_BAR + room // 2))


def sum_lines(
    name: str,
    cells: Mapping[str, HeatCell],
    width: int,
    label_width: int,
    name_role: ColourRole = "muted",
    *,
    result_width: int = RESULT_WIDTH,
    bars: Sequence[TextLine] = (),
) -> list[TextLine]:
    """Return a table of cells, with a bar beside each result; win rate and R where there is room.

    Without `bars`, which have the scale of other tables too, they have that of this one.
    """
    shown = {label: cell for label, cell in cells.items() if cell.n}
    room = width - label_width - SUM_WIDTH + RESULT_WIDTH - result_width
    has_r, has_win = room >= R_WIDTH, room >= R_WIDTH + WIN_WIDTH
    size = bar_cells(width, label_width, result_width)
    bars = bars or bars_of([each.result for each in shown.values()], size)
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
        min(tables, key=len).append(((safe(f"dim: n under {FEW_TRADES}, may be chance"), "faint"),))
