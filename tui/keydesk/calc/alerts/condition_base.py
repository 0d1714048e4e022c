"""What every condition of an alert is, and the parts of its typed line.

A kind of condition is one class: it parses its line, writes it, says itself in words and reads its value. Its line is also
what the alert file holds. To add a kind, write its class in the module of what it reads (`price_conditions`, `candle_conditions`,
`fact_conditions`) and name it in the `KINDS` of that module. The engine decides all kinds alike: a value that is
read reaches a level from below ("up"), from above ("down"), or from either side ("touch").
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from decimal import Decimal
from typing import ClassVar, Literal, Self

from msgspec import Struct, field

from keydesk.calc.orders.field_draft import UnreadableText
from keydesk.calc.orders.lifetime import expiry_ns
from keydesk.text.format import duration, money, pair, price
from keydesk.text.typed import duration_s, quantity
from keydesk.values import AccountState, TradeRow
from keydesk_client.arithmetic.constants import ZERO

Direction = Literal["up", "down", "touch"]
PriceSide = Literal["bid", "ask", "mid"]
Reading = tuple[object, ...]
"""What is read; conditions on the same reading are decided together."""
Unit = Literal["price", "pips", "percent", "index", "seconds", "untold"]


class PriceSnapshot(Struct, frozen=True):
    """The price of an instrument at an instant."""

    bid: Decimal
    ask: Decimal
    pip: Decimal
    precision: int


class Facts(Struct, frozen=True):
    """What conditions are made from and read from at an instant."""

    now_ns: int  # 0: not known
    zone: tzinfo = UTC  # the trader's
    prices: Mapping[str, PriceSnapshot] = field(default_factory=dict)
    trades: Mapping[str, TradeRow] | None = None  # the open ones; None: not known
    account: AccountState | None = None
    long_percent: Mapping[str, tuple[int, Decimal]] = field(default_factory=dict)  # with its time
    silent_s: Mapping[str, int] = field(default_factory=dict)  # by stream


class AlertSyntaxError(Exception):
    """Raised for a line that is not a valid alert; the text names the part and shows how to write it."""


class Condition(Struct, frozen=True, kw_only=True):
    """A value reaches a level."""

    EXAMPLES: ClassVar[tuple[str, ...]]  # of its line, one for each word that it begins with
    LINE: ClassVar[str] = ""  # as it is typed, without its instrument; filled by `_filled`
    TEXT: ClassVar[str] = ""  # in words
    UNIT: ClassVar[Unit] = "price"  # of its value
    HAS_INSTRUMENT: ClassVar[bool] = True
    VALUE_NAME: ClassVar[str] = "the price"
    FIRST_SIDE: ClassVar[int | None] = None  # of the level, where no value was read yet: -1 below

    instrument: str = ""
    direction: Direction = "up"
    level: Decimal = ZERO

    @property
    def side_when_made(self) -> int | None:
        """The side of its level where the value was when it was made: -1 below, 1 above; None where it does not say that."""
        return None

    @classmethod
    def matches(cls, words: Sequence[str]) -> bool:
        """Return whether words, at least one, are a line of this kind, right or wrong."""
        return words[0] in cls.first_words()

    @classmethod
    def first_words(cls) -> Sequence[str]:
        """Return the words that its line begins with."""
        return [each.split()[0] for each in cls.EXAMPLES if each[0].isalpha()]

    @classmethod
    @abstractmethod
    def parse(cls, words: Sequence[str], instrument: str) -> Self | None:
        """Return the condition of a line that matches, None for one that is not understood at all.

        Raises:
            AlertSyntaxError: a part cannot be read.
        """

    def _filled(self, template: str) -> str:
        return template.format(
            pair=pair(self.instrument),
            sign=SIGN_OF[self.direction],
            reaches=REACHES[self.direction],
            crosses=CROSSES[self.direction],
            level=f"{self.level:f}",
            own=self,
        )

    @property
    def line(self) -> str:
        """The condition as it is typed, without its instrument."""
        return self._filled(self.LINE)

    @property
    def saved_line(self) -> str:
        """The line of the alert file, with what was worked out when the alert was made."""
        return self.line

    @property
    def text(self) -> str:
        """The condition in words."""
        return self._filled(self.TEXT)

    @property
    def reading(self) -> Reading:
        """What is read: all but direction and level."""
        names = (each for each in self.__struct_fields__ if each not in ("direction", "level"))
        return (type(self), *(getattr(self, name) for name in names))

    @property
    def value_name(self) -> str:
        """What is read, in words."""
        return self.VALUE_NAME

    def value_text(self, value: Decimal, precision: int, /) -> str:
        """Return a value in its unit; a price has the decimals of its instrument."""
        match self.UNIT:
            case "price":
                return price(value, precision)
            case "pips":
                return f"{money(value, 1)} pips"
            case "percent":
                return f"{money(value, 2)} %"
            case "index":
                return money(value, 1)
            case "seconds":
                return duration(float(value))
            case "untold":
                return ""

    def made(self, facts: Facts) -> Self:  # noqa: ARG002 - see the kinds that do more
        """Return the condition with distances and times worked out.

        Raises:
            AlertSyntaxError: it cannot be made now.
        """
        return self

    def value_now(self, facts: Facts) -> Decimal | None:  # noqa: ARG002 - likewise
        """Return the value as it is now, None where it is not known."""
        return None

    def lateness_ns(self, now_ns: int) -> int:  # noqa: ARG002 - likewise
        """Return how long ago it was met, of one that says so itself."""
        return 0

    def is_over(self, facts: Facts) -> bool:  # noqa: ARG002 - likewise
        """Return whether it cannot be met any more."""
        return False

    def ends_with_market(self, now_ns: int) -> bool:  # noqa: ARG002 - likewise
        """Return whether it is about the market before one that begins now."""
        return False

    def reached_text(self, value: Decimal, precision: int) -> str:
        """Return the value that met the condition, "" where it reads as the level does."""
        text = self.value_text(value, precision)
        return "" if text == self.value_text(self.level, precision) else text


# The parts of a line.

SIGNS: Mapping[str, Direction] = {
    **dict.fromkeys((">", ">=", "above", "over"), "up"),
    **dict.fromkeys(("<", "<=", "below", "under"), "down"),
    **dict.fromkeys(("=", "@", "touch", "touches"), "touch"),
}
SIGN_OF: Mapping[Direction, str] = {"up": ">", "down": "<", "touch": "@"}
REACHES: Mapping[Direction, str] = {"up": ">=", "down": "<=", "touch": "="}
"""As they are typed: a terminal with ASCII alone shows them too."""
CROSSES: Mapping[Direction, str] = {"up": "crosses up", "down": "crosses down", "touch": "touches"}


def number_of(
    text: str,
    part: str,
    least: Decimal | None = None,
    most: Decimal | None = None,
    *,
    above: Decimal | None = None,
) -> Decimal:
    """Return a number within its bounds; raise AlertSyntaxError for anything else."""
    typed = quantity(text, signs="+-")
    if typed is None:
        raise AlertSyntaxError(f"{part}: {text!r} is not a number; write it as 1.12")
    number = typed.number
    if above is not None and number <= above:
        raise AlertSyntaxError(f"{part}: {text} is not above {above}")
    if (least is not None and number < least) or (most is not None and number > most):
        raise AlertSyntaxError(f"{part}: {text} is not from {least} to {most}")
    return number


def direction_of(sign: str, part: str) -> Direction:
    """Return up or down; raise AlertSyntaxError for a touch."""
    direction = SIGNS[sign]
    if direction == "touch":
        raise AlertSyntaxError(f"{part}: write > or <, such as {part} > 2")
    return direction


def seconds_of(text: str, part: str, most: int) -> int:
    """Return the seconds of 30s, 5m or 2h; raise AlertSyntaxError above the most."""
    seconds = duration_s(text)
    if seconds is None or seconds > most:
        raise AlertSyntaxError(
            f"{part}: {text!r} is not a time up to {most} s; write 30s, 5m or 2h"
        )
    return seconds


def instant_of(text: str, facts: Facts, part: str) -> int:
    """Return the instant of 18:30, 4h or 2026-11-25 18:30; raise AlertSyntaxError for anything else."""
    instant = expiry_ns(text, facts.now_ns, facts.now_ns, facts.zone)
    if isinstance(instant, UnreadableText) or instant is None:
        why = f"{instant.text} {instant.reason}" if instant else "none; write 18:30"
        raise AlertSyntaxError(f"{part}: {why}")
    return instant
