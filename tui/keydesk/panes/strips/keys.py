"""The footer: the keys in force and what they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from keydesk.keys.chords import continuations
from keydesk.keys.keymap import (
    CROSSHAIR,
    DESK,
    LOG,
    ORDERS,
    POSITIONS,
    ROWS,
    TRADES,
    Key,
    KeyMap,
    arrows_in_words,
)
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.text.sanitize import safe
from keydesk.widgets.lines import width_of
from keydesk.widgets.strip_line import Item, StripLine
from keydesk.widgets.theme import ColourRole

WATCHED = (Topic.ARMING, Topic.HEALTH, Topic.FOCUS, Topic.MARKET)
ROWS_OF = (Topic.TRADES, Topic.ORDERS, Topic.POSITIONS)
# The keys that a pane is there for; then those of the desk.
FIRST: Mapping[str, tuple[str, ...]] = {
    TRADES: (
        *("row-down", "details", "close", "scale-out", "break-even"),
        *("modify", "trailing", "protect"),
    ),
    POSITIONS: ("row-down", "details", "close", "scale-out", "reverse", "flatten"),
    ORDERS: ("row-down", "details", "cancel", "modify", "cancel-entries"),
    LOG: ("row-down", "details", "page-down"),
    CROSSHAIR: ("cross-older", "cross-up", "buy", "sell", "modify", "cross-off"),
}
BESIDE = {  # one hint for two keys
    "row-down": "row-up",
    "cross-older": "cross-newer",
    "cross-up": "cross-down",
    "cross-up-10": "cross-down-10",
}
FORM_HAS_KEYS = "The form has the keys; Esc drops it."
EXITS = ("close", "flatten", "break-even", "trailing", "protect", "cancel", "scale-out")
REPLAY = "replay-status"  # of a practice market that the desk may control
ALWAYS = ("command", "help")  # how to leave, and where the other keys are listed, stay at the end


class KeyFooter(StripLine):
    """Keys and what they do, from the key map."""

    GAP = 2
    shows_hints = True  # else only how to leave and where the keys are listed
    exits_only = False  # the terminal has no room for more

    def __init__(
        self,
        keymap: KeyMap,
        unavailable: Callable[[str], bool] = lambda _: False,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own word
    ) -> None:
        super().__init__(id=id)
        self._keymap = keymap
        self._unavailable = unavailable
        self._pane = DESK
        self._over_it = FORM_HAS_KEYS
        self._state: list[bool] = []
        self._chord = ""  # the first key of a chord, whose second one is waited for

    def show_context(self, context: str, over_it: str = FORM_HAS_KEYS) -> None:
        """Show the keys of another pane; with an empty context, the message of the form on top."""
        if (context, over_it) != (self._pane, self._over_it):
            self._pane, self._over_it = context, over_it
            self.redraw()

    def show_chord(self, first: str) -> None:
        """Show what may follow the first key of a chord; "": the keys of the pane again."""
        self._chord = first
        self.redraw()

    def changed(self, frame: Frame) -> None:
        """Redraw when the availability of a key may have changed."""
        if frame.touched(*WATCHED) or any(frame.whole(topic) for topic in ROWS_OF):
            self._redraw_if_different()

    def _redraw_if_different(self) -> None:
        state = [self._has_market, *(self._unavailable(key.id) for key in self._entries())]
        if state != self._state:
            self._state = state
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:  # noqa: ARG002 - keys do not depend on data
        """Return the keys that have room; beneath a form or a window, the message of that form."""
        if not self._pane:
            yield Item(((safe(self._over_it), self.palette["muted"]),))
            return
        if self._chord:
            yield from self._chord_items()
            return
        if not (self.shows_hints or self.exits_only):
            return
        room = self.inside - sum(width_of(i.runs) + self.GAP for i in self._kept_at_end())
        for entry in self._entries():
            item = self._item(entry)
            room -= width_of(item.runs) + self.GAP
            if room < 0:
                return
            yield item

    def right(self, frame: Frame) -> Iterable[Item]:  # noqa: ARG002
        """How to leave, and how to see all keys."""
        return self._kept_at_end()

    def _chord_items(self) -> Iterable[Item]:
        """Yield the first key, and what may follow it, as much as has room."""
        first = Item(((safe(f"{self._chord} …"), self.palette["bright"]),))
        room = self.inside - width_of(first.runs)
        yield first
        for each in continuations(self._keymap, self._pane, self._chord):
            off = self._unavailable(each.id)
            strong: ColourRole = "faint" if off else "plain"
            weak: ColourRole = "faint" if off else "muted"
            runs = (
                (safe(each.key), self.palette[strong]),
                (safe(f" {each.word}"), self.palette[weak]),
            )
            room -= width_of(runs) + self.GAP
            if room < 0:
                return
            yield Item(runs)

    @property
    def _has_market(self) -> bool:
        return self.frame is not None and self.frame.store.market is not None

    def _kept_at_end(self) -> list[Item]:
        shows_keys = self._pane and not self._chord
        keys = {key.id: key for key in self._keymap.keys} if shows_keys else {}
        names = ALWAYS[self.exits_only :]
        if self._has_market and not self.exits_only:
            names = (REPLAY, *names)
        return [self._item(keys[name]) for name in names if name in keys]

    def _entries(self) -> list[Key]:
        keys = self._keymap.in_force(self._pane)
        if self.exits_only:
            exits = (key for key in keys if key.id in EXITS)
            return sorted(exits, key=lambda key: EXITS.index(key.id))
        hinted = [key for key in keys if key.hint and key.id not in (REPLAY, *ALWAYS)]
        first = FIRST.get(self._pane, ())
        last = len(first) + 1  # moving among rows needs no hint where it is not the first one

        def rank(key: Key) -> int:
            if key.id in first:
                return first.index(key.id)
            return last if key.context == ROWS else len(first)

        return sorted(hinted, key=rank)

    def _item(self, key: Key) -> Item:
        off = self._unavailable(key.id)
        strong: ColourRole = "faint" if off else "plain"
        weak: ColourRole = "faint" if off else "muted"
        name = safe(key.shown.split()[0])  # the help has the others
        if key.id in BESIDE:
            name = safe(f"{name} {self._keymap.name(BESIDE[key.id])}")
        if self.app.has_class("-ascii"):
            name = arrows_in_words(name)
        return Item(((name, self.palette[strong]), (safe(f" {key.hint}"), self.palette[weak])))
