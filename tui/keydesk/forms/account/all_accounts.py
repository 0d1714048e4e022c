"""The page of every account of every profile: value, profit, margin, what is open and at risk. It is read only."""

from collections.abc import Sequence
from decimal import Decimal

from keydesk.forms.info_form import ScrolledForm
from keydesk.forms.sheet import BLANK, TextLine, wrap_text
from keydesk.text.format import EMPTY, counted, money
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trading.accounts.account_overview import AccountOverview, ProfileOverview
from keydesk.widgets.theme import ColourRole, signed_role

LABEL, FIGURE = 12, 16  # columns
MOST_SHOWN = 50  # accounts of a token: the page is drawn anew with every key
WIDE = 60  # columns from which on two figures stand on a line
LOADING = "is being read"
INDENT = "  "


class AllAccountsPage(ScrolledForm):
    """Shows every account; `show` gives it a profile that was read.

    Args:
        opened: The profile that is open in the desk.
    """

    WIDTH = 100

    def __init__(self, opened: str) -> None:
        super().__init__()
        self._opened = opened
        self._names: Sequence[str] = ()
        self._read: dict[str, ProfileOverview] = {}

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

    def all_lines(self) -> Sequence[TextLine]:
        """Return the profiles, each with its accounts."""
        if not self._names:
            return wrap_text("No profile yet: :login NAME signs in", "muted", self.inside)
        lines = [line for name in self._names for line in (*self._profile(name), BLANK)]
        return lines[:-1]

    def _profile(self, name: str) -> Sequence[TextLine]:
        profile = self._read.get(name)
        opened = "  open in this desk" if name == self._opened else ""
        if profile is None:
            return [((safe(f"{clean(name)}  "), "bright"), (LOADING, "muted"))]
        role: ColourRole = "live" if profile.environment == "LIVE" else "practice"
        head: TextLine = (
            (safe(f"{profile.environment}"), role),
            (safe(f"  {clean(name)}"), "bright"),
            (opened, "muted"),
        )
        if profile.why:
            why = safe(f"cannot be read: {clean(profile.why)}")
            return [head, *self._indented(wrap_text(why, "warn", self.inside - len(INDENT)))]
        lines = [head]
        for each in profile.accounts[:MOST_SHOWN]:
            lines += self._indented(self._account(each))
        more = len(profile.accounts) - MOST_SHOWN
        if more > 0:
            words = safe(f"and {counted(more, 'account')} more of this token")
            lines += self._indented(wrap_text(words, "muted", self.inside - len(INDENT)))
        return lines

    def _account(self, account: AccountOverview) -> Sequence[TextLine]:
        inside = self.inside - len(INDENT)
        if account.why:
            why = safe(f"{account.name} cannot be read: {clean(account.why)}")
            return wrap_text(why, "warn", inside)
        result = account.unrealized_pl
        held = safe(
            f"{counted(account.trades, 'trade')}, {counted(account.entry_orders, 'entry order')}"
        )
        figures = [
            _figure("NAV", _money(account.nav), "bright"),
            _figure("open P/L", _money(result, signed=True), signed_role(result, zero="muted")),
            _figure("margin used", _money(account.margin_used)),
            _figure("available", _money(account.margin_available)),
        ]
        risk: ColourRole = "danger" if account.unprotected else "plain"
        head: TextLine = ((safe(f"{account.name}  {clean(account.currency, 8)}"), "plain"),)
        open_risk: TextLine = (("open risk ", "muted"), (account.risk_text, risk))
        if inside < WIDE:
            return [head, *figures, ((held, "muted"),), open_risk]
        pairs = [(*figures[0], *figures[1]), (*figures[2], *figures[3])]
        return [head, *pairs, ((safe(f"{held}, "), "muted"), *open_risk)]

    def _indented(self, lines: Sequence[TextLine]) -> list[TextLine]:
        return [((INDENT, "plain"), *line) for line in lines]


def _money(value: Decimal | None, *, signed: bool = False) -> Printable:
    return safe(EMPTY) if value is None else money(value, signed=signed)


def _figure(label: str, value: Printable, role: ColourRole = "plain") -> TextLine:
    return ((safe(f"{label:<{LABEL}}"), "muted"), (safe(f"{value:>{FIGURE}}  "), role))
