"""The sections of the report of a day or a week as parts of a page: sentences, tables of groups of one width, trades, figures."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from msgspec.structs import replace
from rich.cells import cell_len

from keydesk.calc.trade_journal.trades import JournalTrade
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, wrap_text
from keydesk.forms.page_lines import beside, width_of
from keydesk.forms.statistics.group_tables import group_parts, role_of, role_of_amount
from keydesk.forms.statistics.view import ViewInput
from keydesk.text.format import shorten
from keydesk.text.sanitize import SafeText, safe
from keydesk.trade_journal.csv_rows import SIGNED_FIGURES
from keydesk.trade_journal.report import Section, trades_section
from keydesk.widgets.theme import ColourRole

GAP = 2  # columns between those of a table
TABLE_GAP = 4  # columns between two tables, or a map and its trades
LEAST_TRADES_WIDTH = 48  # columns of the trades of an hour or a day
TRADES_BESIDE_FROM = (
    160  # columns of the page that has them to the right of a map, or in two halves below it
)
LEAST_TRADES_SHOWN = 3  # of those of an hour or a day
FAINT = frozenset({"id", "closed", "held"})
SENTENCE_ROLES: Mapping[str, ColourRole] = {
    "Result:": "plain",
    "Best:": "profit",
    "Worst:": "loss",
    "Mistakes:": "warn",
}
BOLD_ROLES: Mapping[ColourRole, ColourRole] = {"profit": "tick-up", "loss": "tick-down"}
LEFT_OUT_FIRST = ("held", "setup", "id", "side", "closed")
INDENT = 10  # of sentences behind their label
LEAST_OF_PART = (
    5  # lines of a long part that stand together: its title, the names of columns, some rows
)
MOST_WHOLE = 1, 2  # of a page: a part of more lines may begin on one page and end on the next
LEAST_NAME = 4  # columns of the first column, whose texts are cut where there is no room
COLUMNS_OF_FIGURES = 2  # beside each other, where they have all of the page
ITEM_ENDS = re.compile(r"(?<=\),) |(?<=;) ")  # where a list in a sentence is broken


def in_pages(parts: Sequence[Sequence[TextLine]], room: int, above: int = 0) -> list[TextLine]:
    """Return parts below each other; one that is cut by the end of a page is long, and its title does not stand alone there.

    Args:
        parts: The lines of each.
        room: Lines of a page.
        above: Lines above the first part, on its page.
    """
    lines: list[TextLine] = []
    most, of = MOST_WHOLE
    for part in parts:
        together = len(part) if len(part) <= room * most // of else LEAST_OF_PART
        left = room - (above + len(lines)) % room
        # A row of a part is worth more than a blank one.
        if lines and left not in {len(part), together, room}:
            lines.append(BLANK)
        at = (above + len(lines)) % room
        if at + together > room > LEAST_OF_PART:
            lines += [BLANK] * (room - at)
        lines += part
    return lines


def parts_of(sections: Sequence[Section], width: int) -> list[list[TextLine]]:
    """Return the parts of a page: sentences that follow one another together, and tables of groups of one width."""
    parts: list[list[TextLine]] = []
    for kind, run in groupby(sections, key=_kind):
        own = list(run)
        if kind == "sentences":
            parts.append([line for each in own for line in section_lines(each, width)])
        elif kind == "groups":
            parts += group_parts(own, width)
        else:
            parts += [section_lines(each, width) for each in own]
    return parts


def is_of_figures(section: Section) -> bool:
    """Return whether a section is the table of figures."""
    return section.columns[:1] == ("figure",)


def _kind(section: Section) -> str:
    if not section.rows:
        return "sentences"
    return "groups" if section.results else "table"


def section_lines(section: Section, width: int) -> list[TextLine]:
    """Return sentences or a table; columns that do not fit are left out whole, the least important first."""
    if is_of_figures(section):
        return figure_lines(section, width)
    if section.rows:
        return [((safe(section.title), "bright"),), *_table(section, width)]
    if not section.title:
        return [line for each in section.sentences for line in _sentence(each, width)]
    own = max(1, width - INDENT)
    lines = [line for each in section.sentences for line in wrap_text(safe(each), "plain", own)]
    return _labelled(f"{section.title}:", lines)


# Sentences.


def _sentence(sentence: str, width: int) -> list[TextLine]:
    head, _, rest = sentence.partition(" ")
    role, own = SENTENCE_ROLES.get(head), max(1, width - INDENT)
    if role is None:
        return wrap_text(safe(sentence), "plain", width)
    if head == "Result:":
        return _labelled(head, fold_line(_result(rest), own))
    return _labelled(
        head, [line for text in _items(rest, own) for line in wrap_text(text, role, own)]
    )


def _result(text: str) -> TextLine:
    """Return a result with its amounts in the colour of their sign, that in money in bold; the rest is plain."""
    money, *others = text.split(", ")
    role = _role_of_result(money)
    line: list[Words] = [(safe(money), BOLD_ROLES.get(role, "bright"))]
    for part in others:
        own = _role_of_result(part) if part.endswith(" R") else "plain"
        line += [(", ", "plain"), (safe(part), own)]
    return line


def _role_of_result(text: str) -> ColourRole:
    return role_of_amount(text.partition(" ")[0])


def _labelled(label: str, lines: Sequence[TextLine]) -> list[TextLine]:
    """Return lines behind their label, which stands beside the first one."""
    first: Words = (safe(f"{label:<{INDENT}}"), "muted")
    blank: Words = (safe(" " * INDENT), "muted")
    return [(blank if number else first, *line) for number, line in enumerate(lines)]


def _items(text: str, width: int) -> list[SafeText]:
    """Return a list broken between its items."""
    lines: list[str] = []
    for item in ITEM_ENDS.split(text):
        if lines and cell_len(safe(f"{lines[-1]} {item}")) <= width:
            lines[-1] += f" {item}"
        else:
            lines.append(item)
    return [safe(line) for line in lines]


# The table of trades.


def _table(section: Section, width: int) -> list[TextLine]:
    widths = {
        name: max(cell_len(name), *(cell_len(safe(row[name])) for row in section.rows))
        for name in section.columns
    }
    columns = [name for name in section.columns if any(row[name] for row in section.rows)]
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
            cells.append(
                (
                    safe(text.rstrip() if name == columns[-1] else text),
                    "muted" if name in FAINT else role_of(name, row[name]),
                )
            )
        lines.append(tuple(cells))
    return lines


def trade_lines(
    trades: Sequence[JournalTrade], which: str, given: ViewInput, room: int, when: str
) -> list[TextLine]:
    """Return the last of these trades in so many lines, the oldest first, in two halves where there is room; nothing where there is no room for three, or all."""
    beside_each_other = 1 + (given.width >= TRADES_BESIDE_FROM)
    rows = (room - 2) * beside_each_other  # without title and names of columns
    if rows < min(LEAST_TRADES_SHOWN, len(trades)) or not trades:
        return []
    last = sorted(trades, key=lambda each: each.closed_ns or 0)[-rows:]
    title = f"Trades {which}" if len(last) == len(trades) else f"Last trades {which}"
    shown = trades_section(last, given.snapshot.context, title, when=when)
    own = (given.width - TABLE_GAP * (beside_each_other - 1)) // beside_each_other
    name, heads, *lines = section_lines(shown, own)
    if beside_each_other == 1 or len(lines) <= LEAST_TRADES_SHOWN:
        return [name, heads, *lines]
    half = -(-len(lines) // 2)
    return [name, *beside([heads, *lines[:half]], own + TABLE_GAP, [heads, *lines[half:]])]


def trades_room(cells: Sequence[TextLine], below: Sequence[TextLine], given: ViewInput) -> int:
    """Return the lines for trades below a map: a page with room for one trade more gives up its first blank line."""
    room = given.rows - len(cells) - len(below) - 2
    return room + (room == LEAST_TRADES_SHOWN - 1)


def beside_trades(
    lines: list[TextLine], trades: Sequence[JournalTrade], which: str, given: ViewInput, when: str
) -> list[TextLine]:
    """Return a map with the trades of its chosen cell to the right of it; nothing where there is no room for them."""
    at = max(map(width_of, lines)) + TABLE_GAP
    if given.width < TRADES_BESIDE_FROM or given.width - at < LEAST_TRADES_WIDTH:
        return []
    free = replace(given, width=given.width - at)
    shown = trade_lines(trades, which, free, len(lines) - 1, when)
    return beside(lines, at, [BLANK, *shown])


def _aligned(text: str, width: int, *, right: bool) -> str:
    shown = safe(text)
    blank = " " * (width - cell_len(shown))
    return f"{blank}{shown}  " if right else f"{shown}{blank}  "


def _is_number(text: str) -> bool:
    return not text.strip("−+0123456789.,%∞")


# The figures.


def figure_lines(section: Section, width: int, most: int = COLUMNS_OF_FIGURES) -> list[TextLine]:
    """Return the figures in so many columns at most, as far as they fit beside each other; what they rest on where it fits too."""
    lines: list[TextLine] = [((safe(section.title), "bright"),)]
    for count in range(most, 0, -1):
        size = -(-len(section.rows) // count)
        parts = [section.rows[at : at + size] for at in range(0, len(section.rows), size)]
        for has_basis in (True, False):
            columns = [_figure_column(each, has_basis=has_basis) for each in parts]
            widths = [max(map(width_of, column)) + GAP for column in columns]
            if sum(widths) - GAP <= width or (count == 1 and not has_basis):
                return [*lines, *_joined(columns, widths)]
    return lines


def _figure_column(rows: Sequence[Mapping[str, str]], *, has_basis: bool) -> list[TextLine]:
    names = max(cell_len(safe(row["figure"])) for row in rows)
    values = max(cell_len(safe(row["value"])) for row in rows)
    lines: list[TextLine] = []
    for row in rows:
        is_signed = row["figure"] in SIGNED_FIGURES
        line: list[Words] = [
            (safe(f"{row['figure']:<{names}} "), "muted"),
            (
                safe(f"{row['value']:>{values}}"),
                role_of_amount(row["value"]) if is_signed else "plain",
            ),
        ]
        if has_basis and row["of"]:
            line.append((safe(f" {row['of']}"), "faint"))
        lines.append(line)
    return lines


def _joined(columns: Sequence[list[TextLine]], widths: Sequence[int]) -> list[TextLine]:
    lines, at = columns[0], widths[0]
    for column, width in zip(columns[1:], widths[1:], strict=True):
        lines = beside(lines, at, column)
        at += width
    return lines
