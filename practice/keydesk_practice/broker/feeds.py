"""The current prices, and the price and transaction streams.

Prices change only at the broker's steps (a quarter of a second by default), so a price is computed once for all who read
it, and orders fill at the price that the stream showed. Each changed price and each committed batch is encoded once for
each format, whatever the number of subscriptions.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import msgspec
from msgspec.structs import replace

from keydesk_practice.engine.quotes import Conversion, Level, Market, Quote, Specification
from keydesk_practice.engine.wire_form import in_unix_form, plain, rfc3339, unix

MarketAt = Callable[[int], Market]
MAX_UNREAD_BYTES = 4 * 1024 * 1024


class PriceBoard:
    """The `Market` of the broker's current step, with its quotes, specifications and conversions cached."""

    def __init__(self, market_at: MarketAt, now: int) -> None:
        self._market_at = market_at
        self._market = market_at(now)
        self.now = now
        self._fresh: dict[str, Quote] = {}
        self._known: dict[str, Quote] = {}
        self._conversions: dict[tuple[str, str], Conversion] = {}
        self._specifications: dict[str, Specification] = {}

    def move_to(self, now: int) -> None:
        """Change to the prices of another time."""
        self._market = self._market_at(now)
        self.now = now
        self._fresh = {}
        self._conversions = {}
        self._specifications = {}

    def at(self, time: int) -> Market:
        """Return the market at another time."""
        return self._market_at(time)

    def replace_market(self, market_at: MarketAt) -> None:
        """Show another market from now on; its prices of this moment are the same."""
        self._market_at = market_at
        self.move_to(self.now)

    def restart(self, market_at: MarketAt, now: int) -> None:
        """Show another market at another time."""
        self._known, self.now = {}, now
        self.replace_market(market_at)

    def set_time(self, now: int) -> None:
        """Advance the time within the step; the prices stay."""
        self.now = now

    def frozen(self) -> "PriceBoard":
        """Return the prices of this moment, to be read while the board itself moves on."""
        other = copy(
            self
        )  # `move_to` replaces the other tables of the original and so changes no copy
        other._known = self._known.copy()  # noqa: SLF001 - of this class
        return other

    def quote(self, instrument: str) -> Quote:
        """Return the current price; it keeps its time while it does not change."""
        quote = self._fresh.get(instrument)
        if quote is None:
            quote = self._market.quote(instrument)
            known = self._known.get(instrument)
            if known is not None and _same_prices(known, quote):
                quote = known
            self._fresh[instrument] = self._known[instrument] = quote
        return quote

    def specification(self, instrument: str) -> Specification | None:
        """Return the specification of an instrument, None for an unknown one."""
        try:
            return self._specifications[instrument]
        except KeyError:
            specification = self._market.specification(instrument)
            if specification is not None:  # names from requests must not fill the table
                self._specifications[instrument] = specification
            return specification

    def instruments(self) -> Sequence[str]:
        """Return the names of the tradeable instruments."""
        return self._market.instruments()

    def conversion(self, currency: str, home: str) -> Conversion:
        """Return the conversion factors from a currency to an account's home currency."""
        key = (currency, home)
        known = self._conversions.get(key)
        if known is None:
            known = self._conversions[key] = self._market.conversion(currency, home)
        return known


class WithoutLiquidity:
    """A market that has no liquidity when an order arrives: for the fault of that name."""

    def __init__(self, board: PriceBoard) -> None:
        self._board = board
        self.now = board.now
        self.specification = board.specification
        self.instruments = board.instruments
        self.conversion = board.conversion

    def quote(self, instrument: str) -> Quote:
        """Return the current price with zero liquidity at every level."""
        quote = self._board.quote(instrument)
        bids, asks = (
            tuple(replace(level, liquidity=0) for level in levels)
            for levels in (quote.bids, quote.asks)
        )
        return replace(quote, bids=bids, asks=asks)


