"""Check every key and paste of an app before Textual's bindings and focus see it.

A trip of the guard closes every open form and disarms the desk. Chords, such as `g t`, are completed here.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any, Literal, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from keydesk.keys.guard import ON_THE_DESK, SETTLE, Cause, Guard, KeyTarget, Verdict, second_of_alt
from keydesk.keys.keymap import DESK, KEYMAP, KeyMap
from keydesk.terminal.input import InputDropped, InputOverrun

CHORD_TIMEOUT = 2.0  # seconds between the two keys


@dataclass(slots=True)
class Chords:
    """Two-key commands, such as `g` `t`: holds the first key until the second one or the timeout."""

    keymap: KeyMap
    first: str = field(default="", init=False)
    since: float = field(default=0.0, init=False)

    def key(self, key: str, time: float, context: str) -> str | None:
        """Return the action of a complete chord, "" for a key that is consumed, None for any other key."""
        first, self.first = self.first, ""
        if first and time - self.since <= CHORD_TIMEOUT:
            return self.keymap.chord(context, first, key) or ""
        if key in self.keymap.prefixes(context):
            self.first, self.since = key, time
            return ""
        return None


ONE_BURST = 1.0  # seconds; trips within it are reported once
TOO_EARLY = "Too early: read the form, then press the key again."
NoticeLevel = Literal["info", "good", "warn", "bad"]


@runtime_checkable
class SaysDropped(Protocol):
    """A form that shows a message about a dropped key itself, since it may cover the notice line."""

    def say_dropped(self, words: str) -> None:
        """Show the message."""


def _record_nothing(_what: str, _words: str) -> None:
    return None


class GuardedKeys:
    """Passes the events of an app through the burst guard, the dwell, the paste guard and the chords.

    Args:
        app: The app; its `on_event` calls `on_event` of this object.
        pass_on: Textual's own `on_event` of the app.
        disarm: Disarms the desk, if the cause asks for it in this environment.
        notify: Shows one line to the trader.
        keymap: The keys in force.
        record: Writes to the audit log: keys that touch money, confirmations, and what the guard dropped.
    """

    def __init__(
        self,
        app: App[Any],
        pass_on: Callable[[events.Event], Awaitable[None]],
        *,
        disarm: Callable[[Cause], None],
        notify: Callable[[NoticeLevel, str], None],
        keymap: KeyMap = KEYMAP,
        record: Callable[[str, str], None] = _record_nothing,
    ) -> None:
        self.app = app
        self._record = record
        self.keymap = keymap
        self.last_key_at = monotonic()  # seconds; the idle rule reads it
        self._pass_on = pass_on
        self._disarm = disarm
        self._notify = notify
        self.guard = Guard(
            frozenset(
                key for entry in self.keymap.keys if entry.touches_money for key in entry.keys
            )
        )
        self.chords = Chords(self.keymap)
        self._tripped_at = float("-inf")
        self._dropped_at = float("-inf")
        self._trip_key_time = float("-inf")  # of the key or paste that tripped
        self._order_key_time = float("-inf")  # of the last order key let through
        self._confirmed: Screen[Any] | None = None  # the form that a confirm key passed for
        self._meant_for: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()

    def watch_screens(self) -> None:
        """Begin to see every form that opens; the app calls it when it is mounted."""
        self.app.screen_change_signal.subscribe(self.app, self._close_if_tripped)

    def key_context(self) -> str:
        """Return the key map's name of the focused pane."""
        return str(getattr(self.app.focused, "key_context", DESK))

    # Events before Textual handles them.

    async def on_event(self, event: events.Event) -> None:
        """Judge keys, pastes and a lost focus before Textual handles them."""
        match event:
            case events.Key() if not event.is_forwarded:
                await self._judge(event)
            case events.Key() if self._is_late(event):
                self._say_late(event.key)
            case events.Paste() if not event.is_forwarded and not isinstance(
                self.app.focused, Input
            ):
                self.guard.pasted(event.time)
                self._trip(Cause.PASTE, event.time)
            case events.AppBlur():
                self._disarm(Cause.FOCUS_OUT)
                await self._pass_on(event)
            case _:
                await self._pass_on(event)

    def on_input_dropped(self, message: InputDropped) -> None:
        """Show, at most once a second, that input was dropped."""
        now = monotonic()
        if now - self._dropped_at > ONE_BURST:
            self._notify("warn", message.words)
            self._dropped_at = now

    def on_input_overrun(self, message: InputOverrun) -> None:
        """Close open forms: some of their keys are missing."""
        self._trip(Cause.BURST, message.time)

    async def _judge(self, event: events.Key) -> None:
        self.last_key_at = event.time
        match self.guard.key(event.key, event.time, self._front()):
            case Verdict.PASS:
                await self._let_through(event)
            case Verdict.HOLD:
                self.app.set_timer(SETTLE, partial(self._release, event))
            case Verdict.ESCAPE:
                front = self._front()
                await self._let_through(events.Key("escape", "\x1b"))
                self._say_lost_behind_escape(second_of_alt(event.key), front)
            case Verdict.TOO_EARLY:
                self._record("guard", f"{event.key} came too early on {self._front_name()}")
                self._say_dropped(TOO_EARLY)
            case Verdict.TRIP:
                self._trip(Cause.BURST, event.time)

    def _say_dropped(self, words: str) -> None:
        """Say it where the eye is: in the open form, else in the line of messages."""
        form = self.app.screen
        if isinstance(form, SaysDropped):
            form.say_dropped(words)
        else:
            self._notify("warn", words)

    def _say_lost_behind_escape(self, key: str, front: KeyTarget) -> None:
        if front.kind == "text":
            return
        if self.guard.touches_money(key, ON_THE_DESK) or self.guard.touches_money(key, front):
            self._notify(
                "info", f"Esc and {key} came as one key: only Esc counted. Press {key} again"
            )

    async def _release(self, event: events.Key) -> None:
        if self.guard.settled(event.time):
            self._confirmed = self.app.screen
            self._record("confirm", f"{event.key} on {self._front_name()}")
            await self._let_through(event)

    def _front_name(self) -> str:
        return type(self.app.screen).__name__

    def take_confirm(self, screen: Screen[Any]) -> bool:
        """Return whether a confirm key passed for this form; true once."""
        confirmed, self._confirmed = self._confirmed, None
        return confirmed is screen

    def _is_late(self, event: events.Key) -> bool:
        """Whether a key was meant for a screen that another one has replaced before its binding was looked up."""
        return self._meant_for.get(event, self.app.screen) is not self.app.screen

    def _say_late(self, key: str) -> None:
        if self.guard.touches_money(key, self._front()):
            self._say_dropped(f"{key} was dropped: another form has opened or closed meanwhile.")

    async def _let_through(self, event: events.Key) -> None:
        self._meant_for[event] = self.app.screen
        front = self._front()
        bound = self.app.screen.active_bindings.get(event.key) if event.key == "escape" else None
        if front.kind == "sends" and bound is not None:
            # Here and now, so that the key behind it meets what lies beneath the form.
            await self.app.run_action(bound.binding.action, bound.node)
            return
        if front is ON_THE_DESK:
            if self.guard.touches_money(event.key, ON_THE_DESK):
                self._order_key_time = event.time
                self._record("key", event.key)
            if self.guard.caps_lock_suspected:
                self._notify("warn", "Only capitals came: is Caps Lock on?")
            elif _is_foreign_letter(event):
                self._notify(
                    "warn", f"“{event.character}” is no key here: which keyboard layout is on?"
                )
            action = self.chords.key(event.character or event.key, event.time, self.key_context())
            if action is not None:
                await self._run_chord(action)
                return
        await self._pass_on(event)

    async def _run_chord(self, action: str) -> None:
        if not action:
            return
        name = action.partition("(")[0]
        for place in (self.app.focused, self.app.screen, self.app):
            if hasattr(place, f"action_{name}"):
                await self.app.run_action(action, default_namespace=place)
                return

    def _trip(self, cause: Cause, time: float) -> None:
        self._trip_key_time = time
        self._record("guard", f"{cause.value.words}, on {self._front_name()}: nothing was sent")
        while isinstance(form := self.app.screen, ModalScreen):
            form.dismiss(None)
        self._disarm(cause)
        now = monotonic()
        if now - self._tripped_at > ONE_BURST:
            self._notify("bad", f"Keys dropped: {cause.value.words}. Nothing was sent.")
        self._tripped_at = now

    def _close_if_tripped(self, screen: Screen[object]) -> None:
        """Close a form that opens only now, by an order key from before the trip."""
        late = self._order_key_time <= self._trip_key_time
        front = getattr(screen, "key_target", ON_THE_DESK)
        if late and front.kind == "sends" and monotonic() - self._tripped_at < ONE_BURST:
            screen.dismiss(None)

    def _front(self) -> KeyTarget:
        front = getattr(self.app.screen, "key_target", None)
        return front if isinstance(front, KeyTarget) else ON_THE_DESK


@runtime_checkable
class HasGuardedKeys(Protocol):
    """An app whose keys are guarded."""

    guarded_keys: GuardedKeys


def _is_foreign_letter(event: events.Key) -> bool:
    character = event.character or ""
    return character.isalpha() and not character.isascii()
