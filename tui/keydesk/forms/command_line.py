"""Forms with a text field: the command line (`:`) and the search for an instrument (`/`). They send nothing."""

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar, LiteralString

from textual.widgets import Input

from keydesk.alerts.readings import trouble_of
from keydesk.calc.market.market_state import Scenario
from keydesk.forms.command_list import CommandList, Entry, RunKey, SetOption, matching_entries
from keydesk.forms.field_form import FieldForm
from keydesk.forms.modal_form import TextLine, wrap_text
from keydesk.forms.requests import ThemePreview
from keydesk.keys.keymap import COMMAND, FIND
from keydesk.keys.textual_bindings import bindings_of
from keydesk.parse.commands import complete, completions, parse_command
from keydesk.parse.instruments import matching
from keydesk.parse.parsed_commands import MakeAlert, OpenTicket, ParsedCommand, ShowMessage
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.text.format import at, counted, pair, price, shorten
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.theme import ColourRole

SHOWN = 12
FIELD_ROWS = 3  # of the field of text with its frame
MARK: LiteralString = "▶ "
NAME_WIDTH = 18
RANGE_WIDTH = 8  # columns of the bar of a range
SCENARIO: LiteralString = "replay scenario "  # as `;c` begins it
KEY_WIDTH = 6
MAX_LENGTH = 200  # characters of a text field


class FindForm(FieldForm[str]):
    """Returns the instrument chosen."""

    BINDINGS = bindings_of(FIND)
    WIDTH: ClassVar[int] = 44
    IS_PAGE: ClassVar[bool] = False

    TITLE: ClassVar[LiteralString] = "Find an instrument"

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.text = ""
        self.cursor = 0

    def new_field(self) -> Input:
        return Input(
            placeholder="letters, such as gj", max_length=MAX_LENGTH, select_on_focus=False
        )

    def title_text(self) -> Printable:
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