def _same_prices(one: Quote, other: Quote) -> bool:
    return (
        one.bids == other.bids
        and one.asks == other.asks
        and one.tradeable == other.tradeable
        and one.closeout_bid == other.closeout_bid
        and one.closeout_ask == other.closeout_ask
    )


def price_line(board: PriceBoard, quote: Quote, home: str | None, unix_times: bool) -> bytes:
    """Return a price as a line of the stream, with the factors to a home currency if one is given."""
    price: dict[str, Any] = {
        "type": "PRICE",
        "instrument": quote.instrument,
        "time": (unix if unix_times else rfc3339)(quote.time),
        "status": "tradeable" if quote.tradeable else "non-tradeable",
        "tradeable": quote.tradeable,
        "bids": _levels(quote.bids),
        "asks": _levels(quote.asks),
        "closeoutBid": plain(quote.closeout_bid),
        "closeoutAsk": plain(quote.closeout_ask),
    }
    if home is not None:
        price["homeConversions"] = home_conversions(board, [quote.instrument], home)
    return msgspec.json.encode(price) + b"\n"


def home_conversions(board: PriceBoard, names: Sequence[str], home: str) -> list[dict[str, str]]:
    """Return the conversion factors of the currencies of some instruments, each currency once."""
    specifications = [board.specification(name) for name in names]
    currencies = dict.fromkeys(
        currency
        for one in specifications
        if one is not None
        for currency in (one.base, one.quote_currency)
    )
    factors = [board.conversion(currency, home) for currency in currencies]
    return [
        {
            "currency": one.currency,
            "accountGain": plain(one.gain),
            "accountLoss": plain(one.loss),
            "positionValue": plain(one.value),
        }
        for one in factors
    ]


def _levels(levels: Sequence[Level]) -> list[dict[str, Any]]:
    return [{"price": plain(level.price), "liquidity": level.liquidity} for level in levels]


class Subscription(ABC):
    """The unread lines of one stream: bounded, so that a slow client costs neither memory nor others' time."""

    def __init__(self) -> None:
        self.closed = False
        self.on_overrun: Callable[[], object] = self.close
        self._arrived = asyncio.Event()

    @abstractmethod
    def take(self) -> bytes:
        """Return and remove the unread lines, in order; empty when there are none."""

    def notify(self) -> None:
        """Wake the stream that waits."""
        self._arrived.set()

    def close(self) -> None:
        """End the stream."""
        self.closed = True
        self._arrived.set()

    async def wait(self, seconds: float) -> None:
        """Return when lines arrived, the subscription closed, or after `seconds`."""
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._arrived.wait()
        except TimeoutError:
            return
        self._arrived.clear()


class PriceSubscription(Subscription):
    """The unread price lines, conflated: the newest of each instrument."""

    def __init__(self, instruments: Iterable[str], home: str | None, unix_times: bool) -> None:
        super().__init__()
        self.instruments = frozenset(instruments)
        self.form = (home, unix_times)  # subscriptions of the same form share their lines
        self._latest: dict[str, bytes] = {}

    def offer(self, lines: Mapping[str, bytes]) -> None:
        """Add the lines of the subscribed instruments; they replace older unread ones."""
        own = {name: line for name, line in lines.items() if name in self.instruments}
        if own:
            self._latest |= own
            self.notify()

    def take(self) -> bytes:
        """Return and remove the unread lines, at most one an instrument."""
        lines, self._latest = self._latest, {}
        return b"".join(lines.values())


