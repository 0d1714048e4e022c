"""The form that changes name and margin rate of the account, with the effect on its margin."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.calc.orders.field_draft import UnreadableText, above_zero, read_number
from keydesk.calc.orders.fields import Field
from keydesk.calc.risk.margin import HeldMargin, MarginFigures, with_margin_rate
from keydesk.forms.account.live_page import rate_text
from keydesk.forms.modal_form import TextLine, Words, wrap_text
from keydesk.forms.text_form import TextForm
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import ACCOUNT_FIELDS, CONFIGURE
from keydesk.store.store import Store
from keydesk.text.format import EMPTY, money, percent
from keydesk.text.sanitize import safe
from keydesk.trading.account_changes import ConfigureAccount
from keydesk.values import AccountState
from keydesk_client.arithmetic.constants import PERCENT

LABEL = 12  # columns
INSTRUMENTS_RATE = "the rates of the instruments"


class ConfigureForm(TextForm[ConfigureAccount]):
    """Changes name and margin rate; only what was changed is sent."""

    ACTION: ClassVar[Action] = Action.CONFIGURE
    KEY_CONTEXT: ClassVar[str] = CONFIGURE
    FIELDS: ClassVar[Mapping[str, Field]] = ACCOUNT_FIELDS
    NO_CHANGE: ClassVar[str] = "Nothing is changed: k name, m margin rate"

    def texts(self) -> Mapping[str, str]:
        """Return name and margin rate as they are."""
        account = self.context.store.account
        rate = account.margin_rate if account else None
        shown = "" if rate is None else f"{(rate * PERCENT).normalize():f}"
        return {"name": account.alias if account else "", "margin": shown}

    def gone(self) -> str:
        """Return that the account is not known yet."""
        return "" if self.context.store.account else "The account is still being read"

    @property
    def rate(self) -> Decimal | UnreadableText | None:
        """Return the margin rate as typed, None where it is as it was, or why it cannot be."""
        typed = self.fields.changed("margin")
        if typed is None:
            return None
        value = above_zero(read_number(typed.strip().removesuffix("%").strip()))
        if value is None:
            return UnreadableText("", "is missing: the broker cannot remove a rate; 2 is 50 to 1")
        if isinstance(value, Decimal) and value > PERCENT:
            return UnreadableText(f"{value:f}", "is above 100 percent")
        return value / PERCENT if isinstance(value, Decimal) else value

    def headline(self) -> TextLine:
        """Return the account whose settings are changed."""
        account = self.context.store.account
        return (("ACCOUNT SETTINGS ", "bright"), (safe(account.id if account else EMPTY), "bright"))

    def meaning(self, name: str) -> Words:
        """Return that the name is changed, or what the rate is of."""
        if name == "name":
            return super().meaning(name)
        if isinstance(self.rate, UnreadableText):
            return ("✗ invalid", "danger")
        return ("% of what is held", "muted")

    def effect(self) -> Sequence[TextLine]:
        """Return rate, margin used, available and closeout, old and new."""
        account, rate = self.context.store.account, self.rate
        if account is None or not isinstance(rate, Decimal):
            return ()
        old, new = margin_before_and_after(self.context.store, account, rate)
        home = account.currency
        before = INSTRUMENTS_RATE if account.margin_rate is None else rate_text(account.margin_rate)
        lines: list[TextLine] = [
            _change("rate", before, rate_text(rate)),
            _change("margin used", money(old.used), f"{money(new.used)} {home}"),
            _change("available", money(old.available), f"{money(new.available)} {home}"),
            _change(
                "closeout",
                f"{percent(old.closeout_percent, 1)} %",
                f"{percent(new.closeout_percent, 1)} %, closed out at 100 %",
            ),
        ]
        note = "An instrument's own rate counts where it is higher. Resting orders need it when they fill"
        return [*lines, *wrap_text(safe(note), "muted", self.inside)]

    def warnings(self) -> Sequence[str]:
        """Warn of what the rate does to what is held."""
        account, rate = self.context.store.account, self.rate
        if account is None or not isinstance(rate, Decimal):
            return ()
        old, new = margin_before_and_after(self.context.store, account, rate)
        if new.closeout_percent >= 1:
            return ("This rate would cause a margin closeout: the broker refuses it",)
        if new.used > old.used and not new.available:
            return ("No margin is left at this rate: no new trade, and a margin call is near",)
        return ()

    def problems(self) -> Sequence[str]:
        """Refuse a rate that cannot be."""
        rate = self.rate
        if not isinstance(rate, UnreadableText):
            return ()
        return (" ".join(f"margin: {rate.text} {rate.reason}. m: type it again".split()),)

    def request(self) -> ConfigureAccount | None:
        """Return what was changed; None while the rate cannot be read."""
        rate = self.rate
        if isinstance(rate, UnreadableText):
            return None
        return ConfigureAccount(self.fields.changed("name"), rate)

    def action_write(self, name: str) -> None:
        """Type the letters that follow into a field; a rate is typed anew."""
        if name == "margin":
            self.fields.texts[name] = ""
        super().action_write(name)


def margin_before_and_after(
    store: Store, account: AccountState, rate: Decimal
) -> tuple[MarginFigures, MarginFigures]:
    """Return the account's margin as it is, and as it would be at another rate."""
    held = [
        HeldMargin(position.margin_used, known.margin_rate)
        for position in store.positions.values()
        if position.margin_used and (known := store.instruments.get(position.instrument))
    ]
    now = MarginFigures(
        account.margin_used, account.margin_available, account.margin_closeout_percent
    )
    nav = (
        account.margin_available + account.margin_used if account.margin_available else account.nav
    )
    return now, with_margin_rate(now, nav, held, old_rate=account.margin_rate, new_rate=rate)


def _change(name: str, old: str, new: str) -> TextLine:
    return (
        (safe(f"{name:<{LABEL}}"), "muted"),
        (safe(f"{old} → "), "plain"),
        (safe(new), "bright"),
    )
