"""`FollowedAccount`: trades, positions, orders, totals and prices of an account that `client.follow()` keeps current."""

from keydesk_client.account.records import (
    AccountFigures,
    OpenPosition,
    OpenTrade,
    Part,
    PendingOrder,
    Unread,
)
from keydesk_client.account.valuation import measure_order, revalue_account, revalue_position
from keydesk_client.account.values import bid_and_ask
from keydesk_client.account.values import price as checked_price
from keydesk_client.following.events import LatestPrice
from keydesk_client.models import ClientPrice, HomeConversions, Instrument


class FollowedAccount:
    """Trades, positions, orders, totals and prices of one account."""

    def __init__(self) -> None:
        self.trades: dict[str, OpenTrade] = {}
        self.positions: dict[str, OpenPosition] = {}
        self.orders: dict[str, PendingOrder] = {}
        self.unread: Unread = Unread()
        self.account: AccountFigures | None = None
        self.instruments: dict[str, Instrument] = {}
        self.quotes: dict[str, LatestPrice] = {}
        self.conversions: dict[str, HomeConversions] = {}
        self.unreadable: int = 0
        """Records of the service that could not be read and were left out."""

    def set_figures(self, figures: AccountFigures) -> None:
        """Replace the totals."""
        self.account = figures

    def changed(self, part: Part, key: str | None = None) -> None:
        """Do nothing: the caller reports a change as an event."""

    def note_unreadable(self, text: str, count: int = 1) -> None:
        """Count unreadable records."""
        del text
        self.unreadable += count

    def printable(self, text: str) -> str:
        """Return text as the service sent it; clean it before it is written to a terminal."""
        return text

    def apply_price(self, price: ClientPrice, received: float) -> LatestPrice | None:
        """Take a price and value what it concerns; return None if it is older than the one that is held.

        Raises:
            ValueError, AttributeError: the price cannot be read, or is out of range.
        """
        latest = latest_price(price, received)
        held = self.quotes.get(latest.instrument)
        if held is not None and latest.time.ns < held.time.ns:
            return None
        self.quotes[latest.instrument] = latest
        for each in price.home_conversions or ():
            self.apply_conversion(each)
        for order in self.orders.values():
            if order.instrument == latest.instrument:
                measure_order(self, order)
        if latest.instrument in self.positions:
            self.revalue(latest.instrument)
        return latest

    def apply_conversion(self, conversion: HomeConversions) -> None:
        """Take the factors of a currency; raise ValueError if one is out of range."""
        factors = (conversion.account_gain, conversion.account_loss, conversion.position_value)
        for factor in factors:
            checked_price(factor)
        self.conversions[conversion.currency] = conversion

    def revalue(self, instrument: str = "") -> None:
        """Value one position, or all, and the totals at the latest prices."""
        for each in (instrument,) if instrument else tuple(self.positions):
            if each in self.positions:
                revalue_position(self, each)
        if self.account is not None:
            revalue_account(self, self.account)


def latest_price(price: ClientPrice, received: float) -> LatestPrice:
    """Return what an account keeps of a price; raise ValueError if it is out of range."""
    name, time = price.instrument, price.time
    if name is None or time is None:
        raise ValueError("a price without instrument or time")
    bid, ask = bid_and_ask(price, time.ns)
    return LatestPrice(name, bid, ask, time, price.tradeable is not False, received)
