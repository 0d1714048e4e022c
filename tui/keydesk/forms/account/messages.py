"""The page of messages, newest first: those of this desk, then those that earlier ones left; by kind, or searched."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, TypeAlias

from keydesk.forms.info_form import SearchForm
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, wrap_text
from keydesk.forms.page_lines import COLUMN_GAP as GAP
from keydesk.forms.page_lines import SENTENCE_WIDTH, in_pages, marked, width_of
from keydesk.keys.keymap import HELP, MESSAGES
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.state import SIGN_OF, Notice, NoticeLevel, Topic
from keydesk.store.store import NOTICE_LIMIT, Store
from keydesk.text.format import at, lines_of, shorten
from keydesk.text.sanitize import Printable, SafeText, safe
from keydesk.widgets.theme import ColourRole

TEXTS: Mapping[NoticeLevel, ColourRole] = {"info": "muted", "bad": "bright"}  # others plain
KINDS: Mapping[NoticeLevel, Words] = {
    "info": ("note", "muted"),
    "good": ("done", "good"),
    "warn": ("warning", "warn"),
    "bad": ("problem", "danger"),
}
TIME_WIDTH, SIGN_WIDTH = 9, 2
INDENT = safe(" " * (TIME_WIDTH + SIGN_WIDTH))  # of the further lines of a message
_Headed: TypeAlias = tuple[SafeText, Sequence[TextLine]]  # a message with its day
LEAST_ROWS = 6  # of two columns of messages: so few stand in one
LEAST_TEXT = 24  # columns; narrower, the text stands below its time
TWO_FROM = 160  # columns of the page; from there on two columns of messages, as low as they can be
OWN, EVERY = 0, -1  # the ledger of the open account, and all of them


class MessagesPage(SearchForm):
    """Shows the messages with their time and kind: of one kind, of one ledger, with the typed words, or all of them.

    A ledger is named by when its account was created: a replay has one of its own.
    """

    WIDTH: ClassVar[int] = 240
    KEY_CONTEXT: ClassVar[str] = MESSAGES
    BINDINGS = [*bindings_of(MESSAGES), *bindings_of(HELP)]  # noqa: RUF012 - as Textual has it
    SEARCHES: ClassVar[Printable] = "the messages"
    IS_SNUG: ClassVar[bool] = True

    def __init__(self, store: Store) -> None:
        self.store = store
        self.kind: NoticeLevel | None = None  # None: every kind
        self.ledger = OWN
        super().__init__()

    def on_frame(self, frame: Frame) -> None:
        if frame.touched(Topic.NOTICES):
            self.redraw()

    def title_text(self) -> Printable:
        """Say how many are shown, and how many are kept."""
        count, shown = len(self._messages()), len(self._chosen())
        said = f"{count:,}" if shown == count else f"{shown:,} of {count:,}"
        return safe(f"Messages: {said}, the last {NOTICE_LIMIT} are kept")

    @property
    def room(self) -> int:
        """Return the number of lines that fit below what they are chosen by."""
        return max(1, super().room - len(self._filter_lines()))

    def lines(self) -> Sequence[TextLine]:
        """Return what the messages are chosen by, then those in sight."""
        return [*self._filter_lines(), *self._with_rest(super().lines())]

    def _with_rest(self, lines: Sequence[TextLine]) -> Sequence[TextLine]:
        """Return the lines in sight, the last one with a mark where its message goes on below."""
        if self.inside >= TWO_FROM:  # two columns: each of their pages holds whole messages
            return lines
        every, shown = self.all_lines(), len(lines) - 1  # the first one is the search
        below = min(self.top, max(0, len(every) - shown)) + shown
        if below >= len(every) or not _goes_on(every[below]):
            return lines
        *start, (text, role) = lines[-1]
        room = self.inside - width_of(start)
        return [*lines[:-1], (*start, (shorten(safe(f"{text} …"), room), role))]

    def _filter_lines(self) -> list[TextLine]:
        """Return the kinds with the numbers found, then the ledgers where there are several; what is shown is not faint."""
        count = Counter(each.level for each in self._messages() if self._has_words(each))
        kinds: list[Words] = [
            ("Tab ", "muted"),
            ("all", "bright" if self.kind is None else "faint"),
        ]
        for level, (name, role) in KINDS.items():
            is_shown = self._shows(level) and count[level]
            words = safe(f"  {SIGN_OF[level]} {name} {count[level]}")
            kinds.append((words, role if is_shown else "faint"))
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
            return wrap_text(safe(text), "muted", min(self.inside, SENTENCE_WIDTH))
        chosen = self._chosen()
        if not chosen:
            return (
                [] if self.words else [((safe("None of this kind: Tab shows the next"), "muted"),)]
            )
        room = self.room
        lines = _in_order(self._with_heads(chosen, self.inside), room)
        if self.inside < TWO_FROM or len(lines) <= LEAST_ROWS:
            return lines
        width = (self.inside - GAP) // 2
        headed = [*self._with_heads(chosen, width)]
        rows = min(room, LEAST_ROWS)
        while rows < room and len(_in_order(headed, rows)) > 2 * rows:
            rows += 1
        pages = in_pages(_in_order(headed, rows), rows, 2, width + GAP)
        return [*pages, *[BLANK] * (-len(pages) % rows)]

    def _chosen(self) -> Sequence[Notice]:
        return [
            each for each in self._messages() if self._shows(each.level) and self._has_words(each)
        ]

    def _with_heads(self, chosen: Sequence[Notice], width: int) -> Iterator[_Headed]:
        """Yield the lines of each message with the head that it stands below: its day, and whose it is."""
        zone = self.store.zone
        has_own_time = self.store.own_time_ns(self.store.wall_ns()) is not None
        ledger = self.store.ledger
        for each in chosen:
            time = at(each.time_ns, zone)
            ledger = each.ledger or ledger
            clock = f"{'market time ' if has_own_time else ''}{time.tzname()}"
            whose = "" if ledger == self.store.ledger else f"  {self._ledger_name(ledger)}"
            yield safe(f"{time:%a %d %b %Y}  {clock}{whose}"), self._lines_of(each, width)

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
        _, role = KINDS[notice.level]
        text_role = TEXTS.get(notice.level, "plain")
        when = safe(f"{at(notice.time_ns, self.store.zone):%H:%M:%S}")
        room = width - len(INDENT)
        start: TextLine = (
            (safe(f"{when:<{TIME_WIDTH}}"), "faint"),
            (safe(f"{SIGN_OF[notice.level]:<{SIGN_WIDTH}}"), role),
        )
        if room < LEAST_TEXT:
            lines = wrap_text(notice.text, text_role, width)
            return [start, *(marked(line, self.words) for line in lines)]
        parts: list[Words] = [(part, text_role) for part in _lines_without_tail(notice.text, room)]
        blank: TextLine = ((INDENT, "plain"),)
        return [
            (*(blank if place else start), *marked([part], self.words))
            for place, part in enumerate(parts)
        ] or [start]


@lru_cache(maxsize=4 * NOTICE_LIMIT)
def _lines_without_tail(text: Printable, width: int) -> Sequence[SafeText]:
    """Return a text over as many lines as it needs; its last one has two words at least where that needs no more lines."""
    parts = lines_of(text, width)
    for narrower in range(width - 1, LEAST_TEXT, -1):
        if len(parts) == 1 or " " in parts[-1]:
            break
        other = lines_of(text, narrower)
        if len(other) > len(parts):
            break
        parts = other
    return parts


def _in_order(messages: Iterable[_Headed], rows: int) -> list[TextLine]:
    """Return the lines of messages for pages or columns of so many rows.

    Each begins with the head of its first message. A message that does not fit begins on the next one, the last of several is
    filled up.
    """
    lines: list[TextLine] = []
    before: Printable = ""
    for head, text in messages:
        left = rows - len(lines) % rows
        needed = len(text) + (head != before)
        if left < needed < rows or (head != before and left == 1):
            lines += [BLANK] * left
        if head != before or not len(lines) % rows:
            lines.append(((head, "focus"),))
        before = head
        lines += text
    return lines if len(lines) <= rows else [*lines, *[BLANK] * (-len(lines) % rows)]


def _goes_on(line: TextLine) -> bool:
    """Return whether a line is not the first one of its message."""
    return bool(line) and line[0][0] == INDENT
