"""The conditions of alerts: each is a value that is read, a direction and a level, so that one engine decides them all."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, NamedTuple

from keydesk.text.format import duration, exact, money, pair, pip_count, price
from keydesk.text.sanitize import clean_name

Direction = Literal["up", "down", "touch"]
PriceSide = Literal["bid", "ask", "mid"]
MoveUnit = Literal["pips", "percent"]
ResultUnit = Literal["money", "R"]
Extreme = Literal["high", "low"]
StreamName = Literal["prices", "events"]
ZERO = Decimal(0)
CROSSES = {"up": "crosses up", "down": "crosses down", "touch": "touches"}
SIGNS = {"up": "≥", "down": "≤", "touch": "="}


class Reading(NamedTuple):
    """What is read: a price of an instrument, the result of a trade, an indicator, a clock."""

    kind: str  # "bid", "ask", "mid", "spread", "high", "low", "trade", "account" ...
    subject: str = ""  # instrument or trade id
    detail: str = ""  # "money" or "R"; "rsi 14 H1"


@dataclass(frozen=True, slots=True)
class PriceCross:
    """A price crosses a level."""

    instrument: str
    side: PriceSide
    direction: Direction
    level: Decimal

    @property
    def reading(self) -> Reading:
        """The price that is watched."""
        return Reading(self.side, self.instrument)

    def value_text(self, value: Decimal, precision: int) -> str:
        """Return a price at the instrument's precision."""
        return price(value, precision)

    @property
    def text(self) -> str:
        """Return the condition in words."""
        return f"{pair(self.instrument)} {self.side} {CROSSES[self.direction]} {self.level:f}"


@dataclass(frozen=True, slots=True)
class PriceMove:
    """A price moves a distance from where it was when the alert was made."""

    instrument: str
    side: PriceSide
    distance: Decimal  # signed, in its unit
    unit: MoveUnit
    start: Decimal = ZERO  # the price then; 0: not made yet
    level: Decimal = ZERO

    @property
    def reading(self) -> Reading:
        """The price that is watched."""
        return Reading(self.side, self.instrument)

    @property
    def direction(self) -> Direction:
        """Up for a positive distance."""
        return "up" if self.distance > 0 else "down"

    def value_text(self, value: Decimal, precision: int) -> str:
        """Return a price at the instrument's precision."""
        return price(value, precision)

    @property
    def text(self) -> str:
        """Return the condition in words."""
        is_percent = self.unit == "percent"
        distance = exact(self.distance, signed=True)
        moved = f"{distance}%" if is_percent else pip_count(self.distance, signed=True)
        where = f" from {self.start:f} to {self.level:f}" if self.start else ""
        return f"{pair(self.instrument)} {self.side} moves {moved}{where}"


@dataclass(frozen=True, slots=True)
class SpreadLevel:
    """The spread reaches so many pips."""

    instrument: str
    direction: Direction
    level: Decimal  # pips

    @property
    def reading(self) -> Reading:
        """The spread in pips."""
        return Reading("spread", self.instrument)

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return a spread in pips."""
        return f"{money(value, 1)} pips"

    @property
    def text(self) -> str:
        """Return the condition in words."""
        return f"{pair(self.instrument)} spread {SIGNS[self.direction]} {pip_count(self.level)}"


@dataclass(frozen=True, slots=True)
class DayHighLow:
    """The mid price makes a new high or low of the trading day."""

    instrument: str
    extreme: Extreme
    direction: ClassVar[Direction] = "up"
    level: ClassVar[Decimal] = ZERO

    @property
    def reading(self) -> Reading:
        """1 at a new extreme, -1 when the price is away from it."""
        return Reading(self.extreme, self.instrument)

    def value_text(self, value: Decimal, precision: int) -> str:
        """Return the price that is the new extreme, at the instrument's precision."""
        return price(value, precision)

    @property
    def text(self) -> str:
        """Return the condition in words."""
        return f"{pair(self.instrument)} makes a new {self.extreme} of the day"


@dataclass(frozen=True, slots=True)
class MovingAverageCross:
    """Two exponential averages cross, at the close of a candle."""

    instrument: str
    granularity: str
    fast: int
    slow: int
    direction: Direction
    level: ClassVar[Decimal] = ZERO

    @property
    def reading(self) -> Reading:
        """The fast average less the slow one."""
        return Reading(
            "candles", self.instrument, f"ema {self.fast} {self.slow} {self.granularity}"
        )

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return nothing: the difference of two averages at their crossing is near zero."""
        return ""

    @property
    def text(self) -> str:
        """Return the condition in words."""
        how = {"up": "above", "down": "below", "touch": "over"}[self.direction]
        return f"{pair(self.instrument)} {self.granularity} EMA {self.fast} crosses {how} EMA {self.slow}"


@dataclass(frozen=True, slots=True)
class RsiLevel:
    """The relative strength index crosses a level, at the close of a candle."""

    instrument: str
    granularity: str
    period: int
    direction: Direction
    level: Decimal

    @property
    def reading(self) -> Reading:
        """The index."""
        return Reading("candles", self.instrument, f"rsi {self.period} {self.granularity}")

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return an index with one decimal."""
        return money(value, 1)

    @property
    def text(self) -> str:
        """Return the condition in words."""
        name = f"{pair(self.instrument)} {self.granularity} RSI {self.period}"
        return f"{name} {CROSSES[self.direction]} {self.level:f}"


