"""The form that arms the keyboard; on a live account it asks for the last three characters of the account id."""

from collections.abc import Sequence
from time import time_ns

from keydesk.forms.form import Form
from keydesk.forms.sheet import FormContext, TextLine
from keydesk.keys.confirm import Action, Confirmation, KeyEffect, Step
from keydesk.keys.guard import arming_text
from keydesk.store.state import Notice
from keydesk.text.sanitize import safe

LENGTH = 3
UNREAD_ACCOUNT = "The account is still being read"
WRONG_TRIES = 3  # the last of them closes the form


class ArmForm(Form[bool]):
    """Returns True when the trader armed."""

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
        words = f"NOT ARMED: {WRONG_TRIES} times wrong digits, the form is closed"
        self.context.store.notify(Notice("warn", safe(words), time_ns(), asks=True))
        self.close(False)
