"""Forms that allow orders again: one arms the keyboard, one asks for an early unlock of the daily loss lock."""

from collections.abc import Sequence
from time import time_ns
from typing import ClassVar

from textual.events import Key

from keydesk.calc.daily_loss import SENTENCE, UNLOCK_AFTER_NS
from keydesk.calc.market.trading_day import DAY_END_TEXT
from keydesk.forms.form import Form
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, wrap_text
from keydesk.forms.text_fields import edited_text
from keydesk.keys.confirm import Action, Confirmation, KeyEffect, Step
from keydesk.keys.guard import KeyPlace, arming_text
from keydesk.keys.keymap import NAME
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.risk import day_result
from keydesk.store.state import Notice
from keydesk.text.format import counted, duration, money
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import SECOND

LENGTH = 3  # characters of the account id
UNREAD_ACCOUNT = "The account is still being read"
WRONG_TRIES = 3  # the last of them closes the form
MAX_SENTENCE_LENGTH = 40
LABEL = 14  # columns
UNLOCK_WAIT = duration(UNLOCK_AFTER_NS / SECOND)


class ArmForm(Form[bool]):
    """Returns True when the trader armed; a live account asks for the last three characters of its id."""

    TWO_COLUMNS: ClassVar[bool] = False

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
        return (("ARM the keyboard", "bright"), (": orders may open trades", "plain"))

    def effect(self) -> Sequence[TextLine]:
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

    def request(self) -> bool:
        """Return True."""
        return True

    def typed(self, key: str) -> bool:
        """Collect the digits; wrong ones are reported and have to be typed again, the third time closes the form."""
        is_asked = self._asks_digits and len(self.required_digits) == LENGTH
        if self.context.store.arming.level == "READ-ONLY" or not is_asked:
            return False
        if key == "backspace":
            self.digits = edited_text(self.digits, key, None, LENGTH)
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
        self.context.store.add_notice(Notice("warn", safe(text), time_ns(), asks=True))
        self.close(False)


class UnlockForm(InfoForm[bool]):
    """Returns True once the sentence was typed; nothing is sent, and the lock stays on until the wait is over.

    It has no field that a paste could fill: the sentence is typed by hand.
    """

    BINDINGS = bindings_of(NAME)
    WIDTH: ClassVar[int] = 90
    IS_PAGE: ClassVar[bool] = False
    KEYS_GO_TO: ClassVar[KeyPlace] = "text"

    def __init__(self, context: FormContext) -> None:
        self.context = context
        self.text = ""
        self._wrong = False
        super().__init__()

    @property
    def _is_requested(self) -> bool:
        return self.context.store.loss_lock.unlock_at_ns is not None

    def title_text(self) -> Printable:
        """Name what it is about."""
        return "Daily loss lock"

    def foot_text(self) -> Printable:
        """Return the keys that end it."""
        return "Esc closes" if self._is_requested else "Enter requests the early unlock  Esc closes"

    def on_frame(self, frame: Frame) -> None:
        if frame.dirty:
            self.redraw()

    def lines(self) -> Sequence[TextLine]:
        """Say why the desk is locked and what that means, then ask for the sentence."""
        store = self.context.store
        lock, result, now_ns = store.loss_lock, day_result(store), store.now_ns
        left = duration(max(0, lock.ends_ns - now_ns) / SECOND)
        lines = [
            *self._part(
                "", "The loss of the day reached your limit: only exits are sent.", "danger"
            ),
            BLANK,
            *self._part("Lost today", f"{money(result.loss)} {result.currency}"),
            *self._part("Your limit", f"{money(lock.limit)} {result.currency}"),
            *self._part("Ends", f"in {left}, at {DAY_END_TEXT}"),
            BLANK,
            *self._part(
                "Refused", "New trades, larger ones, and stops that are moved away or removed"
            ),
            *self._part("Still works", "Closing, closing a part, stops nearer, cancelling orders"),
        ]
        if waiting := sum(each.trade_id is None for each in store.orders.values()):
            orders = counted(waiting, "entry order")
            key = self.context.keymap.name("cancel-entries")
            lines += self._part("Still waiting", f"{orders} that may fill: {key} cancels", "warn")
        return [*lines, BLANK, *self._asking(now_ns)]

    def _asking(self, now_ns: int) -> list[TextLine]:
        unlock_ns = self.context.store.loss_lock.unlock_at_ns
        if unlock_ns is not None:
            left = duration(max(0, unlock_ns - now_ns) / SECOND)
            return self._part(
                "Early unlock", f"requested, {left} left. Exits work meanwhile", "bright"
            )
        how = (
            f"{UNLOCK_WAIT} after you typed the sentence below, new trades are possible again, until "
            "you lost your limit once more. The audit log keeps it."
        )
        room = max(4, min(MAX_SENTENCE_LENGTH, self.inside - LABEL - 2))
        shown = f"{clean(self.text)}_"
        shown = shown if len(shown) <= room else f"…{shown[1 - room :]}"
        return [
            *self._part("Early unlock", how),
            *self._part("Sentence", SENTENCE, "bright"),
            (
                (safe(f"{'Type it here':<{LABEL - 1}}"), "focus"),
                ("[", "focus"),
                (safe(f"{shown:<{room}}"), "bright"),
                ("]", "focus"),
            ),
            *(self._part("", "✗ That is not the sentence above", "warn") if self._wrong else ()),
        ]

    def _part(self, name: str, text: str, role: ColourRole = "plain") -> list[TextLine]:
        """Return a text beside its name, wrapped."""
        wrapped = wrap_text(safe(text), role, max(1, self.inside - LABEL))
        names = (safe(f"{name:<{LABEL}}"), *[safe(" " * LABEL)] * (len(wrapped) - 1))
        return [((each, "muted"), *line) for each, line in zip(names, wrapped, strict=True)]

    def on_key(self, event: Key) -> None:
        """Write the sentence; Enter takes it, any other text stays for correction."""
        if event.key == "escape":
            return
        event.stop()
        event.prevent_default()
        if event.key == "enter":
            self._take()
            return
        self._wrong = False
        character = event.character if event.is_printable else None
        self.text = edited_text(self.text, event.key, character, MAX_SENTENCE_LENGTH)
        self.redraw()

    def _take(self) -> None:
        if self._is_requested:
            self.dismiss(None)
        elif self.text.strip() == SENTENCE:
            self.dismiss(result=True)
        else:
            self._wrong = True
            self.redraw()
