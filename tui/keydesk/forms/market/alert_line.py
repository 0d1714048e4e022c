"""The line of an alert as a field of text: it says what the line means, or which part of it cannot be read."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from keydesk.calc.alerts.parser import AlertLine, parse_alert
from keydesk.calc.alerts.parts import AlertSyntaxError
from keydesk.forms.info_form import InfoForm
from keydesk.forms.sheet import TextLine, wrap_words
from keydesk.keys.guard import KeyTarget
from keydesk.keys.keymap import KEYMAP, NAME
from keydesk.store.store import Store
from keydesk.text.sanitize import Printable, clean

LONGEST = 200  # characters
WIDTH = 72


class AlertLineForm(InfoForm[AlertLine]):
    """Returns the alert that was typed.

    Args:
        store: Has the instruments, and the one in focus.
        before: The line to begin with.
        trouble: Returns why an alert cannot be made now, "" if it can.
    """

    BINDINGS = KEYMAP.bindings(NAME)
    WIDTH: ClassVar[int] = WIDTH
    DEFAULT_CSS = """
    AlertLineForm > Input, AlertLineForm > Input:focus {
        width: 72; max-width: 100%; height: 3; border: round $focus; background: $background;
    }
    """

    def __init__(
        self, store: Store, before: str, trouble: Callable[[AlertLine], str], title: Printable
    ) -> None:
        super().__init__()
        self.store, self.text = store, before
        self._trouble = trouble
        self._title: Printable = title
        self.refused = False  # Enter was pressed on a line that cannot be read

    @property
    def key_target(self) -> KeyTarget:
        """Return the text field, whose keys are not judged."""
        return KeyTarget("text", self.painted)

    def compose(self) -> ComposeResult:
        """Return the field over its meaning."""
        yield Input(
            self.text,
            placeholder="eurusd > 1.12 once note breakout",
            max_length=LONGEST,
            select_on_focus=False,
        )
        yield self.new_sheet()

    def title_words(self) -> Printable:
        """Return the title."""
        return self._title

    def foot_words(self) -> Printable:
        """Return the keys that end it."""
        return "Enter takes it  Esc closes"

    def read(self) -> AlertLine | str:
        """Return the alert of the line, or why it is none."""
        try:
            line = parse_alert(self.text, self.store.instruments, self.store.focus)
        except AlertSyntaxError as error:
            return str(error)
        return self._trouble(line) or line

    def lines(self) -> Sequence[TextLine]:
        """Return what the line means."""
        found = self.read()
        if isinstance(found, AlertLine):
            return wrap_words(clean(found.words), "bright", self.inside)
        return wrap_words(clean(found), "warn" if self.refused else "muted", self.inside)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Follow the line."""
        self.text, self.refused = event.value, False
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Close with the alert; a line that cannot be read stays open for correction."""
        found = self.read()
        if isinstance(found, AlertLine):
            self.dismiss(found)
        else:
            self.refused = True
            self.redraw()
