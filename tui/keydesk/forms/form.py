"""The base of every form that sends: headline and figures, then the confirmation that the action matrix requires.

A form works on its own draft and on the store as it is at the redraw. It returns the instruction, or None, and sends
nothing.
"""

from abc import abstractmethod
from collections.abc import Sequence
from string import ascii_lowercase
from time import monotonic, time_ns
from typing import ClassVar

from textual.binding import ActiveBinding
from textual.events import Key

from keydesk.calc.market.price_age import FRESH
from keydesk.forms.form_lines import KEYS_HINT
from keydesk.forms.form_view import UNREADABLE, UNUSABLE, UNUSABLE_FIGURES, FormView
from keydesk.forms.info_form import HelpForm
from keydesk.forms.modal_form import FormContext, TextLine
from keydesk.forms.requests import PlanChanged, PriceWanted
from keydesk.keys.confirm import (
    EXITS,
    WRONG_LETTERS,
    Challenge,
    Confirmation,
    KeyEffect,
    Step,
    is_refused_disarmed,
    required_step,
)
from keydesk.keys.guard import CONFIRM_KEYS, DWELL, SEND, KeyTarget
from keydesk.keys.guarded_app import TOO_EARLY
from keydesk.keys.keymap import FORM
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.state import Notice
from keydesk.text.sanitize import clean, safe
from keydesk.widgets.overlay import Result
from keydesk.widgets.terminal_app import SMALLEST

STEP: TextLine = (("↑ ↓", "plain"), (" ±1  ", "muted"))
NEXT_FIELD: TextLine = (("Tab", "plain"), (" next  ", "muted"), *KEYS_HINT)
TENS: TextLine = ((", .", "plain"), (" ±10  ", "muted"))
NUDGES: TextLine = (*STEP, *TENS, *NEXT_FIELD)
FIELD_HINTS: TextLine = (("m", "plain"), (" unit  ", "muted"), *STEP, *NEXT_FIELD)

ONLY_LOOKS = frozenset(("form_keys", "left_out"))  # actions that change nothing

PLAN_SECONDS = 0.5  # from one price to the next that moves the draft on the chart

TOO_SMALL = f"Too small: {SMALLEST.width}×{SMALLEST.height} cells show what it opens on"

REFUSED_BY_LEVEL = {
    "DISARMED": "DISARMED is exit-only: {} arms",
    "READ-ONLY": "READ-ONLY: nothing is ever sent",
}


