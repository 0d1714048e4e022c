"""`:`: one line of words; it shows what it understood before Enter, and sends nothing by itself."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from keydesk.calc.completing import completed
from keydesk.calc.spoken import (
    Leave,
    OpenTicket,
    Say,
    ShowHelp,
    ShowMessages,
    Spoken,
    TurnTo,
    meaning,
)
from keydesk.forms.find import LONGEST
from keydesk.forms.looking import Looking
from keydesk.forms.sheet import Line, Sheet, wrapped
from keydesk.keys.guard import Front
from keydesk.keys.keymap import COMMAND, KEYMAP
from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.text.sanitize import Printable, clean, safe


class CommandForm(Looking[Spoken]):
    """Returns what the line means."""

    BINDINGS = KEYMAP.bindings(COMMAND)
    WIDTH: ClassVar[int] = 60
    DEFAULT_CSS = """
    CommandForm > Input, CommandForm > Input:focus {
        width: 60; max-width: 100%; height: 3; border: round $focus; background: $background;
    }
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.text = ""
        self.refused = False  # Enter was pressed on a line that cannot be read

    @property
    def guard_front(self) -> Front:
        """Text is typed here, as fast as hands can."""
        return Front("text", self.painted)

    def compose(self) -> ComposeResult:
        """A field over what is understood."""
        yield Input(
            placeholder="q leaves; b eurusd 50k @1.0830 sl 20p tp 2r",
            max_length=LONGEST,
            select_on_focus=False,
        )
        yield Sheet(markup=False)

    def title_words(self) -> Printable:
        """Name it."""
        return "Command"

    def foot_words(self) -> Printable:
        """Say what ends it."""
        return "Tab completes   Enter takes it   Esc closes"

    def understood(self) -> Spoken:
        """Return what the line means so far."""
        return meaning(self.text, self.store.instruments, self.store.focus)

    def lines(self) -> Sequence[Line]:
        """Say what Enter would do."""
        match self.understood():
            case Leave():
                return ((("leaves the desk", "bright"),),)
            case ShowHelp():
                return ((("shows the keys", "bright"),),)
            case ShowMessages():
                return ((("shows all messages", "bright"),),)
            case TurnTo(instrument):
                return (((safe(f"turns to {pair(instrument)}"), "bright"),),)
            case OpenTicket(side, instrument, fields):
                size = f" {fields.size_words}" if fields.size_words else ""
                what = f"ticket: {side}{size} {pair(instrument)} {fields.words}".rstrip()
                return wrapped(clean(what), side.lower(), self.inside)
            case Say(level, words):
                wrong = level == "warn" and self.refused
                return wrapped(clean(words), "warn" if wrong else "muted", self.inside)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Follow the line."""
        self.text, self.refused = event.value, False
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Hand over what was understood; what was not stays to be mended."""
        spoken = self.understood()
        self.refused = isinstance(spoken, Say) and spoken.level == "warn"
        if self.refused:
            self.redraw()
        else:
            self.dismiss(spoken)

    def action_complete(self) -> None:
        """Complete the last word."""
        field = self.query_one(Input)
        field.value = completed(field.value, self.store.instruments)
        field.cursor_position = len(field.value)
