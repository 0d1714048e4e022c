"""Forms that change watchlists: a name or letters, an instrument to add, the columns, a list to delete. They send nothing."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, LiteralString

from textual.widgets import Input

from keydesk.calc.market.watchlists import MAX_NAME_LENGTH, Watchlist, majors_first
from keydesk.forms.command_line import FindForm
from keydesk.forms.field_form import FieldForm
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import TextLine, wrap_text
from keydesk.keys.keymap import COLUMNS, DELETE_LIST, NAME
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.store import Store
from keydesk.tables.watch_columns import WATCH_COLUMNS, WatchColumn
from keydesk.text.format import pair
from keydesk.text.sanitize import Printable, clean, safe

WIDTH = 64
CHOICES = tuple(column for column in WATCH_COLUMNS if column.meaning)


class AddForm(FindForm):
    """Returns an instrument of the account that the list does not have."""

    TITLE: ClassVar[LiteralString] = "Add an instrument"

    def __init__(self, store: Store, watched: Watchlist) -> None:
        super().__init__(store)
        self._held = frozenset(watched.instruments)

    @property
    def names(self) -> Sequence[str]:
        """Return every instrument that the list does not have, majors first."""
        return [name for name in majors_first(self.store.instruments) if name not in self._held]


class NameForm(FieldForm[str]):
    """Returns a short text: the name of a list, or the letters of a filter. The first letter replaces the present text.

    Args:
        title: What the text is for.
        before: The present text.
        trouble: Returns why a text cannot be taken, "" if it can.
        hint: Shown below the field while nothing is wrong.
        longest: Characters that may be typed.
    """

    BINDINGS = bindings_of(NAME)
    WIDTH: ClassVar[int] = WIDTH
    IS_PAGE: ClassVar[bool] = False

    def __init__(
        self,
        title: Printable,
        before: str = "",
        *,
        trouble: Callable[[str], str],
        hint: Printable,
        longest: int = MAX_NAME_LENGTH,
    ) -> None:
        super().__init__()
        self._title: Printable = title
        self._longest = longest
        self.text = before
        self._trouble = trouble
        self._field_hint: Printable = hint

    def new_field(self) -> Input:
        return Input(self.text, max_length=self._longest, select_on_focus=True)

    def title_text(self) -> Printable:
        return self._title

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        return "Enter takes it  Esc closes"

    def lines(self) -> Sequence[TextLine]:
        """Return the reason why the text cannot be taken, or a hint on its use."""
        trouble = self._trouble(self.text) if self.text else ""
        text: Printable = clean(trouble) if trouble else self._field_hint
        return wrap_text(text, "warn" if trouble else "muted", self.inside)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.text = event.value
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Take the text; one that cannot be taken stays open for correction."""
        text = self.text.strip()
        if not self._trouble(text):
            self.dismiss(text)


class ColumnsForm(InfoForm[tuple[str, ...]]):
    """Returns the columns of a list."""

    KEY_CONTEXT: ClassVar[str] = COLUMNS
    BINDINGS = bindings_of(COLUMNS)
    WIDTH: ClassVar[int] = 48
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, watched: Watchlist) -> None:
        super().__init__()
        self._name = watched.name
        self.shown = set(watched.columns)
        self.cursor = 0

    def title_text(self) -> Printable:
        """Name the list."""
        return safe(f"Columns of {self._name}")

    def foot_text(self) -> Printable:
        """Return the keys."""
        return "Space turns  Enter takes  Esc closes"

    def lines(self) -> Sequence[TextLine]:
        """List every column, marked if it is shown, around the cursor where room is short."""
        lines = [self._line(row, column) for row, column in enumerate(CHOICES)]
        first = max(0, min(self.cursor - self.room + 1, len(lines) - self.room))
        return lines[first : first + self.room]

    def _line(self, row: int, column: WatchColumn) -> TextLine:
        chosen, shown = row == self.cursor, column.key in self.shown
        return (
            ("▶ " if chosen else "  ", "focus"),
            ("x " if shown else "· ", "good" if shown else "faint"),
            (column.meaning, "bright" if chosen else "plain" if shown else "muted"),
        )

    def action_choose(self, step: int) -> None:
        self.cursor = max(0, min(len(CHOICES) - 1, self.cursor + step))
        self.redraw()

    def action_turn(self) -> None:
        """Show the column under the cursor, or hide it."""
        self.shown ^= {CHOICES[self.cursor].key}
        self.redraw()

    def action_take(self) -> None:
        self.dismiss(tuple(each.key for each in CHOICES if each.key in self.shown))


RemoveChoice = Literal["row", "list"]


class RemoveForm(InfoForm[RemoveChoice]):
    """Returns whether the row is taken off the list, or the list is deleted.

    Args:
        watched: The list.
        row: The instrument under the cursor, "" where the list is empty.
    """

    BINDINGS = bindings_of(DELETE_LIST)
    WIDTH: ClassVar[int] = WIDTH
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, watched: Watchlist, row: str) -> None:
        super().__init__()
        self._watched, self._row = watched, row

    def title_text(self) -> Printable:
        """Name the list."""
        return safe(f"Remove from {self._watched.name}")

    def lines(self) -> Sequence[TextLine]:
        """Say what each key removes, and what stays."""
        name, count = self._watched.name, len(self._watched.instruments)
        instruments = f"{count} instrument{'' if count == 1 else 's'}"
        row = f"takes {pair(self._row)} off {name}" if self._row else "nothing: the list is empty"
        return [
            (("Enter  ", "bright"), (safe(row), "plain")),
            (("x      ", "bright"), (safe(f"deletes the list {name} of {instruments}"), "plain")),
            *wrap_text("Positions and orders stay as they are.", "muted", self.inside),
        ]

    def action_take(self) -> None:
        """Take the row off."""
        if self._row:
            self.dismiss("row")

    def action_delete(self) -> None:
        """Delete the list."""
        self.dismiss("list")