class Form(FormView[Result]):
    """A form that ends in a confirmation."""

    KEY_CONTEXT: ClassVar[str] = FORM
    BINDINGS = bindings_of(FORM)  # each form adds those of its own context

    def __init__(self, context: FormContext) -> None:
        super().__init__(context)
        self.painted: float | None = None
        self._is_recorded = False  # in the audit log, as it opened
        self._challenge = Challenge(context.letters)
        self._key_time = float("-inf")  # when the key that is being handled was typed
        self._planned_at = float("-inf")  # when a price last moved the draft on the chart
        self._asked_at = float("-inf")  # when an old price was asked for again
        self.begin()

    def __init_subclass__(cls, **options: bool) -> None:
        """Bind the keys that the key map has for the form."""
        if "KEY_CONTEXT" in vars(cls):
            cls.BINDINGS = bindings_of(cls.KEY_CONTEXT)
        super().__init_subclass__(**options)

    # To be implemented by each form.

    def refusals(self) -> Sequence[str]:
        """Return the reasons why it cannot be sent as it is."""
        return ()

    def begin(self) -> None:
        """Fill the fields: as the form opens, and when it turns to another trade."""

    @abstractmethod
    def request(self) -> Result | None:
        """Return what is sent, frozen at this moment; None while it cannot be."""

    def recheck_reason(self) -> str:
        """Return, once, why a change since the last drawing requires a second press; empty: send."""
        return ""

    def opens(self) -> bool:
        """Return whether it may open a trade, and so needs a fresh price and a readable screen."""
        return bool(self.opens_on())

    def typed(self, key: str) -> bool:  # noqa: ARG002 - a form with fields reads it
        """Handle a key without a binding; return True when the form used it."""
        return False

    @property
    def active_field(self) -> str:
        """The field that digits fill, for the help; "" where the form has none."""
        return ""

    @property
    def is_writing(self) -> bool:
        """Whether letters go to a field of text: none of them can send then."""
        return False

    def write(self, key: str, character: str | None) -> None:
        """Take a key for the field of text that is being written."""

    # Life cycle.

    @property
    def key_target(self) -> KeyTarget:
        """Return where keys arrive, for the guard: at a text field while letters go to one, else at the form."""
        return KeyTarget("text" if self.is_writing else "sends", self.painted)

    def on_mount(self) -> None:
        """Note when the form was first painted."""
        self._keep_fresh(self.opens_on())
        self.call_after_refresh(self._note_painted)

    def on_frame(self, frame: Frame) -> None:
        """Redraw with the new prices; the chart beneath, less often."""
        self.redraw()
        if frame.now - self._planned_at >= PLAN_SECONDS:
            self._planned_at = frame.now
            self._show_plan()

    def redraw(self) -> None:
        """Draw with the present figures, and request a price again that has become old."""
        self._keep_fresh(self.opens_on())
        super().redraw()
        if self.is_attached:
            self.call_after_refresh(self._snapshot.note_painted)

    def _show_plan(self) -> None:
        """Draw the prices of the draft on the chart; figures that cannot be used draw none."""
        if self.painted is None or self.panel is None:
            return
        with self._snapshot.open():
            try:
                instrument, lines = self.planned()
            except UNUSABLE:
                instrument, lines = "", ()
        self.app.post_message(PlanChanged(instrument, lines))

    def on_unmount(self) -> None:
        """Take the prices of the draft off the chart."""
        self.app.post_message(PlanChanged("", ()))

    def _keep_fresh(self, instrument: str) -> None:
        now, quote = self.context.clock(), self.context.store.quotes.get(instrument)
        old = quote is None or now - quote.received > FRESH
        if instrument and old and now - self._asked_at >= FRESH:
            self._asked_at = now
            self.app.post_message(PriceWanted(instrument))

    # Its confirmation.

    def confirmation(self) -> Confirmation:
        """Return the step that would send the form now."""
        if self.opens() and (block_reason := self._block_reason()):
            return Confirmation(Step.REFUSED, reason=block_reason)
        try:
            refusals = self.refusals()
        except UNUSABLE:
            refusals = (UNUSABLE_FIGURES,)
        if refusals:
            return Confirmation(Step.REFUSED, reason=refusals[0], is_of_draft=True)
        level, action = self.context.store.arming.level, self.action()
        step = required_step(action, level)
        held = self.context.exit_only() if is_refused_disarmed(action) else ""
        if held and level != "READ-ONLY":
            return Confirmation(Step.REFUSED, reason=held)
        if step is Step.CHALLENGE:
            return Confirmation(step, letter=self._challenge.letter())
        if step is Step.REFUSED:
            arms = self.context.keymap.name("arm")
            return Confirmation(step, reason=REFUSED_BY_LEVEL.get(level, "Refused").format(arms))
        return Confirmation(step)

    def _block_reason(self) -> str:
        """Return why no form may open a trade now; "" if one may."""
        if trouble := self.context.store.sent.no_orders:
            return f"No new orders, exits work: {trouble}"
        return TOO_SMALL if self._is_cut_off() else ""

    def _is_cut_off(self) -> bool:
        """Return whether the terminal is too small to show the form and the account."""
        size = self.app.size if self.is_attached else SMALLEST
        return size.width < SMALLEST.width or size.height < SMALLEST.height

    # Keys.

    async def on_key(self, event: Key) -> None:
        """Handle keys in order of arrival: a field's letter takes effect before the digits that follow."""
        self._hint = ""  # of the previous key
        self._key_time = event.time
        bound = self.active_bindings.get(event.key)
        if bound is not None and bound.node is not self:
            return
        event.stop()
        hidden = self._hides_fields
        with self._snapshot.open():
            await self._handle_key(event, bound)
        if hidden and self._hides_fields:
            self._hides_fields = False
            self.redraw()
        self.call_after_refresh(self._show_plan)

    async def _handle_key(self, event: Key, bound: ActiveBinding | None) -> None:
        self.is_touched |= bound is None or bound.binding.action not in ONLY_LOOKS
        if self.is_writing:
            event.prevent_default()
            self.write(event.key, event.character if event.is_printable else None)
            self.redraw()
            return
        if bound is not None:
            event.prevent_default()
            try:
                await self.run_action(bound.binding.action)
            except UNUSABLE:
                self._hint = UNUSABLE_FIGURES
                self.redraw()
            return
        key = event.character if event.is_printable and event.character else event.key
        try:
            if not self.typed(key):
                self.answer(key)
        except UNUSABLE:
            self._hint = UNUSABLE_FIGURES
        self.redraw()

    def answer(self, key: str) -> None:
        """Confirm, show another letter, or ignore the key."""
        self._hint = "Only small letters send: is Caps Lock on?" if key.isupper() else ""
        confirmation = self.confirmation()
        if confirmation.step is Step.REFUSED and key in CONFIRM_KEYS:
            self.context.store.audit.record(
                "refused", f"{key}: {confirmation.reason} ({self.headline_text()})"
            )
        unconfirmed = confirmation.answer(key) is KeyEffect.SENDS and not self.is_confirmed()
        if unconfirmed or self._is_for_the_letter_before(confirmation, key):
            self._hint = TOO_EARLY
            return
        match confirmation.answer(key):
            case KeyEffect.SENDS if self.action() not in EXITS and not self._is_readable(
                confirmation
            ):
                self._hint = UNREADABLE
            case KeyEffect.SENDS if self.action() not in EXITS and self._hides_fields:
                self._hint = f"NOT SENT: its fields were hidden; {key} sends what stands here now"
            case KeyEffect.SENDS if recheck_reason := self.recheck_reason():
                self._hint, self.painted = recheck_reason, monotonic()
            case KeyEffect.SENDS:
                self._send()
            case KeyEffect.WRONG if confirmation.step is Step.CHALLENGE:
                self._count_wrong_letter(key)
            case KeyEffect.WRONG:
                self._hint = f"NOT SENT by {key}: {SEND} sends it now"
            case KeyEffect.NOTHING:
                pass

    def _is_for_the_letter_before(self, confirmation: Confirmation, key: str) -> bool:
        """Return whether a key was typed before the present letter was shown, after a wrong one."""
        turned = confirmation.step is Step.CHALLENGE and self._challenge.has_turned
        if not turned or key not in ascii_lowercase:
            return False
        return self.painted is None or self._key_time < self.painted

    def is_confirmed(self) -> bool:
        """Whether the guard let a confirm key through for this form: one that was typed before it opened never counts."""
        guard = self.context.guard
        return guard is None or guard.take_confirm(self)

    def _send(self) -> None:
        with self.as_painted():
            result = self.request()
        self._record("preview", "sent as shown")
        if result is None:
            self._hint = (
                "NOT SENT: its price or its trade is gone. Close the form and open it again"
            )
        else:
            self.close(result)

    def _record(self, what: str, why: str) -> None:
        """Write the form to the audit log, as it is on the screen."""
        shown = "" if self.panel is None else " / ".join(self.panel.text.split("\n"))
        self.context.store.audit.record(what, f"{why}: {' '.join(shown.split())}")

    def close(self, result: Result | None) -> None:
        """Close the form with a result; do nothing when it is closed."""
        if self.is_active:
            self.dismiss(result)

    def _count_wrong_letter(self, key: str) -> None:
        """Keep what was typed and show another letter after the dwell; the third wrong one closes the form."""
        letter = self._challenge.letter()
        if not self._challenge.count_wrong():
            text = f"NOT SENT: {WRONG_LETTERS} wrong letters, the form is closed. Open it again to send"
            self.context.store.add_notice(Notice("warn", safe(text), time_ns(), asks=True))
            self.close(None)
            return
        self._hint = f"NOT SENT: the letter was {letter}, not {clean(key)}. Kept as typed"
        self.painted = None
        self.set_timer(DWELL, self._show_next_letter)

    def _show_next_letter(self) -> None:
        self._challenge.end_pause()
        self.redraw()
        self.call_after_refresh(self._note_painted)

    def headline_text(self) -> str:
        """Return the headline on one line; of a form whose figures cannot be shown, its kind."""
        try:
            runs = self.headline()
        except UNUSABLE:
            return type(self).__name__
        return " ".join("".join(text for text, _ in runs).split())

    def say_dropped(self, text: str) -> bool:
        """Show that a key was dropped: the form may cover the notice line."""
        self._hint = text
        self.redraw()
        return True

    def action_send(self) -> None:
        self.answer(SEND)
        self.redraw()

    def action_drop(self) -> None:
        """Close the form; nothing is sent."""
        self.close(None)

    def action_form_keys(self) -> None:
        """Show the keys of this form; a confirm key counts once the form was on the screen again."""
        ids = {each.binding.id for each in self.active_bindings.values() if each.node is self}
        self.painted = None
        keymap, context = self.context.keymap, self.KEY_CONTEXT
        keys = HelpForm(keymap, context, lambda id_: id_ not in ids, self.active_field)
        self.app.push_screen(keys, self._show_again)

    def _show_again(self, _: None) -> None:
        self.painted = None  # another letter may have been drawn beneath the list
        self.redraw()
        self.call_after_refresh(self._note_painted)

    def _note_painted(self) -> None:
        self.painted = (
            monotonic()
        )  # before the audit log is written: a slow disk does not make the form late
        self._snapshot.note_painted()
        if not self._is_recorded:
            self._is_recorded = True
            self._record("preview", "opened")
        self._show_plan()
