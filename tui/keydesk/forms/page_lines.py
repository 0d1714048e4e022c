"""Lines of a page: how wide they are, words marked in them, and lines beside each other in columns and pages."""

import re
from collections.abc import Sequence
from itertools import zip_longest

from rich.cells import cell_len

from keydesk.forms.modal_form import BLANK, TextLine, Words
from keydesk.text.sanitize import safe

SENTENCE_WIDTH = 76  # columns of a sentence on a page that has little else
COLUMN_GAP = 4  # columns between two columns of lines


def marked(line: TextLine, words: Sequence[str]) -> TextLine:
    """Return a line with each of the words marked where it occurs, whatever their case."""
    if not words:
        return line
    sought = re.compile(
        "|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.IGNORECASE
    )
    found: list[Words] = []
    for text, role in line:
        end = 0
        for each in sought.finditer(text):
            found += [
                (safe(text[end : each.start()]), role),
                (safe(each[0]), "bright on selection"),
            ]
            end = each.end()
        found.append((safe(text[end:]), role))
    return [(text, role) for text, role in found if text]


def width_of(line: TextLine) -> int:
    """Return the columns of a line."""
    return sum(cell_len(text) for text, _ in line)


def beside(left: Sequence[TextLine], width: int, right: Sequence[TextLine]) -> list[TextLine]:
    """Return lines with others at their right, which begin behind this width."""
    lines: list[TextLine] = []
    for one, other in zip_longest(left, right, fillvalue=BLANK):
        gap: Words = (safe(" " * max(0, width - width_of(one))), "plain")
        lines.append((*one, gap, *other) if other else one)
    return lines


def in_pages(lines: Sequence[TextLine], rows: int, columns: int, width: int) -> list[TextLine]:
    """Return lines in pages of so many rows and columns of this width, each read from the top."""
    size = rows * columns
    pages = [lines[at : at + size] for at in range(0, len(lines), size)]
    return [line for page in pages for line in _in_columns(page, rows, width)]


def _in_columns(lines: Sequence[TextLine], rows: int, width: int) -> list[TextLine]:
    """Return lines in columns of this width, so many rows each."""
    found = list(lines[:rows])
    for column, at in enumerate(range(rows, len(lines), rows), 1):
        found = beside(found, column * width, lines[at : at + rows])
    return found
