"""The page of messages, newest first: those of this desk, then those that earlier ones left; by kind, or searched."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from keydesk.forms.info_form import SearchForm
from keydesk.forms.modal_form import TextLine, Words, wrap_text
from keydesk.keys.keymap import HELP, MESSAGES
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.state import Notice, NoticeLevel, Topic
from keydesk.store.store import NOTICE_LIMIT, Store
from keydesk.text.format import at, lines_of
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ColourRole

KINDS: Mapping[NoticeLevel, Words] = {
    "info": ("note", "muted"),
    "good": ("done", "good"),
    "warn": ("warning", "warn"),
    "bad": ("problem", "danger"),
}
TIME_WIDTH, KIND_WIDTH = 17, 9
LEAST_TEXT = 24  # columns; narrower, the text stands below its time


class MessagesPage(SearchForm):
    """Shows the messages with their time and kind: all of them, or one kind, or those with the typed words."""

    WIDTH: ClassVar[int] = 160
    KEY_CONTEXT: ClassVar[str] = MESSAGES
    BINDINGS = [*bindings_of(MESSAGES), *bindings_of(HELP)]  # noqa: RUF012 - as Textual has it
    SEARCHES: ClassVar[Printable] = "the messages"

    def __init__(self, store: Store) -> None:
        self.store = store
        self.kind: NoticeLevel | None = None  # None: every kind
        super().__init__()

    def on_frame(self, frame: Frame) -> None:
        if frame.touched(Topic.NOTICES):
            self.redraw()

    def title_text(self) -> Printable:
        """Say how many are kept."""
        return safe(f"Messages: {len(self._messages()):,}, the last {NOTICE_LIMIT} are kept")

    def search_line(self) -> TextLine:
        """Return the kinds with their numbers, the chosen one bright, then what is typed."""
        count = Counter(each.level for each in self._messages())
        kinds: list[Words] = [
            ("Tab ", "muted"),
            ("all", "bright" if self.kind is None else "faint"),
        ]
        for level, (name, role) in KINDS.items():
            kinds += [
                ("  ", "plain"),
                (
                    safe(f"{name} {count[level]}"),
                    role if self._shows(level) and count[level] else "faint",
                ),
            ]
        return (*kinds, ("   ", "plain"), *super().search_line())

    def _shows(self, level: NoticeLevel) -> bool:
        return self.kind in {None, level}

    def found_lines(self) -> Sequence[TextLine]:
        """Return time, kind and text of each that is of the chosen kind and has the typed words."""
        messages = self._messages()
        if not messages:
            text = (
                "No messages yet. Each outcome of an order, alert and trouble with the connection is "
                "shown at the foot of the desk, and kept here."
            )
            return wrap_text(safe(text), "muted", self.inside)
        chosen = [each for each in messages if self._shows(each.level) and self._has_words(each)]
        if not chosen:
            return (
                [] if self.words else [((safe("None of this kind: Tab shows the next"), "muted"),)]
            )
        zone = at(messages[0].time_ns, self.store.zone).tzname()
        whose = "time" if self.store.own_time_ns(self.store.wall_ns()) is None else "market time"
        head = f"{f'{whose} {zone}':<{TIME_WIDTH}}{'kind':<{KIND_WIDTH}}message"
        return [
            ((safe(head), "muted"),),
            *(line for each in chosen for line in self._lines_of(each)),
        ]

    def _has_words(self, notice: Notice) -> bool:
        text = notice.text.lower()
        return all(word in text for word in self.words)

    def _messages(self) -> Sequence[Notice]:
        messages = (*reversed(self.store.notices), *reversed(self.store.kept_notices))
        return [each for each in messages if self.store.is_of_this_ledger(each)][:NOTICE_LIMIT]

    def action_next_kind(self) -> None:
        """Show the messages of the next kind only; after the last one all of them."""
        choices = (None, *KINDS)
        self.kind = choices[(choices.index(self.kind) + 1) % len(choices)]
        self._show_from(0)

    def _lines_of(self, notice: Notice) -> list[TextLine]:
        kind, role = KINDS[notice.level]
        when = safe(f"{at(notice.time_ns, self.store.zone):%d %b %H:%M:%S}")
        room = self.inside - TIME_WIDTH - KIND_WIDTH
        words: Words = (safe(f"{kind:<{KIND_WIDTH}}"), role)
        start: TextLine = ((safe(f"{when:<{TIME_WIDTH}}"), "faint"), words)
        plain: ColourRole = "bright" if notice.waits else "plain"
        if room < LEAST_TEXT:
            return [start, *wrap_text(notice.text, plain, self.inside)]
        blank: TextLine = ((safe(" " * (TIME_WIDTH + KIND_WIDTH)), "plain"),)
        first = True
        lines: list[TextLine] = []
        for line in lines_of(notice.text, room):
            lines.append((*(start if first else blank), (line, plain)))
            first = False
        return lines or [start]
