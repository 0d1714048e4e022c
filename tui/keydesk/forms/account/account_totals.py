"""The totals of the page of all accounts: what can be added up, by kind of money and currency, and what they lack."""

from collections.abc import Sequence
from typing import NamedTuple

from keydesk.forms.account.account_columns import COLUMNS, AccountMoney, Detail, band, name_of
from keydesk.forms.modal_form import TextLine
from keydesk.forms.page_table import Cells, cells_of
from keydesk.text.format import counted, shorten
from keydesk.text.sanitize import clean, safe
from keydesk.trading.accounts.account_overview import AccountOverview

MOST_NAMED = 3  # of what the totals lack


class AccountRow(NamedTuple):
    """A row of the page: an account, or a profile of which none is known."""

    profile: str
    environment: str = ""
    account: AccountOverview | None = None
    why: str = ""  # it cannot be read
    is_first: bool = True  # of its profile
    is_old: bool = False  # its broker has not answered since
    is_named: bool = False  # no other account of its profile has its name


class AccountGroup(NamedTuple):
    """Accounts whose money can be added up."""

    environment: str
    currency: str
    accounts: Sequence[AccountOverview]
    is_old: bool

    def cells(self, detail: Detail) -> Cells:
        """Return the cells of its total."""
        count = f" of {len(self.accounts)}" if detail.number else ""
        name: TextLine = (*band(self.environment), (safe(f"total{count}"), "plain"))
        return cells_of(COLUMNS, AccountMoney(self.accounts, name, "bright", detail))


def groups_of(rows: Sequence[AccountRow]) -> list[AccountGroup]:
    """Return what was read, by kind of money and currency; a single account is its own sum."""
    groups: dict[tuple[str, str], list[AccountRow]] = {}
    for row in rows:
        if row.account is not None and not row.why:
            groups.setdefault((row.environment, row.account.currency), []).append(row)
    return [
        AccountGroup(
            *kind, [each.account for each in own if each.account], any(each.is_old for each in own)
        )
        for kind, own in sorted(groups.items())
        if len(own) > 1
    ]


def rule_above(width: int, count: int, of: int) -> TextLine:
    """Return the line above the totals, with how many of them are shown where that is not all."""
    words = f" {count} of {counted(of, 'total')} " if count < of else ""
    return (
        (safe("──" if words else ""), "line"),
        (safe(words), "muted"),
        (safe("─" * max(0, width - len(words) - (2 if words else 0))), "line"),
    )


def lacking_lines(rows: Sequence[AccountRow], unshown: int, width: int) -> list[TextLine]:
    """Return a warning of what the totals lack: accounts and profiles that are not read."""
    names = [
        name_of(row.account) if row.account is not None else clean(row.profile, 20)
        for row in rows
        if row.why or row.account is None
    ]
    if not names and not unshown:
        return []
    others = max(0, len(names) - MOST_NAMED) + unshown
    more = f" and {others:,} more" if others else ""
    text = f"  totals without {', '.join(names[:MOST_NAMED])}{more}"
    return [((shorten(safe(text), width), "warn"),)]
