"""The page of one transaction: what it is in words, and its relations, each of which Enter opens; Esc goes back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size

from keydesk.forms.detail_rows import log_line_rows
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.keymap import TRANSACTION
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.store import Store
from keydesk.store.transactions.details import Related, TransactionDetails, related_text
from keydesk.text.format import lines_of, shorten, shorten_text
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.widgets.theme import ColourRole
from keydesk.words.log_line import LogLine

if TYPE_CHECKING:
    from keydesk.store.transactions.details import Rows

LABEL = 20  # least columns of the names
MAX_BACK = 50  # pages that Esc goes back through
Take = Callable[[TransactionDetails], None]


class TransactionForm(InfoForm[None]):
    """Shows a transaction; it sends nothing.

    Args:
        store: Has the account's currency and the trader's zone.
        line: The line of the log that is opened.
        read: Reads the details of a transaction by its id, and hands them to its argument as they come.
    """

    KEY_CONTEXT: ClassVar[str] = TRANSACTION
    BINDINGS = bindings_of(TRANSACTION)
    WIDTH: ClassVar[int] = 100

    def __init__(
        self, store: Store, line: LogLine, read: Callable[[str, Take], None] = lambda _, __: None
    ) -> None:
        super().__init__()
        self.store, self._read = store, read
        self._trail: list[str] = [line.id]  # the transactions opened one from the other
        self._first = TransactionDetails(line.id, tuple(log_line_rows(line, store)))
        self.details = self._first
        self.chosen = 0  # of the relations
        self.top = 0  # first line of the values
        self.shows_raw = False

    def on_mount(self) -> None:
        super().on_mount()
        if self.details.id:
            self._open(self.details.id)

    def _open(self, id_: str) -> None:
        rows = self._first.rows if id_ == self._first.id else ()
        self.details = TransactionDetails(id_, rows, loading=True)
        self.chosen = self.top = 0
        self._read(id_, self.show)
        self.redraw()

    def show(self, details: TransactionDetails) -> None:
        """Show what was read, unless the reader has gone on to another transaction."""
        if self.is_active and details.id == self.details.id:
            if not details.rows:
                details = TransactionDetails(
                    details.id,
                    self.details.rows,
                    details.related,
                    loading=details.loading,
                    troubles=details.troubles,
                )
            self.details = details
            self.redraw()

    # What is shown.

    def title_text(self) -> Printable:
        """Name the transaction, and those that it was reached from."""
        if not self.details.id:
            return "A line written by this desk"
        *before, last = (f"#{clean_name(each)}" for each in self._trail)
        way = f"{' → '.join(before[-3:])} → " if before else ""
        return shorten(safe(f"Transaction {way}{last}"), max(1, self.inside - 2))

    def foot_text(self) -> Printable:
        """Return the keys that fit."""
        if self.shows_raw:
            return self.keys_that_fit("Space more", leave="v Esc words  q closes")
        back = "Esc back  q closes" if len(self._trail) > 1 else "Esc closes"
        opens = ("↑ ↓ choose", "Enter opens") if self.details.related else ()
        return self.keys_that_fit(*opens, "Space more", "v as sent", leave=back)

    def lines(self) -> Sequence[TextLine]:
        """Return the values above the relations; where both do not fit, the values scroll."""
        if self.shows_raw:
            values = self._named(self.details.raw) or [(("Nothing was read", "muted"),)]
            return self._scrolled(values, self.room)
        values = self._named(self.details.rows)
        related = self._related_lines(max(1, self.room // 2))
        room = self.room - len(related)
        return [*self._scrolled(values, max(1, room)), *related][: self.room]

    def _scrolled(self, values: Sequence[TextLine], room: int) -> Sequence[TextLine]:
        self.top = max(0, min(self.top, len(values) - room))
        return values[self.top : self.top + room]

    def _named(self, rows: Rows) -> list[TextLine]:
        names = self._label_width(name for name, _ in rows)
        width = max(1, self.inside - names - 1)
        lines: list[TextLine] = []
        for name, value in rows:
            folded = zip_longest(
                lines_of(safe(name), names), lines_of(safe(value), width), fillvalue=safe("")
            )
            for label, line in folded:
                label_cell = safe(set_cell_size(label, names) + " ")
                lines.append(((label_cell, "muted"), (line, "plain")))
        return lines

    def _label_width(self, labels: Iterable[str]) -> int:
        longest = max((cell_len(safe(label)) for label in labels), default=0)
        return max(LABEL, min(longest, self.inside // 2))

    def _related_lines(self, most: int) -> list[TextLine]:
        """Return the relations around the chosen one under their heading, then what is loading or failed."""
        related = self.details.related
        notices: list[TextLine] = []
        for trouble in self.details.troubles:
            notices += wrap_text(safe(trouble), "warn", self.inside)
        if self.details.loading:
            notices.append((("loading …", "muted"),))
        rows = max(1, most - len(notices) - 2)
        first = max(0, min(self.chosen - rows // 2, len(related) - rows))
        shown = list(enumerate(related))[first : first + rows]
        lines = [self._related_line(each, chosen=at == self.chosen) for at, each in shown]
        if related:
            count = f"Related transactions  {self.chosen + 1:,} of {len(related):,}"
            lines = [BLANK, ((safe(count), "muted"),), *lines]
        return [*lines, *notices]

    def _related_line(self, related: Related, *, chosen: bool) -> TextLine:
        width = self._label_width(each.how for each in self.details.related)
        label = safe(set_cell_size(shorten(safe(related.how), width), width) + " ")
        text = shorten_text(related_text(related), max(1, self.inside - cell_len(label) - 2))
        role: ColourRole = "bright" if chosen else "plain"
        return (("▶ " if chosen else "  ", "focus"), (label, "muted"), (text, role))

    # Keys.

    def action_choose(self, step: int) -> None:
        """Choose the next relation, or the one before; without relations, scroll."""
        if self.shows_raw or not self.details.related:
            self.top += step
        else:
            self.chosen = max(0, min(len(self.details.related) - 1, self.chosen + step))
        self.redraw()

    def action_more(self, step: int) -> None:
        """Scroll the values; past their end they begin again."""
        before, self.top = self.top, self.top + step * max(1, self.room // 2)
        self.lines()  # bounds it
        if self.top == before:
            self.top = 0
        self.redraw()

    def action_open(self) -> None:
        if self.details.related and not self.shows_raw:
            id_ = self.details.related[min(self.chosen, len(self.details.related) - 1)].id
            self._trail = [*self._trail, id_][-MAX_BACK:]
            self._open(id_)

    def action_view(self) -> None:
        """Show the record as the broker sent it, or words."""
        self.shows_raw, self.top = not self.shows_raw, 0
        self.redraw()

    def action_back(self) -> None:
        """Go back to the transaction before; from the first one, close."""
        if self.shows_raw:
            self.action_view()
        elif len(self._trail) > 1:
            self._trail.pop()
            self._open(self._trail[-1])
        else:
            self.action_drop()
