"""Conditions on prices: a level, a distance, the spread, a new high or low of the day. They are read from each price."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import ClassVar, Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.alerts.condition_base import (
    REACHES,
    SIGN_OF,
    SIGNS,
    AlertSyntaxError,
    Condition,
    Facts,
    PriceSide,
    Reading,
    Unit,
    direction_of,
    number_of,
)
from keydesk.calc.market.trading_day import next_day_start
from keydesk.text.format import exact, pair, pip_count
from keydesk.text.typed import quantity
from keydesk.values import Day, Quote
from keydesk_client.arithmetic.constants import PERCENT, ZERO
from keydesk_client.arithmetic.profit import round_price, round_price_down, round_price_up

SIDES: Mapping[str, PriceSide] = {"bid": "bid", "ask": "ask", "mid": "mid"}
AWAY, NEW = Decimal(-1), Decimal(1)  # from the day's extreme; at a new one
TWO = Decimal(2)
QuoteReader = Callable[[Quote, Decimal | None, Day | None], Decimal | None]
"""Returns a value of a price, given the pip of its instrument and its trading day, where they are known."""


class QuoteCondition(Condition, frozen=True, kw_only=True):
    """A condition on a value of each price of an instrument."""

    @abstractmethod
    def reader(self) -> QuoteReader:
        """Return what reads one price after another."""

    def told_value(self, value: Decimal, quote: Quote) -> Decimal:  # noqa: ARG002 - see `DayHighLow`
        """Return what is told of a value that met the condition."""
        return value


class PriceCondition(QuoteCondition, frozen=True, kw_only=True):
    """A condition on the price itself, which candles show after an interruption."""

    side: PriceSide = "mid"

    @property
    def reading(self) -> Reading:
        """The price of the side, in which all such conditions agree."""
        return (self.side, self.instrument)

    def reader(self) -> QuoteReader:
        """Return what reads the price of the side."""
        return READERS[self.side]

    def value_now(self, facts: Facts) -> Decimal | None:
        known = facts.prices.get(self.instrument)
        return None if known is None else _of_side(known.bid, known.ask, self.side)


READERS: Mapping[PriceSide, QuoteReader] = {
    "bid": lambda quote, _pip, _day: quote.bid,
    "ask": lambda quote, _pip, _day: quote.ask,
    "mid": lambda quote, _pip, _day: (quote.bid + quote.ask) / TWO,
}


def _of_side(bid: Decimal, ask: Decimal, side: PriceSide) -> Decimal:
    return {"bid": bid, "ask": ask, "mid": (bid + ask) / TWO}[side]


def _side(words: Sequence[str]) -> tuple[PriceSide, Sequence[str]]:
    """Return the side that a line names, mid without one, and the words after it."""
    if words and words[0] in SIDES:
        return SIDES[words[0]], words[1:]
    return "mid", words


class PriceCross(PriceCondition, frozen=True, kw_only=True):
    """A price crosses a level."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("> 1.12",)
    LINE: ClassVar[str] = "{own.side} {sign} {level}"
    TEXT: ClassVar[str] = "{pair} {own.side} {crosses} {level}"

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        side, words = _side(words)
        match words:
            case [sign, level] if sign in SIGNS:
                number = number_of(level, "price", above=ZERO)
                return cls(instrument=instrument, side=side, direction=SIGNS[sign], level=number)
            case [sign] if sign in SIGNS:
                raise AlertSyntaxError(f"price: missing after {sign}; write it as {sign} 1.12")
            case _:
                return None


