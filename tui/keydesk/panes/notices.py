"""Feedback to the hand: what happened last, and what is still under way."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, tzinfo

from keydesk import format as show
from keydesk.frame import Frame
from keydesk.store.state import Notice, Topic
from keydesk.widgets.lines import LinePane, Run

ROLE_OF = {"info": "plain", "good": "good", "warn": "warn", "bad": "danger"}
SIGN_OF = {"info": "·", "good": "✓", "warn": "!", "bad": "✗"}


class Notices(LinePane, can_focus=False):
    """The newest messages, newest first; a command under way stands above them until it is settled."""

    DEFAULT_CSS = "Notices { height: 1; width: 1fr; }"

    def __init__(self, *, zone: tzinfo = UTC, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.zone = zone

    def changed(self, frame: Frame) -> None:
        """Redraw when something was said or settled."""
        if frame.touched(Topic.NOTICES, Topic.ORDERS):
            self.redraw()

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:
        """In-flight commands first, then notices, newest first."""
        flying = list(frame.store.in_flight.values())
        if y < len(flying):
            return [("… ", self.palette["warn"]), (flying[y], self.palette["warn"])]
        index = len(frame.store.notices) - 1 - (y - len(flying))
        if index < 0:
            return []
        return self._notice(frame.store.notices[index], newest=y == 0)

    def _notice(self, notice: Notice, *, newest: bool) -> list[Run]:
        style = self.palette[ROLE_OF[notice.level] if newest else "muted"]
        time = show.clock(notice.time_ns, self.zone)
        return [
            (f"{time} ", self.palette["faint"]),
            (f"{SIGN_OF[notice.level]} ", style),
            (notice.text, style),
        ]
