"""The columns of the page of all accounts: what each shows of an account, or of several of one currency together."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple

from msgspec.structs import replace

from keydesk.forms.modal_form import TextLine, Words
from keydesk.forms.page_table import PageColumn, share_bar
from keydesk.store.store import Store
from keydesk.text.format import UNLIMITED, account_tail, money, percent, whole_percent
from keydesk.text.sanitize import SafeText, clean, safe
from keydesk.trading.accounts.account_overview import AccountOverview
from keydesk.trading.open_items import ENTRY_TYPES
from keydesk.widgets.theme import ColourRole, role_of_sign
from keydesk_client.arithmetic.constants import ZERO

ACCOUNT_WIDTH = 17  # columns of a name, and of a band with its total
NAME_WIDTH, ID_WIDTH = 26, 24  # characters of a name, and of a number
NARROW, MIDDLE, WIDE = 100, 130, 160  # columns of a page, from which on it has more of them
FULL = Decimal("0.5")  # of the value, from which on the margin used is a warning
WHOLE_CURRENCIES = frozenset(("JPY", "KRW"))  # without cents
FigureName = Literal[
    "nav", "unrealized_pl", "margin_used", "open_risk", "balance", "margin_available"
]


Number = Literal["whole", "end", ""]


class Detail(NamedTuple):
    """How much is written of every account: as much as has room."""

    number: Number  # of the account
    name: int = NAME_WIDTH  # characters
    bar: int = 0  # cells of the margin used
    amount: int = 2  # decimals
    result: int = 2


DETAILS = (
    Detail("whole", bar=16),
    Detail("whole", bar=8),
    Detail("end", bar=8),
    Detail("", bar=8),
    Detail("", bar=8, amount=0),
    Detail("", bar=5, amount=0),
    Detail("", bar=5, amount=0, result=0),
    Detail("", amount=0),
    Detail("", name=20, amount=0),
    Detail("", name=20, amount=0, result=0),
)


def with_figures_of(store: Store, account: AccountOverview) -> AccountOverview:
    """Return the open account with the figures that the desk has now, as its first line shows them."""
    now = store.account
    if now is None or now.id != account.id:
        return account
    return replace(
        account,
        why="",
        currency=now.currency,
        balance=now.balance,
        nav=now.nav,
        unrealized_pl=now.unrealized_pl,
        margin_used=now.margin_used,
        margin_available=now.margin_available,
        closeout_percent=now.margin_closeout_percent,
        trades=len(store.trades),
        entry_orders=sum(each.type in ENTRY_TYPES for each in store.orders.values()),
        unprotected=now.unprotected_trades,
        open_risk=now.open_risk,
    )


def name_of(account: AccountOverview, number: Number = "end", width: int = NAME_WIDTH) -> SafeText:
    """Return the number of an account, or its end, before its name where it has one; without a number the name alone."""
    if not number and account.alias:
        return clean(account.alias, width)
    end = (
        clean(account.id, ID_WIDTH) if number == "whole" else f"…{clean(account_tail(account.id))}"
    )
    return safe(f"{end} {clean(account.alias, width)}" if account.alias else end)


def band(environment: str) -> TextLine:
    """Return the kind of money, as the first line of the desk shows it."""
    if not environment:
        return ()
    words: Words = (
        (" LIVE ", "live-text on live")
        if environment == "LIVE"
        else (" PRACTICE ", "practice-text on practice")
    )
    return (words, (" ", "plain"))


class AccountMoney(NamedTuple):
    """What the columns read: an account, or several of one currency together."""

    accounts: Sequence[AccountOverview]
    name: TextLine
    role: ColourRole
    detail: Detail
    is_opened: bool = False  # in this desk

    def sum_of(self, name: FigureName) -> Decimal | None:
        """Return the sum of a figure; None where one of them is not known."""
        known = [value for each in self.accounts if (value := getattr(each, name)) is not None]
        return sum(known, ZERO) if len(known) == len(self.accounts) else None

    @property
    def is_unlimited(self) -> bool:
        """Whether a trade of one of them has no stop."""
        return any(each.unprotected for each in self.accounts)

    def amount(self, name: FigureName) -> SafeText:
        """Return the sum of a figure."""
        return self.text_of(self.sum_of(name), self.detail.amount)

    def text_of(self, value: Decimal | None, places: int, *, signed: bool = False) -> SafeText:
        """Return an amount in the currency's digits; without cents it stands above the others' whole units."""
        if not places or value is None or self.accounts[0].currency not in WHOLE_CURRENCIES:
            return money(value, places, signed=signed)
        return safe(money(value, 0, signed=signed) + " " * (places + 1))


def _amount(of: AccountMoney, name: FigureName) -> TextLine:
    return ((of.amount(name), "plain" if of.sum_of(name) else "faint"),)


def _result(of: AccountMoney) -> TextLine:
    result = of.sum_of("unrealized_pl")
    text = of.text_of(result, of.detail.result, signed=True)
    return ((text, _result_role(text)),)


def _result_role(text: str) -> ColourRole:
    """Return the colour of a result as it is written: what rounds to nothing is neither gain nor loss."""
    role = role_of_sign(text)
    return "muted" if role == "plain" else role


def _share(of: AccountMoney) -> TextLine:
    """Return the margin used as a share of the value, with a bar where it has room."""
    nav, used = of.sum_of("nav"), of.sum_of("margin_used")
    if not nav or used is None:
        return ()
    share = used / nav
    is_much = share >= FULL
    words: Words = (
        safe(f"{whole_percent(share):>4} %"),
        "warn" if is_much else "plain" if share else "faint",
    )
    if not of.detail.bar:
        return (words,)
    bar = share_bar(share, of.detail.bar)
    rest = safe("─" * (of.detail.bar - len(bar)))
    return (words, (safe(f" {bar}"), "warn" if is_much else "focus"), (rest, "line"))


def _part_of_nav(of: AccountMoney, name: FigureName) -> TextLine:
    """Return a figure in per cent of the value; nothing of none."""
    nav, value = of.sum_of("nav"), of.sum_of(name)
    if not nav or not value:
        return ()
    is_result = name == "unrealized_pl"
    text = percent(value / nav, signed=is_result)
    return ((text, _result_role(text) if is_result else "plain"),)


def _part_at_risk(of: AccountMoney) -> TextLine:
    return () if of.is_unlimited else _part_of_nav(of, "open_risk")


def _risk(of: AccountMoney) -> TextLine:
    if of.is_unlimited:
        return ((safe(UNLIMITED), "danger"),)
    return _amount(of, "open_risk")


def _closeout(of: AccountMoney) -> TextLine:
    """Return how near an account is to the broker's closing of its trades; a sum has none."""
    share = of.accounts[0].closeout_percent
    if share is None or len(of.accounts) > 1:
        return ()
    return ((safe(f"{percent(share, 1)} %"), "plain"),)


