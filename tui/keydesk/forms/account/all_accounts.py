"""The page of every account of every profile: value, profit, margin, what is open and at risk. Enter opens one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from time import monotonic
from typing import ClassVar, NamedTuple

from msgspec.structs import replace

from keydesk.forms.account.account_columns import (
    COLUMNS,
    DETAILS,
    ID_WIDTH,
    WHOLE_CURRENCIES,
    WIDE,
    AccountMoney,
    Detail,
    band,
    name_of,
    with_figures_of,
)
from keydesk.forms.account.account_totals import (
    AccountGroup,
    AccountRow,
    groups_of,
    lacking_lines,
    rule_above,
)
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, wrap_text
from keydesk.forms.page_lines import width_of
from keydesk.forms.page_table import (
    Cells,
    cells_of,
    is_whole,
    rows_in_sight,
    table_lines,
)
from keydesk.keys.keymap import ALL_ACCOUNTS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text.format import counted, duration, money, percent
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trading.accounts.account_overview import AccountOverview, ProfileOverview
from keydesk.widgets.theme import ColourRole

MOST_SHOWN = 50  # accounts of a token: the page is drawn anew with every key
LOADING = "is being read"
BELOW = 4  # lines about the chosen one
OLD_AFTER = 15.0  # seconds after which a profile that was not read again says how old it is
FEW = 8  # rows in sight
LEAST_TABLE = 3  # rows, below which the profile of the first one is not repeated


class AccountChoice(NamedTuple):
    """The account that is to be opened; without an id, that of the profile."""

    profile: str
    account_id: str = ""


class _Line(NamedTuple):
    """A line of the table: of an account, or the head of its profile."""

    place: int  # of the row
    is_head: bool


class AllAccountsPage(InfoForm[AccountChoice]):
    """Shows every account; `show` gives it a profile that was read. Returns the account to open.

    Args:
        opened: The profile that is open in the desk.
        account_id: Its account.
        store: The desk's, with the figures of that account now.
        clock: Monotonic seconds.
    """

    KEY_CONTEXT: ClassVar[str] = ALL_ACCOUNTS
    BINDINGS = bindings_of(ALL_ACCOUNTS)
    WIDTH = 200
    IS_SNUG = True

    def __init__(
        self,
        opened: str,
        account_id: str = "",
        store: Store | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__()
        self._clock, self._store = clock, store
        self._opened = AccountChoice(opened, account_id)
        self._names: Sequence[str] = ()
        self._read: dict[str, ProfileOverview] = {}
        self._read_at: dict[str, float] = {}  # when each was read last
        self._drawn_at = 0  # second of the last redraw
        self.at = 0

    def expect(self, names: Sequence[str]) -> None:
        """Take the names of the profiles that are being read."""
        self._names = list(names)
        self.redraw()

    def show(self, profile: ProfileOverview) -> None:
        """Show a profile as it was read; one that cannot be read again keeps its figures, with their age."""
        chosen, before = self._choice(), self._read.get(profile.profile)
        if profile.why and before is not None and before.accounts:
            profile = replace(before, why=profile.why)
        else:
            self._read_at[profile.profile] = self._clock()
        self._read[profile.profile] = profile
        if chosen is not None:  # rows above it may have come, or gone
            rows = self.all_rows()
            own = [place for place, row in enumerate(rows) if row.profile == chosen.profile]
            same = (place for place in own if _choice_of(rows[place]) == chosen)
            self.at = next(same, own[0] if own else self.at)
        self.redraw()

    def on_frame(self, frame: Frame) -> None:
        """Follow the open account, and count on the age of the others."""
        second = int(self._clock())
        if second != self._drawn_at or frame.touched(Topic.ACCOUNT, Topic.TRADES, Topic.ORDERS):
            self._drawn_at = second
            self.redraw()

    def _age(self, name: str) -> float:
        return self._clock() - self._read_at.get(name, self._clock())

    def _is_old(self, name: str) -> bool:
        return self._age(name) > OLD_AFTER

    def title_text(self) -> Printable:
        """Say which account of how many is chosen, and how long ago they were read."""
        rows = self.all_rows()
        accounts = [n for n, row in enumerate(rows) if row.account is not None]
        if not accounts:
            return "Accounts"
        place = f"{accounts.index(self.at) + 1} of " if self.at in accounts else ""
        ages = [self._age(each) for each in self._names if not self._is_old(each)]
        read = f", read {duration(max(ages))} ago" if ages else ""
        return safe(f"Accounts: {place}{len(accounts)}{read}")

    def foot_text(self) -> Printable:
        """Return the keys."""
        return self.keys_that_fit(*(("Enter opens it",) if self._names else ()))

    def all_rows(self) -> list[AccountRow]:
        """Return the rows in the order of the profiles."""
        return [self._as_of_now(row) for name in self._names for row in self._rows_of(name)]

    def _is_live(self, row: AccountRow) -> bool:
        """Return whether a row is the account that the desk follows."""
        now = None if self._store is None else self._store.account
        return now is not None and self._is_open(row) and getattr(row.account, "id", "") == now.id

    def _as_of_now(self, row: AccountRow) -> AccountRow:
        if self._store is None or row.account is None or not self._is_live(row):
            return row
        return row._replace(account=with_figures_of(self._store, row.account), why="", is_old=False)

    def _rows_of(self, name: str) -> Iterable[AccountRow]:
        profile = self._read.get(name)
        if profile is None:
            return [AccountRow(name)]
        if not profile.accounts:
            return [AccountRow(name, profile.environment, why=profile.why or "it has no account")]
        shown = profile.accounts[:MOST_SHOWN]
        names = Counter(each.alias for each in shown)
        return [
            AccountRow(
                *(name, profile.environment, each, each.why),
                is_first=not place,
                is_old=self._is_old(name),
                is_named=names[each.alias] == 1,
            )
            for place, each in enumerate(shown)
        ]

    def lines(self) -> Sequence[TextLine]:
        """Return the table around the chosen account, the totals, and more about the chosen one."""
        rows = self.all_rows()
        if not rows:
            return wrap_text("No profile yet: :login NAME signs in", "muted", self.inside)
        self.at = min(self.at, len(rows) - 1)
        groups = all_groups = groups_of(rows)
        below = self._chosen_lines(rows[self.at])
        without = lacking_lines(rows, self._unshown, self.inside) if groups else []
        room = self.room - 1 - len(below) - (len(groups) + 1 if groups else 0) - len(without)
        if room < min(len(rows), FEW):  # the sums of this kind of money only, or none
            kind = rows[self.at].environment
            groups = [each for each in all_groups if each.environment == kind][:BELOW]
            room = self.room - 2 - len(below) - len(groups) - len(without)
        if room < min(len(rows), BELOW):
            groups, without, room = [], [], self.room - 1 - len(below)
        shown = _shown(rows, self.at, max(1, room))
        table = self._table(rows, shown, groups)
        split = 1 + len(shown)
        more = self._more_text() if shown[-1].place == len(rows) - 1 else []
        rule = [rule_above(width_of(table[0]), len(groups), len(all_groups))] if groups else []
        return [*table[:split], *more, *rule, *table[split:], *without, *below]

    def _table(
        self, rows: Sequence[AccountRow], shown: Sequence[_Line], groups: Sequence[AccountGroup]
    ) -> list[TextLine]:
        """Return the header, the lines in sight and the totals; as much of each as has room."""
        columns = [each for each in COLUMNS if each.page_from <= self.inside]
        marks = [each for each in shown if not (each.is_head or rows[each.place].why)]
        for gap, detail in product((2, 1), DETAILS):
            accounts = [self._cells(rows[each.place], each.place, detail) for each in marks]
            cells = [*accounts, *(each.cells(detail) for each in groups)]
            if is_whole(columns, cells, self.inside, gap):
                break
        chosen = next((n for n, each in enumerate(marks) if each.place == self.at), None)
        head, *table = table_lines(columns, cells, self.inside, chosen)
        figures = iter(table)
        lines = [self._line(rows[each.place], each, figures) for each in shown]
        sums = zip(groups, figures, strict=True)
        return [head, *lines, *(_dimmed(line) if of.is_old else line for of, line in sums)]

    def _line(self, row: AccountRow, line: _Line, figures: Iterator[TextLine]) -> TextLine:
        """Return the head of a profile, an account that cannot be read, or the next line of figures."""
        mark: Words = ("▶ " if line.place == self.at else "  ", "focus")
        if line.is_head:
            return (mark if row.account is None else ("  ", "plain"), *self._head_of(row))
        if row.account is None or not row.why:
            return _dimmed(next(figures)) if row.is_old else next(figures)
        return (
            mark,
            (safe(f"{name_of(row.account)}  "), "plain"),
            (safe(f"cannot be read: {clean(row.why)}"), "warn"),
        )

    def _more_text(self) -> list[TextLine]:
        if not self._unshown:
            return []
        return [((safe(f"  and {counted(self._unshown, 'account')} more of this token"), "muted"),)]

    @property
    def _unshown(self) -> int:
        return sum(max(0, len(each.accounts) - MOST_SHOWN) for each in self._read.values())

    def _cells(self, row: AccountRow, place: int, detail: Detail) -> Cells:
        if row.account is None:
            return {}
        role: ColourRole = "bright" if place == self.at else "plain"
        number = detail.number or ("" if row.is_named else "end")
        name: TextLine = ((name_of(row.account, number, detail.name), role),)
        return cells_of(
            COLUMNS, AccountMoney([row.account], name, role, detail, self._is_open(row))
        )

    def _is_open(self, row: AccountRow) -> bool:
        account_id = "" if row.account is None else row.account.id
        name, opened = self._opened
        return row.profile == name and (account_id == opened if opened else row.is_first)

    def _head_of(self, row: AccountRow) -> TextLine:
        """Return a profile with the number of its accounts, or why there is none."""
        profile: TextLine = (*band(row.environment), (clean(row.profile), "bright"))
        if row.account is not None:
            count = len(self._read[row.profile].accounts)
            accounts: Words = (safe(f"   {counted(count, 'account')}"), "muted")
            return (*profile, accounts, *([self._age_words(row.profile)] if row.is_old else ()))
        if not row.why:
            return (*profile, (f"   {LOADING}", "muted"))
        return (*profile, (safe(f"   cannot be read: {clean(row.why)}"), "warn"))

    def _age_words(self, name: str) -> Words:
        """Return how old the figures of a profile are, and why they were not read again."""
        why = clean(self._read[name].why)
        text = f"   as of {duration(self._age(name))} ago{why and ': '}{why}"
        return safe(text), "warn"

    def _chosen_lines(self, row: AccountRow) -> list[TextLine]:
        """Return what the table leaves out of the chosen account."""
        if row.why:
            text = safe(f"Cannot be read: {clean(row.why)}")
            return [BLANK, *wrap_text(text, "warn", self.inside)[:BELOW]]
        account = row.account
        if account is None:
            return [BLANK, ((safe(f"{clean(row.profile)} {LOADING}"), "muted"),)]
        lines: list[TextLine] = []
        if self.inside < WIDE:  # else the table has them
            lines = fold_line(_more_of(account, self.inside), self.inside)
        if account.unprotected:
            lines += wrap_text(safe(f"Open risk {account.risk_text}"), "danger", self.inside)
        return [BLANK, *lines[:BELOW]] if lines else []

    # The keys.

    def action_choose(self, step: int) -> None:
        """Go to another account."""
        self.at = max(0, min(len(self.all_rows()) - 1, self.at + step))
        self.redraw()

    def action_open(self) -> None:
        """Close the page and open the chosen account."""
        chosen = self._choice()
        if chosen is not None and self.is_active:
            self.dismiss(chosen)

    def _choice(self) -> AccountChoice | None:
        rows = self.all_rows()
        return _choice_of(rows[min(self.at, len(rows) - 1)]) if rows else None


def _choice_of(row: AccountRow) -> AccountChoice:
    return AccountChoice(row.profile, row.account.id if row.account else "")


def _dimmed(line: TextLine) -> TextLine:
    return [
        (text, "focus" if role == "focus" and text.startswith("▶") else "muted")
        for text, role in line
    ]


def _more_of(account: AccountOverview, width: int) -> TextLine:
    """Return what the table has no columns for, in shorter words where the line is too long."""
    line: list[Words] = []
    for name, orders, places in (
        (account.name, "entry orders", 2),
        (clean(account.id, ID_WIDTH), "entries", 2),
        (clean(account.id, ID_WIDTH), "entries", 0),
        (name_of(account, ""), "entries", 0),
    ):
        digits = 0 if account.currency in WHOLE_CURRENCIES else places
        line = [(name, "plain")]
        for label, value in (
            ("balance", money(account.balance, digits)),
            ("free", money(account.margin_available, digits)),
            ("closeout", safe(f"{percent(account.closeout_percent, 1)} %")),
            (orders, safe(f"{account.entry_orders:,}")),
        ):
            line.append((safe(f"  {label} "), "muted"))
            line.append((value, "plain"))
        if width_of(line) <= width:
            break
    return line


def _shown(rows: Sequence[AccountRow], at: int, room: int) -> list[_Line]:
    """Return the lines around the chosen row; the profile of the first one stands above it, also out of its place."""
    lines: list[_Line] = []
    for place, row in enumerate(rows):
        if row.account is None or row.is_first:
            lines.append(_Line(place, is_head=True))
        if row.account is not None:
            lines.append(_Line(place, is_head=False))
    chosen = max(n for n, each in enumerate(lines) if each.place == at)
    sight = rows_in_sight(len(lines), chosen, room)
    shown = lines[sight.start : sight.stop]
    if len(shown) >= LEAST_TABLE and shown[0].place != at:
        shown[0] = shown[0]._replace(is_head=True)
    return shown
