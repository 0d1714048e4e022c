"""The base of every form that sends: headline and figures, then the confirmation that the action matrix requires.

A form works on its own draft and on the store as it is at the redraw. It returns the instruction, or None, and sends
nothing.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from time import monotonic, time_ns
from typing import Any, ClassVar, Generic, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import ActiveBinding
from textual.events import Key, Resize
from textual.geometry import Size

from keydesk.calc.checks import FRESH
from keydesk.calc.trading_context import TradingContext
from keydesk.chart.price_axis import PriceLine
from keydesk.forms.sheet import (
    BLANK,
    FormContext,
    Sheet,
    TextLine,
    docked,
    text_of,
    with_hints,
    wrap_words,
)
from keydesk.keys.confirm import (
    EXITS,
    WRONG_LETTERS,
    Action,
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
from keydesk.store.trading_context import trading_context_of
from keydesk.text.sanitize import clean, safe
from keydesk.widgets.overlay import Overlay, Result
from keydesk.widgets.terminal_app import SMALLEST
from keydesk.widgets.theme import palette_of

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
STRIPS = 2  # rows of account and health, which no docked form covers
MORE: TextLine = (("… more in a larger window", "muted"),)
TOO_SMALL = f"Too small: {SMALLEST.width}×{SMALLEST.height} cells show what it opens on"

REFUSED_BY_LEVEL = {
    "DISARMED": "DISARMED is exit-only: {} arms",
    "READ-ONLY": "READ-ONLY: nothing is ever sent",
}


class ModalForm(Overlay[Result], Generic[Result]):
    """A modal screen with a sheet, which closes only once: a key queued behind the closing one must not send again."""

    WIDTH: ClassVar[int] = 60

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with a result; do nothing when the form is closed already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        return super().dismiss(result)

    def __init__(self, classes: str = "") -> None:
        super().__init__(classes=classes)
        self.sheet: Sheet | None = None  # None before it is composed and after it is removed
        self._drawn_for: Size | None = None  # of the terminal

    @property
    def inside(self) -> int:
        """Columns of a line."""
        return max(1, self.sheet_width - 4)

    @property
    def sheet_width(self) -> int:
        """Columns of the sheet with its frame."""
        return min(self.WIDTH, self.app.size.width or self.WIDTH)

    def lines(self) -> Sequence[TextLine]:
        """Return what the sheet shows."""
        raise NotImplementedError

    def title_sheet(self, sheet: Sheet) -> None:
        """Set the words in the frame of the sheet."""

    def compose(self) -> ComposeResult:
        """Yield the sheet."""
        yield self.new_sheet()

    def new_sheet(self) -> Sheet:
        """Return the sheet with its lines, width and title, so that mounting it lays the screen out once."""
        self._drawn_for = self.app.size
        text = text_of(self.lines(), palette_of(self.app))
        self.sheet = Sheet(text, self.sheet_width)
        self.title_sheet(self.sheet)
        return self.sheet

    def redraw(self) -> None:
        """Draw everything as it is now; do nothing while the form is being mounted or removed."""
        if self.sheet is not None and self.is_attached:
            self.title_sheet(self.sheet)
            self.sheet.show(text_of(self.lines(), palette_of(self.app)))

    def on_resize(self, event: Resize) -> None:
        """Draw for the terminal's new size.

        The first layout reports a size too. Textual would then lay out this screen and those beneath once more,
        although each has that size.
        """
        if all(screen.outer_size == event.size for screen in self.app.screen_stack):
            event.prevent_default()
        if self._drawn_for != self.app.size:
            self._drawn_for = self.app.size
            if self.sheet is not None:
                self.sheet.styles.width = self.sheet_width
            self.redraw()

    def on_unmount(self) -> None:
        """Release the sheet."""
        self.sheet = None


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
        super().__init__(classes=f"-{self.environment}")
        self.set_class(self.dock > 0, "-docked")
        self.painted: float | None = None
        self._letter = ""
        self._wrong_letters = 0
        self._next_letter_at = float("-inf")  # until then a challenge shows none
        self._hint = ""
        self._planned_at = float("-inf")  # when a price last moved the draft on the chart
        self._asked_at = float("-inf")  # when an old price was asked for again
        self.subject = ""  # why the form is about this trade, where its row was not chosen
        self._snapshot: dict[Hashable, Any] | None = None  # what this redraw has read and computed
        self._drawn_ranges: dict[str, Decimal | None] = {}  # average true range by instrument

    # Where it stands: in the column beside the chart, or over the left of the desk.

    @property
    def dock(self) -> int:
        """Columns beside chart and watchlist for this form; 0: there are none, or it is too long for them."""
        return 0 if self._is_long else self.context.dock_columns()

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
            self._is_long = False
            self._place()

    def _place(self) -> None:
        self.set_class(self.dock > 0, "-docked")
        if self.sheet is not None:
            self.sheet.styles.width = self.sheet_width

    # To be implemented by each form.

    def headline(self) -> TextLine:
        """Return in words what the form will do."""
        raise NotImplementedError

    def body(self) -> Sequence[TextLine]:
        """Return the lines between headline and confirmation."""
        return ()

    def field_lines(self) -> Sequence[TextLine]:
        """Return the lines of the body that nothing is sent without: what the trader types."""
        return ()

    def action(self) -> Action:
        """Return what the form does, for the confirmation matrix."""
        raise NotImplementedError

    def refusals(self) -> Sequence[str]:
        """Return the reasons why it cannot be sent as it stands."""
        return ()

    def warnings(self) -> Sequence[str]:
        """Return what the trader should know before it is sent."""
        return ()

    def result(self) -> Result | None:
        """Return the decision, frozen at this moment."""
        raise NotImplementedError

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

    def _show_plan(self) -> None:
        """Draw the prices of the draft on the chart; figures that cannot be used draw none."""
        if self.painted is None or self.sheet is None:
            return
        with self.one_snapshot():
            try:
                instrument, lines = self.planned()
            except UNUSABLE:
                instrument, lines = "", ()
        self.context.show_plan(instrument, lines)

    def on_unmount(self) -> None:
        """Take the prices of the draft off the chart."""
        self.context.show_plan("", ())

    # One snapshot for a redraw or a key.

    @contextmanager
    def one_snapshot(self) -> Iterator[None]:
        """Read the store and compute each figure at most once within the block."""
        before = self._snapshot
        self._snapshot = {} if before is None else before
        try:
            yield
        finally:
            self._snapshot = before

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Compute the lines of the form in one snapshot, with the present average true ranges.

        Until the next drawing, keys count distances such as `1.5a` by the ranges of this one: the stop and the units that are
        sent are those on the screen, also when an hourly candle completes between the drawing and the key.
        """
        if self._snapshot is None:
            self._drawn_ranges.clear()
        with self.one_snapshot():
            yield

    def once(self, key: Hashable, compute: Callable[[], Computed]) -> Computed:
        """Return what was computed under this key in the snapshot; outside of one, compute it."""
        if self._snapshot is None:
            return compute()
        if key not in self._snapshot:
            self._snapshot[key] = compute()
        computed: Computed = self._snapshot[key]
        return computed

    def trading_context_about(self, instrument: str) -> TradingContext | None:
        """Return the instrument's rules and price and the account's funds; None while one of them is missing."""
        return self.once(("context", instrument), lambda: self._read_context(instrument))

    def _read_context(self, instrument: str) -> TradingContext | None:
        context = trading_context_of(self.context.store, instrument, self.context.clock())
        if context is None:
            return None
        drawn = self._drawn_ranges.setdefault(instrument, context.average_range)
        return replace(context, average_range=drawn)

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
            if not self._letter and monotonic() >= self._next_letter_at:
                self._letter = self.context.letters.draw()
            return Confirmation(step, letter=self._letter)
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
        with self.one_snapshot():
            await self._take_key(event, bound)
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
        self._wrong_letters += 1
        if self._wrong_letters >= WRONG_LETTERS:
            words = f"NOT SENT: {WRONG_LETTERS} wrong letters, the form is closed. Open it again to send"
            self.context.store.notify(Notice("warn", safe(words), time_ns(), asks=True))
            self.close(None)
            return
        self._hint = f"NOT SENT: the letter was {self._letter}, not {clean(key)}. Kept as typed"
        self._letter, self.painted = "", None
        self._next_letter_at = monotonic() + DWELL
        self.set_timer(DWELL, self._show_next_letter)

    def _show_next_letter(self) -> None:
        self._next_letter_at = float("-inf")
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

    def action_drop(self) -> None:
        """Close the form; nothing is sent."""
        self.close(None)

    def _note_painted(self) -> None:
        if self.painted is None and not self._wrong_letters:
            self._record("preview", "opened")
        self.painted = monotonic()
        self._show_plan()

    def lines(self) -> Sequence[TextLine]:
        """Return headline, body, warnings and confirmation, as many as the screen has room for."""
        with self.drawing():
            lines = self._fitted_lines()
            return self._undocked_lines() if self.dock and MORE in lines else lines

    def _undocked_lines(self) -> list[TextLine]:
        """Return the lines over the left of the desk, where there is more room."""
        self._is_long = True
        self._place()
        return self._fitted_lines()

    def _fitted_lines(self) -> list[TextLine]:
        asked = self.confirmation()
        content, warnings = self._content(asked)
        head, fields, foot = self._essential_lines(content, asked)
        room = self._room - len(head) - len(foot)
        if len(fields) > room and self.dock:
            return self._undocked_lines()
        if len(fields) > room and self.action() in EXITS:  # the window refuses no exit
            return [*head, *foot][-self._room :]
        if len(fields) > room:
            return wrap_words(safe(self._hint or UNREADABLE), "danger", self.inside)[: self._room]
        said = wrap_words(safe(self._hint), "warn", self.inside) if self._hint else []
        foot = [*said, *foot] if len(said) + len(fields) <= room else foot
        subject: list[TextLine] = [((safe(self.subject), "muted"),)] if self.subject else []
        body = [part for line in (*subject, *content[1:]) for part in docked(line, self.inside)]
        apart = [
            line for each in warnings for line in wrap_words(safe(f"▲ {each}"), "warn", self.inside)
        ]
        lines = fit_lines([*head, *body, BLANK, *apart, *foot], self._room)
        if len(lines) <= self._room:
            return lines
        together = wrap_words(
            safe("  ".join(f"▲ {each}" for each in warnings)), "warn", self.inside
        )
        rest = [*fields, *(line for line in body if line not in fields), *together]
        return cut_above_foot(head, rest, foot, self._room)

    @property
    def _room(self) -> int:
        """Lines within the frame of the sheet."""
        return self.app.size.height - (2 + STRIPS if self.dock else 2)

    def _essential_lines(
        self, content: Sequence[TextLine], asked: Confirmation
    ) -> tuple[list[TextLine], list[TextLine], list[TextLine]]:
        """Return what the form does, its fields, and what sends it: the lines without which nothing is sent."""
        fields = self.field_lines() if len(content) > 1 else ()
        head, typed, foot = (
            [part for line in lines for part in docked(line, self.inside)]
            for lines in (content[:1], fields, self._confirmation_lines(asked))
        )
        return head, typed, foot

    def _is_readable(self, asked: Confirmation) -> bool:
        """Return whether the terminal has room for the lines without which nothing is sent."""
        content, _ = self._content(asked)
        return sum(map(len, self._essential_lines(content, asked))) <= self._room

    def _content(self, asked: Confirmation) -> tuple[list[TextLine], Sequence[str]]:
        """Return headline, body and warnings; an exit can be sent although its figures cannot be shown."""
        try:
            warnings = () if asked.step is Step.REFUSED else self.warnings()
            return [self.headline(), *self.body()], warnings
        except UNUSABLE:
            return [((UNUSABLE_FIGURES, "danger"),)], ()

    def _confirmation_lines(self, asked: Confirmation) -> list[TextLine]:
        drop: TextLine = (("Esc", "bright"), (" drops", "muted"))
        match asked.step:
            case Step.SEND_KEY:
                return [self._foot(((SEND, "bright"), (" sends", "plain")), drop)]
            case Step.CHALLENGE if not asked.letter:
                return [self._foot((("another letter comes", "danger"),), drop)]
            case Step.CHALLENGE:
                letter: TextLine = (
                    ("type ", "danger"),
                    (safe(f"  {asked.letter}  "), "live-text on live"),
                    (" to send", "danger"),
                )
                return [self._foot(letter, drop)]
            case Step.REFUSED:
                words = wrap_words(safe(f"✗ {asked.reason}"), "danger", self.inside)
                return [*words, self._foot((), drop)]

    def _foot(self, left: TextLine, right: TextLine) -> TextLine:
        return with_hints(left, self.HINTS, right, self.inside)


def fit_lines(lines: Sequence[TextLine], height: int) -> list[TextLine]:
    """Return the lines, without blank ones where the height is too small."""
    if len(lines) <= height:
        return list(lines)
    return [line for line in lines if line]


def cut_above_foot(
    head: Sequence[TextLine], body: Sequence[TextLine], foot: Sequence[TextLine], height: int
) -> list[TextLine]:
    """Return as many lines of the body as fit between head and foot, which are always complete."""
    kept = [line for line in body if line]
    room = height - len(head) - len(foot)
    if len(kept) > room:
        kept = [*kept[: room - 1], MORE] if room else []
    return [*head, *kept, *foot]
