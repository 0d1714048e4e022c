"""Arm: on live the last three of the account id, so that hands know which account they arm."""

from collections.abc import Sequence

from keydesk.forms.form import Form
from keydesk.forms.sheet import Line
from keydesk.forms.situation import Situation
from keydesk.keys.arming import arming_words
from keydesk.keys.confirm import Answer, Confirmation, Deed, Step
from keydesk.text.sanitize import safe

LENGTH = 3


class ArmForm(Form[bool]):
    """Returns True when the trader armed."""

    def __init__(self, situation: Situation) -> None:
        super().__init__(situation)
        self.digits = ""

    @property
    def wanted(self) -> str:
        """Return what must be typed."""
        store = self.situation.store
        account_id = store.account.id if store.account else ""
        return arming_words(account_id, store.health.environment)

    def headline(self) -> Line:
        """Say what arming means."""
        return (("ARM the keyboard", "bright"), (": orders may open risk", "plain"))

    def body(self) -> Sequence[Line]:
        """Ask for the account's digits on live."""
        if len(self.wanted) < LENGTH:
            return ()
        typed = self.digits.ljust(LENGTH, "_")
        return ((("last three of the account id  ", "muted"), (safe(typed), "bright")),)

    def deed(self) -> Deed:
        """Stand outside the matrix: arming sends nothing."""
        return Deed.CONFIGURE

    def confirmation(self) -> Confirmation:
        """Ask for the send key, or for digits that the form itself takes."""
        if self.situation.store.arming.level == "READ-ONLY":
            return Confirmation(Step.REFUSED, reason="READ-ONLY: start without --read-only")
        if len(self.wanted) == LENGTH:
            return Confirmation(Step.REFUSED, reason="Type the three digits")
        return Confirmation(Step.SEND_KEY)

    def answer(self, key: str) -> None:
        """Arm by the send key where that is enough."""
        if self.confirmation().answer(key) is Answer.SENDS:
            self.dismiss(True)

    def result(self) -> bool:
        """Return that it was armed."""
        return True

    def typed(self, key: str) -> bool:
        """Collect the digits; the third wrong one closes."""
        if not key.isdecimal() or self.situation.store.arming.level == "READ-ONLY":
            return False
        self.digits += key
        if len(self.wanted) == LENGTH and len(self.digits) == LENGTH:
            self.dismiss(self.digits == self.wanted)
        return True
