"""The page of messages, newest first: those of this desk, then those that earlier ones left."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from keydesk.forms.info_form import ScrolledForm
from keydesk.forms.sheet import TextLine, Words, wrap_text
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


class MessagesPage(ScrolledForm):
    """Shows the messages with their time and kind."""

    WIDTH: ClassVar[int] = 160

    def __init__(self, store: Store) -> None:
        self.store = store
        super().__init__()

    def on_frame(self, frame: Frame) -> None:
        if frame.touched(Topic.NOTICES):
            self.redraw()

    def title_text(self) -> Printable:
        """Say how many are kept."""
        return safe(f"Messages: {len(self._messages()):,}, the last {NOTICE_LIMIT} are kept")

    def all_lines(self) -> Sequence[TextLine]:
        """Return time, kind and text of each."""
        messages = self._messages()
        if not messages:
            text = (
                "No messages yet. Each outcome of an order, alert and trouble with the connection is "
                "shown at the foot of the desk, and kept here."
            )
            return wrap_text(safe(text), "muted", self.inside)
        zone = at(messages[0].time_ns, self.store.zone).tzname()
        whose = "time" if self.store.own_time_ns(self.store.wall_ns()) is None else "market time"
        head = f"{f'{whose} {zone}':<{TIME_WIDTH}}{'kind':<{KIND_WIDTH}}message"
        lines: list[TextLine] = [((safe(head), "muted"),)]
        for each in messages:
            lines += self._lines_of(each)
        return lines

    def _messages(self) -> Sequence[Notice]:
        return [*reversed(self.store.notices), *reversed(self.store.kept_notices)][:NOTICE_LIMIT]

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
