"""The page of every account of every profile: value, profit, margin, what is open and at risk. Enter opens one."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import ClassVar, NamedTuple

from keydesk.forms.info_form import InfoForm, width_of
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, wrap_text
from keydesk.forms.page_table import MARK, Cells, rows_in_sight, table_lines
from keydesk.keys.keymap import ALL_ACCOUNTS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.tables.column import Column
from keydesk.text.format import UNLIMITED, account_tail, counted, money, percent
from keydesk.text.sanitize import Printable, SafeText, clean, safe
from keydesk.trading.accounts.account_overview import AccountOverview, ProfileOverview
from keydesk.widgets.theme import signed_role
from keydesk_client.arithmetic.constants import ZERO

MOST_SHOWN = 50  # accounts of a token: the page is drawn anew with every key
LOADING = "is being read"
BAR = 4  # cells of the margin used
FULL = Decimal("0.5")  # of the value, from which on the margin used is a warning
BELOW = 4  # lines about the chosen one
PROFILE_WIDTH = 16  # columns of its band and its name
COLUMNS = (
    Column("profile", "profile", PROFILE_WIDTH, right=False, flexible=True),
    Column("account", "account", 0, right=False),
    Column("nav", "NAV", 0),
    Column("currency", "", 0, right=False),
    Column("open", "open P/L", 0, rank=1),
    Column("margin", "margin used", 0, rank=5),
    Column("share", "of NAV", 0, rank=4, right=False),
    Column("available", "available", 0, rank=7),
    Column("risk", "open risk", 0, rank=2),
    Column("trades", "trades", 0, rank=3),
    Column("orders", "orders", 0, rank=6),
    Column("state", "", 0, rank=3, right=False),
)


class AccountChoice(NamedTuple):
    """The account that is to be opened; without an id, that of the profile."""

    profile: str
    account_id: str = ""


class _Row(NamedTuple):
    """A row of the page: an account, or a profile of which none is known."""

    profile: str
    environment: str = ""
    account: AccountOverview | None = None
    why: str = ""  # it cannot be read
    is_first: bool = True  # of its profile


class AllAccountsPage(InfoForm[AccountChoice]):
    """Shows every account; `show` gives it a profile that was read. Returns the account to open.

    Args:
        opened: The profile that is open in the desk.
        account_id: Its account.
    """

    KEY_CONTEXT: ClassVar[str] = ALL_ACCOUNTS
    BINDINGS = bindings_of(ALL_ACCOUNTS)
    WIDTH = 160

    def __init__(self, opened: str, account_id: str = "") -> None:
        super().__init__()
        self._opened = AccountChoice(opened, account_id)
        self._names: Sequence[str] = ()
        self._read: dict[str, ProfileOverview] = {}
        self.at = 0

    def expect(self, names: Sequence[str]) -> None:
        """Take the names of the profiles that are being read."""
        self._names = list(names)
        self.redraw()

    def show(self, profile: ProfileOverview) -> None:
        """Show a profile as it was read."""
        self._read[profile.profile] = profile
        self.redraw()

    def title_text(self) -> Printable:
        """Return the title."""
        return "Accounts of all profiles"

    def foot_text(self) -> Printable:
        """Return the keys."""
        return self.keys_that_fit(*(("Enter opens it",) if self._names else ()))

    def all_rows(self) -> list[_Row]:
        """Return the rows in the order of the profiles."""
        return [row for name in self._names for row in self._rows_of(name)]

    def _rows_of(self, name: str) -> Iterable[_Row]:
        profile = self._read.get(name)
        if profile is None:
            return [_Row(name)]
        if profile.why or not profile.accounts:
            return [_Row(name, profile.environment, why=profile.why or "it has no account")]
        shown = profile.accounts[:MOST_SHOWN]
        return [
            _Row(name, profile.environment, each, each.why, is_first=not place)
            for place, each in enumerate(shown)
        ]

    def lines(self) -> Sequence[TextLine]:
        """Return the table around the chosen account, the totals, and more about the chosen one."""
        rows = self.all_rows()
        if not rows:
            return wrap_text("No profile yet: :login NAME signs in", "muted", self.inside)
        self.at = min(self.at, len(rows) - 1)
        totals = _totals(rows)
        below = [BLANK, *self._chosen_lines(rows[self.at])]
        room = self.room - 1 - len(below) - (len(totals) + 1 if totals else 0)
        if room < min(len(rows), BELOW):
            totals, room = [], self.room - 1 - len(below)
        sight = rows_in_sight(len(rows), self.at, max(1, room))
        cells = [self._cells(rows[at]) for at in sight]
        table = table_lines(COLUMNS, [*cells, *totals], self.inside, self.at - sight.start)
        split, column = 1 + len(cells), "".join(text for text, _ in table[0]).index("account")
        for at, place in zip(range(1, split), sight, strict=True):
            if rows[place].why:
                table[at] = self._trouble_line(rows[place], column, is_chosen=place == self.at)
        more = self._more_text() if sight.stop == len(rows) else []
        rule: list[TextLine] = [((safe("─" * self.inside), "line"),)] if totals else []
        return [*table[:split], *more, *rule, *table[split:], *below]

    def _more_text(self) -> list[TextLine]:
        unshown = sum(max(0, len(each.accounts) - MOST_SHOWN) for each in self._read.values())
        if not unshown:
            return []
        return [((safe(f"  and {counted(unshown, 'account')} more of this token"), "muted"),)]

    def _cells(self, row: _Row) -> Cells:
        account = row.account
        profile: TextLine = self._profile(row) if row.is_first else ()
        if account is None:
            return {"profile": profile, "account": ((LOADING, "muted"),)}
        used = None if not account.nav else (account.margin_used or ZERO) / account.nav
        return {
            "profile": profile,
            "account": ((_name(account), "plain"),),
            "nav": ((money(account.nav), "bright"),),
            "currency": ((clean(account.currency, 8), "muted"),),
            **_figures(account.unrealized_pl, account.margin_used, used),
            "available": ((money(account.margin_available), "plain"),),
            "risk": (_risk(account.unprotected, account.open_risk),),
            "trades": ((safe(f"{account.trades:,}"), "plain"),),
            "orders": ((safe(f"{account.entry_orders:,}"), "plain"),),
            "state": (("open", "focus"),) if self._is_open(row) else (),
        }

    def _is_open(self, row: _Row) -> bool:
        account_id = "" if row.account is None else row.account.id
        name, opened = self._opened
        return row.profile == name and (account_id == opened if opened else row.is_first)

    def _profile(self, row: _Row) -> TextLine:
        return (*_band(row.environment), (clean(row.profile), "bright"))

    def _trouble_line(self, row: _Row, column: int, *, is_chosen: bool) -> TextLine:
        """Return an account or a profile that cannot be read; the reason is whole below the table."""
        profile = self._profile(row) if row.is_first else ()
        gap = " " * max(1, column - MARK - width_of(profile))
        name = safe("" if row.account is None else f"{_name(row.account)}  ")
        return (
            ("▶ " if is_chosen else " " * MARK, "focus"),
            *profile,
            (safe(gap), "plain"),
            (name, "plain"),
            (safe(f"cannot be read: {clean(row.why)}"), "warn"),
        )

    def _chosen_lines(self, row: _Row) -> list[TextLine]:
        """Return what the table leaves out of the chosen account."""
        if row.why:
            return wrap_text(safe(f"Cannot be read: {clean(row.why)}"), "warn", self.inside)[:BELOW]
        account = row.account
        if account is None:
            return [((LOADING, "muted"),)]
        phrases = [
            f"balance {money(account.balance)}",
            f"available {money(account.margin_available)}",
            f"closeout {percent(account.closeout_percent, 1)} %",
            f"{counted(account.trades, 'trade')}, {counted(account.entry_orders, 'entry order')}",
        ]
        lines: list[TextLine] = [((account.name, "bright"),)]
        lines += fold_line(((safe("   ".join(phrases)), "muted"),), self.inside)
        if account.unprotected:
            lines += wrap_text(safe(f"Open risk {account.risk_text}"), "danger", self.inside)
        return lines[:BELOW]

    # The keys.

    def action_choose(self, step: int) -> None:
        """Go to another account."""
        self.at = max(0, min(len(self.all_rows()) - 1, self.at + step))
        self.redraw()

    def action_open(self) -> None:
        """Close the page and open the chosen account."""
        rows = self.all_rows()
        if rows and self.is_active:
            row = rows[min(self.at, len(rows) - 1)]
            self.dismiss(AccountChoice(row.profile, row.account.id if row.account else ""))


def _band(environment: str) -> TextLine:
    if not environment:
        return ()
    band: Words = (
        (" LIVE ", "live-text on live")
        if environment == "LIVE"
        else (" PRACTICE ", "practice-text on practice")
    )
    return (band, (" ", "plain"))


def _name(account: AccountOverview) -> SafeText:
    """Return the end of the number of an account, and its name where it has one."""
    alias = f" {clean(account.alias, 20)}" if account.alias else ""
    return safe(f"…{clean(account_tail(account.id))}{alias}")


def _figures(result: Decimal | None, used: Decimal | None, share: Decimal | None) -> Cells:
    """Return the cells of the open result and of the margin."""
    role = "warn" if share is not None and share >= FULL else "muted"
    filled = 0 if share is None else min(BAR, int(share * BAR + FULL))
    bar: TextLine = (
        (safe("━" * filled), "warn" if role == "warn" else "focus"),
        (safe("·" * (BAR - filled)), "faint"),
        (safe(f" {percent(share, 0):>3} %"), "warn" if role == "warn" else "plain"),
    )
    return {
        "open": ((money(result, signed=True), signed_role(result, zero="muted")),),
        "margin": ((money(used), "plain"),),
        "share": () if share is None else bar,
    }


def _risk(unprotected: int, risk: Decimal | None) -> Words:
    return (safe(UNLIMITED), "danger") if unprotected else (money(risk), "plain")


def _totals(rows: Sequence[_Row]) -> list[Cells]:
    """Return the sums of what was read, by kind of money and currency; nothing of a single account."""
    groups: dict[tuple[str, str], list[AccountOverview]] = {}
    for row in rows:
        if row.account is not None and not row.why:
            groups.setdefault((row.environment, row.account.currency), []).append(row.account)
    if sum(map(len, groups.values())) < 2:  # noqa: PLR2004 - one account is its own total
        return []
    return [_total(*kind, own) for kind, own in groups.items()]


def _total(environment: str, currency: str, accounts: Sequence[AccountOverview]) -> Cells:
    nav, result, used, available, risk = (
        _sum([getattr(each, name) for each in accounts])
        for name in ("nav", "unrealized_pl", "margin_used", "margin_available", "open_risk")
    )
    return {
        "profile": (*_band(environment), ("total", "bright")),
        "account": ((counted(len(accounts), "account"), "muted"),),
        "nav": ((money(nav), "bright"),),
        "currency": ((clean(currency, 8), "muted"),),
        **_figures(result, used, used / nav if nav and used is not None else None),
        "available": ((money(available), "plain"),),
        "risk": (_risk(sum(each.unprotected for each in accounts), risk),),
        "trades": ((safe(f"{sum(each.trades for each in accounts):,}"), "plain"),),
        "orders": ((safe(f"{sum(each.entry_orders for each in accounts):,}"), "plain"),),
    }


def _sum(values: Sequence[Decimal | None]) -> Decimal | None:
    """Return the sum; None where one of the values is not known."""
    known = [each for each in values if each is not None]
    return sum(known, ZERO) if len(known) == len(values) else None
