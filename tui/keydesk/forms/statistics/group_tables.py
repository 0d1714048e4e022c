"""The tables of groups on the page of a day or a week: all of one width, their columns and bars at the same places and of one scale."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len

from keydesk.forms.modal_form import TextLine, Words
from keydesk.forms.page_lines import beside
from keydesk.forms.statistics.view import BAR_NAME, bars_of, fitting_names
from keydesk.text.format import MINUS
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.report import Section
from keydesk.widgets.theme import ColourRole

GAP = 2  # columns between those of a table
BETWEEN = 4  # columns between two tables
TWO_FROM = 104  # columns of two tables beside each other
LEAST_NAME = 13  # columns: By instrument
LEAST_BAR, USUAL_BAR, WIDEST_BAR = 5, 8, 16  # cells of a bar to each side of its axis
LEFT_OUT_FIRST = ("win %", "n", "R")
SIGNED = frozenset({"result", "R"})


class TableLayout(NamedTuple):
    """What tables below each other have in common: the columns of names, those of figures, and the cells of a bar."""

    names: int
    figures: Mapping[str, int]
    bar: int  # 0: there are none


def group_parts(sections: Sequence[Section], width: int) -> list[list[TextLine]]:
    """Return tables of groups, two beside each other where there is room."""
    if len(sections) < 2 or width < TWO_FROM:  # noqa: PLR2004 - a pair
        return tables_below(sections, width)
    own = (width - BETWEEN) // 2
    tables = tables_below(sections, own)
    pairs = zip_longest(tables[::2], tables[1::2], fillvalue=())
    return [beside(left, own + BETWEEN, right) for left, right in pairs]


def tables_below(
    sections: Sequence[Section], width: int, most: int = WIDEST_BAR
) -> list[list[TextLine]]:
    """Return tables of groups that are to stand below each other, with bars of so many cells at most."""
    if not sections:
        return []
    layout = _layout(sections, width)
    layout = layout._replace(bar=min(most, layout.bar))
    bars = iter(
        bars_of([value for each in sections for value in each.results], layout.bar, split=True)
    )
    tables = [_table(each, layout, [next(bars) for _ in each.results]) for each in sections]
    if layout.bar:  # named once, as all of a page have one scale
        name = f"{'':{GAP}}{BAR_NAME:^{2 * layout.bar + 1}}"
        tables[0][0] = (*tables[0][0], (safe(name.rstrip()), "faint"))
    return tables


def bar_cells(sections: Sequence[Section], *widths: int) -> int:
    """Return the cells of a bar that tables of these widths have in common, those left out that have no room for one."""
    cells = (_layout(sections, width).bar for width in widths) if sections else ()
    return min(filter(None, cells), default=0)


def _layout(sections: Sequence[Section], width: int) -> TableLayout:
    figures = {
        name: max(
            cell_len(name), *(cell_len(safe(row[name])) for each in sections for row in each.rows)
        )
        for name in sections[0].columns[1:]
    }
    for name in LEFT_OUT_FIRST:
        if width - _columns(figures) < LEAST_NAME:
            figures.pop(name)
    room = width - _columns(figures)
    with_bars = room - GAP - 2 * LEAST_BAR - 1
    room = with_bars if with_bars >= LEAST_NAME else max(1, room)
    texts = [text for each in sections for text in (each.title, *_names(each))]
    shown = fitting_names(texts, max(1, room - 2 * (USUAL_BAR - LEAST_BAR)))
    if any(each.endswith("…") for each in shown):  # no name is cut for a longer bar
        shown = fitting_names(texts, room)
    names = max(map(cell_len, shown))
    spare = width - names - _columns(figures) - GAP - 1
    return TableLayout(names, figures, min(WIDEST_BAR, spare // 2) if room == with_bars else 0)


def _columns(figures: Mapping[str, int]) -> int:
    return sum(size + GAP for size in figures.values())


def _names(section: Section) -> list[str]:
    return [row[section.columns[0]] for row in section.rows]


def _table(section: Section, layout: TableLayout, bars: Sequence[TextLine]) -> list[TextLine]:
    """Return the title beside the names of the columns, and the rows with their bars."""
    heads = "".join(f"{'':{GAP}}{name:>{size}}" for name, size in layout.figures.items())
    title, *names = (
        safe(each + " " * (layout.names - cell_len(each)))
        for each in fitting_names([section.title, *_names(section)], layout.names)
    )
    lines: list[TextLine] = [((title, "bright"), (safe(heads), "muted"))]
    rows = [_row(name, row, layout) for name, row in zip(names, section.rows, strict=True)]
    if not layout.bar:
        return [*lines, *rows]
    at = layout.names + _columns(layout.figures) + GAP
    return [*lines, *beside(rows, at, bars)]


def _row(name: SafeText, row: Mapping[str, str], layout: TableLayout) -> TextLine:
    line: list[Words] = [(name, "plain")]
    for key, size in layout.figures.items():
        line.append((safe(f"{'':{GAP}}{row[key]:>{size}}"), role_of(key, row[key])))
    return line


def role_of(name: str, text: str) -> ColourRole:
    """Return the role of a cell: results and R have the colour of their sign."""
    return role_of_amount(text) if name in SIGNED else "plain"


def role_of_amount(text: str) -> ColourRole:
    """Return the role of an amount in words by its sign."""
    if not text.strip(f"{MINUS}0."):
        return "plain"
    return "loss" if text.startswith(MINUS) else "profit"
