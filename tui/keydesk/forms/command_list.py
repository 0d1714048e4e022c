"""What the command line can do: every command, page and key of the desk, filtered by what is typed."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from keydesk.config.command_history import CommandHistory
from keydesk.keys.keymap import (
    BOOKS,
    CHART,
    DESK,
    KEYMAP,
    LOG,
    ORDERS,
    ROWS,
    TABLE,
    TRADES,
    WATCHLIST,
    Key,
    KeyMap,
)
from keydesk.keys.tasks import task_of
from keydesk.parse.commands import COMMANDS, DeskCommand
from keydesk.parse.pages import PAGES
from keydesk.settings.about import options_of
from keydesk.settings.values import Settings
from keydesk.text.sanitize import Printable, safe
from keydesk.values import Task

PANE_OF: Mapping[str, str] = {  # where the keys of another pane than the focused one work
    WATCHLIST: "watchlist",
    CHART: "chart",
    TRADES: "trades",
    ORDERS: "orders",
    LOG: "log",
    BOOKS: "books",
    TABLE: "trades",
}
KEYS_OF_COMMANDS = {*(each.key for each in COMMANDS), *(page.key for page in PAGES.values())}
"""The keys that do what a command does: it stands once in the list, with its key."""
NOT_LISTED = frozenset(("command", "back"))  # the key of the command line itself, and Esc


class RunKey(Struct, frozen=True):
    """Do what a key of the desk does, in its own pane."""

    action: str
    pane: str  # that has it, if another one has the keys; "" if not
    text: Printable


SETTINGS = options_of(Settings)
OPTIONS = (*SETTINGS, "profile")
LISTED_COMMANDS = (
    *(each for each in COMMANDS if each.text),
    *(
        DeskCommand(name, row.words, row.example)
        for name, each in SETTINGS.items()
        if (row := each.row)
    ),
)
"""The commands but for the pages, with those that change a setting."""


class SetOption(Struct, frozen=True):
    """Change how the desk looks, or open another account."""

    name: str
    value: str

    @property
    def text(self) -> Printable:
        """Return what it does."""
        if self.name == "profile":
            return safe(f"opens {self.value} in this desk, disarmed")
        return safe(f"sets {self.name} to {self.value}")


class Entry(Struct, frozen=True):
    """A line of the list."""

    name: str  # typed, it does this
    text: Printable
    key: Printable = ""  # that does the same
    reason: str = ""  # why it cannot be used now
    task: Task = Task.MOVE
    takes: bool = False  # more has to be typed behind the name
    example: Printable = ""
    label: Printable = ""  # shown instead of the name
    note: Printable = ""  # on a line of its own below it


class CommandList(Struct, frozen=True):
    """The commands, the pages and the keys of the desk.

    Args:
        keymap: The keys, with the trader's own.
        context: The key map's name of the focused pane.
        reason_against: Returns by its id why a key cannot act now, "" if it can.
        history: The lines that were run before.
        choices: Returns what an option may be.
    """

    keymap: KeyMap = KEYMAP
    context: str = DESK
    reason_against: Callable[[str], str] = lambda _: ""
    history: CommandHistory = field(default_factory=CommandHistory)
    choices: Callable[[str], Sequence[str]] = lambda _: ()

    def entries_behind(self, line: str) -> Sequence[Entry]:
        """Return the values of an option whose name was typed, none for any other line."""
        name, space, _ = line.lstrip(" :").partition(" ")
        if name not in OPTIONS or not space:
            return ()
        return [Entry(f"{name} {value}", "") for value in self.choices(name)]

    def entries(self) -> Sequence[Entry]:
        """Return everything that can be run, in the order of a trader's day."""
        listed = [*self._of_commands(), *map(self._of_key, self._keys().values())]
        order = list(Task)
        return sorted(listed, key=lambda entry: order.index(entry.task))

    def run(self, line: str) -> RunKey | SetOption | None:
        """Return the key or option that a line names, with what is typed behind its name."""
        name, *rest = line.lstrip(" :").split()[:3] or [""]
        if name in OPTIONS:
            values = {value.lower(): value for value in self.choices(name)}
            value = values.get(rest[0].lower()) if len(rest) == 1 else None
            return SetOption(name, value) if value is not None else None
        key = self._keys().get(name)
        if key is None or len(rest) != ("{key}" in key.action):
            return None
        if rest and rest[0] not in {each.split()[-1] for each in key.keys}:
            return None
        return RunKey(key.action.format(key="".join(rest)), self._pane(key), safe(key.text))

    def _keys(self) -> dict[str, Key]:
        """Return the keys that no command stands for: of the focused pane, then of the others, by id."""
        contexts = [self.context, *(each for each in PANE_OF if each != self.context)]
        keys = [key for each in contexts for key in self.keymap.in_force(each)]
        others = self.keymap.in_force(self.context)
        left_out = NOT_LISTED | KEYS_OF_COMMANDS
        return {
            key.id: key
            for key in keys
            if key.id not in left_out and (key.context != ROWS or key in others)
        }

    def _pane(self, key: Key) -> str:
        is_here = key in self.keymap.in_force(self.context)
        return "" if is_here else PANE_OF.get(key.context, "")

    def _of_key(self, key: Key) -> Entry:
        return Entry(
            key.id,
            safe(key.text),
            safe(key.shown.split(" ")[0]),
            self.reason_against(key.id),
            task_of(key),
            takes="{key}" in key.action,
        )

    def _of_commands(self) -> Iterable[Entry]:
        for each in LISTED_COMMANDS:
            reason = self.reason_against(each.acts_with or each.key)
            entry = self._of(each.name, each.text, each.key, each.task, reason)
            yield replace(entry, takes=bool(each.example), example=each.example)
        texts = {key.id: key.text for key in self.keymap.keys}
        for name, page in PAGES.items():
            if page.is_listed:
                text = texts.get(page.key, f"{page.text[0].upper()}{page.text[1:]}")
                yield self._of(name, text, page.key, page.task, self.reason_against(page.key))

    def _of(self, name: str, text: str, key: str, task: Task, reason: str) -> Entry:
        shown = safe(self.keymap.name(key).replace(" ", "")) if key else ""
        return Entry(name, safe(text), shown, reason, task)


def matching_entries(typed: str, entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the entries that have every typed word, or its letters in order in their name; best match first."""
    words = typed.lower().lstrip(":").split()
    ranked = [(max((_rank(word, each) for word in words), default=0), each) for each in entries]
    return [each for rank, each in sorted(ranked, key=lambda ranked: ranked[0]) if rank < NO_MATCH]


NO_MATCH = 9
_PARTS = re.compile("[-/ ]")  # between the words of a name


def _rank(word: str, entry: Entry) -> int:
    name, text = entry.name.lower(), entry.text.lower()
    if name == word:
        return 0
    if name.startswith(word):
        return 1
    if any(part.startswith(word) for part in (*_PARTS.split(name), *text.split())):
        return 2
    if word in name:
        return 3
    return 4 if _has_letters(word, name) else NO_MATCH


def _has_letters(word: str, name: str) -> bool:
    letters = iter(name)
    return all(letter in letters for letter in word)
