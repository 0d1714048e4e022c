"""Who listens to an account: every committed batch goes to all of them, encoded once for each form of time.

The prices in force: the market as it stood at the broker's last step.

Between steps (a quarter of a second by default) nothing moves. So what the stream showed is what an order fills at, a
price is worked out once however many ask for it, and its time is the step at which it last changed.
One line of the price stream.
Who listens: bounded mailboxes between the broker and its stream connections.

A slow reader must cost neither memory nor anybody else's time. Prices conflate: a mailbox holds the last line of each
instrument, no more. Transactions may not be dropped: a reader that falls too far behind is closed, and fills the gap
from the ids when it comes back.
Prices to whoever listens: each changed price is written once, whatever the number of readers.

At the service's own rate a price is sent when it changed. Asked for a higher rate, as load tests do, every price is sent
at every step, so that the rate is what was asked for.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from keydesk_practice.engine.quotes import Conversion, Level, Market, Quote, Specification
from keydesk_practice.engine.wire_form import in_unix_form, plain, rfc3339, unix

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

    def set_time(self, now: int) -> None:
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


def price_line(board: PriceBoard, quote: Quote, home: str | None, unix_times: bool) -> bytes:
    """Return the line of a price; with a home currency, the factors to it stand beside it."""
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
    return json.dumps(price, separators=(",", ":")).encode("ascii") + b"\n"


def home_conversions(board: PriceBoard, names: Sequence[str], home: str) -> list[dict[str, str]]:
    """Return the factors of every currency of some instruments, each once."""
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


MOST_BYTES_BEHIND = 4 * 1024 * 1024


class Subscription:
    """A mailbox with a bell; `take` empties it."""

    def __init__(self) -> None:
        self.closed = False
        self.on_overrun: Callable[[], object] = self.close
        self._bell = asyncio.Event()

    def take(self) -> bytes:
        """Return what arrived since the last take, in order; empty when nothing did."""
        raise NotImplementedError

    def notify(self) -> None:
        """Wake the reader."""
        self._bell.set()

    def close(self) -> None:
        """End the stream: the reader stops at its next look."""
        self.closed = True
        self._bell.set()

    async def wait(self, seconds: float) -> None:
        """Return when something arrived, the mailbox closed, or the time is over."""
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._bell.wait()
        except TimeoutError:
            return
        self._bell.clear()


class PriceSubscription(Subscription):
    """The newest price line of each instrument that the reader has not seen."""

    def __init__(self, instruments: Iterable[str], home: str | None, unix_times: bool) -> None:
        super().__init__()
        self.instruments = frozenset(instruments)
        self.form = (home, unix_times)  # readers of the same form share their lines
        self._latest: dict[str, bytes] = {}

    def offer(self, lines: Mapping[str, bytes]) -> None:
        """Put in the lines of the instruments asked for; older unread ones give way."""
        wanted = {name: line for name, line in lines.items() if name in self.instruments}
        if wanted:
            self._latest |= wanted
            self.notify()

    def take(self) -> bytes:
        """Return the unread lines, at most one for each instrument."""
        lines, self._latest = self._latest, {}
        return b"".join(lines.values())


class TransactionSubscription(Subscription):
    """Every transaction since the connection was made, in id order."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []
        self._size = 0

    def offer(self, lines: bytes) -> None:
        """Put in a whole batch; a reader too far behind is closed instead."""
        self._size += len(lines)
        if self._size > MOST_BYTES_BEHIND:
            self._lines = []
            self.close()
            self.on_overrun()
            return
        self._lines.append(lines)
        self.notify()

    def take(self) -> bytes:
        """Return the unread batches."""
        lines, self._lines, self._size = self._lines, [], 0
        return b"".join(lines)


class PriceFeed:
    """The open price streams, and what they last heard."""

    def __init__(self, board: PriceBoard, every_step: bool = False) -> None:
        self._board = board
        self._every_step = every_step
        self._readers: set[PriceSubscription] = set()
        self._wanted: Counter[str] = Counter()
        self._published: dict[str, Quote] = {}

    def join(
        self, instruments: Iterable[str], home: str | None, unix_times: bool
    ) -> PriceSubscription:
        """Return a mailbox that gets the changes of these instruments from now on, and no price in force now."""
        self.publish()  # what the others have still to hear is no news to this one
        reader = PriceSubscription(instruments, home, unix_times)
        for name in reader.instruments - self._wanted.keys():
            self._published[name] = self._board.quote(name)
        self._readers.add(reader)
        self._wanted.update(reader.instruments)
        return reader

    def leave(self, reader: PriceSubscription) -> None:
        """Forget a mailbox."""
        if reader in self._readers:
            self._readers.remove(reader)
            self._wanted.subtract(reader.instruments)
            self._wanted = +self._wanted

    def snapshot(self, reader: PriceSubscription) -> bytes:
        """Return the prices in force of everything a reader asked for."""
        return b"".join(
            price_line(self._board, self._board.quote(name), *reader.form)
            for name in sorted(reader.instruments)
        )

    def publish(self) -> None:
        """Give every price that changed since the last time to its readers."""
        changed = self._changed()
        if not changed:
            return
        lines = {
            form: {quote.instrument: price_line(self._board, quote, *form) for quote in changed}
            for form in {reader.form for reader in self._readers}
        }
        for reader in self._readers:
            reader.offer(lines[reader.form])

    def close(self) -> None:
        """End every stream."""
        for reader in list(self._readers):
            reader.close()

    def _changed(self) -> list[Quote]:
        changed = []
        for name in self._wanted:
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
        self._members: dict[TransactionSubscription, bool] = {}

    def join(self, unix_times: bool) -> TransactionSubscription:
        """Return a mailbox that gets every batch from now on."""
        mailbox = TransactionSubscription()
        self._members[mailbox] = unix_times
        return mailbox

    def leave(self, mailbox: TransactionSubscription) -> None:
        """Forget a mailbox."""
        self._members.pop(mailbox, None)

    def publish(self, texts: Sequence[str]) -> None:
        """Give a committed batch, in id order, to everybody."""
        if not self._members:
            return
        plain = _lines(texts)
        unix = _lines([_in_unix_form(text) for text in texts]) if self._any_unix() else b""
        for mailbox, unix_times in list(self._members.items()):
            mailbox.offer(unix if unix_times else plain)

    def close(self) -> None:
        """End every stream."""
        for mailbox in list(self._members):
            mailbox.close()

    def _any_unix(self) -> bool:
        return True in self._members.values()


def _lines(texts: Sequence[str]) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode("ascii")


def _in_unix_form(text: str) -> str:
    return json.dumps(in_unix_form(json.loads(text)), separators=(",", ":"))
