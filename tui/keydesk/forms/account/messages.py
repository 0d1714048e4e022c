"""The page of messages, newest first: those of this desk, then those that earlier ones left; by kind, or searched."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from keydesk.forms.info_form import COLUMN_GAP as GAP
from keydesk.forms.info_form import SearchForm, in_pages
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, wrap_text
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
TIME_WIDTH, KIND_WIDTH = 10, 9
LEAST_TEXT = 24  # columns; narrower, the text stands below its time
TWO_FROM = 160  # columns of the page; from there on two columns of messages, where one has no room for them
OWN, EVERY = 0, -1  # the ledger of the open account, and all of them


class MessagesPage(SearchForm):
    """Shows the messages with their time and kind: of one kind, of one ledger, with the typed words, or all of them.

    A ledger is named by when its account was created: a replay has one of its own.
    """

    WIDTH: ClassVar[int] = 240
    KEY_CONTEXT: ClassVar[str] = MESSAGES
    BINDINGS = [*bindings_of(MESSAGES), *bindings_of(HELP)]  # noqa: RUF012 - as Textual has it
    SEARCHES: ClassVar[Printable] = "the messages"

    def __init__(self, store: Store) -> None:
        self.store = store
        self.kind: NoticeLevel | None = None  # None: every kind
        self.ledger = OWN
        super().__init__()

    def on_frame(self, frame: Frame) -> None:
        if frame.touched(Topic.NOTICES):
            self.redraw()

    def title_text(self) -> Printable:
        """Say how many are kept."""
        return safe(f"Messages: {len(self._messages()):,}, the last {NOTICE_LIMIT} are kept")

    @property
    def room(self) -> int:
        """Return the number of lines that fit below what they are chosen by."""
        return max(1, super().room - len(self._filter_lines()))

    def lines(self) -> Sequence[TextLine]:
        """Return what the messages are chosen by, then those in sight."""
        return [*self._filter_lines(), *super().lines()]

    def _filter_lines(self) -> list[TextLine]:
        """Return the kinds with their numbers, then the ledgers where there are several; what is shown is not faint."""
        count = Counter(each.level for each in self._messages())
        kinds: list[Words] = [
            ("Tab ", "muted"),
            ("all", "bright" if self.kind is None else "faint"),
        ]
        for level, (name, role) in KINDS.items():
            is_shown = self._shows(level) and count[level]
            kinds.append((safe(f"  {name} {count[level]}"), role if is_shown else "faint"))
        ledgers = self._ledgers()
        if len(ledgers) == 1:
            return fold_line(tuple(kinds), self.inside)
        chosen: list[Words] = [("Shift+Tab ", "muted")]
        for ledger in ledgers:
            name = f"{'' if ledger == OWN else '  '}{self._ledger_name(ledger)}"
            chosen.append((safe(name), "bright" if ledger == self.ledger else "faint"))
        return [*fold_line(tuple(kinds), self.inside), *fold_line(tuple(chosen), self.inside)]

    def _ledgers(self) -> Sequence[int]:
        """Return what there is to choose: the own ledger, the others of which there are messages, all of them."""
        own = self.store.ledger
        others = {each.ledger for each in self._all() if each.ledger and each.ledger != own}
        return (OWN, *sorted(others, reverse=True), EVERY) if own and others else (OWN,)

    def _ledger_name(self, ledger: int) -> str:
        if ledger in {OWN, EVERY}:
            return "this account" if ledger == OWN else "all"
        return f"account of {at(ledger, self.store.zone):%d %b %Y %H:%M}"

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
        room = self.room
        lines = [line for each in self._by_day(chosen, self.inside) for line in each]
        if self.inside < TWO_FROM or len(lines) <= room:
            return lines
        width = (self.inside - GAP) // 2
        return in_pages(_unbroken(self._by_day(chosen, width), room), room, 2, width + GAP)

    def _by_day(self, chosen: Sequence[Notice], width: int) -> Iterator[list[TextLine]]:
        """Yield the lines of each message, those of a day or of another ledger below its head."""
        zone = self.store.zone
        has_own_time = self.store.own_time_ns(self.store.wall_ns()) is not None
        before = None
        ledger = self.store.ledger
        for each in chosen:
            time = at(each.time_ns, zone)
            ledger = each.ledger or ledger
            lines = self._lines_of(each, width)
            if before != (time.date(), ledger):
                before = time.date(), ledger
                clock = f"{'market time ' if has_own_time else ''}{time.tzname()}"
                whose = "" if ledger == self.store.ledger else f"  {self._ledger_name(ledger)}"
                lines.insert(0, ((safe(f"{time:%a %d %b %Y}  {clock}{whose}"), "focus"),))
            yield lines

    def _has_words(self, notice: Notice) -> bool:
        text = notice.text.lower()
        return all(word in text for word in self.words)

    def _messages(self) -> Sequence[Notice]:
        return [each for each in self._all() if self._is_of_ledger(each)][:NOTICE_LIMIT]

    def _all(self) -> Sequence[Notice]:
        return (*reversed(self.store.notices), *reversed(self.store.kept_notices))

    def _is_of_ledger(self, notice: Notice) -> bool:
        if self.ledger == OWN:
            return self.store.is_of_this_ledger(notice)
        return self.ledger in {EVERY, notice.ledger}

    def action_next_ledger(self) -> None:
        """Show the messages of the next ledger only; after the last one those of all."""
        ledgers = self._ledgers()
        place = ledgers.index(self.ledger) if self.ledger in ledgers else EVERY
        self.ledger = ledgers[(place + 1) % len(ledgers)]
        self._show_from(0)

    def action_next_kind(self) -> None:
        """Show the messages of the next kind only; after the last one all of them."""
        choices = (None, *KINDS)
        self.kind = choices[(choices.index(self.kind) + 1) % len(choices)]
        self._show_from(0)

    def _lines_of(self, notice: Notice, width: int) -> list[TextLine]:
        kind, role = KINDS[notice.level]
        when = safe(f"{at(notice.time_ns, self.store.zone):%H:%M:%S}")
        room = width - TIME_WIDTH - KIND_WIDTH
        start: TextLine = (
            (safe(f"{when:<{TIME_WIDTH}}"), "faint"),
            (safe(f"{kind:<{KIND_WIDTH}}"), role),
        )
        plain: ColourRole = "bright" if notice.waits else "plain"
        if room < LEAST_TEXT:
            return [start, *wrap_text(notice.text, plain, width)]
        blank: TextLine = ((safe(" " * (TIME_WIDTH + KIND_WIDTH)), "plain"),)
        parts = lines_of(notice.text, room)
        return [
            (*(blank if place else start), (part, plain)) for place, part in enumerate(parts)
        ] or [start]


def _unbroken(messages: Iterable[Sequence[TextLine]], rows: int) -> list[TextLine]:
    """Return the lines of messages for columns of so many rows: one that does not fit begins in the next column."""
    lines: list[TextLine] = []
    for each in messages:
        left = rows - len(lines) % rows
        if left < len(each) <= rows:
            lines += [BLANK] * left
        lines += each
    return lines
