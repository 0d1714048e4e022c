"""Conditions on indicators, read at the close of each candle."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar, Self

from keydesk.calc.alerts.condition_base import (
    SIGNS,
    AlertSyntaxError,
    Condition,
    Direction,
    Unit,
    number_of,
)
from keydesk.calc.market.granularity import SECONDS, find_granularity
from keydesk.calc.market.indicator_specs import MAX_PERIOD, IndicatorSpec
from keydesk.calc.market.indicators import Candle
from keydesk.text.format import money, pair
from keydesk_client.arithmetic.constants import ZERO

USUAL_GRANULARITY = "H1"
USUAL_RSI, USUAL_ATR = 14, 14
WAYS: Mapping[str, Direction] = {"up": "up", "down": "down", "cross": "touch"}
WAY_OF: Mapping[Direction, str] = {direction: way for way, direction in WAYS.items()}
OVER: Mapping[Direction, str] = {"up": "above", "down": "below", "touch": "over"}


class CandleCondition(Condition, frozen=True, kw_only=True):
    """A condition on a value of the complete candles of an instrument."""

    granularity: str = USUAL_GRANULARITY

    @property
    @abstractmethod
    def specs(self) -> tuple[IndicatorSpec, ...]:
        """The indicators that it is about."""

    @abstractmethod
    def value_at(
        self, candles: Sequence[Candle], lines: Sequence[Sequence[float]], at: int
    ) -> float | None:
        """Return the value of a candle, given the first line of each indicator; None where there is none."""

    @property
    def candle_line(self) -> str:
        """The candle length as it is typed."""
        return self.granularity.lower()


class MovingAverageCross(CandleCondition, frozen=True, kw_only=True):
    """Two exponential averages cross."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("ema 20 50 up h1",)
    UNIT: ClassVar[Unit] = "untold"

    fast: int
    slow: int

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        rest, granularity = _granularity_of(words[1:])
        match rest:
            case [fast, slow, *how] if len(how) < 2 and (not how or how[0] in WAYS):  # noqa: PLR2004 - up, down or nothing
                periods = _period_of(fast, "ema"), _period_of(slow, "ema")
            case _:
                raise AlertSyntaxError("ema: write two periods and a way: ema 20 50 up h1")
        if periods[0] >= periods[1]:
            raise AlertSyntaxError("ema: the first period is the shorter one: ema 20 50 up h1")
        return cls(
            instrument=instrument,
            direction=WAYS[how[0]] if how else "touch",
            granularity=granularity,
            fast=periods[0],
            slow=periods[1],
        )

    @property
    def line(self) -> str:
        return f"ema {self.fast} {self.slow} {WAY_OF[self.direction]} {self.candle_line}"

    @property
    def text(self) -> str:
        name = f"{pair(self.instrument)} {self.granularity}"
        return f"{name} EMA {self.fast} crosses {OVER[self.direction]} EMA {self.slow}"

    @property
    def specs(self) -> tuple[IndicatorSpec, ...]:
        return IndicatorSpec("ema", (self.fast,)), IndicatorSpec("ema", (self.slow,))

    def value_at(
        self, _candles: Sequence[Candle], lines: Sequence[Sequence[float]], at: int
    ) -> float | None:
        return lines[0][at] - lines[1][at]


class RsiLevel(CandleCondition, frozen=True, kw_only=True):
    """The relative strength index crosses a level."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("rsi > 70 h1",)
    LINE: ClassVar[str] = "rsi {own.period} {sign} {level} {own.candle_line}"
    TEXT: ClassVar[str] = "{pair} {own.granularity} RSI {own.period} {crosses} {level}"
    UNIT: ClassVar[Unit] = "index"

    period: int = USUAL_RSI

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        rest, granularity = _granularity_of(words[1:])
        match rest:
            case [*period, sign, level] if sign in SIGNS and len(period) < 2:  # noqa: PLR2004 - its own period or none
                return cls(
                    instrument=instrument,
                    direction=SIGNS[sign],
                    level=number_of(level, "rsi", ZERO, Decimal(100)),
                    granularity=granularity,
                    period=_period_of(period[0], "rsi") if period else USUAL_RSI,
                )
            case _:
                raise AlertSyntaxError(
                    "rsi: write a level and a candle: rsi > 70 h1, or rsi 9 < 30 m15"
                )

    @property
    def specs(self) -> tuple[IndicatorSpec, ...]:
        return (IndicatorSpec("rsi", (self.period,)),)

    def value_at(
        self, _candles: Sequence[Candle], lines: Sequence[Sequence[float]], at: int
    ) -> float | None:
        return lines[0][at]


class AtrMultiple(CandleCondition, frozen=True, kw_only=True):
    """The true range of a candle is a multiple of the average true range before it."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("atr 2 h1",)
    LINE: ClassVar[str] = "atr {own.period} {level} {own.candle_line}"
    TEXT: ClassVar[str] = (
        "{pair} {own.granularity} candle ranges {reaches} {level} × ATR {own.period}"
    )

    period: int = USUAL_ATR

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        rest, granularity = _granularity_of([each for each in words[1:] if each != ">"])
        match rest:
            case [multiple]:
                period = USUAL_ATR
            case [length, multiple]:
                period = _period_of(length, "atr")
            case _:
                raise AlertSyntaxError("atr: write how many: atr 2 h1, a candle of twice ATR 14")
        level = number_of(multiple.rstrip("ax"), "atr", Decimal("0.1"), Decimal(50))
        return cls(instrument=instrument, level=level, granularity=granularity, period=period)

    @property
    def specs(self) -> tuple[IndicatorSpec, ...]:
        return (IndicatorSpec("atr", (self.period,)),)

    def value_at(
        self, candles: Sequence[Candle], lines: Sequence[Sequence[float]], at: int
    ) -> float | None:
        average = lines[0][at - 1] if at else 0.0
        if not average > 0:  # NaN is not
            return None
        before = candles[at - 1].close
        return (max(candles[at].high, before) - min(candles[at].low, before)) / average

    def value_text(self, value: Decimal, _precision: int, /) -> str:
        return f"{money(value, 2)} × ATR {self.period}"


def _granularity_of(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the words without the candle length at their end, and that length."""
    if words and any(letter.isalpha() for letter in words[-1]) and words[-1] not in WAYS:
        granularity = find_granularity(words[-1])
        if granularity is None:
            raise AlertSyntaxError(
                f"candle: {words[-1]!r} is not a candle length; use one of {' '.join(SECONDS)}"
            )
        return words[:-1], granularity
    return words, USUAL_GRANULARITY


def _period_of(text: str, part: str) -> int:
    """Return a count of candles; raise AlertSyntaxError for anything else."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_PERIOD:
        raise AlertSyntaxError(f"{part}: {text!r} is not a period from 1 to {MAX_PERIOD} candles")
    return int(text)


KINDS: tuple[type[Condition], ...] = (MovingAverageCross, RsiLevel, AtrMultiple)
