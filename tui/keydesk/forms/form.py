"""The base of every form that sends: what it will do on top, what sends it at the bottom, live between.

A form works on a copy of what was typed and on the store as it is at this frame; it returns what the
trader decided (or None) and sends nothing. What sends is the confirmation matrix's say.
"""

from collections.abc import Sequence
from time import monotonic, time_ns
from typing import ClassVar, Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.events import Key
from textual.screen import ModalScreen

from keydesk.clean import clean
from keydesk.desk.checks import FRESH
from keydesk.forms.sheet import BLANK, Line, Sheet, text_of, with_hints, wrapped
from keydesk.forms.situation import Situation
from keydesk.frame import Frame
from keydesk.keys.confirm import Answer, Confirmation, Deed, Step, required_step
from keydesk.keys.guard import SEND, Front
from keydesk.keys.keymap import FORM, KEYMAP
from keydesk.store.state import Notice
from keydesk.theme import palette_of
from keydesk.widgets.veil import Veil

Result = TypeVar("Result")

NUDGES: Line = (
    *(("↑ ↓", "plain"), (" ±1  ", "muted")),
    *((", .", "plain"), (" ±10  ", "muted")),
    *(("Tab", "plain"), (" next", "muted")),
)
FIELD_HINTS: Line = (("m", "plain"), (" unit  ", "muted"), *NUDGES)

REFUSED_BY_LEVEL = {
    "DISARMED": "DISARMED is exit-only: {} arms",
    "READ-ONLY": "READ-ONLY: nothing is ever sent",
}


class ModalForm(Veil, ModalScreen[Result | None], Generic[Result]):
    """A modal screen that closes once: a key that was queued behind the one that closed it must not send again."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with a result; do nothing when the form is closed already."""
        if self not in self.app.screen_stack:
            return AwaitComplete()
        return super().dismiss(result)

    @property
    def sheet(self) -> Sheet | None:
        """What is drawn on; None while the form is being mounted or removed."""
        return next(iter(self.query(Sheet)), None) if self.is_attached else None


