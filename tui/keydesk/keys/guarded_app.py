"""Check every key and paste of an app before Textual's bindings and focus see it.

A trip of the guard closes every open form and disarms the desk. Chords, such as `g t`, are completed here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from msgspec.structs import replace
from textual import actions, events
from textual.app import App
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Input
from textual.worker import NoActiveWorker, get_current_worker

from keydesk.keys.chords import Chords
from keydesk.keys.guard import (
    ON_THE_DESK,
    SETTLE,
    Cause,
    Guard,
    KeyDecision,
    KeyPlace,
    KeyTarget,
    arming_after,
    is_alt,
    second_of_alt,
)
from keydesk.keys.key_order import KeyOrder, Typed
from keydesk.keys.keymap import DESK, GO_ON, KEYMAP, SHOWN, KeyMap
from keydesk.store.state import NoticeLevel, Topic
from keydesk.store.store import Store
from keydesk.terminal.input import InputDropped, InputOverrun

IDLE_AGAIN = 5.0  # seconds within which the same idle key is not mentioned again
ONE_BURST = 1.0  # seconds; trips within it are reported once
TOO_EARLY = "Too early: read the form, then press the key again."
Result = TypeVar("Result")


@dataclass
class ChordChanged(Message, bubble=False):
    """Tells a screen which first key of a chord waits for its second one; "": none any longer."""

    first: str


class GuardedForm(ModalScreen[Result]):
    """A form in front of the desk, as the guard sees it."""

    KEYS_GO_TO: ClassVar[KeyPlace] = "desk"
    KEY_CONTEXT: ClassVar[str] = ""  # the key map's name of its keys; a field of text has none
    painted: float | None = None  # monotonic seconds when it was first painted

    @property
    def key_target(self) -> KeyTarget:
        """Return where keys arrive."""
        return KeyTarget(self.KEYS_GO_TO, self.painted)

    @property
    def holds_changes(self) -> bool:
        """Whether something was changed that is not kept yet: a chord does not leave it."""
        return False

    def headline_text(self) -> str:
        """Return what the form would do, on one line: the audit log names it so."""
        return type(self).__name__

    def say_dropped(self, text: str) -> bool:  # noqa: ARG002 - a form that covers the notice line shows it
        """Show that a key was dropped; return False where the notice line has to show it."""
        return False


# What disarms the desk without a key and without a message of its own; the focus goes with a key of the trader.
DISARMS_BY_ITSELF: Mapping[Cause, NoticeLevel] = {
    Cause.RECONNECT: "warn",
    Cause.RESUME: "warn",
    Cause.IDLE: "warn",
    Cause.LOCKED: "warn",
    Cause.FOCUS_OUT: "info",
}


class GuardedKeys:
    """Passes the events of an app through the burst guard, the dwell, the paste guard and the chords.

    Args:
        app: The app; its `on_event` calls `on_event` of this object.
        pass_on: Textual's own `on_event` of the app.
        store: Is disarmed, shows messages, and records keys that touch money, confirmations and what the guard dropped.
        keymap: The keys in force.
        continued_at: Returns when the process last went on after it was stopped, in monotonic seconds.
        crowded: Called at a key too close behind another one.
    """

    def __init__(
        self,
        app: App[Any],
        pass_on: Callable[[events.Event], Awaitable[None]],
        store: Store,
        keymap: KeyMap = KEYMAP,
        *,
        continued_at: Callable[[], float] = lambda: float("-inf"),
        crowded: Callable[[], None] = lambda: None,
    ) -> None:
        self.app = app
        self._store = store
        self._continued_at = continued_at
        self._crowded = crowded
        self.keymap = keymap
        self.last_key_at = monotonic()  # seconds; the idle rule reads it
        self._pass_on = pass_on
        self.guard = Guard(self._order_keys)
        self.chords = Chords(self.keymap)
        self._tripped_at = float("-inf")
        self._dropped_at = float("-inf")
        self._trip_key_time = float("-inf")  # of the key or paste that tripped
        self._order_key_time = float("-inf")  # of the last order key let through
        self._confirmed: Screen[Any] | None = None  # the form that a confirm key passed for
        self._meant_for: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()
        self._read_on: WeakKeyDictionary[events.Key, Screen[Any]] = WeakKeyDictionary()
        self._order = KeyOrder(
            app, self._take, settled=self._after_a_key, gave_up=self._say_unanswered
        )
        self._idle_key, self._idle_at = "", float("-inf")  # the last key without a meaning
        self._opening = ""  # the order key under way on the desk
        self._unexpected_screen: Screen[Any] | None = (
            None  # a screen that a worker opened, not a key
        )
        self._unasked_since = float("-inf")

    @property
    def _order_keys(self) -> frozenset[str]:
        """The keys that open a form which may send."""
        return frozenset(
            key for entry in self.keymap.keys if entry.touches_money for key in entry.keys
        )

    def keymap_changed(self) -> None:
        """Go by the keys that the map has now; a chord that was begun is forgotten."""
        self._end_chord()
        self.guard.order_keys = self._order_keys

    def watch_screens(self) -> None:
        """Begin to see every form that opens; the app calls it when it is mounted."""
        self.app.screen_change_signal.subscribe(self.app, self._close_if_tripped)
        self.app.screen_change_signal.subscribe(
            self.app, self._note_unexpected_screen, immediate=True
        )

    def disarm(self, cause: Cause) -> None:
        """Make the keys exit-only, if the cause asks for it in this environment."""
        store = self._store
        after = arming_after(cause, store.arming, store.health.environment)
        if after != store.arming:
            store.audit.record("disarm", cause.value.text)
            store.arming = after
            store.mark(Topic.ARMING)
            if level := DISARMS_BY_ITSELF.get(cause):
                arms = self.keymap.name("arm")
                store.notify(level, f"Exit only: {cause.value.text}; {arms} arms again")

    def key_context(self) -> str:
        """Return the key map's name of the focused pane."""
        return str(getattr(self.app.focused, "key_context", DESK))

    # Events before Textual handles them.

    async def on_event(self, event: events.Event) -> None:
        """Check keys, pastes and a lost focus before Textual handles them."""
        match event:
            case events.Key() if not event.is_forwarded and self._order.is_busy:
                bound = self.app.screen.active_bindings.get(event.key)
                at_once = bound is not None and bound.binding.priority  # Ctrl-C waits for nothing
                self._read_on[event] = self.app.screen
                await (self._pass_on(event) if at_once else self._order.deliver(event))
            case events.Key() | events.Paste() if not event.is_forwarded:
                await self._order.deliver(event)
            case events.Key() if self._is_late(event):
                self._say_late(event.key)
            case events.MouseDown():  # another pane may have the keys after it
                self._end_chord()
                await self._pass_on(event)
            case events.AppBlur():
                self._end_chord()
                self.disarm(Cause.FOCUS_OUT)
                await self._pass_on(event)
            case _:
                await self._pass_on(event)

    def on_input_dropped(self, message: InputDropped) -> None:
        """Show, at most once a second, that input was dropped."""
        now = monotonic()
        if now - self._dropped_at > ONE_BURST:
            self._store.notify("warn", message.text)
            self._dropped_at = now

    def on_input_overrun(self, message: InputOverrun) -> None:
        """Close open forms: some of their keys are missing."""
        self._trip(Cause.BURST, message.time)

    async def _take(self, event: Typed) -> None:
        """Check a key or a paste once the events before it took effect; it is meant for the screen in front."""
        if self._unexpected_screen is self.app.screen and event.time < self._unasked_since:
            self._say_dropped("Keys typed before this page opened were dropped.")
        elif isinstance(event, events.Key):
            await self._judge(event)
        elif isinstance(self.app.focused, Input):
            await self._follow(event)
        else:
            self.guard.pasted(event.time)
            self._trip(Cause.PASTE, event.time)

    async def _follow(self, event: Typed) -> None:
        """Pass an event on to Textual; the next one waits for its effect."""
        passed = self._order.follow()
        await self._pass_on(event)
        passed()

    async def _judge(self, event: events.Key) -> None:
        self.last_key_at = event.time
        front = self._front()
        if self._read_on.get(event, self.app.screen) is not self.app.screen:
            front = replace(front, painted=None)  # read before this form opened: no confirmation
        decision = self.guard.key(event.key, event.time, front)
        if self.guard.crowded_at is not None:
            self._crowded()
        match decision:
            case KeyDecision.PASS:
                await self._let_through(event)
            case KeyDecision.HOLD:
                self.app.set_timer(SETTLE, partial(self._release, event, self.app.screen))
            case KeyDecision.ESCAPE:
                front = self._front()
                await self._let_through(events.Key("escape", "\x1b"))
                self._say_lost_behind_escape(second_of_alt(event.key), front)
            case KeyDecision.TOO_EARLY:
                self._say_too_early(event)
            case KeyDecision.TRIP:
                self._trip(Cause.BURST, event.time)

    def _say_too_early(self, event: events.Key) -> None:
        self._store.audit.record("guard", f"{event.key} came too early on {self._front_name()}")
        self._say_dropped(TOO_EARLY)

    def _say_dropped(self, text: str) -> None:
        """Show the text in the open form if there is one, else on the notice line."""
        form = self.app.screen
        if not (isinstance(form, GuardedForm) and form.say_dropped(text)):
            self._store.notify("warn", text)

    def _say_lost_behind_escape(self, key: str, front: KeyTarget) -> None:
        if front.kind == "text":
            return
        if self.guard.touches_money(key, ON_THE_DESK) or self.guard.touches_money(key, front):
            self._store.notify(
                "info", f"Esc and {key} came as one key: only Esc counted. Press {key} again"
            )

    async def _release(self, event: events.Key, screen: Screen[Any]) -> None:
        is_from_before = event.time < self._continued_at()  # the process was stopped since
        alone = self.guard.settled(event.time)
        if not alone or self.app.screen is not screen:
            if self._trip_key_time < event.time:
                self._say_dropped(f"{event.key} was dropped: another key came before it counted.")
        elif is_from_before:
            self._say_too_early(event)
        else:
            self._confirmed = self.app.screen
            self._store.audit.record("confirm", f"{event.key} on {self._front_name()}")
            await self._let_through(event)

    def _front_name(self) -> str:
        """Return where a key arrives, for the audit log."""
        screen = self.app.screen
        return screen.headline_text() if isinstance(screen, GuardedForm) else "the desk"

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
        passed = self._order.follow()
        await self._hand_over(event)
        passed()

    async def _hand_over(self, event: events.Key) -> None:
        self._meant_for[event] = self.app.screen
        front = self._front()
        bound = self.app.screen.active_bindings.get(event.key) if event.key == "escape" else None
        if front.kind == "sends" and bound is not None:
            # Close the form at once, so that the next key goes to the screen beneath it.
            await self.app.run_action(bound.binding.action, bound.node)
            return
        if front is ON_THE_DESK:
            self._note_desk_key(event)
        context = self._chord_context(front)
        if context and await self._is_of_chord(event, context):
            return
        if front is ON_THE_DESK:
            self._note_single_key(event)
        await self._pass_on(event)

    def _chord_context(self, front: KeyTarget) -> str:
        """Return the key map's name of the pane or page whose chords are in force, "" if none are."""
        if front is ON_THE_DESK:
            return self.key_context()
        page = self.app.screen
        return page.KEY_CONTEXT if front.kind == "desk" and isinstance(page, GuardedForm) else ""

    def _note_desk_key(self, event: events.Key) -> None:
        """Record an order key; say what an unlikely key may mean."""
        if self.guard.touches_money(event.key, ON_THE_DESK):
            self._order_key_time = event.time
            self._store.audit.record("key", event.key)
        if self.guard.caps_lock_suspected:
            self._store.notify("warn", "Only capitals came: is Caps Lock on?")
        elif _is_foreign_letter(event):
            self._store.notify(
                "warn", f"“{event.character}” is not a key here: which keyboard layout is on?"
            )

    def _note_single_key(self, event: events.Key) -> None:
        """Note a key that opens a form; say that one does nothing here."""
        if self._opens(event):
            self._opening = event.key
        elif self._is_idle(event) and not (
            _is_foreign_letter(event) or self.guard.caps_lock_suspected
        ):
            self._say_idle(
                event, f"{_name_of(event)} does nothing here: {self._help} shows the keys"
            )

    async def _is_of_chord(self, event: events.Key, context: str) -> bool:
        """Take a key that begins or ends a chord; return False for any other key."""
        first = self.chords.first
        action = self.chords.key(event.character or event.key, context)
        self._show_chord()
        if action and (not self._goes_on(action, context) or self._leave_pages()):
            await self.run_key_action(action)
        elif action == "" and not self.chords.first and event.key != "escape":
            second = event.character if event.is_printable else SHOWN.get(event.key, event.key)
            self._say_idle(event, f"{first} {second}: no such key. {self._help} lists them")
        return action is not None

    def _goes_on(self, action: str, context: str) -> bool:
        """Whether a chord on a page goes to a pane or to another page."""
        return context in GO_ON and any(action == each.action for each in self.keymap.going)

    def _leave_pages(self) -> bool:
        """Close the pages over the desk; return False if one holds what was changed."""
        while isinstance(page := self.app.screen, GuardedForm):
            if page.key_target.kind == "sends":
                return False
            if page.holds_changes:
                self._store.notify(
                    "info", "First Enter keeps what was changed here, or Esc drops it"
                )
                return False
            page.dismiss(None)
        return True

    def _show_chord(self) -> None:
        for screen in self.app.screen_stack:
            is_front = screen is self.app.screen
            screen.post_message(ChordChanged(self.chords.first if is_front else ""))

    def _end_chord(self) -> None:
        """Forget the first key of a chord: another screen has the keys, or what was typed is dropped."""
        if self.chords.first:
            self.chords.first = ""
            self._show_chord()

    def _is_idle(self, event: events.Key) -> bool:
        """Return whether a key has no meaning here."""
        if event.key in self.app.screen.active_bindings:
            return False
        in_force = self.keymap.in_force(self.key_context())
        typed = {event.key, event.character}
        return not any(typed.intersection(each.keys) for each in in_force)

    def _say_idle(self, event: events.Key, text: str) -> None:
        """Say that a key has no meaning: once while it is held or pressed again, and once for pasted text."""
        before, self._idle_key, self._idle_at = (
            (self._idle_key, self._idle_at),
            event.key,
            event.time,
        )
        is_again = event.key == before[0] and event.time - before[1] < IDLE_AGAIN
        if not is_again and self.guard.crowded_at is None:
            self._store.notify("info", text)

    @property
    def _help(self) -> str:
        return self.keymap.name("help")

    def _opens(self, event: Typed) -> bool:
        return isinstance(event, events.Key) and self.guard.touches_money(event.key, ON_THE_DESK)

    def _ends_a_form(self, event: Typed) -> bool:
        """Whether a key opens the next form, or leaves one: what follows Esc was not typed for the form."""
        left = isinstance(event, events.Key) and (event.key == "escape" or is_alt(event.key))
        return left or self._opens(event)

    def _after_a_key(self, screen: Screen[Any]) -> None:
        """Drop what was typed for a form that did not open, up to Esc or the next key that opens one."""
        opening, self._opening = self._opening, ""
        if opening and self.app.screen is screen and self._drop(until=self._ends_a_form):
            self._store.notify("warn", f"{opening} opened no form: keys typed for it were dropped.")

    def _drop(self, until: Callable[[Typed], bool] = lambda _event: False) -> Sequence[Typed]:
        """Drop the keys that wait; what follows closely on the last of them is part of their burst."""
        dropped = self._order.drop(until)
        if dropped:
            self.guard.last_time = max(self.guard.last_time, dropped[-1].time)
        return dropped

    def _say_unanswered(self, dropped: Sequence[Typed]) -> None:
        if dropped:
            self._store.notify(
                "bad", "Keys dropped: the desk did not react to the one before them."
            )

    async def run_key_action(self, action: str) -> None:
        """Run the action of a key, as the key map writes it, where the keys are."""
        _, name, arguments = actions.parse(action)
        for place in (self.app.focused, self.app.screen, self.app):
            if hasattr(place, f"action_{name}"):
                await self.app.run_action(action, default_namespace=place)
                return
        await self.app.run_action(("", "perform", (name, *arguments)))

    def _trip(self, cause: Cause, time: float) -> None:
        self._trip_key_time = time
        self._drop()
        self._end_chord()
        self._store.audit.record(
            "guard", f"{cause.value.text}, on {self._front_name()}: nothing was sent"
        )
        while isinstance(form := self.app.screen, ModalScreen):
            form.dismiss(None)
        level = self._store.arming.level
        self.disarm(cause)
        disarmed = self._store.arming.level != level
        now = monotonic()
        if disarmed or now - self._tripped_at > ONE_BURST:
            what = "Keys dropped, DISARMED" if disarmed else "Keys dropped"
            arms = f" {self.keymap.name('arm')} arms again." if disarmed else ""
            self._store.notify("bad", f"{what}: {cause.value.text}. Nothing was sent.{arms}")
        self._tripped_at = now

    def _close_if_tripped(self, screen: Screen[object]) -> None:
        """Close a form that opens only now, by an order key from before the trip."""
        late = self._order_key_time <= self._trip_key_time
        front = screen.key_target if isinstance(screen, GuardedForm) else ON_THE_DESK
        if late and front.kind == "sends" and monotonic() - self._tripped_at < ONE_BURST:
            screen.dismiss(None)

    def _note_unexpected_screen(self, screen: Screen[object]) -> None:
        """Note a screen that a worker brought to the front: keys from before were not typed for it."""
        self._end_chord()
        try:
            by_itself = get_current_worker().is_running
        except NoActiveWorker:
            by_itself = False
        self._unexpected_screen = screen if by_itself else None
        self._unasked_since = monotonic()

    def _front(self) -> KeyTarget:
        """Return where a key arrives; a form counts as painted anew where the process was stopped meanwhile."""
        screen = self.app.screen
        if not isinstance(screen, GuardedForm):
            return ON_THE_DESK
        front = screen.key_target
        if front.painted is not None and front.painted < self._continued_at():
            return replace(front, painted=self._continued_at())
        return front


def _is_foreign_letter(event: events.Key) -> bool:
    character = event.character or ""
    return character.isalpha() and not character.isascii()


def _name_of(event: events.Key) -> str:
    """Return how the key is written."""
    character = event.character if event.is_printable else None
    return character or SHOWN.get(event.key, event.key)