class TransactionSubscription(Subscription):
    """The unread transactions since the stream was opened, in id order; none is dropped."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []
        self._size = 0

    def offer(self, lines: bytes) -> None:
        """Add a whole batch; close the stream when more than `MAX_UNREAD_BYTES` are unread.

        The client continues with `sinceid` from the last id that it read.
        """
        self._size += len(lines)
        if self._size > MAX_UNREAD_BYTES:
            self._lines = []
            self.close()
            self.on_overrun()
            return
        self._lines.append(lines)
        self.notify()

    def take(self) -> bytes:
        """Return and remove the unread batches."""
        lines, self._lines, self._size = self._lines, [], 0
        return b"".join(lines)


class PriceFeed:
    """The open price streams.

    A price is sent when it changed; with `every_step`, as load tests use, every price is sent at every step.
    """

    def __init__(self, board: PriceBoard, every_step: bool = False) -> None:
        self._board = board
        self._every_step = every_step
        self._subscriptions: set[PriceSubscription] = set()
        self._instruments: Counter[str] = Counter()
        self._published: dict[str, Quote] = {}

    def join(
        self, instruments: Iterable[str], home: str | None, unix_times: bool
    ) -> PriceSubscription:
        """Return a subscription to the changes of some instruments from now on, without their current prices."""
        self.publish()  # pending changes go to the earlier subscriptions only
        subscription = PriceSubscription(instruments, home, unix_times)
        for name in subscription.instruments - self._instruments.keys():
            self._published[name] = self._board.quote(name)
        self._subscriptions.add(subscription)
        self._instruments.update(subscription.instruments)
        return subscription

    def leave(self, subscription: PriceSubscription) -> None:
        """Remove a subscription."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            self._instruments.subtract(subscription.instruments)
            self._instruments = +self._instruments

    def snapshot(self, subscription: PriceSubscription) -> bytes:
        """Return the lines of the current prices of a subscription; none once it is closed."""
        if subscription.closed:
            return b""
        return b"".join(
            price_line(self._board, self._board.quote(name), *subscription.form)
            for name in sorted(subscription.instruments)
        )

    def publish(self) -> None:
        """Send every price that changed since the last call to its subscriptions."""
        changed = self._changed()
        if not changed:
            return
        lines = {
            form: {quote.instrument: price_line(self._board, quote, *form) for quote in changed}
            for form in {subscription.form for subscription in self._subscriptions}
        }
        for subscription in self._subscriptions:
            subscription.offer(lines[subscription.form])

    def close(self) -> None:
        """End every stream; the market that comes next may not have its instruments."""
        for subscription in list(self._subscriptions):
            subscription.close()
            self.leave(subscription)

    def _changed(self) -> list[Quote]:
        changed = []
        for name in self._instruments:
            quote = self._board.quote(name)
            if self._every_step:
                changed.append(replace(quote, time=self._board.now))
            elif self._published.get(name) is not quote:
                self._published[name] = quote
                changed.append(quote)
        return changed


class TransactionFeed:
    """The open transaction streams of one account."""

    def __init__(self) -> None:
        self._subscriptions: dict[TransactionSubscription, bool] = {}

    def join(self, unix_times: bool) -> TransactionSubscription:
        """Return a subscription to every batch from now on."""
        subscription = TransactionSubscription()
        self._subscriptions[subscription] = unix_times
        return subscription

    def leave(self, subscription: TransactionSubscription) -> None:
        """Remove a subscription."""
        self._subscriptions.pop(subscription, None)

    def publish(self, texts: Sequence[str]) -> None:
        """Send the JSON texts of a committed batch, in id order, to every stream."""
        if not self._subscriptions:
            return
        plain = _lines(texts)
        unix = _lines([_in_unix_form(text) for text in texts]) if self._any_unix() else b""
        for subscription, unix_times in list(self._subscriptions.items()):
            subscription.offer(unix if unix_times else plain)

    def close(self) -> None:
        """End every stream."""
        for subscription in list(self._subscriptions):
            subscription.close()

    def _any_unix(self) -> bool:
        return True in self._subscriptions.values()


def _lines(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("ascii")


def _in_unix_form(text: str) -> str:
    return json.dumps(in_unix_form(json.loads(text)), separators=(",", ":"))
