"""The journal's list as lines: header, rows, the sums of its trades, and what was written about the chosen one."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from rich.cells import cell_len

from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.forms.journal.columns import COLUMNS, signed_role
from keydesk.forms.sheet import BLANK, TextLine, Words, wrap_words
from keydesk.text.format import money, shorten
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trade_journal.lines import JournalLine
from keydesk.widgets.table import Column, fit, needed, widen

NOTE_LINES = 3  # about the chosen trade, with the blank one above
GAPS = (2, 1)
FLAT = frozenset({"plain", "muted", "bright"})  # roles that leave spaces as they are in every theme


def fit_columns(cells: Sequence[dict[str, Words]], room: int) -> tuple[Sequence[Column], int]:
    """Return the columns that fit, each as wide as its widest visible cell, and the gap between them."""
    widths = {
        column.key: max([len(column.title), *(cell_len(each[column.key][0]) for each in cells)])
        for column in COLUMNS
    }
    fitted = fit(widen(COLUMNS, widths), room)
    gap = next((gap for gap in GAPS if needed(fitted, gap) <= room), 1)
    return fitted, gap


def table_header(columns: Sequence[Column], gap: int, sorted_by: str) -> TextLine:
    """Return the titles of the columns."""
    line: list[Words] = [(" ", "plain")]
    for at, column in enumerate(columns):
        role = "bright" if column.key == sorted_by else "muted"
        line += [(" " * (gap if at else 1), "plain"), (_aligned(column.title, column), role)]
    return line


def table_row(
    cells: dict[str, Words], columns: Sequence[Column], gap: int, *, chosen: bool
) -> TextLine:
    """Return the row of a trade; the chosen one has a mark."""
    line: list[Words] = [("▶" if chosen else " ", "focus")]
    for at, column in enumerate(columns):
        words, role = cells[column.key]
        shown = "bright" if chosen and role == "plain" else role
        space, cell = " " * (gap if at else 1), _aligned(words, column)
        if shown not in FLAT:
            line += [(space, "plain"), (cell, shown)]
        elif line[-1][1] == shown:  # fewer parts are drawn sooner
            line[-1] = (safe(f"{line[-1][0]}{space}{cell}"), shown)
        else:
            line.append((safe(f"{space}{cell}"), shown))
    return line


def total_line(lines: Iterable[JournalLine], home: str) -> TextLine:
    """Return the sums of the closed trades of these lines, in the home currency."""
    closed = [line for line in lines if not line.is_open]
    net = sum((each.result for each in closed), Decimal(0))
    swap = sum((each.trade.costs.financing for each in closed), Decimal(0))
    rs = [each.r for each in closed if each.r is not None]
    won = sum(each.result > 0 for each in closed)
    if not closed:
        return BLANK
    return (
        (safe(f"  {len(closed):,} closed, {won:,} won, net "), "muted"),
        (safe(f"{money(net, signed=True)} {home}"), signed_role(net)),
        (safe(f", of it swap {money(swap, signed=True)}"), "muted"),
        (safe(f", {money(sum(rs, Decimal(0)), signed=True)} R of {len(rs):,}"), "muted"),
    )


def note_lines(
    name: str, note: TradeNote, trouble: Printable, part: str, width: int
) -> list[TextLine]:
    """Return what was written about a trade, or why the journal or its notes cannot be read.

    Args:
        name: The trade, as the list names it.
        note: What was written about it.
        trouble: Why something cannot be read; empty if all is well.
        part: What is read of a large account; empty if it is all.
        width: Columns of a line.
    """
    said = [name]
    if note.setup:
        said.append(f"setup {clean(note.setup)}")
    if note.tags:
        said.append(f"tags {clean(' '.join(note.tags))}")
    if note.mistake:
        said.append(f"mistake ! {clean(note.mistake)}")
    if note.rating is not None:
        said.append(f"rated {note.rating}/5")
    first: TextLine = ((shorten(safe("  " + "   ".join(said)), width), "bright"),)
    if trouble:
        told = wrap_words(trouble, "warn", width)[:NOTE_LINES]
        return [
            *[BLANK] * (NOTE_LINES - 1 - len(told)),
            *([first] if len(told) < NOTE_LINES else []),
            *told,
        ]
    nothing = "no note yet" if note.is_empty else "no note text"
    words = note.note or f"{nothing}: n writes tags, setup, note, rating, mistake"
    role = "plain" if note.note else "faint"
    about_part: TextLine = ((shorten(safe(f"  A part: {part}"), width), "warn"),)
    written: TextLine = ((shorten(safe(f"  {clean(words)}"), width), role),)
    return [about_part if part else BLANK, first, written]


def _aligned(words: str, column: Column) -> Printable:
    spaces = " " * max(0, column.width - cell_len(words))
    return safe(f"{spaces}{words}" if column.right else f"{words}{spaces}")