class Form(ModalForm[Result]):
    """A form that ends in a confirmation."""

    KEY_CONTEXT: ClassVar[str] = FORM
    WIDTH: ClassVar[int] = 60
    HINTS: ClassVar[Line] = ()  # keys of its fields that no line of it shows
    BINDINGS = KEYMAP.bindings(FORM)
    DEFAULT_CSS = """
    Form { align: left middle; background: $background 45%; }
    Form > Sheet {
        height: auto; padding: 0 1; background: $background; border: heavy $readonly;
        border-title-style: bold; border-title-color: $bright;
    }
    Form.-practice > Sheet { border: heavy $practice; }
    Form.-live > Sheet { border: heavy $live; border-title-color: $live-text; border-title-background: $live; }
    """

    def __init__(self, situation: Situation) -> None:
        super().__init__()
        self.situation = situation
        self.painted: float | None = None
        self._letter = ""
        self._hint = ""
        self._asked_at = float("-inf")  # when an old price was asked for again

    # What a form says.

    def headline(self) -> Line:
        """Say in words what the form will do."""
        raise NotImplementedError

    def body(self) -> Sequence[Line]:
        """Return the lines between headline and confirmation."""
        return ()

    def deed(self) -> Deed:
        """Name what it does, for the confirmation matrix."""
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
        """Say what changed under the trader's hand just now, once; nothing: send it."""
        return ""

    def opens_on(self) -> str:
        """Name the instrument whose price it opens on; none: an exit waits for no price."""
        return ""

    def opens(self) -> bool:
        """Say whether it may open a trade, so that it needs all that opening needs."""
        return bool(self.opens_on())

    def typed(self, key: str) -> bool:  # noqa: ARG002 - a form with fields reads it
        """Take a key that is no binding; True when the form used it."""
        return False

    # How it lives.

    @property
    def guard_front(self) -> Front:
        """What the guard needs to know of the open form."""
        return Front("sends", self.painted)

    @property
    def inside(self) -> int:
        """Columns of a line."""
        return min(self.WIDTH, self.app.size.width or self.WIDTH) - 4

    def compose(self) -> ComposeResult:
        """Lay the sheet out."""
        yield Sheet(markup=False)

    def on_mount(self) -> None:
        """Draw at once, and note when it was seen."""
        health, account = self.situation.store.health, self.situation.store.account
        level = self.situation.store.arming.level
        environment = "read-only" if level == "READ-ONLY" else health.environment.lower()
        self.add_class(f"-{environment}")
        sheet = self.sheet
        if sheet is None:
            return
        sheet.styles.width = min(self.WIDTH, self.app.size.width)
        name = f"{account.alias or 'account'} …{account.id[-3:]}" if account else "no account"
        sheet.border_title = Text(clean(f"{environment.upper()}  {name}"))
        self.redraw()
        self.call_after_refresh(self._seen)

    def on_frame(self, _frame: Frame) -> None:
        """Follow the market."""
        self.redraw()

    def redraw(self) -> None:
        """Draw everything as it is now; an old price is asked for again meanwhile."""
        self._keep_fresh(self.opens_on())
        sheet = self.sheet
        if sheet is not None:
            sheet.show(text_of(self._lines(), palette_of(self.app)))

    def _keep_fresh(self, instrument: str) -> None:
        now, quote = self.situation.clock(), self.situation.store.quotes.get(instrument)
        old = quote is None or now - quote.received > FRESH
        if instrument and old and now - self._asked_at >= FRESH:
            self._asked_at = now
            self.situation.ask_price(instrument)

    def confirmation(self) -> Confirmation:
        """Return what would send the form now."""
        refusals = self.refusals()
        if self.opens() and self.situation.no_orders:
            refusals = (f"No new orders, exits work: {self.situation.no_orders}",)
        if refusals:
            return Confirmation(Step.REFUSED, reason=refusals[0])
        level = self.situation.store.arming.level
        step = required_step(self.deed(), level)
        if step is Step.CHALLENGE:
            self._letter = self._letter or self.situation.letters.draw()
            return Confirmation(step, letter=self._letter)
        if step is Step.REFUSED:
            arms = self.situation.keymap.name("arm")
            return Confirmation(step, reason=REFUSED_BY_LEVEL.get(level, "Refused").format(arms))
        return Confirmation(step)

    def on_key(self, event: Key) -> None:
        """Digits and challenge letters come here; letters of fields are bindings."""
        if event.key in self.active_bindings:
            return
        event.stop()
        key = event.character if event.is_printable and event.character else event.key
        if not self.typed(key):
            self.answer(key)
        self.redraw()

    def answer(self, key: str) -> None:
        """Let a key confirm, close, or do nothing."""
        self._hint = "Only small letters send: is Caps Lock on?" if key.isupper() else ""
        match self.confirmation().answer(key):
            case Answer.SENDS if doubt := self.doubt():
                self._hint, self.painted = doubt, monotonic()
            case Answer.SENDS:
                self.dismiss(self.result())
            case Answer.CLOSES:
                self._say_not_sent(key)
                self.dismiss(None)
            case Answer.NOTHING:
                pass

    def _say_not_sent(self, key: str) -> None:
        """A form that goes at a wrong letter must not pass for one that was sent."""
        words = f"NOT SENT: the letter was {self._letter}, not {clean(key)}. Open it again to send"
        self.situation.store.notify(Notice("warn", words, time_ns(), asks=True))

    def action_send(self) -> None:
        """Answer with the send key."""
        self.answer(SEND)
        self.redraw()

    def action_drop(self) -> None:
        """Close the form; nothing is sent."""
        self.dismiss(None)

    def _seen(self) -> None:
        self.painted = monotonic()

    def _lines(self) -> list[Line]:
        lines: list[Line] = [self.headline(), *self.body(), BLANK]
        asked = self.confirmation()
        if asked.step is not Step.REFUSED:
            for warning in self.warnings():
                lines += wrapped(f"▲ {warning}", "warn", self.inside)
        if self._hint:
            lines += wrapped(self._hint, "warn", self.inside)
        return fitted([*lines, *self._ask(asked)], self.app.size.height - 2)

    def _ask(self, asked: Confirmation) -> list[Line]:
        drop: Line = (("Esc", "bright"), (" drops", "muted"))
        match asked.step:
            case Step.SEND_KEY:
                return [self._foot(((SEND, "bright"), (" sends", "plain")), drop)]
            case Step.CHALLENGE:
                letter: Line = (
                    ("type ", "danger"),
                    (f"  {asked.letter}  ", "live-text on live"),
                    (" to send", "danger"),
                )
                return [self._foot(letter, drop)]
            case Step.REFUSED:
                words = wrapped(f"✗ {asked.reason}", "danger", self.inside)
                return [*words, self._foot((), drop)]

    def _foot(self, left: Line, right: Line) -> Line:
        return with_hints(left, self.HINTS, right, self.inside)


def fitted(lines: Sequence[Line], height: int) -> list[Line]:
    """Return the lines, on a low screen without their blank ones: nothing that is said is cut off."""
    if len(lines) <= height:
        return list(lines)
    return [line for line in lines if line]
