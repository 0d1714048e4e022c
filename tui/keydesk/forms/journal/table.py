"""The journal's list: its rows as they are sorted and filtered, and its lines: header, rows, sums, note on the chosen trade."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct, field
from rich.cells import cell_len

from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.forms.journal.columns import (
    BY_KEY,
    COLUMNS,
    ListContext,
    RowFacts,
    cells_of,
)
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.records.trades import JournalLine
from keydesk.tables.column import Column, Measured, fit, needed, widen
from keydesk.tables.row_order import TableOrder
from keydesk.text.format import money, shorten_text
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.text.search import has_text
from keydesk.trade_journal.live import LiveJournal
from keydesk.widgets.theme import ColourRole, signed_role

NOTE_LINES = 3  # about the chosen trade, with the blank one above
GAPS = (2, 1)
MAX_SHOWN = 300  # rows that are held, more than a window has
FLAT = frozenset({"plain", "muted", "bright"})  # roles that leave spaces as they are in every theme


def excursion_of(journal: LiveJournal, line: JournalLine) -> Excursion | None:
    """Return the excursion of a line of one trade, None while it is not known."""
    trade = line.trade
    return journal.excursions.known(trade) if len(trade.trade_ids) == 1 else None


class ListedRow(NamedTuple):
    """What every row of the list is filtered and summed by."""

    id: str
    is_open: int
    words: str
    result: str
    financing: str
    r: str | None


class SortedRows(NamedTuple):
    """The rows of the list as sorted and filtered, and what is said of them."""

    keys: list[str]
    totals: TextLine
    total: int  # whether the filter hides them or not
    without_candles: int  # closed trades, while rows are sorted by their excursion


class _Newest(NamedTuple):
    """The rows that pass the filter, the newest first, for a state of the journal."""

    state: object
    keys: list[str]
    totals: TextLine
    total: int


class JournalRows(Struct):
    """The rows of the list: ids as sorted and filtered; the trades themselves are read where they are shown.

    `context` is what their cells are computed with.
    """

    journal: LiveJournal
    context: ListContext
    order: TableOrder = field(default_factory=TableOrder)
    filter_text: str = ""
    by_position: bool = False
    keys: list[str] = field(default_factory=list)  # as sorted and filtered
    totals: TextLine = BLANK
    count: int = 0  # of what is listed, whether the filter hides it or not
    without_candles: int = 0  # closed trades, while rows are sorted by their excursion
    _newest: _Newest | None = None
    _shown: tuple[object, dict[str, JournalLine]] = (None, {})  # those that were in sight
    _cells: tuple[object, dict[str, dict[str, Words]]] = (None, {})  # by row

    @property
    def is_by_candles(self) -> bool:
        """Whether rows are sorted by an excursion."""
        column = BY_KEY.get(self.order.column)
        return column is not None and column.by_candles

    def line(self, key: str) -> JournalLine | None:
        """Return a trade or a position, as it is now."""
        state = self.journal.stamp, self.by_position
        if self._shown[0] != state or len(self._shown[1]) > MAX_SHOWN:
            self._shown = state, {}
        shown = self._shown[1]
        if key not in shown and (line := self.journal.line(key, by_position=self.by_position)):
            shown[key] = line
        return shown.get(key)

    def lines(self, keys: Iterable[str]) -> list[JournalLine]:
        """Return some trades or positions."""
        return [line for key in keys if (line := self.line(key)) is not None]

    def take(self, rows: SortedRows) -> None:
        """Show rows as they were sorted."""
        self.keys, self.totals, self.count = rows.keys, rows.totals, rows.total
        self.without_candles = rows.without_candles

    def sorted(self, currency: str) -> SortedRows:
        """Return the rows sorted and filtered as they are now; called in a thread where they are many."""
        _, newest, totals, total = self._newest_first(currency)
        values = self._values() if self.order.column else {}
        keys = self.order.sort(newest, lambda key, _: values.get(key))
        without = self._without_candles(keys) if self.is_by_candles else 0
        return SortedRows(keys, totals, total, without)

    def _without_candles(self, keys: Iterable[str]) -> int:
        """Return how many closed trades of these have no excursion yet."""
        missing = set(keys) - self.journal.excursions.all_known().keys()
        rows = self.journal.rows(("is_open",), by_position=self.by_position)
        return sum(not is_open and id_ in missing for id_, is_open in rows)

    def _values(self) -> dict[str, Measured]:
        """Return what each row is sorted by."""
        journal, measure = self.journal, BY_KEY[self.order.column].measure
        excursions = journal.excursions.all_known() if self.is_by_candles else {}
        facts = RowFacts(self.context.notes, self.context.now_ns, journal.pips, excursions)
        rows = journal.rows(measure.columns, by_position=self.by_position)
        return {id_: measure.value(facts, id_, *columns) for id_, *columns in rows}

    def _newest_first(self, currency: str) -> _Newest:
        """Return the rows that pass the filter; they and their sums are computed once for a state of the journal."""
        journal, notes = self.journal, self.context.notes
        state = journal.stamp, journal.is_whole, self.filter_text, self.by_position
        if self._newest is None or self._newest.state != state:
            columns = journal.rows(ListedRow._fields[1:], by_position=self.by_position)
            rows = [ListedRow(*each) for each in columns]
            total = len(rows)
            if self.filter_text:
                rows = [
                    each
                    for each in rows
                    if has_text(_text_of(each.words, notes.get(each.id)), self.filter_text)
                ]
            keys = [each.id for each in rows]
            self._newest = _Newest(state, keys, total_line(rows, currency), total)
        return self._newest

    def cells(self, keys: Sequence[str]) -> list[dict[str, Words]]:
        """Return the cells of some rows."""
        state = (id(self.context), self.journal.excursions_read, self.by_position)
        if self._cells[0] != state or len(self._cells[1]) > MAX_SHOWN:
            self._cells = state, {}
        made = self._cells[1]
        for key in keys:
            if key not in made and (line := self.line(key)) is not None:
                pip = self.journal.pips.get(line.trade.instrument)
                made[key] = cells_of(line, self.context, pip)
        return [made[key] for key in keys if key in made]


def _text_of(words_of_trade: str, note: TradeNote | None) -> str:
    """Return the text that the filter searches."""
    if note is None:
        return words_of_trade
    words = (
        *(words_of_trade, *note.tags, note.setup, note.note),
        note.mistake and f"mistake {note.mistake}",
        "" if note.rating is None else f"{note.rating}/5",
    )
    return " ".join(filter(None, words))


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
        role: ColourRole = "bright" if column.key == sorted_by else "muted"
        line += [(" " * (gap if at else 1), "plain"), (_aligned(column.title, column), role)]
    return line


def table_row(
    cells: dict[str, Words], columns: Sequence[Column], gap: int, *, chosen: bool
) -> TextLine:
    """Return the row of a trade; the chosen one has a mark."""
    line: list[Words] = [("▶" if chosen else " ", "focus")]
    for at, column in enumerate(columns):
        text, role = cells[column.key]
        shown = "bright" if chosen and role == "plain" else role
        space, cell = " " * (gap if at else 1), _aligned(text, column)
        if shown not in FLAT:
            line += [(space, "plain"), (cell, shown)]
        elif line[-1][1] == shown:  # fewer parts are drawn sooner
            line[-1] = (safe(f"{line[-1][0]}{space}{cell}"), shown)
        else:
            line.append((safe(f"{space}{cell}"), shown))
    return line


def total_line(rows: Iterable[ListedRow], home: str) -> TextLine:
    """Return the sums of the closed trades of these rows, in the home currency."""
    closed = [each for each in rows if not each.is_open]
    results = [Decimal(each.result) for each in closed]
    net = sum(results, Decimal(0))
    swap = sum((Decimal(each.financing) for each in closed), Decimal(0))
    rs = [Decimal(each.r) for each in closed if each.r is not None]
    won = sum(each > 0 for each in results)
    if not closed:
        return BLANK
    return (
        (safe(f"  {len(closed):,} closed, {won:,} won, net "), "muted"),
        (safe(f"{money(net, signed=True)} {home}"), signed_role(net)),
        (safe(f", swap in it {money(swap, signed=True)}"), "muted"),
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
    phrases = [name]
    if note.setup:
        phrases.append(f"setup {clean(note.setup)}")
    if note.tags:
        phrases.append(f"tags {clean(' '.join(note.tags))}")
    if note.mistake:
        phrases.append(f"mistake ! {clean(note.mistake)}")
    if note.rating is not None:
        phrases.append(f"rated {note.rating}/5")
    first: TextLine = ((shorten_text(safe("  " + "   ".join(phrases)), width), "bright"),)
    if trouble:
        notice = wrap_text(trouble, "warn", width)[:NOTE_LINES]
        return [
            *[BLANK] * (NOTE_LINES - 1 - len(notice)),
            *([first] if len(notice) < NOTE_LINES else []),
            *notice,
        ]
    nothing = "no note yet" if note.is_empty else "no note text"
    text = note.note or f"{nothing}: n writes tags, setup, note, rating, mistake"
    role: ColourRole = "plain" if note.note else "faint"
    about_part: TextLine = ((shorten_text(safe(f"  A part: {part}"), width), "warn"),)
    written: TextLine = ((shorten_text(safe(f"  {clean(text)}"), width), role),)
    return [about_part if part else BLANK, first, written]


def _aligned(text: str, column: Column) -> Printable:
    spaces = " " * max(0, column.width - cell_len(text))
    return safe(f"{spaces}{text}" if column.right else f"{text}{spaces}")