class CommandForm(FieldForm[ParsedCommand | RunKey | SetOption]):
    """Return the command that the typed line means, or that was chosen in the list beneath it.

    Args:
        store: Has the instruments, the one in focus and the practice market.
        text: The line to begin with.
        commands: What can be run, and what was.
    """

    BINDINGS = bindings_of(COMMAND)
    WIDTH: ClassVar[int] = 78
    IS_PAGE: ClassVar[bool] = False

    def __init__(
        self,
        store: Store,
        text: str = "",
        commands: CommandList | None = None,
    ) -> None:
        super().__init__()
        self.store = store
        self.text = text  # typed so far
        self._commands = commands or CommandList()
        self._entries = self._commands.entries()
        self._listed: Sequence[Entry] = self._entries  # those that what is typed is looked for in
        self._matches = self._found()
        self._previewed = ""  # the theme that is shown while it is being chosen
        self._chosen: int | None = None  # of the matches, chosen with the arrows
        self._past: int | None = None  # the line of the history that stands in the field
        self.refused = False  # Enter was pressed on a line that cannot be read

    def new_field(self) -> Input:
        return Input(
            self.text,
            placeholder="q leaves; b eurusd 50k @1.0830 sl 20p tp 2r",
            max_length=MAX_LENGTH,
            select_on_focus=False,
        )

    def title_text(self) -> Printable:
        """Return the title with the number of lines that match."""
        return safe(f"Command  {len(self._matches)} of {len(self._listed)}")

    def foot_text(self) -> Printable:
        """Say what the keys do now: ↑ in an empty line goes back in time, ↓ into the list."""
        if self._past is not None:
            arrows = "↑ ↓ earlier lines"
        elif not self.text and self._chosen is None:
            arrows = "↑ earlier lines  ↓ list" if self._commands.history.lines else "↓ list"
        else:
            arrows = "↑ ↓ choose"
        return self.keys_that_fit(arrows, "Enter runs it", "Tab completes")

    # What Enter does.

    def command(self) -> ParsedCommand | RunKey | SetOption:
        """Return the command of the chosen line of the list, else of what is typed."""
        entry = self._entry
        return self._command_of(self.text if entry is None else entry.name)

    @property
    def _entry(self) -> Entry | None:
        """The line of the list that Enter runs: the chosen one, else the best match of what is no command."""
        if self._chosen is not None:
            return self._matches[min(self._chosen, len(self._matches) - 1)]
        typed = self._command_of(self.text)
        is_unknown = isinstance(typed, ShowMessage) and typed.level == "warn"
        return self._matches[0] if is_unknown and self._matches else None

    def _command_of(self, line: str) -> ParsedCommand | RunKey | SetOption:
        """Return what a line means; an alert that cannot be made now is a mistake."""
        store = self.store
        command = parse_command(
            line, store.instruments, store.focus, store.market, monotonic(), levels=store.levels
        )
        if isinstance(command, MakeAlert) and (trouble := trouble_of(self.store, command.line)):
            return ShowMessage("warn", trouble)
        if isinstance(command, ShowMessage) and command.level == "warn":
            return self._commands.run(line) or command
        return command

    # The picture.

    def lines(self) -> Sequence[TextLine]:
        """Return the effect of Enter in words, and the list."""
        effect = self._effect() if self.text or self._chosen is not None else ()
        room = min(SHOWN, self.app.size.height - FIELD_ROWS - 2 - len(effect))
        has_notes = any(each.note for each in self._matches) and 2 * len(self._matches) <= room
        first = max(0, (self._chosen or 0) - room + 1)
        lines = [*effect]
        for entry in self._matches[first : first + max(0, room)]:
            lines.append(self._row(entry, chosen=entry is self._entry))
            if has_notes:
                lines.append(((safe(f"    {entry.note}"), "muted"),))
        return lines

    def _row(self, entry: Entry, *, chosen: bool) -> TextLine:
        shown = entry.label or safe(entry.name)
        is_long = len(shown) >= NAME_WIDTH  # a line of its own, without a key
        name = safe(f"{shown}  " if is_long else f"{shown:<{NAME_WIDTH}}")
        key = safe("" if is_long or entry.label else f"{self.key_words(entry.key):<{KEY_WIDTH}}")
        width = self.inside - len(MARK) - len(name) - len(key)
        reason = safe(f"  {entry.reason}") if entry.reason else safe("")
        text = shorten(safe(entry.text), max(1, width - len(reason)))
        role: ColourRole = "focus" if chosen else "plain"
        return (
            (MARK if chosen else " " * len(MARK), "focus"),
            (name, "bright" if chosen else role),
            (key, "muted"),
            (text, "plain" if chosen else "muted"),
            (reason, "warn"),
        )

    def _effect(self) -> Sequence[TextLine]:
        """Return what Enter does, in words."""
        entry = self._entry
        if entry is not None and entry.takes:
            more = (
                f"goes on: {entry.example}" if entry.example else "goes on with a letter or digit"
            )
            return wrap_text(safe(more), "bright", self.inside)
        command = self.command()
        role: ColourRole = "bright"
        if isinstance(command, OpenTicket):
            role = "buy" if command.side == "BUY" else "sell"
        elif isinstance(command, ShowMessage):
            role = "warn" if command.level == "warn" and self.refused else "muted"
        effect = wrap_text(clean(command.text), role, self.inside)
        return [*self._completions(), *effect] if isinstance(command, ShowMessage) else effect

    def _completions(self) -> Sequence[TextLine]:
        """Return the words that the last one may become, on one line."""
        endings = completions(self.text, self.store.instruments, self.store.market)
        text = safe(f"Tab: {' '.join(endings)}")
        return [((shorten(text, self.inside), "plain"),)] if endings else []

    # Keys.

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the list; a line of the history that was changed is one that is typed."""
        self.text, self.refused, self._chosen = event.value, False, None
        if self._past is not None and event.value != self._commands.history.lines[self._past]:
            self._past = None
        self._matches = self._found()
        self._show_theme()
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Close with the command; a line that cannot be read stays open for correction."""
        entry = self._entry
        if entry is not None and entry.takes:
            self._put(f"{entry.name} ")
            return
        if not self.text.strip() and entry is None:
            self.action_drop()
            return
        command = self.command()
        self.refused = isinstance(command, ShowMessage) and command.level == "warn"
        if self.refused:
            self.redraw()
        else:
            self._commands.history.add(entry.name if entry is not None else self.text)
            self.dismiss(command)

    def action_choose(self, step: int) -> None:
        """Move in the list; from the empty line, ↑ goes back through the lines that were run before."""
        if self._past is not None or (not self.text and self._chosen is None and step < 0):
            self._recall(-step)
            return
        before = -1 if self._chosen is None else self._chosen
        after = min(before + step, len(self._matches) - 1)
        self._chosen = after if after >= 0 else None
        self._show_theme()
        self.redraw()

    def _found(self) -> Sequence[Entry]:
        behind = self._commands.entries_behind(self.text) or self._scenarios()
        self._listed = behind or self._entries
        return matching_entries(self.text, self._listed)

    def _scenarios(self) -> Sequence[Entry]:
        """Return the scenarios of the practice market behind the words that replay one, none for any other line."""
        market = self.store.market
        if market is None or not self.text.lstrip(" :").startswith(SCENARIO):
            return ()
        widest = max((each.range_pips for each in market.scenarios), default=0)
        blind = Entry(
            "replay blind",
            "a scenario of a random day",
            label="blind",
            note="pair and date stay hidden",
        )
        return [*(_scenario_entry(each, widest) for each in market.scenarios), blind]

    def _show_theme(self) -> None:
        """Show the theme that Enter would choose; the one in force again when there is none."""
        command = self.command()
        named = command.value if isinstance(command, SetOption) and command.name == "theme" else ""
        if named != self._previewed:
            self._previewed = named
            self.app.post_message(ThemePreview(named))

    def on_unmount(self) -> None:
        """Take a theme back that was only looked at; a chosen one is set after this."""
        super().on_unmount()
        if self._previewed:
            self.app.post_message(ThemePreview(""))

    def _recall(self, step: int) -> None:
        lines = self._commands.history.lines
        place = (-1 if self._past is None else self._past) + step
        if place >= len(lines):
            return
        self._past = place if place >= 0 else None
        self._put(lines[place] if place >= 0 else "")

    def _put(self, text: str) -> None:
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)

    def action_complete(self) -> None:
        """Complete the last word; a line that was chosen, or that only the list knows, by its name."""
        completed = complete(self.text, self.store.instruments, self.store.market)
        if (self._chosen is not None or completed == self.text) and (entry := self._entry):
            completed = f"{entry.name} " if entry.takes else entry.name
        self._put(completed)


def _scenario_entry(scenario: Scenario, widest: int) -> Entry:
    """Return the line of a scenario: date, pair, and how far its price went beside the others."""
    words = f"{at(scenario.start_ns):%d %b %Y}  {pair(scenario.instrument)}"
    if scenario.range_pips and scenario.days:
        filled = max(1, round(RANGE_WIDTH * scenario.range_pips / widest))
        days = counted(scenario.days, "day")
        words += f"  {'█' * filled:<{RANGE_WIDTH}}  {scenario.range_pips:,} pips in {days}"
    return Entry(
        f"{SCENARIO}{scenario.name.lower()}",
        safe(words),
        label=safe(scenario.name),
        note=safe(scenario.facts),
    )
