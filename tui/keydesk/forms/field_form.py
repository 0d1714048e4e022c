"""The base of forms with one field of text: its frame has the title, and what is typed is explained below it."""

from abc import abstractmethod
from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from keydesk.forms.info_form import InfoForm
from keydesk.forms.panel import Panel, framed_text
from keydesk.keys.guard import KeyPlace
from keydesk.text.sanitize import Printable
from keydesk.widgets.overlay import Result


class FieldForm(InfoForm[Result]):
    """A form whose letters go to a field of text above its lines."""

    DEFAULT_CSS = """
    FieldForm > Input, FieldForm > Input:focus {
        max-width: 100%; height: 3; padding: 0 1; border: round $focus; border-title-color: $bright;
        background: $background; background-tint: $background 0%;
    }
    """
    KEYS_GO_TO: ClassVar[KeyPlace] = "text"

    @abstractmethod
    def new_field(self) -> Input:
        """Return the input that the form edits, new for each time that it is opened."""

    def compose(self) -> ComposeResult:
        self._field = self.new_field()
        self._field.styles.width = "100%" if self.IS_PAGE else self.WIDTH
        self._titled: Printable = ""
        yield self._field
        yield self.new_panel()

    def title_panel(self, panel: Panel) -> None:
        """Set the title over the field, and the hints below the lines."""
        title = self.title_text()
        if title != self._titled:
            self._titled = title
            self._field.border_title = framed_text(title)
        panel.entitle("", self.hints_text())
