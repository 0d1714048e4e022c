"""The list of the keys that may follow the first one of a chord, over the lower part of the panes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from keydesk.keys.chords import Continuation
from keydesk.store.frame import Frame
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.lines import LinePane, Run
from keydesk.widgets.theme import ColourRole

COLUMN = 36  # columns of a key with its sentence, and the gap behind it
KEY_WIDTH = 5


class ChordList(LinePane, can_focus=False):
    """The keys that may follow, with words; it takes no keys.

    Args:
        unavailable: Whether a key cannot act now, so that it is dimmed.
    """

    DEFAULT_CSS = """
    ChordList { layer: above; dock: bottom; width: 1fr; height: 1; display: none; }
    """

    def __init__(self, unavailable: Callable[[str], bool], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._unavailable = unavailable
        self._first: Printable = ""
        self._entries: Sequence[Continuation] = ()
        self._rows = 0

    def open(
        self, first: Printable, entries: Sequence[Continuation], width: int, room: int, above: int
    ) -> None:
        """Show the entries, as many as have room, so many lines above the lower edge of the screen."""
        self._first, self._entries = first, entries
        across = max(1, (width - 2) // COLUMN)
        self._rows = min(-(-len(entries) // across), max(0, room - 2))
        self.styles.height = self._rows + 2
        self.styles.margin = (0, 0, above, 0)
        self.display = self._rows > 0
        self.redraw()

    def close(self) -> None:
        """Show it no longer."""
        self.display = False

    def runs(self, y: int, frame: Frame) -> Iterable[Run]:  # noqa: ARG002 - keys do not depend on data
        """Return a rule with the first key, a row of entries, or the rule beneath them."""
        line, focus = self.palette["line"], self.palette["focus"]
        if y in (0, self._rows + 1):
            title = safe(f" {self._first} … ") if y == 0 else safe("")
            hint = safe(" Esc closes ") if y == 0 else safe("")
            rest = self.inside - 1 - len(title) - len(hint)
            yield safe("─"), focus if y == 0 else line
            yield title, focus
            yield safe("─" * rest), focus if y == 0 else line
            yield hint, self.palette["muted"]
            return
        for entry in self._entries[y - 1 :: self._rows]:
            off = self._unavailable(entry.id)
            strong: ColourRole = "faint" if off else "bright"
            weak: ColourRole = "faint" if off else "plain"
            room = COLUMN - KEY_WIDTH - 2
            text = safe(f"{entry.text:<{room}}"[:room])
            yield safe(f"{entry.key:>{KEY_WIDTH}} "), self.palette[strong]
            yield safe(f"{text} "), self.palette[weak]
