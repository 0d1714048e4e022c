"""The two strips of the account: identity and arming, and funds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from rich.style import Style

from keydesk.store.frame import Frame
from keydesk.store.state import Topic
from keydesk.store.store import Store
from keydesk.store.unknown import UNKNOWN, unknown_text
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.values import AccountState
from keydesk.widgets.lines import Run
from keydesk.widgets.price_cells import prices_are_old
from keydesk.widgets.strip_line import Item, StripLine
from keydesk.widgets.theme import ColourRole

Band = Literal["readonly", "live", "practice"]
MAX_ALIAS_WIDTH = 20  # columns
LOSS_LOCK = safe(" LOSS LOCK ")
FIRST_TO_GO = 9  # rank of the alias
TEXT_ON: Mapping[Band, ColourRole] = {
    "readonly": "readonly-text",
    "live": "live-text",
    "practice": "practice-text",
}
CURRENCY_APART_FROM = 82  # columns between the edges; fewer have it right before the net worth
NAV_NAMED_FROM = 78  # of a terminal of 80; fewer have the currency in place of the name


def band_of(store: Store) -> Band:
    """Return the environment's role of colour; read-only outranks both, for nothing is sent."""
    if store.arming.level == "READ-ONLY":
        return "readonly"
    return "live" if store.health.environment == "LIVE" else "practice"


class BandLine(StripLine):
    """A line of the account in the environment's colour."""

    def backdrop(self, frame: Frame) -> Style:
        """Return the environment's colour."""
        band = band_of(frame.store)
        return self.palette.on(TEXT_ON[band], band)

    def changed(self, frame: Frame) -> None:
        """Redraw when a number or the arming level changed."""
        if frame.touched(Topic.ACCOUNT, Topic.TRADES, Topic.ARMING, Topic.HEALTH):
            self.redraw()


class AccountStrip(BandLine):
    """The environment's band across the whole first line, the account's numbers in it."""

    is_short = False  # the figures stand in a line of their own

    @property
    def gaps(self) -> Sequence[int]:
        """The columns between items; in a terminal of 80 closer, before a figure is left out."""
        is_named = NAV_NAMED_FROM <= self.inside < CURRENCY_APART_FROM
        return (3, 2, 1) if is_named else (3, 2)

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield environment and account, then the figures; the alias goes first, the account's digits and currency never."""
        text = self.backdrop(frame)
        bold = text + Style(bold=True)
        yield Item(((safe(_environment(frame.store)), bold),))
        account = frame.store.account
        if account is None:
            why = "NOT KNOWN: the account" if frame.store.unread.answer else "connecting …"
            yield Item(((safe(why), bold if frame.store.unread.answer else text),))
            return
        alias = show.shorten(safe(account.alias), MAX_ALIAS_WIDTH)
        yield Item(((alias, text),) if alias else (), FIRST_TO_GO)
        yield Item(((safe(f"…{clean_name(show.account_tail(account.id))}"), text),))
        currency = clean_name(account.currency)
        apart = self.is_short or self.inside >= CURRENCY_APART_FROM
        yield Item(((currency, text),) if apart else ())
        if unknown := unknown_text(frame.store):
            yield Item(
                ((safe(f"NOT KNOWN: {unknown}"), text + Style(bold=True, reverse=True)),), -1
            )
        if not self.is_short:
            worth = text if prices_are_old(frame.store) else bold
            named = "NAV" if apart else f"NAV {currency}"
            name = safe(named) if self.inside >= NAV_NAMED_FROM else currency
            yield from _figures(account, text, worth, bold, name)

    def right(self, frame: Frame) -> Iterable[Item]:
        """Return whether keys may open risk, told apart from the band by reversing it."""
        armed = frame.store.arming.level
        text = self.backdrop(frame)
        words = {"ARMED": " ARMED ", "DISARMED": "exit only", "READ-ONLY": "nothing is sent"}
        is_locked = frame.store.loss_lock.is_on and armed != "READ-ONLY"
        bold = armed == "ARMED" or is_locked
        style = text + Style(bold=True, reverse=True) if bold else text
        run: Run = (LOSS_LOCK if is_locked else safe(words[armed]), style)
        yield Item((run,))


class FundsLine(BandLine):
    """The account's figures in a line of their own, where the band has no room for them."""

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield the figures that have room."""
        account, text = frame.store.account, self.backdrop(frame)
        if account is not None:
            bold = text + Style(bold=True)
            yield from _figures(account, text, text if prices_are_old(frame.store) else bold, bold)


def _figures(
    account: AccountState, text: Style, worth: Style, bold: Style, name: Printable = "NAV"
) -> Iterable[Item]:
    """Yield the account's figures; behind net worth, profit and the day's result, margin and risk stay longest."""

    def item(label: Printable, value: Printable, rank: int, style: Style = text) -> Item:
        return Item((((safe(f"{label} "), text)), (value, style)), rank)

    yield item(name, show.money(account.nav), 0, worth)
    yield item("uPL", show.money(account.unrealized_pl, signed=True), 0, worth)
    if account.unprotected_trades:
        yield Item(((safe(f"{account.unprotected_trades} no stop !"), bold),), 1)
    yield item("day", show.money(account.day_pl, signed=True), 2, worth)
    yield item("margin", _margin(account), 3)
    yield item("risk", _risk(account), 4)
    yield item("closeout", safe(f"{show.percent(account.margin_closeout_percent, 1)}%"), 5)
    yield item("bal", show.money(account.balance), 6)
    yield item("free", show.money(account.margin_available), 7)


def _margin(account: AccountState) -> Printable:
    if not account.nav:
        return show.EMPTY
    return safe(f"{show.whole_percent(account.margin_used / account.nav)}%")


def _risk(account: AccountState) -> Printable:
    if account.unprotected_trades:
        return show.UNLIMITED
    if account.open_risk is None:
        return UNKNOWN
    if not account.nav:
        return show.EMPTY
    return safe(f"{show.percent(account.open_risk / account.nav)}%")


def _environment(store: Store) -> str:
    if store.arming.level == "READ-ONLY":
        return f"READ-ONLY {store.health.environment}"
    return "LIVE real money" if store.health.environment == "LIVE" else "PRACTICE"
