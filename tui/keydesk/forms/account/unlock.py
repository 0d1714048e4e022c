"""The form that asks for an early unlock of the daily loss lock: a sentence is typed, then ten minutes pass."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.events import Paste
from textual.widgets import Input

from keydesk.calc.daily_loss import SENTENCE, UNLOCK_AFTER_NS, lock_words
from keydesk.forms.info_form import InfoForm
from keydesk.forms.sheet import BLANK, FormContext, TextLine, wrap_words
from keydesk.keys.guard import KeyTarget
from keydesk.keys.keymap import KEYMAP, NAME
from keydesk.store.risk import day_result
from keydesk.text.format import duration, money
from keydesk.text.sanitize import Printable, safe

LONGEST = 60
WAIT = duration(UNLOCK_AFTER_NS / 1e9)


class TypedByHand(Input):
    """A field that takes no paste: the sentence is there to be thought about."""

    def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()


class UnlockForm(InfoForm[bool]):
    """Returns True once the sentence was typed; nothing is sent, and the lock stays on until the wait is over."""

    BINDINGS = KEYMAP.bindings(NAME)
    WIDTH: ClassVar[int] = 68
    DEFAULT_CSS = """
    UnlockForm > Input, UnlockForm > Input:focus {
        width: 68; max-width: 100%; height: 3; border: round $focus; background: $background;
    }
    """

    def __init__(self, context: FormContext) -> None:
        self.context = context
        self.text = ""
        self._wrong = False
        super().__init__()

    @property
    def key_target(self) -> KeyTarget:
        """Return the text field, whose keys are not judged."""
        return KeyTarget("text", self.painted)

    def compose(self) -> ComposeResult:
        """Return a field over the words."""
        yield TypedByHand(max_length=LONGEST, select_on_focus=False)
        yield self.new_sheet()

    def title_words(self) -> Printable:
        """Name what it is about."""
        return "Daily loss lock"

    def foot_words(self) -> Printable:
        """Return the keys that end it."""
        return "Enter asks for the early unlock  Esc closes"

    def lines(self) -> Sequence[TextLine]:
        """Say why the desk is locked, what is to be typed and what follows."""
        store, now_ns = self.context.store, self.context.wall_ns()
        lock, result = store.loss_lock, day_result(store)
        lost = safe(f"Lost today: {money(result.loss)} {result.currency}")
        said = [
            *wrap_words(safe(lock_words(lock, now_ns)), "danger", self.inside),
            ((lost, "plain"),),
            BLANK,
        ]
        if lock.unlock_at_ns is not None:
            return [*said, (("It is requested already. Exits still work", "muted"),)]
        how = f"To go on before the new day type this sentence. {WAIT} later the lock is released:"
        said += [*wrap_words(safe(how), "muted", self.inside), ((safe(SENTENCE), "bright"),)]
        if self._wrong:
            said.append((("✗ The text differs from the sentence", "warn"),))
        return said

    def on_input_changed(self, event: Input.Changed) -> None:
        """Follow the text."""
        self.text, self._wrong = event.value, False
        self.redraw()

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Take the sentence; any other text stays for correction."""
        if self.context.store.loss_lock.unlock_at_ns is not None:
            self.dismiss(None)
        elif self.text.strip() == SENTENCE:
            self.dismiss(result=True)
        else:
            self._wrong = True
            self.redraw()
