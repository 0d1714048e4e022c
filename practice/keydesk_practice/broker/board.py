"""The prices in force: the market as it stood at the broker's last step.

Between steps (a quarter of a second by default) nothing moves. So what the stream showed is what an order fills at, a
price is worked out once however many ask for it, and its time is the step at which it last changed.
"""

from collections.abc import Callable, Sequence
from copy import copy

from keydesk_practice.engine.quotes import Conversion, Market, Quote, Specification

MarketAt = Callable[[int], Market]


class PriceBoard:
    """A `Market` that the broker moves from instant to instant."""

    def __init__(self, market_at: MarketAt, now: int) -> None:
        self._market_at = market_at
        self._market = market_at(now)
        self.now = now
        self._fresh: dict[str, Quote] = {}
        self._known: dict[str, Quote] = {}
        self._conversions: dict[tuple[str, str], Conversion] = {}

    def move_to(self, now: int) -> None:
        """Take the prices of another instant."""
        self._market = self._market_at(now)
        self.now = now
        self._fresh = {}
        self._conversions = {}

    def stand_at(self, now: int) -> None:
        """Let time go on within the step; the prices stay."""
        self.now = now

    def frozen(self) -> "PriceBoard":
        """Return the prices in force at this instant, to be read while the board itself moves on."""
        other = copy(
            self
        )  # `move_to` gives the original new tables of fresh prices, so these are not changed
        other._known = self._known.copy()  # noqa: SLF001 - of this class
        return other

    def quote(self, instrument: str) -> Quote:
        """Return the price in force; it keeps its time while it does not change."""
        found = self._fresh.get(instrument)
        if found is None:
            found = self._unless_unchanged(self._market.quote(instrument))
            self._fresh[instrument] = self._known[instrument] = found
        return found

    def specification(self, instrument: str) -> Specification | None:
        """Return what may be traded of an instrument, None when there is no such one."""
        return self._market.specification(instrument)

    def instruments(self) -> Sequence[str]:
        """Return the names of everything tradeable."""
        return self._market.instruments()

    def conversion(self, currency: str, home: str) -> Conversion:
        """Return the factors from a currency to an account's."""
        key = (currency, home)
        found = self._conversions.get(key)
        if found is None:
            found = self._conversions[key] = self._market.conversion(currency, home)
        return found

    def _unless_unchanged(self, quote: Quote) -> Quote:
        known = self._known.get(quote.instrument)
        return known if known is not None and _same_prices(known, quote) else quote


def _same_prices(one: Quote, other: Quote) -> bool:
    return (
        one.bids == other.bids
        and one.asks == other.asks
        and one.tradeable == other.tradeable
        and one.closeout_bid == other.closeout_bid
        and one.closeout_ask == other.closeout_ask
    )
