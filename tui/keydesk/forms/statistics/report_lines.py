"""The sections of the report of a day or a week as lines of a page: sentences, tables, and their places beside each other."""

import re
from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from keydesk.forms.info_form import beside, width_of
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.forms.statistics.view import bars_of
from keydesk.text.format import MINUS, shorten
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.csv_rows import SIGNED_FIGURES
from keydesk.trade_journal.report import Section
from keydesk.widgets.theme import ColourRole

GAP = 2  # columns between those of a table
BETWEEN = 4  # columns between two tables
SIGNED = frozenset({"result", "R"})
SENTENCE_ROLES: Mapping[str, ColourRole] = {
    "Result:": "bright",
    "Best:": "profit",
    "Worst:": "loss",
    "Mistakes:": "warn",
}
LEFT_OUT_FIRST = ("held", "setup", "id", "side", "closed", "of")
INDENT = 10  # of sentences that go on
BAR_WIDTH = 4  # cells of a bar to each side of its axis
LEAST_OF_PART = 5  # lines of a part that stand together: its title, the names of columns, some rows
LEAST_NAME = 4  # columns of the first column, whose texts are cut where there is no room
ITEM_ENDS = re.compile(r"(?<=\),) |(?<=;) ")  # where a list of groups in a sentence is broken


def in_pages(parts: Sequence[Sequence[TextLine]], room: int, above: int = 0) -> list[TextLine]:
    """Return parts below each other; the title of none stands alone at the end of a page.

    Args:
        parts: The lines of each.
        room: Lines of a page.
        above: Lines above the first part, on its page.
    """
    lines: list[TextLine] = []
    for part in parts:
        lines += [BLANK] if lines else []
        at = (above + len(lines)) % room
        if at + min(len(part), LEAST_OF_PART) > room > LEAST_OF_PART:
            lines += [BLANK] * (room - at)
        lines += part
    return lines


def side_by_side(sections: Sequence[Section], width: int) -> list[list[TextLine]]:
    """Return the parts of a page as rows: tables stand beside one another where there is room."""
    rows: list[list[TextLine]] = []
    is_open, taken = False, 0
    for section in sections:
        lines = section_lines(section, width)
        own = max(width_of(line) for line in lines)
        if is_open and section.rows and taken + BETWEEN + own <= width:
            rows[-1] = beside(rows[-1], taken + BETWEEN, lines)
            taken += BETWEEN + own
        else:
            rows.append(lines)
            is_open, taken = bool(section.rows), own
    return rows


def section_lines(section: Section, width: int) -> list[TextLine]:
    """Return a part of the page; columns that do not fit are left out whole, the least important first."""
    lines: list[TextLine] = []
    if section.title:
        lines.append(((safe(section.title), "bright"),))
    for sentence in section.sentences:
        lines += _sentence(sentence, width)
    if section.rows:
        lines += _table(section, width)
    return lines


def _sentence(sentence: str, width: int) -> list[TextLine]:
    head, _, rest = sentence.partition(" ")
    role = SENTENCE_ROLES.get(head)
    if role is None and head != "Traded:":
        return wrap_text(safe(sentence), "plain", width)
    wrapped = [
        line
        for text in _items(rest, max(1, width - INDENT))
        for line in wrap_text(text, role or "plain", max(1, width - INDENT))
    ]
    label: Words = (safe(f"{head:<{INDENT}}"), "muted")
    blank: Words = (safe(" " * INDENT), "muted")
    return [(blank if number else label, *line) for number, line in enumerate(wrapped)]


def _items(text: str, width: int) -> list[SafeText]:
    """Return a list of groups broken between its items."""
    lines: list[str] = []
    for item in ITEM_ENDS.split(text):
        if lines and cell_len(safe(f"{lines[-1]} {item}")) <= width:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return [safe(line) for line in lines]


def _table(section: Section, width: int) -> list[TextLine]:
    widths = {
        name: max(cell_len(name), *(cell_len(safe(row[name])) for row in section.rows))
        for name in section.columns
    }
    columns = list(section.columns)
    for name in LEFT_OUT_FIRST:
        if sum(widths[each] + GAP for each in columns) - GAP > width and name in columns:
            columns.remove(name)
    first, taken = columns[0], sum(widths[each] + GAP for each in columns) - GAP
    widths[first] = min(widths[first], max(LEAST_NAME, widths[first] - (taken - width)))
    right = {name: all(_is_number(row[name]) for row in section.rows) for name in columns}
    head = "".join(_aligned(name, widths[name], right=right[name]) for name in columns)
    lines: list[TextLine] = [((safe(head.rstrip()), "muted"),)]
    for row in section.rows:
        cells: list[Words] = []
        for name in columns:
            text = _aligned(shorten(safe(row[name]), widths[name]), widths[name], right=right[name])
            cells.append((safe(text.rstrip() if name == columns[-1] else text), _role(name, row)))
        lines.append(tuple(cells))
    if not section.results or width_of(lines[0]) + GAP + 2 * BAR_WIDTH + 1 > width:
        return lines
    bars = bars_of(section.results, BAR_WIDTH)
    at = max(map(width_of, lines)) + GAP
    return [lines[0], *beside(lines[1:], at, bars)]


def _role(name: str, row: Mapping[str, str]) -> ColourRole:
    value = row[name]
    is_signed = name in SIGNED or (name == "value" and row.get("figure") in SIGNED_FIGURES)
    if is_signed and value.strip(f"{MINUS}0."):
        return "loss" if value.startswith(MINUS) else "profit"
    return "plain" if name not in {"of", "id", "closed", "held"} else "muted"


def _aligned(text: str, width: int, *, right: bool) -> str:
    shown = safe(text)
    blank = " " * (width - cell_len(shown))
    return f"{blank}{shown}  " if right else f"{shown}{blank}  "


def _is_number(text: str) -> bool:
    return not text.strip("−+0123456789.,%∞")
