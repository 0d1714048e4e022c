"""The form of what the trader writes about a trade, open or closed; it changes the file of notes and sends nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.widgets import Input

from keydesk.calc.trade_journal.notes import (
    MAX_NAME_LENGTH,
    MAX_NOTE_LENGTH,
    BadNote,
    NoteField,
    TradeNote,
    tags_in,
)
from keydesk.forms.field_form import FieldForm
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.keymap import KEYMAP, NAME, TRADE_NOTE, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.format import EMPTY, shorten
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.theme import ColourRole

LABEL = 12  # columns of key and name
MAX_TYPED_LENGTH = MAX_NOTE_LENGTH + 1  # one more, to be refused instead of cut
FIELDS: Mapping[NoteField, tuple[str, str]] = {
    "tags": ("note-tags", "tags"),
    "setup": ("note-setup", "setup"),
    "rating": ("note-rating", "rating"),
    "mistake": ("note-mistake", "mistake"),
    "note": ("note-text", "note"),
}
HINTS: Mapping[NoteField, Printable] = {
    "tags": "words with spaces between them: news late; leave empty to remove them",
    "setup": "the pattern that you traded, such as pullback",
    "mistake": "what you would not do again, such as moved the stop",
    "note": "what you saw, thought and did",
}
MAX_LENGTHS = {"setup": MAX_NAME_LENGTH, "mistake": MAX_NAME_LENGTH, "note": MAX_NOTE_LENGTH}


class NoteEdit(Struct, frozen=True):
    """What was changed of the note on a trade."""

    trade_id: str
    changes: Mapping[str, Any]  # by the name of the field
    to_broker: bool = False  # the note is to be the comment of the open trade, too

    def applied(self, note: TradeNote) -> TradeNote:
        """Return a note with the changes."""
        return replace(note, **self.changes)


class NoteTextForm(FieldForm[str]):
    """Returns a text of the note; what does not fit the field is shown whole below it."""

    BINDINGS = bindings_of(NAME)
    WIDTH: ClassVar[int] = 100

    def __init__(
        self, title: Printable, before: str, trouble: Callable[[str], str], hint: Printable
    ) -> None:
        super().__init__()
        self._title: Printable = title
        self.text = before
        self._trouble = trouble
        self._field_hint: Printable = hint

    def new_field(self) -> Input:
        return Input(self.text, max_length=MAX_TYPED_LENGTH, select_on_focus=False)

    def title_text(self) -> Printable:
        return self._title

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        return "Enter takes it  Esc leaves it as it was"

    def lines(self) -> Sequence[TextLine]:
        """Return why the text cannot be kept, else the whole of a long one, else a hint."""
        if trouble := self._trouble(self.text):
            return wrap_text(clean(trouble), "warn", self.inside)
        if len(self.text) < self.inside:
            return wrap_text(self._field_hint, "muted", self.inside)
        whole = wrap_text(clean(self.text, MAX_TYPED_LENGTH), "plain", self.inside)
        return whole[-max(1, self.room - 4) :]

    def on_input_changed(self, event: Input.Changed) -> None:
        self.text = event.value
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Take the text; one that cannot be kept stays open for correction."""
        if not self._trouble(self.text):
            self.dismiss(self.text.strip())


