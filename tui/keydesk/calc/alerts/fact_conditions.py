"""Conditions on account, clock, books and streams, whose values are read some times a second."""

import re
from abc import abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Literal, Self

from msgspec.structs import replace

from keydesk.calc.alerts.condition_base import (
    REACHES,
    SIGN_OF,
    SIGNS,
    AlertSyntaxError,
    Condition,
    Direction,
    Facts,
    Unit,
    direction_of,
    instant_of,
    number_of,
    seconds_of,
)
from keydesk.calc.market.trading_day import DAY_END_TEXT, next_day_start
from keydesk.text.format import exact, money
from keydesk.text.sanitize import clean_name
from keydesk_client.arithmetic.constants import PERCENT, SECOND, ZERO

ResultUnit = Literal["money", "R"]
StreamName = Literal["prices", "events"]
TRADE_ID = re.compile(r"#?\d{1,20}", re.ASCII)
MINUTE_S = 60
USUAL_SILENCE_S, MAX_SILENCE_S, MAX_ROLLOVER_MINUTES = 10, 3600, 1439


class FactsCondition(Condition, frozen=True, kw_only=True):
    """A condition on a value of account, clock, books or streams, read some times a second."""

    HAS_INSTRUMENT: ClassVar[bool] = False

    @abstractmethod
    def read(self, facts: Facts) -> Decimal | None:
        """Return the value, None where it is not known."""

    def value_now(self, facts: Facts) -> Decimal | None:
        return self.read(facts)

    def value_time_ns(self, facts: Facts) -> int | None:  # noqa: ARG002 - see `ClientLongPercent`
        """Return the time of the value itself, None where it has none but that of its reading."""
        return None


class ResultCondition(FactsCondition, frozen=True, kw_only=True):
    """A profit or loss reaches an amount, in money or as a multiple of the initial risk."""

    unit: ResultUnit = "money"

    @property
    def amount_line(self) -> str:
        unit = "r" if self.unit == "R" else ""
        return f"{SIGN_OF[self.direction]} {self.level:f}{unit}"

    @property
    def amount_text(self) -> str:
        exactly = f"{exact(self.level, signed=True)} R"
        level = exactly if self.unit == "R" else money(self.level, signed=True)
        return f"{REACHES[self.direction]} {level}"

    def value_text(self, value: Decimal, _precision: int, /) -> str:
        return f"{money(value, 2, signed=True)}{' R' if self.unit == 'R' else ''}"


def _amount_of(sign: str, text: str, part: str) -> tuple[ResultUnit, Direction, Decimal]:
    """Return unit, direction and level of a result: 50, or -1r."""
    unit: ResultUnit = "R" if text.endswith("r") else "money"
    return unit, direction_of(sign, part), number_of(text.removesuffix("r"), part)


class TradeResult(ResultCondition, frozen=True, kw_only=True):
    """The profit or loss of an open trade."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("trade 6411 < -1r",)
    LINE: ClassVar[str] = "trade {own.trade_id} {own.amount_line}"
    TEXT: ClassVar[str] = "trade #{own.trade_id} P/L {own.amount_text}"
    VALUE_NAME: ClassVar[str] = "the P/L of the trade"

    trade_id: str

    @classmethod
    def matches(cls, words: Sequence[str]) -> bool:
        """Return whether the words begin with trade, or with #6411."""
        return words[0] == "trade" or words[0].startswith("#")

    @classmethod
    def parse(cls, words: Sequence[str], _instrument: str) -> Self | None:
        match words[1:] if words[0] == "trade" else words:
            case [id_, sign, amount] if sign in SIGNS and TRADE_ID.fullmatch(id_):
                unit, direction, level = _amount_of(sign, amount, "trade")
                trade_id = id_.lstrip("#")
                return cls(trade_id=trade_id, unit=unit, direction=direction, level=level)
            case _:
                raise AlertSyntaxError(
                    "trade: write its id and a result: trade 6411 > 50, or trade 6411 < -1r"
                )

    def read(self, facts: Facts) -> Decimal | None:
        trade = (facts.trades or {}).get(self.trade_id)
        if trade is None:
            return None
        return trade.r_multiple if self.unit == "R" else trade.unrealized_pl

    def made(self, facts: Facts) -> Self:
        """Return it if the trade is open."""
        if self.is_over(facts):
            name = clean_name(self.trade_id)
            raise AlertSyntaxError(f"trade: #{name} is not open; write an open trade's id")
        return self

    def is_over(self, facts: Facts) -> bool:
        """Return whether the trade was closed."""
        return facts.trades is not None and self.trade_id not in facts.trades

    def ends_with_market(self, _now_ns: int) -> bool:
        """Return True: another market has other trades."""
        return True


