"""What conditions are read from: the prices of an instrument, the facts of account and market, complete candles."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from time import monotonic

from msgspec import Struct, field

from keydesk.calc.alerts.alert import Alert, AlertLine, standing_text
from keydesk.calc.alerts.candle_conditions import CandleCondition
from keydesk.calc.alerts.condition_base import (
    AlertSyntaxError,
    Condition,
    Facts,
    PriceSnapshot,
    Reading,
)
from keydesk.calc.alerts.price_conditions import QuoteCondition, QuoteReader
from keydesk.calc.market.indicators import compute, warm_up
from keydesk.store.candles import period_end
from keydesk.store.state import Candle
from keydesk.store.store import Store
from keydesk.values import Quote
from keydesk_client.arithmetic.constants import SECOND

PRECISION = 8  # decimals of a value of candles
MARGIN = 5  # candles more than the warm-up


class PriceReadings(Struct):
    """The values of the prices of one instrument that alerts watch."""

    store: Store
    instrument: str
    of: list[tuple[Reading, QuoteReader]] = field(default_factory=list)

    def watch(self, conditions: Mapping[Reading, QuoteCondition]) -> None:
        """Read these values from now on; those that were read before go on."""
        known = dict(self.of)
        self.of = [(key, known.get(key) or each.reader()) for key, each in conditions.items()]

    def values(self, quote: Quote) -> Iterator[tuple[Reading, Decimal]]:
        """Return the values of a price."""
        known = self.store.instruments.get(self.instrument)
        pip, day = None if known is None else known.pip, self.store.days.get(self.instrument)
        for reading, read in self.of:
            value = read(quote, pip, day)
            if value is not None:
                yield reading, value


class BrokerClock(Struct):
    """The broker's time; while its streams are silent the local clock advances it."""

    time_ns: int = 0
    updated_at: float = 0.0  # monotonic seconds

    def at(self, store: Store, now: float) -> int:
        """Return the time, 0 while it is not known."""
        if store.clock_ns != self.time_ns:
            self.time_ns, self.updated_at = store.clock_ns, now
        if store.health.prices in ("OK", "SLOW") or not self.time_ns:
            return self.time_ns
        return self.time_ns + int((now - self.updated_at) * SECOND)


def facts_of(store: Store, now: float, now_ns: int, instrument: str = "") -> Facts:
    """Return what conditions are read from and made from, with the price of one instrument.

    Args:
        store: The state of account and market.
        now: In monotonic seconds.
        now_ns: The broker's time, 0 where it is not known.
        instrument: Whose price is wanted.
    """
    quote, known = store.quotes.get(instrument), store.instruments.get(instrument)
    prices = {}
    if quote is not None and known is not None:
        snapshot = PriceSnapshot(quote.bid, quote.ask, known.pip, known.display_precision)
        prices[instrument] = snapshot
    received = {"prices": store.health.prices_at, "events": store.health.events_at}
    return Facts(
        now_ns,
        store.zone,
        prices,
        None
        if store.unread.trades or (store.account is None and not store.trades)
        else store.trades,
        store.account,
        {
            name: (book.snapshot.time_ns, book.snapshot.long_percent)
            for (name, kind), book in store.books.items()
            if kind == "positions" and book.snapshot is not None
        },
        {name: int(now - at) for name, at in received.items() if at is not None},
    )


def trouble_of(store: Store, line: AlertLine) -> str:
    """Return why an alert cannot be made now, "" if it can."""
    try:
        make_now(store, line)
    except AlertSyntaxError as error:
        return str(error)
    return ""


def make_now(store: Store, line: AlertLine, id_: str = "") -> Alert:
    """Return the alert that a line means now; raise `AlertSyntaxError` if it cannot be made."""
    return line.make(_facts_now(store, line.condition), id_)


def standing_hint(store: Store, condition: Condition) -> str:
    """Return a hint if what the alert watches is beyond its level already."""
    known = store.instruments.get(condition.instrument)
    precision = 0 if known is None else known.display_precision
    value = condition.value_now(_facts_now(store, condition))
    return standing_text(condition, value, precision)


def _facts_now(store: Store, condition: Condition) -> Facts:
    return facts_of(store, monotonic(), store.now_ns, condition.instrument)


def candles_needed(conditions: Iterable[CandleCondition]) -> int:
    """Return how many complete candles give values that have settled."""
    longest = (warm_up((spec,)) + spec.periods[0] for each in conditions for spec in each.specs)
    return max(longest, default=0) + MARGIN


def values_of(
    condition: CandleCondition, candles: Sequence[Candle], after_ns: int
) -> Iterator[tuple[int, Decimal]]:
    """Return the values of complete candles, oldest first, with the ends of the candles: those after a time, and the one before them."""
    lines = [compute(spec, candles).lines[0].values for spec in condition.specs]
    ends = [period_end(each.time_ns, condition.granularity) or 0 for each in candles]
    first = max(0, sum(end <= after_ns for end in ends) - 1)
    for at in range(first, len(candles)):
        value = condition.value_at(candles, lines, at)
        if value is not None and isfinite(value):
            yield ends[at], round(Decimal(value), PRECISION)