@dataclass(frozen=True, slots=True)
class AtrMultiple:
    """The true range of a candle is a multiple of the average true range before it."""

    instrument: str
    granularity: str
    period: int
    level: Decimal
    direction: ClassVar[Direction] = "up"

    @property
    def reading(self) -> Reading:
        """The range of the last complete candle over the average before it."""
        return Reading("candles", self.instrument, f"atr {self.period} {self.granularity}")

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return a multiple of the average true range."""
        return f"{money(value, 2)} × ATR {self.period}"

    @property
    def text(self) -> str:
        """Return the condition in words."""
        name = f"{pair(self.instrument)} {self.granularity}"
        return f"{name} candle ranges ≥ {self.level:f} × ATR {self.period}"


@dataclass(frozen=True, slots=True)
class TradeResult:
    """The profit or loss of an open trade, in money or as a multiple of its initial risk."""

    trade_id: str
    unit: ResultUnit
    direction: Direction
    level: Decimal

    @property
    def reading(self) -> Reading:
        """The result of the trade."""
        return Reading("trade", self.trade_id, self.unit)

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return a result in money or R."""
        return _result(value, self.unit)

    @property
    def text(self) -> str:
        """Return the condition in words."""
        name = f"trade #{clean_name(self.trade_id)} P/L"
        return f"{name} {SIGNS[self.direction]} {_amount(self.level, self.unit)}"


@dataclass(frozen=True, slots=True)
class AccountResult:
    """The profit or loss of all open trades, or of the trading day."""

    of: Literal["open", "day"]
    unit: ResultUnit
    direction: Direction
    level: Decimal

    @property
    def reading(self) -> Reading:
        """The result of the account."""
        return Reading("account", self.of, self.unit)

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return a result in money or R."""
        return _result(value, self.unit)

    @property
    def text(self) -> str:
        """Return the condition in words."""
        name = "account P/L of the day" if self.of == "day" else "account open P/L"
        return f"{name} {SIGNS[self.direction]} {_amount(self.level, self.unit)}"


@dataclass(frozen=True, slots=True)
class MarginLevel:
    """The share of margin on the way to the closeout, 100 percent."""

    direction: Direction
    level: Decimal  # percent

    @property
    def reading(self) -> Reading:
        """The margin closeout percent."""
        return Reading("margin")

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return a percentage."""
        return f"{money(value, 2)} %"

    @property
    def text(self) -> str:
        """Return the condition in words."""
        return f"margin closeout {SIGNS[self.direction]} {self.level:f} %"


@dataclass(frozen=True, slots=True)
class ClockTime:
    """An instant."""

    typed: str  # as the trader wrote it
    time_ns: int = 0  # 0: not made yet
    direction: ClassVar[Direction] = "up"

    @property
    def level(self) -> Decimal:
        """The instant as a number."""
        return Decimal(self.time_ns)

    @property
    def reading(self) -> Reading:
        """The broker's clock."""
        return Reading("clock")

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return nothing: the line of a firing begins with its time."""
        return ""

    @property
    def text(self) -> str:
        """Return the condition in words."""
        return f"time {self.typed}"


@dataclass(frozen=True, slots=True)
class RolloverSoon:
    """The trading day ends, 17:00 New York, in so many minutes."""

    minutes: int
    direction: ClassVar[Direction] = "down"

    @property
    def level(self) -> Decimal:
        """The seconds before the rollover."""
        return Decimal(self.minutes * 60)

    @property
    def reading(self) -> Reading:
        """The seconds to the next rollover."""
        return Reading("rollover")

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return the time that is left."""
        return duration(float(value))

    @property
    def text(self) -> str:
        """Return the condition in words."""
        return f"rollover (17:00 New York) in {self.minutes} min"


@dataclass(frozen=True, slots=True)
class ClientLongPercent:
    """The share of the clients' positions that are long crosses a level."""

    instrument: str
    direction: Direction
    level: Decimal  # percent

    @property
    def reading(self) -> Reading:
        """The percent of positions that are long."""
        return Reading("book", self.instrument)

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return a percentage."""
        return f"{money(value, 2)} %"

    @property
    def text(self) -> str:
        """Return the condition in words."""
        return f"{pair(self.instrument)} clients long {SIGNS[self.direction]} {self.level:f} %"


@dataclass(frozen=True, slots=True)
class StreamSilence:
    """A stream has sent nothing, not even a heartbeat, for so many seconds."""

    stream: StreamName
    seconds: int
    direction: ClassVar[Direction] = "up"

    @property
    def level(self) -> Decimal:
        """The seconds."""
        return Decimal(self.seconds)

    @property
    def reading(self) -> Reading:
        """The seconds since the last line."""
        return Reading("silence", self.stream)

    def value_text(self, value: Decimal, precision: int) -> str:  # noqa: ARG002 - as of a price
        """Return how long it has been silent."""
        return duration(float(value))

    @property
    def text(self) -> str:
        """Return the condition in words."""
        name = "transaction" if self.stream == "events" else "price"
        return f"the {name} stream is silent for {self.seconds} s"


Condition = (
    PriceCross
    | PriceMove
    | SpreadLevel
    | DayHighLow
    | MovingAverageCross
    | RsiLevel
    | AtrMultiple
    | TradeResult
    | AccountResult
    | MarginLevel
    | ClockTime
    | RolloverSoon
    | ClientLongPercent
    | StreamSilence
)
CandleCondition = MovingAverageCross | RsiLevel | AtrMultiple


def reached_text(condition: Condition, value: Decimal, precision: int) -> str:
    """Return a value that was read when a condition was met, "" where it reads as the level does."""
    text = condition.value_text(value, precision)
    return "" if text == condition.value_text(condition.level, precision) else text


def _amount(value: Decimal, unit: ResultUnit) -> str:
    return f"{exact(value, signed=True)} R" if unit == "R" else money(value, signed=True)


def _result(value: Decimal, unit: ResultUnit) -> str:
    return f"{money(value, 2, signed=True)}{' R' if unit == 'R' else ''}"