class NoteForm(InfoForm[NoteEdit]):
    """Edits tags, setup, rating, mistake and note of a trade.

    Args:
        trade_id: The trade.
        about: The trade in words, and its result.
        note: As it is kept now.
        is_open: Whether the broker still takes labels of the trade.
        keymap: The keys, as the lines name them.
        trouble: Why the note could not be kept, where it is opened again.
    """

    KEY_CONTEXT: ClassVar[str] = TRADE_NOTE
    BINDINGS = bindings_of(TRADE_NOTE)
    WIDTH: ClassVar[int] = 90

    def __init__(
        self,
        trade_id: str,
        about: Printable,
        note: TradeNote,
        *,
        is_open: Callable[[], bool],
        keymap: KeyMap = KEYMAP,
        trouble: Printable = "",
    ) -> None:
        super().__init__()
        self.trade_id, self.note, self.keymap = trade_id, note, keymap
        self.about: Printable = about
        self.changes: dict[str, Any] = {}
        self.to_broker = False
        self._is_open = is_open
        self._hint: Printable = trouble
        self._asks = False  # whether the changes are to be dropped
        self.is_dropped = False  # by the trader, not because the guard closed every form

    @property
    def edited(self) -> TradeNote:
        """The note with the changes."""
        return replace(self.note, **self.changes)

    @property
    def edit(self) -> NoteEdit:
        """What was changed."""
        return NoteEdit(self.trade_id, self.changes, self.to_broker and self._is_open())

    def show_note(self, note: TradeNote) -> None:
        """Show the note as it is kept now; fields that were changed here stay as typed."""
        self.note = note
        self.redraw()

    def begin_with(self, edit: NoteEdit) -> None:
        """Begin with changes that were not kept."""
        self.changes, self.to_broker = dict(edit.changes), edit.to_broker

    # What is shown.

    def title_text(self) -> Printable:
        """Return what it is."""
        return "Note"

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        keeps = self.keymap.name("note-keep")
        ends = "keeps it  Esc drops" if self.changes else "keeps changes  Esc closes"
        return safe(f"{keeps} {ends}")

    def lines(self) -> Sequence[TextLine]:
        """Return the trade, its fields, and what was said last."""
        head: list[TextLine] = wrap_text(self.about, "bright", self.inside)[:2]
        below = wrap_text(self._hint, "warn", self.inside) if self._hint else []
        fields = [self._field(name) for name in FIELDS if name != "note"]
        fields.append(self._broker())
        room = self.room - len(head) - len(fields) - len(below)
        gap = [BLANK] if room > 2 else []  # noqa: PLR2004 - else the note has the room
        written = self._note_lines(max(1, room - 2 * len(gap)))
        return [*head, *gap, *fields, *written, *(gap if below else []), *below][: self.room]

    def _field(self, name: NoteField) -> TextLine:
        edited = self.edited
        value = getattr(edited, name)
        text = {
            "tags": " ".join(edited.tags),
            "rating": "" if edited.rating is None else f"{edited.rating} of 5",
        }.get(name, value)
        room = max(1, self.inside - LABEL)
        return (
            *self._label(name),
            (shorten(clean(text or EMPTY), room), self._role(name, bool(text))),
        )

    def _role(self, name: NoteField, is_set: bool) -> ColourRole:
        if name in self.changes:
            return "warn"
        return "plain" if is_set else "faint"

    def _label(self, name: NoteField) -> TextLine:
        id_, text = FIELDS[name]
        key = "1-5" if name == "rating" else self.keymap.name(id_)
        return ((safe(f"{key:<4}"), "bright"), (safe(f"{text:<{LABEL - 4}}"), "muted"))

    def _note_lines(self, most: int) -> list[TextLine]:
        text = clean(self.edited.note, MAX_NOTE_LENGTH) or safe(EMPTY)
        role = self._role("note", bool(self.edited.note))
        lines = wrap_text(text, role, max(1, self.inside - LABEL))
        if len(lines) > most:
            rest = " ".join(words for line in lines[most - 1 :] for words, _ in line)
            cut = shorten(safe(rest), max(1, self.inside - LABEL))
            lines = [*lines[: most - 1], ((cut, role),)]
        indent: TextLine = ((" " * LABEL, "plain"),)
        label = self._label("note")
        return [(*(indent if at else label), *line) for at, line in enumerate(lines)]

    def _broker(self) -> TextLine:
        key = self.keymap.name("note-broker")
        role: ColourRole
        if not self._is_open():
            text, role = "no: the broker takes it only while the trade is open", "faint"
        elif self.to_broker:
            text, role = "yes: as tag and comment of the trade, asked for next", "warn"
        else:
            text, role = "no: the note stays in your file", "faint"
        return (
            (safe(f"{key:<4}"), "bright"),
            (safe(f"{'broker':<{LABEL - 4}}"), "muted"),
            (shorten(safe(text), max(1, self.inside - LABEL)), role),
        )

    # Keys.

    def action_write(self, name: NoteField) -> None:
        edited = self.edited
        before = " ".join(edited.tags) if name == "tags" else getattr(edited, name)

        def take(text: str | None) -> None:
            if text is not None:
                self._change(name, tags_in(text) if name == "tags" else text)

        title = safe(f"{FIELDS[name][1].capitalize()} of {self.about}")
        form = NoteTextForm(
            shorten(title, NoteTextForm.WIDTH - 6),
            before,
            lambda text: trouble_with(name, text),
            HINTS[name],
        )
        self.app.push_screen(form, take)

    def action_rate(self, rating: int) -> None:
        """Rate the trade; 0 takes the rating off."""
        self._change("rating", rating or None)

    def _change(self, name: NoteField, value: Any) -> None:  # noqa: ANN401 - text, tags or rating
        self._hint, self._asks = "", False
        if value == getattr(self.note, name):
            self.changes.pop(name, None)
        else:
            self.changes[name] = value
        self.redraw()

    def action_broker(self) -> None:
        """Have the note as the comment of the open trade, too, or not."""
        self.to_broker = self._is_open() and not self.to_broker
        self.redraw()

    def action_keep(self) -> None:
        if self.changes or self.to_broker:
            self.dismiss(self.edit)
        else:
            self._hint = "Nothing is changed: t tags, s setup, 1-5 rating, m mistake, n note"
            self.redraw()

    @property
    def holds_changes(self) -> bool:
        return bool(self.changes)

    def action_drop(self) -> None:
        """Close; what was changed is dropped by the second key."""
        if self.changes and not self._asks:
            keeps = self.keymap.name("note-keep")
            self._hint, self._asks = (
                safe(f"Esc again drops what you changed, {keeps} keeps it"),
                True,
            )
            self.redraw()
        else:
            self.is_dropped = True
            super().action_drop()


def trouble_with(name: NoteField, text: str) -> str:
    """Return why a typed text cannot be kept, "" if it can."""
    if name == "tags":
        try:
            tags_in(text)
        except BadNote as error:
            return str(error)
        return ""
    most = MAX_LENGTHS[name]
    return f"{len(text)} characters, at most {most}" if len(text.strip()) > most else ""