def _count(number: int) -> TextLine:
    return ((safe(f"{number:,}"), "plain" if number else "faint"),)


AccountColumn = PageColumn[AccountMoney]
COLUMNS: tuple[AccountColumn, ...] = (
    AccountColumn(
        *("account", "account", ACCOUNT_WIDTH),
        right=False,
        flexible=True,
        cell=lambda of: of.name,
    ),
    AccountColumn(*("nav", "NAV", 0), cell=lambda of: ((of.amount("nav"), of.role),)),
    AccountColumn(
        *("currency", "", 0),
        right=False,
        cell=lambda of: ((clean(of.accounts[0].currency, 8), "muted"),),
    ),
    AccountColumn(*("open", "open P/L", 0, 1), cell=_result),
    AccountColumn(
        *("result-share", "P/L %", 0),
        page_from=WIDE,
        cell=lambda of: _part_of_nav(of, "unrealized_pl"),
    ),
    AccountColumn(
        *("margin", "margin used", 0, 5),
        page_from=MIDDLE,
        cell=lambda of: _amount(of, "margin_used"),
    ),
    AccountColumn(*("share", "margin", 0, 2), right=False, cell=_share),
    AccountColumn(*("risk", "open risk", 0, 2), cell=_risk),
    AccountColumn(*("risk-share", "risk %", 0), page_from=NARROW, cell=_part_at_risk),
    AccountColumn(
        *("trades", "trades", 0, 3),
        cell=lambda of: _count(sum(each.trades for each in of.accounts)),
    ),
    AccountColumn(
        *("entries", "entries", 0, 6),
        page_from=MIDDLE,
        cell=lambda of: _count(sum(each.entry_orders for each in of.accounts)),
    ),
    AccountColumn(
        *("balance", "balance", 0), page_from=WIDE, cell=lambda of: _amount(of, "balance")
    ),
    AccountColumn(
        *("free", "free", 0), page_from=WIDE, cell=lambda of: _amount(of, "margin_available")
    ),
    AccountColumn(*("closeout", "closeout", 0), page_from=WIDE, cell=_closeout),
    AccountColumn(
        *("state", "state", 0, 4),
        right=False,
        cell=lambda of: (("open", "focus"),) if of.is_opened else (),
    ),
)
