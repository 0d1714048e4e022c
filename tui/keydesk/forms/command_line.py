"""Forms with a text field: the command line (`:`) and the search for an instrument (`/`). They send nothing."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, LiteralString

from textual.app import ComposeResult
from textual.widgets import Input

from keydesk.calc.alerts.alert import AlertLine
from keydesk.forms.info_form import InfoForm
from keydesk.forms.sheet import TextLine, wrap_text
from keydesk.keys.bindings import bindings_of
from keydesk.keys.guard import KeyTarget
from keydesk.keys.keymap import COMMAND, FIND
from keydesk.parse.commands import (
    ChooseIndicators,
    GoToDate,
    MakeAlert,
    OpenTicket,
    ParsedCommand,
    QuitDesk,
    ShowGranularity,
    ShowHelp,
    ShowInstrument,
    ShowMessage,
    ShowMessages,
    ToggleMute,
    UseLayout,
    complete,
    completions,
    parse_command,
)
from keydesk.parse.instruments import matching
from keydesk.parse.pages import ShowPage
from keydesk.parse.replay import ReplayCommand
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.text.format import pair, price, shorten
from keydesk.text.sanitize import Printable, clean, safe

SHOWN = 10
MAX_LENGTH = 200  # characters of a text field


class FindForm(InfoForm[str]):
    """Returns the instrument chosen."""

    BINDINGS = bindings_of(FIND)
    WIDTH: ClassVar[int] = 44
    DEFAULT_CSS = """
    FindForm > Input, FindForm > Input:focus {
        width: 44; max-width: 100%; height: 3; border: round $focus; background: $background;
    }
    """

    TITLE: ClassVar[LiteralString] = "Find an instrument"

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.text = ""
        self.cursor = 0

    @property
    def key_target(self) -> KeyTarget:
        """Return the text field, whose keys the guard does not check."""
        return KeyTarget("text", self.painted)

    def compose(self) -> ComposeResult:
        yield Input(placeholder="letters, such as gj", max_length=MAX_LENGTH, select_on_focus=False)
        yield self.new_sheet()

    def title_text(self) -> Printable:
        """Return the title."""
        return self.TITLE

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        return "Enter takes  ↑ ↓ choose  Esc closes"

    @property
    def names(self) -> Sequence[str]:
        """Return the instruments to choose from, those watched first."""
        watched = [name for name in self.store.watchlist if name in self.store.instruments]
        return [*watched, *sorted(set(self.store.instruments) - set(watched))]

    @property
    def matches(self) -> Sequence[str]:
        """Return the instruments that match, in the order of `names` among equals."""
        return matching(self.text, self.names)[:SHOWN]

    def lines(self) -> Sequence[TextLine]:
        """List the matching instruments."""
        matches = self.matches
        if not matches:
            return (((safe(f"No instrument matches “{clean(self.text)}”"), "warn"),),)
        return [self._line(row, name) for row, name in enumerate(matches)]

    def _line(self, row: int, name: str) -> TextLine:
        chosen = row == self.cursor
        quote, known = self.store.quotes.get(name), self.store.instruments[name]
        bid = price(quote.bid if quote else None, known.display_precision)
        return (
            ("▶ " if chosen else "  ", "focus"),
            (safe(f"{pair(name):<14}"), "bright" if chosen else "plain"),
            (safe(f"{bid:>12}"), "bid"),
        )

    def on_frame(self, _frame: Frame) -> None:
        self.redraw()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.text, self.cursor = event.value, 0
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        matches = self.matches
        if matches:
            self.dismiss(matches[min(self.cursor, len(matches) - 1)])

    def action_choose(self, step: int) -> None:
        self.cursor = max(0, min(len(self.matches) - 1, self.cursor + step))
        self.redraw()


class CommandForm(InfoForm[ParsedCommand]):
    """Return the command that the typed line means.

    Args:
        store: Has the instruments, the one in focus and the practice market.
        text: The line to begin with.
        alert_trouble: Returns why an alert cannot be made now, "" if it can.
    """

    BINDINGS = bindings_of(COMMAND)
    WIDTH: ClassVar[int] = 60
    DEFAULT_CSS = """
    CommandForm > Input, CommandForm > Input:focus {
        width: 60; max-width: 100%; height: 3; border: round $focus; background: $background;
    }
    """

    def __init__(
        self,
        store: Store,
        text: str = "",
        alert_trouble: Callable[[AlertLine], str] = lambda _: "",
    ) -> None:
        super().__init__()
        self.store = store
        self.text = text  # typed so far
        self._alert_trouble = alert_trouble
        self.refused = False  # Enter was pressed on a line that cannot be read

    @property
    def key_target(self) -> KeyTarget:
        """Return the text field, whose keys the guard does not check."""
        return KeyTarget("text", self.painted)

    def compose(self) -> ComposeResult:
        yield Input(
            self.text,
            placeholder="q leaves; b eurusd 50k @1.0830 sl 20p tp 2r",
            max_length=MAX_LENGTH,
            select_on_focus=False,
        )
        yield self.new_sheet()

    def title_text(self) -> Printable:
        """Return the title."""
        return "Command"

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        return "Tab completes   Enter takes it   Esc closes"

    def command(self) -> ParsedCommand:
        """Return the command that the text means so far; an alert that cannot be made now is a mistake."""
        store = self.store
        command = parse_command(
            self.text, store.instruments, store.focus, store.market, monotonic()
        )
        if isinstance(command, MakeAlert) and (trouble := self._alert_trouble(command.line)):
            return ShowMessage("warn", trouble)
        return command

    def lines(self) -> Sequence[TextLine]:  # noqa: PLR0911 - one answer a command
        """Return the effect of Enter in words."""
        match self.command():
            case QuitDesk():
                return ((("leaves the desk", "bright"),),)
            case ShowHelp():
                return ((("shows the keys", "bright"),),)
            case ShowMessages():
                return ((("shows all messages", "bright"),),)
            case ShowInstrument(instrument):
                return (((safe(f"turns to {pair(instrument)}"), "bright"),),)
            case (
                ShowGranularity()
                | GoToDate()
                | ChooseIndicators()
                | UseLayout()
                | ShowPage()
                | MakeAlert()
                | ToggleMute()
            ) as shown:
                return wrap_text(clean(shown.text), "bright", self.inside)
            case OpenTicket(side, instrument, fields):
                size = f" {fields.size_text}" if fields.size_text else ""
                what = f"ticket: {side}{size} {pair(instrument)} {fields.text}".rstrip()
                return wrap_text(clean(what), side.lower(), self.inside)
            case ReplayCommand(words):
                return wrap_text(clean(words), "bright", self.inside)
            case ShowMessage(level, words):
                wrong = level == "warn" and self.refused
                role = "warn" if wrong else "muted"
                return [*self._completions(), *wrap_text(clean(words), role, self.inside)]

    def _completions(self) -> Sequence[TextLine]:
        """Return the words that the last one may become, on one line."""
        endings = completions(self.text, self.store.instruments, self.store.market)
        text = safe(f"Tab: {' '.join(endings)}")
        return [((shorten(text, self.inside), "plain"),)] if endings else []

    def on_input_changed(self, event: Input.Changed) -> None:
        self.text, self.refused = event.value, False
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Close with the command; a line that cannot be read stays open for correction."""
        command = self.command()
        self.refused = isinstance(command, ShowMessage) and command.level == "warn"
        if self.refused:
            self.redraw()
        else:
            self.dismiss(command)

    def action_complete(self) -> None:
        field = self.query_one(Input)
        field.value = complete(field.value, self.store.instruments, self.store.market)
        field.cursor_position = len(field.value)
