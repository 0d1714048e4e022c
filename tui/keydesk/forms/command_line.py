"""`:`: one line of words; it shows what it understood before Enter, and sends nothing by itself."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from keydesk.clean import clean
from keydesk.desk.spoken import (
    Leave,
    OpenTicket,
    Say,
    ShowHelp,
    ShowMessages,
    Spoken,
    TurnTo,
    meaning,
)
from keydesk.format import pair
from keydesk.forms.find import LONGEST
from keydesk.forms.looking import Looking
from keydesk.forms.sheet import Line, Sheet, wrapped
from keydesk.keys.keymap import FIND, KEYMAP
from keydesk.store.store import Store


class CommandForm(Looking[Spoken]):
    """Returns what the line means."""

    BINDINGS = KEYMAP.bindings(FIND)
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

    def compose(self) -> ComposeResult:
        """A field over what is understood."""
        yield Input(placeholder=":q leaves", max_length=LONGEST, select_on_focus=False)
        yield Sheet(markup=False)

    def title_words(self) -> str:
        """Name it."""
        return "Command"

    def foot_words(self) -> str:
        """Say what ends it."""
        return "Enter takes it   Esc closes"

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
                return (((f"turns to {pair(instrument)}", "bright"),),)
            case OpenTicket(side, instrument):
                return (((f"opens a {side.lower()} ticket for {pair(instrument)}", "bright"),),)
            case Say(_, words):
                return wrapped(clean(words), "muted", self.inside)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Follow the line."""
        self.text = event.value
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Hand over what was understood."""
        self.dismiss(self.understood())

    def action_choose(self, _step: int) -> None:
        """Arrows have nothing to choose here."""
