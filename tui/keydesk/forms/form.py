"""The base of every form that sends: headline and figures, then the confirmation that the action matrix requires.

A form works on its own draft and on the store as it is at the redraw. It returns the instruction, or None, and sends
nothing.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from time import monotonic, time_ns
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual.binding import ActiveBinding
from textual.events import Key, Resize
from textual.geometry import Region

from keydesk.calc.orders.checks import FRESH
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms.form_lines import FormLines, confirmation_lines
from keydesk.forms.sheet import FormContext, ModalForm, Sheet, TextLine, wrap_words
from keydesk.keys.confirm import (
    EXITS,
    WRONG_LETTERS,
    Action,
    Challenge,
    Confirmation,
    KeyEffect,
    Step,
    is_refused_disarmed,
    required_step,
)
from keydesk.keys.guard import CONFIRM_KEYS, DWELL, SEND, KeyTarget
from keydesk.keys.guarded_app import TOO_EARLY, HasGuardedKeys
from keydesk.keys.keymap import FORM, KEYMAP
from keydesk.store.frame import Frame
from keydesk.store.state import Notice
from keydesk.store.trading_context import Snapshot
from keydesk.text.sanitize import clean, safe
from keydesk.widgets.overlay import Result
from keydesk.widgets.terminal_app import SMALLEST

Computed = TypeVar("Computed")

NUDGES: TextLine = (
    *(("↑ ↓", "plain"), (" ±1  ", "muted")),
    *((", .", "plain"), (" ±10  ", "muted")),
    *(("Tab", "plain"), (" next", "muted")),
)
FIELD_HINTS: TextLine = (("m", "plain"), (" unit  ", "muted"), *NUDGES)

PLAN_SECONDS = 0.5  # from one price to the next that moves the draft on the chart

UNUSABLE = (ArithmeticError, ValueError)
"""Raised by arithmetic on invalid figures of the broker, such as a size of 0."""

UNUSABLE_FIGURES = "The broker's figures for this cannot be used"
UNREADABLE = "Enlarge this window: nothing is sent that it does not show"
TITLE_FRAME = 6  # columns of the frame beside its title
FULL_LINES = 44  # columns in which the lines of a form need no shortening
STRIPS = 2  # rows of account and health, which no docked form covers
TOO_SMALL = f"Too small: {SMALLEST.width}×{SMALLEST.height} cells show what it opens on"

REFUSED_BY_LEVEL = {
    "DISARMED": "DISARMED is exit-only: {} arms",
    "READ-ONLY": "READ-ONLY: nothing is ever sent",
}


class Form(ModalForm[Result]):
    """A form that ends in a confirmation."""

    KEY_CONTEXT: ClassVar[str] = FORM
    WIDTH: ClassVar[int] = 60
    HINTS: ClassVar[TextLine] = ()  # keys of its fields that no line of it shows
    BINDINGS = KEYMAP.bindings(FORM)
    DEFAULT_CSS = """
    Form { align: left middle; }
    Form.-docked { align: right top; }
    Form > Sheet {
        height: auto; padding: 0 1; background: $background; border: heavy $readonly;
        border-title-style: bold; border-title-color: $bright;
    }
    Form.-docked > Sheet { padding: 0; margin: 2 0 0 0; }
    Form.-practice > Sheet { border: heavy $practice; }
    Form.-live > Sheet { border: heavy $live; border-title-color: $live-text; border-title-background: $live; }
    """

    def __init__(self, context: FormContext) -> None:
        self.context = context
        self._is_long = False  # longer than the column beside the chart has room for
        self._is_spread = False  # over the desk, as the trader asked for the lines left out
        self._hides_fields = False  # to show the lines left out in their place
        super().__init__(classes=f"-{self.environment}")
        self.set_class(self.dock > 0, "-docked")
        self.painted: float | None = None
        self._is_recorded = False  # in the audit log, as it opened
        self._challenge = Challenge(context.letters, monotonic)
        self._hint = ""
        self._planned_at = float("-inf")  # when a price last moved the draft on the chart
        self._asked_at = float("-inf")  # when an old price was asked for again
        self.subject = ""  # why the form is about this trade, where its row was not chosen
        self._snapshot = Snapshot(context.store, context.clock)

    # Where it stands: in the column beside the chart, or over the left of the desk.

    @property
    def dock(self) -> int:
        """Columns beside chart and watchlist for this form; 0: there are none, or it is too long for them."""
        return 0 if self._is_long or self._is_spread else self.context.dock_columns()

    @property
    def is_narrow(self) -> bool:
        """Whether lines have to be short: two figures a line."""
        return bool(self.dock) and self.inside < FULL_LINES

    @property
    def docked_region(self) -> Region:
        """The part of the screen that the docked sheet stands on; empty while it is not docked."""
        return self.sheet.region if self.dock and self.sheet is not None else Region()

    @property
    def sheet_width(self) -> int:
        """Columns of the sheet with its frame."""
        return self.dock or super().sheet_width

    @property
    def inside(self) -> int:
        """Columns of a line; beside the chart there is none to spare."""
        return self.dock - 2 if self.dock else super().inside

    def on_resize(self, event: Resize) -> None:  # noqa: ARG002
        """Try the column beside the chart again."""
        if self._drawn_for != self.app.size:
            self._is_long = self._is_spread = self._hides_fields = False
            self._place()

    def _place(self) -> None:
        self.set_class(self.dock > 0, "-docked")
        if self.sheet is not None:
            self.sheet.styles.width = self.sheet_width

    # To be implemented by each form.

    @abstractmethod
    def headline(self) -> TextLine:
        """Return in words what the form will do."""

    def body(self) -> Sequence[TextLine]:
        """Return the lines between headline and confirmation."""
        return ()

    def field_lines(self) -> Sequence[TextLine]:
        """Return the lines of the body that nothing is sent without: what the trader types."""
        return ()

    def details(self) -> Sequence[TextLine]:
        """Return the lines of the body that are left out where rows are missing, the least important first."""
        return ()

    @abstractmethod
    def action(self) -> Action:
        """Return what the form does, for the confirmation matrix."""

    def refusals(self) -> Sequence[str]:
        """Return the reasons why it cannot be sent as it stands."""
        return ()

    def warnings(self) -> Sequence[str]:
        """Return what the trader should know before it is sent."""
        return ()

    @abstractmethod
    def result(self) -> Result | None:
        """Return the decision, frozen at this moment."""

    def doubt(self) -> str:
        """Return, once, a change since the last drawing that asks for a second press; empty: send."""
        return ""

    def opens_on(self) -> str:
        """Return the instrument whose fresh price it needs; empty for an exit."""
        return ""

    def planned(self) -> tuple[str, Sequence[PriceLine]]:
        """Return the instrument and the prices of the draft, for its chart; none of what cannot be read."""
        return "", ()

    def opens(self) -> bool:
        """Return whether it may open a trade, and so needs a fresh price and a readable screen."""
        return bool(self.opens_on())

    def typed(self, key: str) -> bool:  # noqa: ARG002 - a form with fields reads it
        """Handle a key without a binding; return True when the form used it."""
        return False

    # Life cycle.

    @property
    def key_target(self) -> KeyTarget:
        """Return where keys arrive, for the guard."""
        return KeyTarget("sends", self.painted)

    @property
    def environment(self) -> str:
        """Return `live`, `practice` or `read-only`: the colour of the frame."""
        level, environment = (
            self.context.store.arming.level,
            self.context.store.health.environment,
        )
        return "read-only" if level == "READ-ONLY" else environment.lower()

    def title_sheet(self, sheet: Sheet) -> None:
        """Name the environment and the account."""
        account = self.context.store.account
        name = f"{account.alias or 'account'} …{account.id[-3:]}" if account else "no account"
        title = clean(f"{self.environment.upper()}  {name}")
        if account and self.dock and cell_len(title) > self.dock - TITLE_FRAME:
            title = clean(f"{self.environment.upper()}  …{account.id[-3:]}")
        sheet.border_title = Text(title)

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
        if self.painted is None or self.sheet is None:
            return
        with self._snapshot.open():
            try:
                instrument, lines = self.planned()
            except UNUSABLE:
                instrument, lines = "", ()
        self.context.show_plan(instrument, lines)

    def on_unmount(self) -> None:
        """Take the prices of the draft off the chart."""
        self.context.show_plan("", ())

    # One snapshot for a redraw or a key.

    def drawing(self) -> AbstractContextManager[None]:
        """Compute the lines of the form in one snapshot, with the present average true ranges."""
        return self._snapshot.drawing()

    def as_painted(self) -> AbstractContextManager[None]:
        """Compute with the prices and funds that are on the screen."""
        return self._snapshot.as_painted()

    def once(self, key: Hashable, compute: Callable[[], Computed]) -> Computed:
        """Return what was computed under this key in the snapshot; outside of one, compute it."""
        return self._snapshot.once(key, compute)

    def trading_context_about(self, instrument: str) -> TradingContext | None:
        """Return the instrument's rules and price and the account's funds; None while one of them is missing."""
        return self._snapshot.context(instrument)

    def _keep_fresh(self, instrument: str) -> None:
        now, quote = self.context.clock(), self.context.store.quotes.get(instrument)
        old = quote is None or now - quote.received > FRESH
        if instrument and old and now - self._asked_at >= FRESH:
            self._asked_at = now
            self.context.ask_price(instrument)

    def confirmation(self) -> Confirmation:
        """Return the step that would send the form now."""
        try:
            refusals = self.refusals()
        except UNUSABLE:
            refusals = (UNUSABLE_FIGURES,)
        if self.opens() and self._is_cut_off():
            refusals = (TOO_SMALL,)
        if self.opens() and self.context.no_orders:
            refusals = (f"No new orders, exits work: {self.context.no_orders}",)
        if refusals:
            return Confirmation(Step.REFUSED, reason=refusals[0])
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

    def _is_cut_off(self) -> bool:
        """Return whether the terminal is too small to show the form and the account."""
        size = self.app.size if self.is_attached else SMALLEST
        return size.width < SMALLEST.width or size.height < SMALLEST.height

    async def on_key(self, event: Key) -> None:
        """Handle keys in order of arrival: a field's letter takes effect before the digits that follow."""
        self._hint = ""  # of the previous key
        bound = self.active_bindings.get(event.key)
        if bound is not None and bound.node is not self:
            return
        event.stop()
        hidden = self._hides_fields
        with self._snapshot.open():
            await self._take_key(event, bound)
        if hidden and self._hides_fields:
            self._hides_fields = False
            self.redraw()
        self.call_after_refresh(self._show_plan)

    async def _take_key(self, event: Key, bound: ActiveBinding | None) -> None:
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
        asked = self.confirmation()
        if asked.step is Step.REFUSED and key in CONFIRM_KEYS:
            self.context.record("refused", f"{type(self).__name__} {key}: {asked.reason}")
        if asked.answer(key) is KeyEffect.SENDS and not self.is_confirmed():
            self._hint = TOO_EARLY
            return
        match asked.answer(key):
            case KeyEffect.SENDS if self.action() not in EXITS and not self._is_readable(asked):
                self._hint = UNREADABLE
            case KeyEffect.SENDS if self.action() not in EXITS and self._hides_fields:
                self._hint = f"NOT SENT: its fields were hidden; {key} sends what stands here now"
            case KeyEffect.SENDS if doubt := self.doubt():
                self._hint, self.painted = doubt, monotonic()
            case KeyEffect.SENDS:
                self._send()
            case KeyEffect.WRONG if asked.step is Step.CHALLENGE:
                self._take_wrong_letter(key)
            case KeyEffect.WRONG:
                self._hint = f"NOT SENT by {key}: {SEND} sends it now"
            case KeyEffect.NOTHING:
                pass

    def is_confirmed(self) -> bool:
        """Whether the guard let a confirm key through for this form: one that was typed before it opened never counts."""
        return not isinstance(self.app, HasGuardedKeys) or self.app.guarded_keys.take_confirm(self)

    def _send(self) -> None:
        with self.as_painted():
            result = self.result()
        self._record("preview", "sent as shown")
        if result is None:
            self._hint = (
                "NOT SENT: its price or its trade is gone. Close the form and open it again"
            )
        else:
            self.close(result)

    def _record(self, what: str, why: str) -> None:
        """Write the form to the audit log, as it is on the screen."""
        shown = "" if self.sheet is None else " / ".join(self.sheet.words.split("\n"))
        self.context.record(what, f"{type(self).__name__} {why}: {' '.join(shown.split())}")

    def close(self, result: Result | None) -> None:
        """Close the form with a result; do nothing when it is closed."""
        if self.is_active:
            self.dismiss(result)

    def _take_wrong_letter(self, key: str) -> None:
        """Keep what was typed and show another letter after the dwell; the third wrong one closes the form."""
        asked = self._challenge.letter()
        if not self._challenge.take_wrong():
            words = f"NOT SENT: {WRONG_LETTERS} wrong letters, the form is closed. Open it again to send"
            self.context.store.notify(Notice("warn", safe(words), time_ns(), asks=True))
            self.close(None)
            return
        self._hint = f"NOT SENT: the letter was {asked}, not {clean(key)}. Kept as typed"
        self.painted = None
        self.set_timer(DWELL, self._show_next_letter)

    def _show_next_letter(self) -> None:
        self._challenge.end_pause()
        self.redraw()
        self.call_after_refresh(self._note_painted)

    def say_dropped(self, words: str) -> None:
        """Show that a key was dropped."""
        self._hint = words
        self.redraw()

    def action_send(self) -> None:
        """Act as the send key."""
        self.answer(SEND)
        self.redraw()

    def action_left_out(self) -> None:
        """Show the lines that were left out: over the desk, then in place of the fields; then go back."""
        lines = self._form_lines(self.confirmation())
        leaves_out = self._without_hidden(lines).leaves_out(self._room)
        if leaves_out and self.dock:
            self._is_spread, self._hint = True, "x goes back to the right column"
        elif leaves_out and not self._hides_fields:
            self._hides_fields = True
        elif self._is_spread or self._hides_fields:
            self._is_spread = self._hides_fields = False
        else:
            self._hint = "Nothing is left out"
        self._place()
        self.redraw()

    def action_drop(self) -> None:
        """Close the form; nothing is sent."""
        self.close(None)

    def _note_painted(self) -> None:
        if not self._is_recorded:
            self._is_recorded = True
            self._record("preview", "opened")
        self._snapshot.note_painted()
        self.painted = monotonic()
        self._show_plan()

    def lines(self) -> Sequence[TextLine]:
        """Return headline, body, warnings and confirmation, as many as the screen has room for."""
        with self.drawing():
            return self._fitted_lines()

    def _undocked_lines(self) -> list[TextLine]:
        """Return the lines over the left of the desk, where there is more room."""
        self._is_long = True
        self._place()
        return self._fitted_lines()

    def _fitted_lines(self) -> list[TextLine]:
        lines = self._form_lines(self.confirmation())
        if self.dock and not lines.has_room(self._room):
            return self._undocked_lines()
        if lines.is_readable(self._room):
            return self._without_hidden(lines).fitted(self._room)
        if self.action() in EXITS:  # the window refuses no exit
            return [*lines.head, *lines.foot][-self._room :]
        return wrap_words(safe(self._hint or UNREADABLE), "danger", self.inside)[: self._room]

    def _without_hidden(self, lines: FormLines) -> FormLines:
        return lines.without_fields() if self._hides_fields else lines

    @property
    def _room(self) -> int:
        """Lines within the frame of the sheet."""
        return self.app.size.height - (2 + STRIPS if self.dock else 2)

    def _is_readable(self, asked: Confirmation) -> bool:
        return self._form_lines(asked).is_readable(self._room)

    def _form_lines(self, asked: Confirmation) -> FormLines:
        content, warnings = self._content(asked)
        return FormLines.of(
            content,
            self.field_lines() if len(content) > 1 else (),
            warnings,
            confirmation_lines(asked, self.HINTS, self.inside),
            details=self.details() if len(content) > 1 else (),
            subject=self.subject,
            hint=self._hint,
            width=self.inside,
        )

    def _content(self, asked: Confirmation) -> tuple[list[TextLine], Sequence[str]]:
        """Return headline, body and warnings; an exit can be sent although its figures cannot be shown."""
        try:
            warnings = () if asked.step is Step.REFUSED else self.warnings()
            return [self.headline(), *self.body()], warnings
        except UNUSABLE:
            return [((UNUSABLE_FIGURES, "danger"),)], ()