class AccountResult(ResultCondition, frozen=True, kw_only=True):
    """The profit or loss of all open trades, or of the trading day."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("pl > 500", "day < -300")

    of: Literal["open", "day"]

    @classmethod
    def parse(cls, words: Sequence[str], _instrument: str) -> Self | None:
        word, *rest = words
        match rest:
            case [sign, amount] if sign in SIGNS and (word == "pl" or not amount.endswith("r")):
                unit, direction, level = _amount_of(sign, amount, word)
                of: Literal["open", "day"] = "open" if word == "pl" else "day"
                return cls(of=of, unit=unit, direction=direction, level=level)
            case _:
                r = ", or pl < -2r" if word == "pl" else "; the day is counted in money"
                raise AlertSyntaxError(f"{word}: write {word} > 500 or {word} < -300{r}")

    @property
    def line(self) -> str:
        return f"{'day' if self.of == 'day' else 'pl'} {self.amount_line}"

    @property
    def text(self) -> str:
        name = "account P/L of the day" if self.of == "day" else "account open P/L"
        return f"{name} {self.amount_text}"

    @property
    def value_name(self) -> str:
        return "the P/L of the day" if self.of == "day" else "the open P/L"

    def read(self, facts: Facts) -> Decimal | None:
        account = facts.account
        if account is None:
            return None
        if self.of == "day":
            return account.day_pl
        if self.unit == "money":
            return account.unrealized_pl
        results = (each.r_multiple for each in (facts.trades or {}).values())
        return sum((each for each in results if each is not None), ZERO)


class MarginLevel(FactsCondition, frozen=True, kw_only=True):
    """The share of margin on the way to the closeout, 100 percent."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("margin > 50",)
    LINE: ClassVar[str] = "margin {sign} {level}%"
    TEXT: ClassVar[str] = "margin closeout {reaches} {level} %"
    UNIT: ClassVar[Unit] = "percent"
    VALUE_NAME: ClassVar[str] = "the margin closeout"

    @classmethod
    def parse(cls, words: Sequence[str], _instrument: str) -> Self | None:
        match words[1:]:
            case [sign, percent] if sign in SIGNS:
                level = number_of(percent.removesuffix("%"), "margin", ZERO, Decimal(1000))
                return cls(direction=direction_of(sign, "margin"), level=level)
            case _:
                raise AlertSyntaxError(
                    "margin: write margin > 50, in percent of the way to the closeout"
                )

    def read(self, facts: Facts) -> Decimal | None:
        account = facts.account
        return None if account is None else account.margin_closeout_percent * PERCENT


