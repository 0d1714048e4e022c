"""The page of settings: how the desk looks, and by what it notifies; a change is in force and written at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, LiteralString

from msgspec import Struct

from keydesk.forms.account.settings_preview import WIDTH as PREVIEW_WIDTH
from keydesk.forms.account.settings_preview import preview_lines
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.forms.page_lines import beside, width_of
from keydesk.forms.page_table import rows_in_sight
from keydesk.forms.requests import ChannelSwitched, SettingChosen, SettingOpened
from keydesk.keys.keymap import KEYMAP, SETTINGS, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.settings.about import options_of
from keydesk.settings.values import CHANNELS, KINDS, Channel, EventKind, Settings
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.text.format import shorten
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ColourRole

NAME_WIDTH = 18
MARK = 2  # columns of the mark of the row under the cursor
CHANNEL_WIDTH = 11
GAP = 3  # columns before a meaning, and before the preview
TITLES = 2  # lines more where there is room, and above the preview
PREVIEW_FROM = 112  # columns of the page
CHART_FROM = 160  # columns of the page: fewer are kept to few bytes
CHART_ROWS = 2  # that the preview may be higher than the settings, for its chart
CHOSEN = "✓"
LIST_HINT: LiteralString = "Enter lists"
LISTED = frozenset(("zone", "columns"))  # whose values are chosen from a list of their own
LABELS: Mapping[str, tuple[Printable, Printable]] = {
    **{
        name: (row.label, row.hint)
        for name, each in options_of(Settings).items()
        if (row := each.row)
    },
    "columns": ("columns", "of the watchlist on the screen"),
}
CHANNEL_TEXTS: Mapping[Channel, LiteralString] = {
    "flash": "the newest message is shown reversed for a moment",
    "bell": "of the terminal, at most once in two seconds",
    "desktop": "a notification, where the terminal passes it on",
    "command": "your own program: notify in config.toml",
}
ALWAYS: LiteralString = "A line on the screen is always written"
KIND_LABELS: Mapping[EventKind, LiteralString] = {
    "alert": "an alert fired",
    "fill": "an order filled",
    "stop": "a stop or target",
    "reject": "a rejection",
    "margin": "margin trouble",
    "disconnect": "connection lost",
    "limit": "a limit reached",
}
SAMPLE: TextLine = (
    ("Preview  ", "muted"),
    *(("bright ", "bright"), ("plain ", "plain"), ("muted ", "muted"), ("LONG ", "buy")),
    *(("SHORT ", "sell"), ("+12.50 ", "profit"), ("\N{MINUS SIGN}8.00 ", "loss"), ("bid ", "bid")),
    *(("ask ", "ask"), ("warning ", "warn"), ("danger", "danger")),
)


class Choice(Struct, frozen=True):
    """A setting: its value now, and those that it may have."""

    name: str
    value: str
    values: Sequence[str] = ()


class SettingsForm(InfoForm[None]):
    """Shows the settings as they are in force, and asks for each change.

    Args:
        choices: Returns how the desk looks now.
        kinds: Returns the channels of each kind of event now.
        keymap: The keys, as the foot names them.
    """

    KEY_CONTEXT: ClassVar[str] = SETTINGS
    BINDINGS = bindings_of(SETTINGS)
    WIDTH: ClassVar[int] = 200

    def __init__(
        self,
        choices: Callable[[], Sequence[Choice]],
        kinds: Callable[[], Mapping[EventKind, Sequence[Channel]]],
        keymap: KeyMap = KEYMAP,
    ) -> None:
        super().__init__()
        self._choices, self._kinds, self.keymap = choices, kinds, keymap
        self.at = 0
        self.channel = 0  # under the cursor, in the rows of kinds

    def on_frame(self, frame: Frame) -> None:
        """Show what the file says now: another desk may have changed it, of which there is a message."""
        if frame.touched(Topic.NOTICES):
            self.redraw()

    def title_text(self) -> Printable:
        """Name the page."""
        return "Settings"

    def foot_text(self) -> Printable:
        """Return the keys."""
        choice = self._choice
        hints: tuple[str, ...]
        if choice is None:
            hints = ("\N{LEFTWARDS ARROW} \N{RIGHTWARDS ARROW} channel", "Space on/off")
        elif choice.name in LISTED:
            hints = ("Enter chooses",)
        else:
            hints = ("\N{LEFTWARDS ARROW} \N{RIGHTWARDS ARROW} changes it",)
        return self.keys_that_fit(*hints, "saved at once")

    @property
    def _choice(self) -> Choice | None:
        """The setting under the cursor; None: it is on a kind of event."""
        choices = self._choices()
        return choices[self.at] if self.at < len(choices) else None

    def lines(self) -> Sequence[TextLine]:
        """Return the rows that fit around the one under the cursor, what it means, and the colours beside them."""
        if self.inside < PREVIEW_FROM:
            return self._settings(self.inside)
        lines = self._settings(self.inside - PREVIEW_WIDTH - GAP)
        left = max(map(width_of, lines)) + GAP
        rows = min(self.room, len(lines) + CHART_ROWS) - TITLES
        preview = preview_lines(
            self.inside - left,
            rows,
            has_chart=self.inside >= CHART_FROM,
            ascii_only=self.app.has_class("-ascii"),
        )
        if len(preview) > rows:
            return lines
        title: TextLine = (("Preview", "bright"),)
        return beside(lines, left, [title, BLANK, *preview])

    def _settings(self, width: int) -> list[TextLine]:
        choices = self._choices()
        values = [self._values(each, width - NAME_WIDTH - MARK) for each in choices]
        widest = max([*map(width_of, values), CHANNEL_WIDTH * len(CHANNELS)])
        longest = max((len(LABELS[each.name][1]) for each in choices), default=0)
        is_wide = MARK + NAME_WIDTH + widest + GAP + longest <= width
        rows = [
            self._row(at, each, shown, widest if is_wide else None)
            for at, (each, shown) in enumerate(zip(choices, values, strict=True))
        ]
        first = len(rows)
        rows += [_heads(), *(self._kind(first + at, kind) for at, kind in enumerate(KINDS))]
        if is_wide:
            told: list[TextLine] = [((ALWAYS, "muted"),), *_channel_lines()]
            rows[first:] = beside(rows[first:], MARK + NAME_WIDTH + widest + GAP, told)
        below = self._below(width, is_wide=is_wide)
        below = [BLANK, *below] if self.room > len(rows) + len(below) else below[:1]
        if self.room > len(rows) + len(below) + TITLES:
            return [(("Look", "bright"),), *rows[:first], BLANK, *rows[first:], *below]
        rows[first] = rows[first] if is_wide else _heads("─")
        line = self.at if self.at < first else self.at + 1
        room = max(1, self.room - len(below))
        sight = rows_in_sight(len(rows), line, room)
        return [*rows[sight.start : sight.stop], *below]

    def _below(self, width: int, *, is_wide: bool) -> list[TextLine]:
        """Return what the row under the cursor means, and a sample of the colours where the preview has no room."""
        choice = self._choice
        text = ALWAYS if choice is None else LABELS[choice.name][1]
        meaning = [] if is_wide else wrap_text(safe(text), "muted", width)
        if choice is None or choice.name != "theme" or self.inside >= PREVIEW_FROM:
            return meaning
        return [SAMPLE if width_of(SAMPLE) <= width else SAMPLE[:7], *meaning]

    def _values(self, choice: Choice, room: int) -> TextLine:
        """Return the values that a setting may have, the present one marked; of many the first, and the others as a range."""
        if choice.name in LISTED or not choice.values:
            room -= len(LIST_HINT) + 2
            return ((shorten(safe(choice.value), room), "bright"), (f"  {LIST_HINT}", "faint"))
        values = list(choice.values)
        if choice.value not in values:
            values.append(choice.value)
        shown = [(each, each == choice.value) for each in values]
        if sum(len(each) + 4 for each in values) > room:
            several = f"{values[1]} to {values[-1]}"
            is_first = choice.value == values[0]
            other = several if is_first else f"{choice.value}  ({several})"
            shown = [(values[0], is_first), (other, not is_first)]
        line: list[Words] = []
        for place, (text, is_chosen) in enumerate(shown):
            mark = f"{'  ' if place else ''}{'●' if is_chosen else '○'}"
            line.append((safe(f"{mark} {text}"), "bright" if is_chosen else "muted"))
        return tuple(line)

    def _row(self, at: int, choice: Choice, values: TextLine, widest: int | None) -> TextLine:
        """Return a setting with its values; with its meaning behind the widest ones where that is given."""
        active = at == self.at
        meaning: TextLine = ()
        if widest is not None:
            gap = " " * (widest - width_of(values) + GAP)
            meaning = ((safe(gap + LABELS[choice.name][1]), "muted"),)
        return (
            ("▶ " if active else "  ", "focus"),
            (safe(f"{LABELS[choice.name][0]:<{NAME_WIDTH}}"), "bright" if active else "plain"),
            *values,
            *meaning,
        )

    def _kind(self, at: int, kind: EventKind) -> TextLine:
        active, on = at == self.at, self._kinds().get(kind, ())
        cells: list[Words] = []
        for place, channel in enumerate(CHANNELS):
            chosen = active and place == self.channel
            text = f"{'[' if chosen else ' '}{CHOSEN if channel in on else '·'}{']' if chosen else ' '}"
            cells.append(
                (safe(f" {text:<{CHANNEL_WIDTH - 1}}"), "good" if channel in on else "muted")
            )
        name: Words = (safe(f"{KIND_LABELS[kind]:<{NAME_WIDTH}}"), "bright" if active else "plain")
        return (("▶ " if active else "  ", "focus"), name, *cells)

    # The keys.

    def action_row(self, step: int) -> None:
        """Go to another row."""
        last = len(self._choices()) + len(KINDS) - 1
        self.at = max(0, min(last, self.at + step))
        self.redraw()

    def action_turn(self, step: int) -> None:
        """Take the next value of a setting, or go to the next channel of a kind of event."""
        choice = self._choice
        if choice is None:
            self.channel = max(0, min(len(CHANNELS) - 1, self.channel + step))
        elif choice.name not in LISTED and choice.values:
            values = list(choice.values)
            place = values.index(choice.value) if choice.value in values else -step
            self.post_message(SettingChosen(choice.name, values[(place + step) % len(values)]))
        self.redraw()

    def action_switch(self) -> None:
        """Take the next value of a setting; deliver a kind of event by a channel, or no longer."""
        if self._choice is not None:
            self.action_turn(1)
            return
        kind = KINDS[self.at - len(self._choices())]
        self.post_message(ChannelSwitched(kind, CHANNELS[self.channel]))

    def action_take(self) -> None:
        """Open the list of values, where a setting has one; else do what Space does."""
        choice = self._choice
        if choice is not None and choice.name in LISTED:
            self.post_message(SettingOpened(choice.name))
        else:
            self.action_switch()


def _heads(fill: str = " ") -> TextLine:
    """Return the title of the kinds of events with the channels; as a rule where a blank line above it has no room."""
    words: TextLine = ()
    names = [("Notified by", MARK + NAME_WIDTH + 2), *((each, CHANNEL_WIDTH) for each in CHANNELS)]
    for text, width in names:
        gap = f" {fill * (width - len(text) - 2)} "
        role: ColourRole = "muted" if words else "bright"
        words = (*words, (safe(text), role), (safe(gap), "line"))
    return words


def _channel_lines() -> Iterator[TextLine]:
    """Yield what each channel does."""
    for channel in CHANNELS:
        yield ((safe(f"{channel:<8} {CHANNEL_TEXTS[channel]}"), "muted"),)
