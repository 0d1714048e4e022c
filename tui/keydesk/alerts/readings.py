"""The values that alerts watch: of each price, of the account once a frame, and of candles when they are complete.

Of candles: the difference of two averages, the relative strength index, the range in average true ranges.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite

from keydesk.calc.alerts.alert import SECOND
from keydesk.calc.alerts.conditions import (
    AtrMultiple,
    CandleCondition,
    MovingAverageCross,
    Reading,
    RsiLevel,
)
from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.market.indicators import compute, warm_up
from keydesk.calc.market.trading_day import next_day_start
from keydesk.records import Quote
from keydesk.store.candles import period_end
from keydesk.store.state import Candle
from keydesk.store.store import Store

DAY_BOUNDS = frozenset(("high", "low"))
OF_PRICES = DAY_BOUNDS | {"bid", "ask", "mid", "spread"}
AWAY, NEW = Decimal(-1), Decimal(1)  # from the day's extreme; at a new one
HUNDRED = Decimal(100)
TWO = Decimal(2)
Value = tuple[Reading, Decimal]
PriceOf = Callable[[Quote], Decimal | None]
PRECISION = 8  # decimals of a value of candles
MARGIN = 5  # candles more than the warm-up


@dataclass(slots=True)
class DayBound:
    """The highest or lowest mid price of the trading day as it was before the last price."""

    highest: bool
    price: Decimal
    until_ns: int

    def update(self, mid: Decimal, time_ns: int) -> Decimal | None:
        """Return NEW for a new extreme, AWAY for a price away from it; None at the extreme, and at the start of a day."""
        if time_ns >= self.until_ns:
            self.price, self.until_ns = mid, next_day_start(time_ns)
            return None
        if mid == self.price:
            return None
        if (mid > self.price) is self.highest:
            self.price = mid
            return NEW
        return AWAY


@dataclass(slots=True)
class PriceReadings:
    """The values of one instrument that alerts watch."""

    store: Store
    instrument: str
    of: list[tuple[Reading, PriceOf]] = field(default_factory=list)

    def watch(self, readings: Iterable[Reading]) -> None:
        """Read these values from now on; those that were read before go on."""
        known = dict(self.of)
        self.of = [(each, known.get(each) or self._reader(each)) for each in readings]

    def values(self, quote: Quote) -> Iterator[Value]:
        """Return the values of a price."""
        for reading, read in self.of:
            value = read(quote)
            if value is not None:
                yield reading, value

    def _reader(self, reading: Reading) -> PriceOf:
        match reading.kind:
            case "bid":
                return lambda quote: quote.bid
            case "ask":
                return lambda quote: quote.ask
            case "mid":
                return lambda quote: (quote.bid + quote.ask) / TWO
            case "spread":
                return self._spread
            case _:
                return _Extreme(self.store, reading.kind == "high").update

    def _spread(self, quote: Quote) -> Decimal | None:
        known = self.store.instruments.get(self.instrument)
        return None if known is None else (quote.ask - quote.bid).scaleb(-known.pip_location)


@dataclass(slots=True)
class _Extreme:
    store: Store
    highest: bool
    bound: DayBound | None = None

    def update(self, quote: Quote) -> Decimal | None:
        day = self.store.days.get(quote.instrument)
        if self.bound is None:
            if day is not None:
                price = day.high if self.highest else day.low
                self.bound = DayBound(self.highest, price, next_day_start(quote.time_ns))
            return None
        return self.bound.update((quote.bid + quote.ask) / TWO, quote.time_ns)


@dataclass(slots=True)
class BrokerClock:
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


def present_value(store: Store, reading: Reading, now: float) -> Decimal | None:
    """Return the value of a reading now; None where it is not known, and of a day's extreme and candles."""
    if reading.kind not in OF_PRICES:
        return _value(store, reading, now, store.clock_ns)
    quote = store.quotes.get(reading.subject)
    if quote is None or reading.kind in DAY_BOUNDS:
        return None
    prices = PriceReadings(store, reading.subject)
    prices.watch([reading])
    return next((value for _, value in prices.values(quote)), None)


