"""The first line: where the orders go, whose account it is, what it is worth, whether keys may open risk."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from rich.style import Style

from keydesk.panes.prices import prices_are_old
from keydesk.records import AccountState
from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.widgets.lines import Run
from keydesk.widgets.strip_line import Item, StripLine

CALL = Decimal("0.5")  # of the way to the closeout
NEAR = Decimal("0.8")


def band_of(store: Store) -> str:
    """The environment's role of colour; read-only outranks both, for nothing is sent."""
    if store.arming.level == "READ-ONLY":
        return "readonly"
    return "live" if store.health.environment == "LIVE" else "practice"


class AccountStrip(StripLine):
    """The environment's band across the whole first line, the account's numbers in it."""

    def backdrop(self, frame: Frame) -> Style:
        """The environment's colour."""
        band = band_of(frame.store)
        return self.palette.on(f"{band}-text", band)

    def changed(self, frame: Frame) -> None:
        """Redraw when a number or the armed state moved."""
        if frame.touched(Topic.ACCOUNT, Topic.ARMING, Topic.HEALTH):
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Environment, account, then the numbers by what a trader looks at first."""
        text = self.backdrop(frame)
        bold = text + Style(bold=True)
        yield Item(((safe(_environment(frame.store)), bold),))
        account = frame.store.account
        if account is None:
            yield Item((("connecting …", text),))
            return
        tail = account.id[-3:]
        yield Item(
            (
                (
                    safe(
                        f"{account.alias or 'account'} …{clean_name(tail)} {clean_name(account.currency)}"
                    ),
                    text,
                ),
            ),
            2,
        )
        worth = text if prices_are_old(frame.store) else bold
        yield from self._numbers(account, text, worth, bold)

    def _numbers(
        self, account: AccountState, text: Style, worth: Style, bold: Style
    ) -> Iterable[Item]:
        def item(label: str, value: Printable, rank: int, style: Style = text) -> Item:
            return Item((((safe(f"{label} "), text)), (value, style)), rank)

        yield item("NAV", show.money(account.nav), 0, worth)
        yield item("uPL", show.money(account.unrealized_pl, signed=True), 0, worth)
        if account.naked_trades:
            yield Item(((safe(f"{account.naked_trades} without a stop !"), bold),), 1)
        yield item("day", show.money(account.day_pl, signed=True), 1, worth)
        yield item("margin", self._margin(account), 3, text)
        yield item("risk", self._risk(account), 4)
        yield item("bal", show.money(account.balance), 6)
        yield item("free", show.money(account.margin_available), 7)
        yield item("closeout", safe(f"{show.percent(account.margin_closeout_percent, 0)}%"), 5)

    def _margin(self, account: AccountState) -> Printable:
        if not account.nav:
            return show.EMPTY
        return safe(f"{show.percent(account.margin_used / account.nav, 0)}%")

    def _risk(self, account: AccountState) -> Printable:
        if account.open_risk is None or not account.nav:
            return show.EMPTY
        return safe(f"{show.percent(account.open_risk / account.nav)}%")

    def right(self, frame: Frame) -> Iterable[Item]:
        """Whether keys may open risk, told apart from the band by reversing it."""
        armed = frame.store.arming.level
        text = self.backdrop(frame)
        words = {"ARMED": " ARMED ", "DISARMED": "exit only", "READ-ONLY": "nothing is sent"}
        style = text + Style(bold=True, reverse=True) if armed == "ARMED" else text
        run: Run = (safe(words[armed]), style)
        yield Item((run,))


def _environment(store: Store) -> str:
    if store.arming.level == "READ-ONLY":
        return f"READ-ONLY {store.health.environment}"
    return "LIVE real money" if store.health.environment == "LIVE" else "PRACTICE"