class PriceMove(PriceCondition, frozen=True, kw_only=True):
    """A price moves a distance from where it was when the alert was made."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("+20p", "-0.5%")

    distance: Decimal  # signed, in its unit
    unit: Literal["p", "%"]
    start: Decimal = ZERO  # the price then; 0: not made yet

    @classmethod
    def matches(cls, words: Sequence[str]) -> bool:
        """Return whether the words are a distance, with a side or without."""
        _, words = _side(words)
        return bool(words) and _move(words[0]) is not None

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        """Read +20p, bid -0.5%; of a made one also from 1.0850 to 1.0870."""
        side, words = _side(words)
        distance, unit = _move(words[0]) or (ZERO, "p")
        start = level = ZERO
        match words[1:]:
            case []:
                pass
            case ["from", begins, "to", ends]:
                start, level = number_of(begins, "from"), number_of(ends, "to")
            case _:
                return None
        return cls(
            instrument=instrument,
            direction="up" if distance > 0 else "down",
            level=level,
            side=side,
            distance=distance,
            unit=unit,
            start=start,
        )

    def made(self, facts: Facts) -> Self:
        """Return it with the level that the distance comes to, at the precision of a price."""
        known = facts.prices.get(self.instrument)
        if known is None:
            raise AlertSyntaxError(
                f"price: no price of {pair(self.instrument)} yet; write a level, as > 1.12"
            )
        start = _of_side(known.bid, known.ask, self.side)
        step = self.distance * (known.pip if self.unit == "p" else start / PERCENT)
        round_away = (
            round_price_up if step > 0 else round_price_down
        )  # a mid price has a digit more
        level, start = (
            round_away(start + step, known.precision),
            round_price(start, known.precision),
        )
        if level <= 0:
            distance = exact(self.distance, signed=True)
            raise AlertSyntaxError(f"price: {distance} from {start:f} is not above 0")
        return replace(self, start=start, level=level)

    @property
    def side_when_made(self) -> int | None:
        if not self.start:
            return None
        return -1 if self.level > self.start else 1

    @property
    def line(self) -> str:
        if self.start:
            return f"{self.side} {SIGN_OF[self.direction]} {self.level:f}"
        return f"{self.side} {self.distance:+f}{self.unit}"

    @property
    def saved_line(self) -> str:
        """The distance with the prices that it came to."""
        prices = f" from {self.start:f} to {self.level:f}" if self.start else ""
        return f"{self.side} {self.distance:+f}{self.unit}{prices}"

    @property
    def text(self) -> str:
        distance = exact(self.distance, signed=True)
        moved = f"{distance}%" if self.unit == "%" else pip_count(self.distance, signed=True)
        where = f" from {self.start:f} to {self.level:f}" if self.start else ""
        return f"{pair(self.instrument)} {self.side} moves {moved}{where}"


def _move(word: str) -> tuple[Decimal, Literal["p", "%"]] | None:
    typed = quantity(word, "p%", signs="+-") if word[0] in "+-" else None
    if typed is None or not typed.unit or not typed.number:
        return None
    return typed.number, "%" if typed.unit == "%" else "p"


class SpreadLevel(QuoteCondition, frozen=True, kw_only=True):
    """The spread reaches so many pips."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("spread > 2p",)
    LINE: ClassVar[str] = "spread {sign} {level}p"
    UNIT: ClassVar[Unit] = "pips"
    VALUE_NAME: ClassVar[str] = "the spread"

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        match words:
            case [_, sign, pips] if sign in SIGNS:
                level = number_of(pips.removesuffix("p"), "spread", above=ZERO)
                direction = direction_of(sign, "spread")
                return cls(instrument=instrument, direction=direction, level=level)
            case _:
                return None

    @property
    def text(self) -> str:
        return f"{pair(self.instrument)} spread {REACHES[self.direction]} {pip_count(self.level)}"

    def reader(self) -> QuoteReader:
        """Return what reads the spread."""
        return lambda quote, pip, _day: None if pip is None else (quote.ask - quote.bid) / pip

    def value_now(self, facts: Facts) -> Decimal | None:
        known = facts.prices.get(self.instrument)
        return None if known is None else (known.ask - known.bid) / known.pip


class DayHighLow(QuoteCondition, frozen=True, kw_only=True):
    """The mid price makes a new high or low of the trading day."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("high", "low")
    LINE: ClassVar[str] = "{own.extreme}"
    TEXT: ClassVar[str] = "{pair} makes a new {own.extreme} of the day"

    extreme: Literal["high", "low"]

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        if len(words) > 1:
            return None
        return cls(instrument=instrument, extreme="high" if words[0] == "high" else "low")

    def reader(self) -> QuoteReader:
        """Return what compares each price with those before it."""
        return DayBound(self.extreme == "high").read

    def told_value(self, _value: Decimal, quote: Quote) -> Decimal:
        """Return the price that is the new extreme."""
        return (quote.bid + quote.ask) / TWO


class DayBound(Struct):
    """The highest or lowest mid price of the trading day as it was before the last price."""

    highest: bool
    price: Decimal | None = None  # None: not known yet
    until_ns: int = 0

    def read(self, quote: Quote, _pip: Decimal | None, day: Day | None) -> Decimal | None:
        if self.price is None:
            if day is not None:
                self.price = day.high if self.highest else day.low
                self.until_ns = next_day_start(quote.time_ns)
            return None
        mid = (quote.bid + quote.ask) / TWO
        if quote.time_ns >= self.until_ns:
            self.price, self.until_ns = mid, next_day_start(quote.time_ns)
            return None
        if mid == self.price:
            return None
        if (mid > self.price) is self.highest:
            self.price = mid
            return NEW
        return AWAY


KINDS: tuple[type[Condition], ...] = (PriceCross, PriceMove, SpreadLevel, DayHighLow)
