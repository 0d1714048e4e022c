"""The form with fields of text: a key picks one, the letters that follow fill it, Enter, Tab or Esc ends it."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic

from keydesk.calc.orders.fields import Field
from keydesk.calc.orders.order_options import MAX_TEXT
from keydesk.forms.form import Form
from keydesk.forms.modal_form import TextLine, Words
from keydesk.forms.text_fields import ENDS_WRITING, TextFields
from keydesk.text.sanitize import safe
from keydesk.widgets.overlay import Result


class TextForm(Form[Result], Generic[Result]):
    """A form with fields of text; only what was changed is sent.

    A form says its `FIELDS`, the `texts` that it begins with, its `effect()`, its `problems()` and its `request()`.
    """

    TWO_COLUMNS: ClassVar[bool] = False
    WIDTH: ClassVar[int] = 68
    FIELDS: ClassVar[Mapping[str, Field]]
    NO_CHANGE: ClassVar[str]  # while every text is as it was

    # What a form says.

    @abstractmethod
    def texts(self) -> Mapping[str, str]:
        """Return the texts as the form opens."""

    def gone(self) -> str:
        """Return why there is nothing left to change, "" while there is."""
        return ""

    def meaning(self, name: str) -> Words:
        """Return what a text comes to: as a rule whether it is changed."""
        return ("changed" if self.fields.changed(name) is not None else "", "warn")

    def problems(self) -> Sequence[str]:
        """Return why texts that are not too long cannot be sent."""
        return ()

    # What follows from it.

    def begin(self) -> None:
        self.fields = TextFields(self.texts())

    def field_lines(self) -> Sequence[TextLine]:
        """Return the fields as typed."""
        return [
            self.fields.line(safe(each.key), safe(each.label), self.meaning(name), self.inside)
            for name, each in self.FIELDS.items()
        ]

    def refusals(self) -> Sequence[str]:
        """Refuse what is being written, what is gone or too long, and to send nothing."""
        if self.fields.writing or self.gone():
            return (ENDS_WRITING if self.fields.writing else self.gone(),)
        if problems := self.problems():
            return problems
        if name := self.fields.too_long():
            key = self.FIELDS[name].key
            return (
                f"{name}: it is longer than {MAX_TEXT} characters. {key} Backspace shortens it",
            )
        return () if self.fields.has_changes else (self.NO_CHANGE,)

    @property
    def is_writing(self) -> bool:
        """Whether letters go to one of the fields."""
        return bool(self.fields.writing)

    def write(self, key: str, character: str | None) -> None:
        """Take a key for that field."""
        self.fields.write(key, character)

    def action_write(self, name: str) -> None:
        """Send the letters that follow to a field."""
        self.fields.writing = name
        self.redraw()
