"""Prices to whoever listens: each changed price is written once, whatever the number of readers.

At the service's own rate a price is sent when it changed. Asked for a higher rate, as load tests do, every price is sent
at every step, so that the rate is what was asked for.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from keydesk_practice.broker.board import PriceBoard
from keydesk_practice.broker.price_lines import price_line
from keydesk_practice.broker.subscriptions import PriceSubscription
from keydesk_practice.engine.quotes import Quote


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
