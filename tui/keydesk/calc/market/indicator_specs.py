"""The indicators that a trader chose, and their text form: `ema 20`, `bb 20 2`, `rsi 14`, `macd 12 26 9`, `pivots`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct

from keydesk.text.typed import quantity, tokens

Kind = Literal["ema", "sma", "bb", "donchian", "pivots", "prevday", "rsi", "macd", "atr"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SUB_PANE_KINDS: frozenset[Kind] = frozenset(("rsi", "macd", "atr"))
"""Kinds with a scale of their own; the others are drawn over the price."""
SEVERAL: frozenset[Kind] = frozenset(("ema", "sma"))
"""Kinds that may be chosen more than once, with other periods."""
NAMES: Mapping[Kind, str] = {
    "ema": "EMA",
    "sma": "SMA",
    "bb": "Bollinger",
    "donchian": "Donchian",
    "pivots": "pivots",
    "prevday": "previous day",
    "rsi": "RSI",
    "macd": "MACD",
    "atr": "ATR",
}
USUAL: Mapping[Kind, tuple[float, ...]] = {
    "ema": (20,),
    "sma": (50,),
    "bb": (20, 2),
    "donchian": (20,),
    "pivots": (),
    "prevday": (),
    "rsi": (14,),
    "macd": (12, 26, 9),
    "atr": (14,),
}
"""The usual parameters; their number is the number that a kind takes."""
EVERY_INSTRUMENT = "default"
"""The name under which indicators of instruments without their own are kept."""
MAX_SUB_PANES = 2
MAX_OF_A_KIND = 4  # averages
MAX_INDICATORS = 12
MAX_PERIOD = 400  # candles; the warm-up of an average is four times that
WIDEST_BAND = 10  # standard deviations
MAX_TEXT_LENGTH = 40
_BY_NAME: Mapping[str, Kind] = {each: each for each in KINDS}


class IndicatorSyntaxError(ValueError):
    """Raised for text that is not a valid indicator, or for too many of them; the message names the remedy."""


class IndicatorSpec(Struct, frozen=True):
    """An indicator and its parameters: periods in candles; the second parameter of `bb` is a count of deviations."""

    kind: Kind
    parameters: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        """Return the text form, which `parse_indicator` reads."""
        return " ".join((self.kind, *(f"{each:g}" for each in self.parameters)))

    @property
    def name(self) -> str:
        """Return the name for the screen: EMA 20, Bollinger 20 2."""
        return " ".join((NAMES[self.kind], *(f"{each:g}" for each in self.parameters)))

    @property
    def periods(self) -> tuple[int, ...]:
        """Return the parameters that count candles."""
        counted = self.parameters[:1] if self.kind == "bb" else self.parameters
        return tuple(int(each) for each in counted)

    @property
    def in_sub_pane(self) -> bool:
        """Return whether it has a scale of its own, below the price."""
        return self.kind in SUB_PANE_KINDS


class IndicatorChoice(Struct, frozen=True):
    """The indicators that the trader chose for an instrument, or for every instrument without its own."""

    instrument: str
    specs: tuple[IndicatorSpec, ...]
    everywhere: bool = False


def parse_indicator(text: str) -> IndicatorSpec:
    """Return the indicator of a text such as `ema 20`; parameters that are left out have their usual values.

    Raises:
        IndicatorSyntaxError: the text names no indicator, or a parameter is not valid.
    """
    kind_word, *numbers = tokens(text[: MAX_TEXT_LENGTH + 1]) or [""]
    kind = _BY_NAME.get(kind_word)
    if kind is None or len(text) > MAX_TEXT_LENGTH:
        known = ", ".join(KINDS)
        raise IndicatorSyntaxError(
            f"{text[:MAX_TEXT_LENGTH]!r} is not an indicator: use one of {known}"
        )
    if not numbers:
        return IndicatorSpec(kind, USUAL[kind])
    if len(numbers) != len(USUAL[kind]):
        raise IndicatorSyntaxError(f"{text!r} has {len(numbers)} numbers; {_usage(kind)}")
    return _check_parameters(
        IndicatorSpec(kind, tuple(_number(each, text) for each in numbers)), text
    )


def parse_indicators(texts: Iterable[str]) -> tuple[IndicatorSpec, ...]:
    """Return the indicators of a list of texts.

    Raises:
        IndicatorSyntaxError: one is not valid, stands twice, or there are too many.
    """
    specs = tuple(parse_indicator(text) for text in texts)
    refuse_too_many(specs)
    return specs


def refuse_too_many(specs: Sequence[IndicatorSpec]) -> None:
    """Raise IndicatorSyntaxError if indicators stand twice, or there are more than the chart can show."""
    for spec in specs:
        same = [each for each in specs if each.kind == spec.kind]
        if specs.count(spec) > 1:
            raise IndicatorSyntaxError(f"{spec.text!r} is listed twice: leave one out")
        most = MAX_OF_A_KIND if spec.kind in SEVERAL else 1
        if len(same) > most:
            raise IndicatorSyntaxError(
                f"{len(same)} {spec.kind} are too many for a chart: leave out all but {most}"
            )
    below = [spec.text for spec in specs if spec.in_sub_pane]
    if len(below) > MAX_SUB_PANES:
        raise IndicatorSyntaxError(
            f"{', '.join(below)}: only {MAX_SUB_PANES} fit under the price, leave out {len(below) - MAX_SUB_PANES}"
        )
    if len(specs) > MAX_INDICATORS:
        raise IndicatorSyntaxError(
            f"{len(specs)} indicators are too many: leave out all but {MAX_INDICATORS}"
        )


def _number(digits: str, text: str) -> float:
    typed = quantity(digits)
    if typed is None:
        raise IndicatorSyntaxError(f"{text!r}: {digits!r} is not a number, such as 20")
    return float(typed.number)


def _check_parameters(spec: IndicatorSpec, text: str) -> IndicatorSpec:
    counted = len(spec.periods)
    for period in spec.parameters[:counted]:
        if period != int(period) or not 1 <= period <= MAX_PERIOD:
            raise IndicatorSyntaxError(
                f"{text!r}: a period is a whole number of candles from 1 to {MAX_PERIOD}"
            )
    for width in spec.parameters[counted:]:
        if not 0 < width <= WIDEST_BAND:
            raise IndicatorSyntaxError(
                f"{text!r}: the width is a number of deviations above 0, up to {WIDEST_BAND}"
            )
    if spec.kind == "macd" and spec.periods[0] >= spec.periods[1]:
        raise IndicatorSyntaxError(f"{text!r}: the first period must be shorter than the second")
    return spec


def _usage(kind: Kind) -> str:
    usual = IndicatorSpec(kind, USUAL[kind])
    return f"write {usual.text}" if usual.parameters else f"{kind} takes none"