class ClockTime(FactsCondition, frozen=True, kw_only=True):
    """An instant."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("time 14:30",)
    LINE: ClassVar[str] = "time {own.typed}"
    TEXT: ClassVar[str] = "time {own.typed}"
    UNIT: ClassVar[Unit] = "untold"
    FIRST_SIDE: ClassVar[int | None] = -1  # one that passed while nothing watched fires late

    typed: str  # as the trader wrote it

    @classmethod
    def matches(cls, words: Sequence[str]) -> bool:
        """Return whether the words begin with time or at."""
        return words[0] in ("time", "at")

    @classmethod
    def parse(cls, words: Sequence[str], _instrument: str) -> Self | None:
        """Read time 14:30, at 2026-11-25 14:30; of a made one also the instant in nanoseconds: time 14:30 is 17724..."""
        match words[1:]:
            case []:
                raise AlertSyntaxError("time: none; write time 14:30 or time 2026-11-25 14:30")
            case [*typed, "is", time_ns] if typed and time_ns.isdecimal():
                return cls(typed=" ".join(typed), level=Decimal(time_ns[:20]))
            case typed:
                return cls(typed=" ".join(typed))

    def made(self, facts: Facts) -> Self:
        """Return it with the next such instant."""
        return replace(self, level=Decimal(instant_of(self.typed, facts, "time")))

    @property
    def saved_line(self) -> str:
        """The line with the instant that it meant."""
        return f"time {self.typed} is {self.level:f}"

    def read(self, facts: Facts) -> Decimal | None:
        return Decimal(facts.now_ns) if facts.now_ns else None

    def lateness_ns(self, now_ns: int) -> int:
        """Return how long ago the instant was."""
        return now_ns - int(self.level)

    def ends_with_market(self, now_ns: int) -> bool:
        """Return whether the instant has passed in the market that begins."""
        return self.level <= now_ns


class RolloverSoon(FactsCondition, frozen=True, kw_only=True):
    """The trading day ends, 17:00 New York, in so many seconds."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("rollover 10m",)
    UNIT: ClassVar[Unit] = "seconds"
    VALUE_NAME: ClassVar[str] = "the time to the rollover"

    @classmethod
    def parse(cls, words: Sequence[str], _instrument: str) -> Self | None:
        match words[1:]:
            case [length]:
                minutes = (
                    seconds_of(length, "rollover", MAX_ROLLOVER_MINUTES * MINUTE_S) // MINUTE_S
                )
            case _:
                minutes = 0
        if minutes < 1:
            raise AlertSyntaxError("rollover: write how long before it: rollover 10m")
        return cls(direction="down", level=Decimal(minutes * MINUTE_S))

    @property
    def line(self) -> str:
        return f"rollover {self.level // MINUTE_S}m"

    @property
    def text(self) -> str:
        return f"rollover ({DAY_END_TEXT}) in {self.level // MINUTE_S} min"

    def read(self, facts: Facts) -> Decimal | None:
        now_ns = facts.now_ns
        return Decimal((next_day_start(now_ns) - now_ns) // SECOND) if now_ns else None


class ClientLongPercent(FactsCondition, frozen=True, kw_only=True):
    """The share of the clients' positions that are long crosses a level."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("clients > 60",)
    LINE: ClassVar[str] = "clients {sign} {level}%"
    TEXT: ClassVar[str] = "{pair} clients long {reaches} {level} %"
    HAS_INSTRUMENT: ClassVar[bool] = True
    UNIT: ClassVar[Unit] = "percent"
    VALUE_NAME: ClassVar[str] = "the share of long clients"

    @classmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        match words[1:]:
            case ["long"]:
                return cls(instrument=instrument, level=Decimal(50))
            case [*maybe, sign, percent] if sign in SIGNS and maybe in ([], ["long"]):
                level = number_of(percent.removesuffix("%"), "clients", ZERO, Decimal(100))
                direction = direction_of(sign, "clients")
                return cls(instrument=instrument, direction=direction, level=level)
            case _:
                return None

    def read(self, facts: Facts) -> Decimal | None:
        book = facts.long_percent.get(self.instrument)
        return None if book is None else book[1]

    def value_time_ns(self, facts: Facts) -> int | None:
        """Return the time of the book, which every program reads alike."""
        book = facts.long_percent.get(self.instrument)
        return None if book is None else book[0]


class StreamSilence(FactsCondition, frozen=True, kw_only=True):
    """A stream has sent nothing, not even a heartbeat, for so many seconds."""

    EXAMPLES: ClassVar[tuple[str, ...]] = ("silence 10s",)
    UNIT: ClassVar[Unit] = "seconds"
    VALUE_NAME: ClassVar[str] = "the silence"

    stream: StreamName = "prices"

    @classmethod
    def parse(cls, words: Sequence[str], _instrument: str) -> Self | None:
        stream: StreamName = "prices"
        match words[1:]:
            case ["prices", *rest]:
                pass
            case ["events", *rest]:
                stream = "events"
            case rest:
                pass
        seconds = seconds_of(rest[0], "silence", MAX_SILENCE_S) if rest else USUAL_SILENCE_S
        if seconds < 1 or len(rest) > 1:
            raise AlertSyntaxError("silence: write silence 10s, or silence events 10s")
        return cls(stream=stream, level=Decimal(seconds))

    @property
    def line(self) -> str:
        return f"silence {self.stream} {self.level:f}s"

    @property
    def text(self) -> str:
        name = "transaction" if self.stream == "events" else "price"
        return f"the {name} stream is silent for {self.level:f} s"

    def read(self, facts: Facts) -> Decimal | None:
        seconds = facts.silent_s.get(self.stream)
        return None if seconds is None else Decimal(seconds)


KINDS: tuple[type[Condition], ...] = (
    TradeResult,
    AccountResult,
    MarginLevel,
    ClockTime,
    RolloverSoon,
    ClientLongPercent,
    StreamSilence,
)
