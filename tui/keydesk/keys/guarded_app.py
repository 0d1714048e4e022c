"""The app that lets the guard see every key before anything else does.

It stands where Textual hands events to the app, ahead of bindings and focus. What the guard trips on
closes every open form and disarms; the desk says what it does about it in the three methods below.
"""

from functools import partial
from time import monotonic
from typing import Generic, Literal

from textual import events
from textual.app import App, ReturnType
from textual.screen import ModalScreen
from textual.widgets import Input

from keydesk.keys.arming import Cause
from keydesk.keys.chords import Chords
from keydesk.keys.guard import ON_THE_DESK, SETTLE, Front, Guard, Verdict
from keydesk.keys.keymap import DESK, KEYMAP, KeyMap
from keydesk.keys.terminal_input import InputDropped

ONE_BURST = 1.0  # seconds: what trips so soon again is the rest of the same accident
NoticeLevel = Literal["info", "good", "warn", "bad"]


class GuardedApp(App[ReturnType], Generic[ReturnType]):
    """An app whose keys pass the burst guard, the dwell, the paste guard and the chords."""

    last_key_at: float = 0.0  # monotonic seconds; the idle rule reads it

    def __init__(self, keymap: KeyMap = KEYMAP) -> None:
        super().__init__()
        self.keymap = keymap
        self.set_keymap(dict(keymap.moved))
        self.last_key_at = monotonic()
        self.guard = Guard(
            frozenset(
                key for entry in self.keymap.keys if entry.touches_money for key in entry.keys
            )
        )
        self.chords = Chords(self.keymap)
        self._tripped_at = float("-inf")
        self._dropped_at = float("-inf")

    # What the desk answers to the guard.

    def disarm(self, cause: Cause) -> None:
        """Take arming away, if the cause asks for it at this environment."""
        raise NotImplementedError

    def tell(self, level: NoticeLevel, words: str) -> None:
        """Show the person at the keys one line."""
        raise NotImplementedError

    def key_context(self) -> str:
        """Return the key map's name of the focused pane."""
        return str(getattr(self.focused, "KEY_CONTEXT", DESK))

    # What stands in front of Textual.

    async def on_event(self, event: events.Event) -> None:
        """Judge keys, pastes and a lost focus before Textual sees them."""
        match event:
            case events.Key() if not event.is_forwarded:
                await self._judge(event)
            case events.Paste() if not event.is_forwarded and not isinstance(self.focused, Input):
                self.guard.pasted(event.time)
                self._trip(Cause.PASTE)
            case events.AppBlur():
                self.disarm(Cause.FOCUS_OUT)
                await super().on_event(event)
            case _:
                await super().on_event(event)

    def on_input_dropped(self, message: InputDropped) -> None:
        """Say once a second at most that input was dropped."""
        now = monotonic()
        if now - self._dropped_at > ONE_BURST:
            self.tell("warn", message.words)
            self._dropped_at = now

    async def _judge(self, event: events.Key) -> None:
        self.last_key_at = event.time
        match self.guard.key(event.key, event.time, self._front()):
            case Verdict.PASS:
                await self._let_through(event)
            case Verdict.HOLD:
                self.set_timer(SETTLE, partial(self._release, event))
            case Verdict.ESCAPE:
                await self._let_through(events.Key("escape", "\x1b"))
            case Verdict.TOO_EARLY:
                self.tell("warn", "Too early: read the form, then press the key again.")
            case Verdict.TRIP:
                self._trip(Cause.BURST)

    async def _release(self, event: events.Key) -> None:
        if self.guard.settled(event.time):
            await self._let_through(event)

    async def _let_through(self, event: events.Key) -> None:
        if self._front() is ON_THE_DESK:
            if self.guard.caps_lock_suspected:
                self.tell("warn", "Only capitals came: is Caps Lock on?")
            elif _is_foreign_letter(event):
                self.tell(
                    "warn", f"“{event.character}” is no key here: which keyboard layout is on?"
                )
            action = self.chords.key(event.character or event.key, event.time, self.key_context())
            if action is not None:
                await self._run_chord(action)
                return
        await super().on_event(event)

    async def _run_chord(self, action: str) -> None:
        if not action:
            return
        name = action.partition("(")[0]
        for place in (self.focused, self.screen, self):
            if hasattr(place, f"action_{name}"):
                await self.run_action(action, default_namespace=place)
                return

    def _trip(self, cause: Cause) -> None:
        while isinstance(form := self.screen, ModalScreen):
            form.dismiss(None)
        self.disarm(cause)
        now = monotonic()
        if now - self._tripped_at > ONE_BURST:
            self.tell("bad", f"Keys dropped: {cause.value.words}. Nothing was sent.")
        self._tripped_at = now

    def _front(self) -> Front:
        front = getattr(self.screen, "guard_front", None)
        return front if isinstance(front, Front) else ON_THE_DESK


def _is_foreign_letter(event: events.Key) -> bool:
    character = event.character or ""
    return character.isalpha() and not character.isascii()
