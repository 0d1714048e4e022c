"""Read what a trader types: the words of a line, numbers with their unit, durations, times.

Every grammar reads with these: command line, orders, alerts, replays, indicators, templates. What a grammar takes (units,
signs, bounds) is its own matter, and so are the words of its refusals.
"""

import re
from datetime import datetime, time
from decimal import Decimal

from msgspec import Struct

MAX_DECIMALS = 12
FIELD_DECIMALS = 7  # of a number that becomes the text of a field, which has room for 20 characters
TOKEN = re.compile(r">=|<=|[<>=@]|\S+")
QUANTITY = re.compile(r"([+-]?(?:\d{1,12}(?:\.\d+)?|\.\d+))([a-z%]?)", re.ASCII)
DURATION = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
CLOCK_TIME = re.compile(r"(\d\d?):(\d\d)", re.ASCII)
UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
DATES = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S")


def tokens(line: str) -> list[str]:
    """Return the words of a line in lower case; a sign such as > or @ apart from what follows it."""
    return TOKEN.findall(line.lower())


class Quantity(Struct, frozen=True):
    """A number as typed, and the letter after it."""

    text: str
    unit: str = ""  # "": none

    @property
    def number(self) -> Decimal:
        """The number, exactly as typed."""
        return Decimal(self.text)

    @property
    def decimals(self) -> int:
        """How many digits stand behind the point."""
        return len(self.text.partition(".")[2])


def quantity(
    word: str, units: str = "", *, signs: str = "", decimals: int = MAX_DECIMALS
) -> Quantity | None:
    """Return the number and the unit of a word such as 20p, -0.5% or 1.0830; None for any other word.

    Args:
        word: In lower case.
        units: The letters of which one may end it.
        signs: The signs that it may begin with.
        decimals: Of the number, at most.
    """
    match = QUANTITY.fullmatch(word)
    if match is None or match[2] not in units:
        return None
    found = Quantity(match[1], match[2])
    sign = match[1][0] if match[1][0] in "+-" else ""
    return found if sign in signs and found.decimals <= decimals else None


def distance(word: object, units: str) -> Quantity | None:
    """Return a distance above 0 with one of the units, such as 20p; None for anything else."""
    found = quantity(word, units, decimals=FIELD_DECIMALS) if isinstance(word, str) else None
    return found if found is not None and found.unit and found.number else None


def duration_s(word: str) -> int | None:
    """Return the seconds of 30s, 90m, 4h, 2d or 1w; None for any other word."""
    match = DURATION.fullmatch(word)
    return int(match[1]) * UNIT_S[match[2]] if match else None


def clock_time(word: str) -> time | None:
    """Return the time of day of 9:05 or 18:30; None for any other word."""
    match = CLOCK_TIME.fullmatch(word)
    try:
        return time(int(match[1]), int(match[2])) if match else None
    except ValueError:
        return None


def date_time(text: str) -> datetime | None:
    """Return the date and time, without zone, of 2015-01-15 09:30 or 2015-01-15T09:30; midnight without a time.

    None stands for any other text.
    """
    written = " ".join(text.upper().replace("T", " ").split())
    for pattern in DATES:
        try:
            return datetime.strptime(written, pattern)  # noqa: DTZ007 - the caller knows the zone
        except ValueError:
            continue
    return None
