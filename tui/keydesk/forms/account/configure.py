"""The form that changes name and margin rate of the account, with the effect on its margin."""

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

from keydesk.calc.orders.field_draft import UnreadableText, above_zero, read_number
from keydesk.calc.orders.ticket_draft import MAX_TEXT
from keydesk.calc.risk.margin import HeldMargin, MarginFigures, with_margin_rate
from keydesk.forms.account.live_page import rate_text
from keydesk.forms.form import Form
from keydesk.forms.modal_form import BLANK, FormContext, TextLine, wrap_text
from keydesk.forms.text_fields import ENDS_WRITING, TextFields
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import CONFIGURE
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.store import Store
from keydesk.text.format import EMPTY, money, percent
from keydesk.text.sanitize import Printable, safe
from keydesk.trading.account_changes import ConfigureAccount
from keydesk.values import AccountState
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import PERCENT

LABEL = 12  # columns
INSTRUMENTS_RATE = "the rates of the instruments"


class ConfigureForm(Form[ConfigureAccount]):
    """Changes name and margin rate; only what was changed is sent."""

    TWO_COLUMNS: ClassVar[bool] = False
    KEY_CONTEXT: ClassVar[str] = CONFIGURE
    WIDTH: ClassVar[int] = 68
    BINDINGS = bindings_of(CONFIGURE)

    def __init__(self, context: FormContext) -> None:
        super().__init__(context)
        account = context.store.account
        rate = account.margin_rate if account else None
        shown = "" if rate is None else f"{(rate * PERCENT).normalize():f}"
        self.fields = TextFields({"name": account.alias if account else "", "margin": shown})

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

    def body(self) -> Sequence[TextLine]:
        """Show the fields, and the margin before and after."""
        return [*self.field_lines(), BLANK, *self.effect_lines()]

    def field_lines(self) -> Sequence[TextLine]:
        """Return both fields."""
        rate = self.rate
        text: Printable = "% of what is held"
        if isinstance(rate, UnreadableText):
            text = "✗ invalid"
        role: ColourRole = "danger" if isinstance(rate, UnreadableText) else "muted"
        changed = "changed" if self.fields.changed("name") is not None else ""
        return [
            self.fields.line("k", "name", (safe(changed), "warn"), self.inside),
            self.fields.line("m", "margin", (text, role), self.inside),
        ]

    def effect_lines(self) -> Sequence[TextLine]:
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

    def action(self) -> Action:
        """Return the row of the confirmation matrix."""
        return Action.CONFIGURE

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

    def refusals(self) -> Sequence[str]:
        """Refuse what cannot be sent, and to send nothing."""
        fields, rate = self.fields, self.rate
        if fields.writing:
            return (ENDS_WRITING,)
        if self.context.store.account is None:
            return ("The account is still being read",)
        if isinstance(rate, UnreadableText):
            return (" ".join(f"margin: {rate.text} {rate.reason}. m: type it again".split()),)
        if fields.too_long():
            return (f"name: it is longer than {MAX_TEXT} characters. k Backspace shortens it",)
        unchanged = fields.changed("name") is None and rate is None
        return ("Nothing is changed: k name, m margin rate",) if unchanged else ()

    def result(self) -> ConfigureAccount | None:
        """Return what was changed; None while the rate cannot be read."""
        rate = self.rate
        if isinstance(rate, UnreadableText):
            return None
        return ConfigureAccount(self.fields.changed("name"), rate)

    @property
    def is_writing(self) -> bool:
        """Whether letters are typed into one of the fields."""
        return bool(self.fields.writing)

    def write(self, key: str, character: str | None) -> None:
        """Take a key for that field."""
        self.fields.write(key, character)

    def action_write(self, name: str) -> None:
        """Type the letters that follow into a field; a rate is typed anew."""
        self.fields.writing = name
        if name == "margin":
            self.fields.texts[name] = ""
        self.redraw()


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
