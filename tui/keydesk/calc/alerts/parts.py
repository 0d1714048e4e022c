"""The parts of the line of an alert: numbers, signs, durations, candle lengths."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from keydesk.calc.alerts.conditions import Direction, ResultUnit
from keydesk.calc.market.granularity import SECONDS, find_granularity
from keydesk.calc.market.indicator_specs import MAX_PERIOD

SIGNS: Mapping[str, Direction] = {
    **dict.fromkeys((">", ">=", "above", "over"), "up"),
    **dict.fromkeys(("<", "<=", "below", "under"), "down"),
    **dict.fromkeys(("=", "@", "touch", "touches"), "touch"),
}
CROSSES: Mapping[str, Direction] = {"up": "up", "down": "down", "cross": "touch"}
NUMBER = re.compile(r"[+-]?(\d{1,9}(\.\d{1,7})?|\.\d{1,7})", re.ASCII)
DURATION = re.compile(r"(\d{1,5})([smhd])", re.ASCII)
UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
USUAL_GRANULARITY = "H1"


class AlertSyntaxError(Exception):
    """Raised for a line that is not a valid alert; the text names the part and shows how to write it."""


def number_of(
    text: str,
    part: str,
    least: Decimal | None = None,
    most: Decimal | None = None,
    *,
    above: Decimal | None = None,
) -> Decimal:
    """Return a number within its bounds; raise AlertSyntaxError for anything else."""
    if not NUMBER.fullmatch(text):
        raise AlertSyntaxError(f"{part}: {text!r} is not a number; write it as 1.12")
    number = Decimal(text)
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


def amount_of(sign: str, text: str, part: str) -> tuple[ResultUnit, Direction, Decimal]:
    """Return unit, direction and level of a result: 50, or -1r."""
    unit: ResultUnit = "R" if text.endswith("r") else "money"
    return unit, direction_of(sign, part), number_of(text.removesuffix("r"), part)


def seconds_of(text: str, part: str, most: int) -> int:
    """Return the seconds of 30s, 5m or 2h; raise AlertSyntaxError above the most."""
    match = DURATION.fullmatch(text)
    seconds = int(match[1]) * UNIT_S[match[2]] if match else -1
    if not 0 <= seconds <= most:
        raise AlertSyntaxError(
            f"{part}: {text!r} is not a time up to {most} s; write 30s, 5m or 2h"
        )
    return seconds


def granularity_of(words: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the words without the candle length at their end, and that length."""
    if words and any(letter.isalpha() for letter in words[-1]) and words[-1] not in CROSSES:
        granularity = find_granularity(words[-1])
        if granularity is None:
            raise AlertSyntaxError(
                f"candle: {words[-1]!r} is not a candle length; use one of {' '.join(SECONDS)}"
            )
        return words[:-1], granularity
    return words, USUAL_GRANULARITY


def period_of(text: str, part: str) -> int:
    """Return a count of candles; raise AlertSyntaxError for anything else."""
    if not text.isdecimal() or not 1 <= int(text) <= MAX_PERIOD:
        raise AlertSyntaxError(f"{part}: {text!r} is not a period from 1 to {MAX_PERIOD} candles")
    return int(text)
