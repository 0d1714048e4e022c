"""The viewer of the audit log: the newest entries first, letters filter them, the chosen one is shown in full."""

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import ClassVar

from textual.widgets import Input

from keydesk.forms.field_form import FieldForm
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.keymap import FIND
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.format import clock, made_at, shorten_text
from keydesk.text.sanitize import Printable, safe
from keydesk.trading.audit import AuditEntry, matching
from keydesk.widgets.theme import ColourRole

INPUT_ROWS = 3
FULL_ROWS = 6  # of the chosen entry
KIND_WIDTH = 9
MAX_LENGTH = 100  # characters of the filter
ROLES: Mapping[str, ColourRole] = {
    "guard": "warn",
    "refused": "warn",
    "limit": "warn",
    "outcome": "bright",
    "key": "focus",
}


class AuditForm(FieldForm[None]):
    """Shows entries of the audit log; it sends nothing and changes nothing."""

    BINDINGS = bindings_of(FIND)
    WIDTH: ClassVar[int] = 176

    def __init__(self, entries: list[AuditEntry], zone: tzinfo) -> None:
        self.entries, self.zone = entries, zone
        self.shown = entries
        self.cursor = 0
        super().__init__()

    def new_field(self) -> Input:
        return Input(
            placeholder="filter: words, or what:confirm",
            max_length=MAX_LENGTH,
            select_on_focus=False,
        )

    def title_text(self) -> Printable:
        """Return how many entries there are."""
        return safe(f"Audit log  {len(self.shown):,} of {len(self.entries):,}")

    def foot_text(self) -> Printable:
        """Return the keys."""
        return "letters filter  ↑ ↓ choose  Esc closes" if self.entries else "Esc closes"

    def lines(self) -> Sequence[TextLine]:
        """Return the entries around the cursor, and the chosen one in full."""
        if not self.shown:
            text = "No entry matches" if self.entries else "No entries yet"
            return (((text, "muted"),),)
        rows = max(1, self.room - INPUT_ROWS - self._full_rows - 1)
        first = max(0, min(self.cursor - rows // 2, len(self.shown) - rows))
        listed = range(first, min(first + rows, len(self.shown)))
        return [*(self._line(at) for at in listed), BLANK, *self._in_full()]

    def _line(self, at: int) -> TextLine:
        entry, chosen = self.shown[at], at == self.cursor
        time = clock(entry.market_ns or entry.time_ns, self.zone)
        kind = safe(f" {entry.what:<{KIND_WIDTH}} ")
        room = max(1, self.inside - len(time) - len(kind) - 2)
        return (
            ("▶ " if chosen else "  ", "focus"),
            (time, "faint"),
            (kind, ROLES.get(entry.what, "muted")),
            (shorten_text(entry.text, room), "bright" if chosen else "plain"),
        )

    @property
    def _full_rows(self) -> int:
        """Return the lines of the chosen entry: in a small window fewer, so that the frame stays whole."""
        return max(2, min(FULL_ROWS, self.room - INPUT_ROWS - 2))

    def _in_full(self) -> Sequence[TextLine]:
        entry = self.shown[self.cursor]
        when = safe(f"{made_at(entry.time_ns, entry.market_ns, self.zone)}  process {entry.desk}")
        words = wrap_text(entry.text, "plain", self.inside)
        most = self._full_rows - 1
        if len(words) > most:
            words = [*words[: most - 1], (("…", "muted"),)]
        return [((when, "muted"),), *words]

    def on_input_changed(self, event: Input.Changed) -> None:
        self.shown, self.cursor = matching(self.entries, event.value), 0
        self.redraw()

    def action_choose(self, step: int) -> None:
        self.cursor = max(0, min(len(self.shown) - 1, self.cursor + step))
        self.redraw()