def account_values(
    store: Store, readings: Iterable[Reading], now: float, clock_ns: int
) -> Iterator[Value]:
    """Return the known values of account, clock, books and streams."""
    for reading in readings:
        value = _value(store, reading, now, clock_ns)
        if value is not None:
            yield reading, value


def _value(store: Store, reading: Reading, now: float, clock_ns: int) -> Decimal | None:  # noqa: PLR0911 - one a kind
    match reading:
        case Reading("trade", id_, unit):
            trade = store.trades.get(id_)
            if trade is None:
                return None
            return trade.r_multiple if unit == "R" else trade.unrealized_pl
        case Reading("account", of, unit):
            return _of_account(store, of, unit)
        case Reading("margin"):
            return (
                None if store.account is None else store.account.margin_closeout_percent * HUNDRED
            )
        case Reading("clock"):
            return Decimal(clock_ns) if clock_ns else None
        case Reading("rollover"):
            if not clock_ns:
                return None
            return Decimal((next_day_start(clock_ns) - clock_ns) // SECOND)
        case Reading("book", instrument):
            book = store.books.get((instrument, "positions"))
            return None if book is None or book.snapshot is None else book.snapshot.long_percent
        case Reading("silence", stream):
            health = store.health
            received_at = health.events_at if stream == "events" else health.prices_at
            return None if received_at is None else Decimal(int(now - received_at))
        case _:
            return None


def _of_account(store: Store, of: str, unit: str) -> Decimal | None:
    account = store.account
    if account is None:
        return None
    if of == "day":
        return account.day_pl
    if unit == "money":
        return account.unrealized_pl
    known = [each.r_multiple for each in store.trades.values() if each.r_multiple is not None]
    return sum(known, Decimal(0))


def specs_of(condition: CandleCondition) -> tuple[IndicatorSpec, ...]:
    """Return the indicators that a condition is about."""
    match condition:
        case MovingAverageCross():
            return (
                IndicatorSpec("ema", (condition.fast,)),
                IndicatorSpec("ema", (condition.slow,)),
            )
        case RsiLevel():
            return (IndicatorSpec("rsi", (condition.period,)),)
        case AtrMultiple():
            return (IndicatorSpec("atr", (condition.period,)),)


def candles_needed(conditions: Sequence[CandleCondition]) -> int:
    """Return how many complete candles give values that have settled."""
    longest = (warm_up((spec,)) + spec.periods[0] for each in conditions for spec in specs_of(each))
    return max(longest, default=0) + MARGIN


def values_of(
    condition: CandleCondition, candles: Sequence[Candle], after_ns: int
) -> Iterator[tuple[int, Decimal]]:
    """Return the values of complete candles, oldest first, with the ends of the candles: those after a time, and the one before them."""
    lines = [compute(spec, candles).lines[0].values for spec in specs_of(condition)]
    ends = [period_end(each.time_ns, condition.granularity) or 0 for each in candles]
    first = max(0, sum(end <= after_ns for end in ends) - 1)
    for at in range(first, len(candles)):
        value = _value_at(condition, candles, lines, at)
        if value is not None and isfinite(value):
            yield ends[at], round(Decimal(value), PRECISION)


def _value_at(
    condition: CandleCondition, candles: Sequence[Candle], lines: Sequence[Sequence[float]], at: int
) -> float | None:
    match condition:
        case MovingAverageCross():
            return lines[0][at] - lines[1][at]
        case RsiLevel():
            return lines[0][at]
        case AtrMultiple():
            average = lines[0][at - 1] if at else 0.0
            if not average > 0:  # NaN is not
                return None
            before = candles[at - 1].close
            return (max(candles[at].high, before) - min(candles[at].low, before)) / average
