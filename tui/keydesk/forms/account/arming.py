"""Forms that allow orders again: one arms the keyboard, one asks for an early unlock of the daily loss lock."""

from collections.abc import Sequence
from time import time_ns
from typing import ClassVar

from textual.app import ComposeResult
from textual.events import Paste
from textual.widgets import Input

from keydesk.calc.daily_loss import SENTENCE, UNLOCK_AFTER_NS, lock_text
from keydesk.forms.form import Form
from keydesk.forms.info_form import InfoForm
from keydesk.forms.sheet import BLANK, FormContext, TextLine, wrap_text
from keydesk.keys.bindings import bindings_of
from keydesk.keys.confirm import Action, Confirmation, KeyEffect, Step
from keydesk.keys.guard import KeyPlace, arming_text
from keydesk.keys.keymap import NAME
from keydesk.store.risk import day_result
from keydesk.store.state import Notice
from keydesk.text.format import duration, money
from keydesk.text.sanitize import Printable, safe

LENGTH = 3  # characters of the account id
UNREAD_ACCOUNT = "The account is still being read"
WRONG_TRIES = 3  # the last of them closes the form
MAX_SENTENCE_LENGTH = 60
UNLOCK_WAIT = duration(UNLOCK_AFTER_NS / 1e9)


class ArmForm(Form[bool]):
    """Returns True when the trader armed; a live account asks for the last three characters of its id."""

    def __init__(self, context: FormContext) -> None:
        super().__init__(context)
        self.digits = ""
        self.wrong_tries = 0

    @property
    def required_digits(self) -> str:
        """Return what must be typed."""
        store = self.context.store
        account_id = store.account.id if store.account else ""
        return arming_text(account_id, store.health.environment)

    @property
    def _asks_digits(self) -> bool:
        """Whether the send key is not enough; it never is on live, not even before the account is known."""
        return self.context.store.health.environment == "LIVE"

    def headline(self) -> TextLine:
        """Return what arming means."""
        return (("ARM the keyboard", "bright"), (": orders may open risk", "plain"))

    def body(self) -> Sequence[TextLine]:
        """Ask for the account's digits on live."""
        if not self._asks_digits or len(self.required_digits) < LENGTH:
            return ()
        typed = self.digits.ljust(LENGTH, "_")
        return ((("last three of the account id  ", "muted"), (safe(typed), "bright")),)

    def action(self) -> Action:
        """Return CONFIGURE; arming sends nothing."""
        return Action.CONFIGURE

    def confirmation(self) -> Confirmation:
        """Return the send key as the step, or a refusal until the digits were typed."""
        if self.context.store.arming.level == "READ-ONLY":
            return Confirmation(Step.REFUSED, reason="READ-ONLY: start without --read-only")
        if self._asks_digits:
            reason = (
                "Type the three digits" if len(self.required_digits) == LENGTH else UNREAD_ACCOUNT
            )
            return Confirmation(Step.REFUSED, reason=reason)
        return Confirmation(Step.SEND_KEY)

    def answer(self, key: str) -> None:
        """Arm by the send key where that is enough."""
        if self.confirmation().answer(key) is KeyEffect.SENDS and self.is_confirmed():
            self.close(True)

    def result(self) -> bool:
        """Return True."""
        return True

    def typed(self, key: str) -> bool:
        """Collect the digits; wrong ones are reported and have to be typed again, the third time closes the form."""
        is_asked = self._asks_digits and len(self.required_digits) == LENGTH
        if self.context.store.arming.level == "READ-ONLY" or not is_asked:
            return False
        if key == "backspace":
            self.digits = self.digits[:-1]
            return True
        if not (key.isascii() and key.isdecimal()):
            return False
        self.digits += key
        if len(self.digits) == LENGTH:
            self._compare()
        return True

    def _compare(self) -> None:
        digits, self.digits = self.digits, ""
        if digits == self.required_digits:
            self.close(True)
            return
        self.wrong_tries += 1
        if self.wrong_tries < WRONG_TRIES:
            self._hint = f"NOT ARMED: {digits} is not the end of this account's id. Type it again"
            return
        text = f"NOT ARMED: {WRONG_TRIES} times wrong digits, the form is closed"
        self.context.store.notify(Notice("warn", safe(text), time_ns(), asks=True))
        self.close(False)


class TypedByHand(Input):
    """A text field that refuses a paste, so that the sentence is typed by hand."""

    def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()


class UnlockForm(InfoForm[bool]):
    """Returns True once the sentence was typed; nothing is sent, and the lock stays on until the wait is over."""

    BINDINGS = bindings_of(NAME)
    WIDTH: ClassVar[int] = 68
    DEFAULT_CSS = """
    UnlockForm > Input, UnlockForm > Input:focus {
        width: 100%; height: 3; border: round $focus; background: $background;
    }
    """
    KEYS_GO_TO: ClassVar[KeyPlace] = "text"

    def __init__(self, context: FormContext) -> None:
        self.context = context
        self.text = ""
        self._wrong = False
        super().__init__()

    def compose(self) -> ComposeResult:
        """Return the words, and the field under them."""
        yield self.new_sheet()
        yield TypedByHand(max_length=MAX_SENTENCE_LENGTH, select_on_focus=False)

    def title_text(self) -> Printable:
        """Name what it is about."""
        return "Daily loss lock"

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        if self.context.store.loss_lock.unlock_at_ns is not None:
            return "Esc closes"
        return "Enter asks for the early unlock  Esc closes"

    def lines(self) -> Sequence[TextLine]:
        """Say why the desk is locked, what is to be typed and what follows."""
        store, now_ns = self.context.store, self.context.store.now_ns
        lock, result = store.loss_lock, day_result(store)
        lost = safe(f"Lost today: {money(result.loss)} {result.currency}")
        lines = [
            *wrap_text(safe(lock_text(lock, now_ns)), "danger", self.inside),
            ((lost, "plain"),),
            BLANK,
        ]
        if lock.unlock_at_ns is not None:
            return [*lines, (("It is requested already. Exits still work", "muted"),)]
        how = f"To go on before the new day type this sentence. {UNLOCK_WAIT} later the lock is released:"
        lines += [*wrap_text(safe(how), "muted", self.inside), ((safe(SENTENCE), "bright"),)]
        if self._wrong:
            lines.append((("✗ The text differs from the sentence", "warn"),))
        return lines

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
