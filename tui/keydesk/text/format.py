"""Numbers and times as the desk writes them, and text cut or wrapped by terminal cells.

A minus is U+2212, as wide as a plus; an empty value is an en dash, an unknown one a question mark. Results are as safe to
print as their arguments.
"""

import re
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from textwrap import wrap
from typing import Final, LiteralString, NamedTuple

from rich.cells import cell_len, chop_cells, set_cell_size

from keydesk.text.sanitize import Printable, SafeText, clean_name, safe, split_at
from keydesk_client.arithmetic.constants import SECOND


def shorten(text: Printable, width: int) -> SafeText:
    """Return text of at most this many cells; what is left out shows as an ellipsis."""
    if cell_len(text) <= width:
        return safe(text)
    return safe(set_cell_size(text, width - 1) + "…") if width > 0 else safe("")


def shorten_text(text: Printable, width: int) -> SafeText:
    """Return as many whole words as fit, and an ellipsis; a first word that is too long is cut."""
    if cell_len(text) <= width:
        return safe(text)
    ends = [found.start() for found in WORD_END.finditer(text)]
    fitting = [end for end in ends if cell_len(text[:end]) + len(" …") <= width]
    return safe(f"{text[: fitting[-1]]} …") if fitting else shorten(text, width)


WORD_END = re.compile(r"(?<=\S) ")
BEFORE_UNIT = re.compile(
    r"(?<=\d) (?=(?:%|pips?|R|ms|units?|[A-Z]{3})(?![\w/]))"
)  # also currency, zone
NAMED_NUMBER = re.compile(r"(?:(?<=\bSL)|(?<=\bTP)|(?<=@)|(?<=\brealized)) (?=[+\u2212\d])")
NAMED_FROM = 24  # cells; in less, two words that stay together leave much of a line empty
JOINED = "\u00a0"  # a space that no line is broken at


def join_units(text: str) -> str:
    """Return text of the same length with `JOINED` between a number and its unit."""
    return BEFORE_UNIT.sub(JOINED, text)


def lines_of(text: Printable, width: int) -> list[SafeText]:
    """Return text over as many lines of this many cells as it needs; a number stays with its unit, a price with its name."""
    width = max(1, width)
    joined = join_units(text)
    if width >= NAMED_FROM:
        joined = NAMED_NUMBER.sub(JOINED, joined)
    lines = wrap(joined, width) if text.isascii() else _wrapped_by_cells(joined, max(2, width))
    return [safe(line.replace(JOINED, " ")) for line in lines]


def _wrapped_by_cells(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in filter(None, re.split(r"[^\S\u00a0]+", text)):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines += chop_cells(word, width)
    return lines


EMPTY: Final = "–"
UNLIMITED: Final = "UNLIMITED"  # the risk of what has no stop
DIGITS: Final = 4  # of an account's number that are shown
UNKNOWN: Final = "?"
MINUS: Final = "−"
NONE = safe(EMPTY)
LEAST_PERCENT = Decimal("0.005")  # less would be written as nothing
FIRST_SECOND: Final = int(datetime(1, 1, 2, tzinfo=UTC).timestamp())
LAST_SECOND: Final = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())
"""A day inside the calendar's ends, so that every zone has them."""


class PriceParts(NamedTuple):
    """A price as a dealer reads it: the big figure, the two pip digits, the fraction of a pip."""

    big: SafeText
    pips: SafeText
    fraction: SafeText


def price(value: Decimal | None, precision: int) -> SafeText:
    """Return a price with all its decimals."""
    return NONE if value is None else _minus(f"{value:.{precision}f}")


def split_price(value: Decimal, pip_location: int, precision: int) -> PriceParts:
    """Return a price in its three parts; joined they are the price with all its decimals."""
    text = price(value, precision)
    point = text.find(".")
    whole_end = len(text) if point < 0 else point
    # The digit of one pip stands `-pip_location` places right of the point.
    end = whole_end - pip_location if pip_location >= 0 else whole_end + 1 - pip_location
    end = max(0, min(end, len(text)))
    start = _two_digits_before(text, end)
    return PriceParts(*split_at(text, start, end))


def _two_digits_before(text: str, end: int) -> int:
    start, digits = end, 0
    while start > 0 and digits < 2:  # noqa: PLR2004 - pips are read by twos
        start -= 1
        digits += text[start].isdigit()
    return start


def money(value: Decimal | None, places: int = 2, *, signed: bool = False) -> SafeText:
    """Return an amount, thousands grouped; signed: with a plus or minus unless it is zero."""
    if value is None:
        return NONE
    return _with_sign(value, f"{abs(value):,.{places}f}", plus=signed)


def pips(value: Decimal | None, places: int = 1, *, signed: bool = True) -> SafeText:
    """Return a distance in pips."""
    return money(value, places, signed=signed)


def percent(fraction: Decimal | None, places: int = 2, *, signed: bool = False) -> SafeText:
    """Return a fraction as percent, without the sign %: the header says it."""
    return NONE if fraction is None else money(fraction * 100, places, signed=signed)


def whole_percent(fraction: Decimal) -> SafeText:
    """Return a share in whole per cent; one above 0 that would be written as 0 is "<1"."""
    return safe("<1") if 0 < fraction < LEAST_PERCENT else percent(fraction, 0)


def r_multiple(value: Decimal | None) -> SafeText:
    """Profit as a multiple of the initial risk."""
    return money(value, 1, signed=True)


def side_word(value: Decimal) -> LiteralString:
    """Return the side of a trade in a word, by the sign of its units."""
    return "LONG" if value > 0 else "SHORT"


def side_and_size(value: Decimal, instrument: str) -> SafeText:
    """Return a trade by its units: LONG 10,000 EUR/USD."""
    return safe(f"{side_word(value)} {units(abs(value))} {pair(instrument)}")


def units(value: Decimal | None, *, signed: bool = False) -> SafeText:
    """Units with no more decimals than they have."""
    if value is None:
        return NONE
    plain = f"{abs(value):,f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return _with_sign(value, plain, plus=signed)


def short_units(value: Decimal | None, *, signed: bool = True) -> SafeText:
    """Units in five or six characters: 950, 10.0k, 0.76M; for watching, not for sending."""
    if value is None:
        return NONE
    size = abs(value)
    if size < 1000:  # noqa: PLR2004
        return units(value, signed=signed)
    text = f"{size / 1000:.1f}k" if size < 500_000 else f"{size / 1_000_000:,.2f}M"  # noqa: PLR2004
    return _with_sign(value, text, plus=signed)


def duration(seconds: float) -> SafeText:
    """How long: 12s, 7m, 3h40, 2d05h."""
    whole = max(0, int(seconds))
    if whole < 60:  # noqa: PLR2004
        return safe(f"{whole}s")
    minutes, hours = whole // 60, whole // 3600
    if hours == 0:
        return safe(f"{minutes}m")
    if hours < 24:  # noqa: PLR2004
        return safe(f"{hours}h{minutes % 60:02}")
    return safe(f"{hours // 24}d{hours % 24:02}h")


def age(then_ns: int, now_ns: int) -> SafeText:
    """How long ago, between two instants in nanoseconds."""
    return duration((now_ns - then_ns) / SECOND)


def short_age(seconds: float) -> SafeText:
    """How fresh, with tenths below ten seconds: 0.4s, 12s, 7m."""
    return safe(f"{max(0.0, seconds):.1f}s") if seconds < 10 else duration(seconds)  # noqa: PLR2004


def clock(time_ns: int, zone: tzinfo = UTC, *, named: bool = False) -> SafeText:
    """Return the time of day; named: with its zone, 14:03:22 UTC."""
    moment = at(time_ns, zone)
    return safe(f"{moment:%H:%M:%S} {moment.tzname()}" if named else f"{moment:%H:%M:%S}")


def date_and_time(time_ns: int, zone: tzinfo = UTC) -> SafeText:
    """Return the full instant with its zone: 2026-03-02 14:03:22 UTC."""
    moment = at(time_ns, zone)
    return safe(f"{moment:%Y-%m-%d %H:%M:%S} {moment.tzname()}")


def made_at(time_ns: int, market_ns: int | None, zone: tzinfo = UTC) -> SafeText:
    """Return the full instant of an entry, and whose clock it is of where that is not this machine's."""
    if market_ns is None:
        return date_and_time(time_ns, zone)
    return safe(f"{date_and_time(market_ns, zone)}, the market's time")


def at(time_ns: int, zone: tzinfo = UTC) -> datetime:
    """Return the instant in a zone, to the second; an instant outside the calendar becomes its first or last one."""
    seconds = min(max(time_ns // SECOND, FIRST_SECOND), LAST_SECOND)
    return datetime.fromtimestamp(seconds, zone)


def account_tail(account_id: str) -> str:
    """Return the end of an account id that holds its last four digits: 7-001."""
    at = [place for place, letter in enumerate(account_id) if letter.isdecimal()]
    return account_id[at[-DIGITS] :] if len(at) >= DIGITS else account_id[-DIGITS:]


def counted(n: int, one: str, more: str = "") -> SafeText:
    """Return a number of things: 1 trade, 5,200 trades."""
    return safe(f"{n:,} {one if n == 1 else more or f'{one}s'}")


def pip_count(value: Decimal, *, signed: bool = False) -> SafeText:
    """Return a distance as it was typed, unrounded: 1 pip, 1.0 pips, 1.2 pips; signed: +1 pip."""
    text = exact(value, signed=signed)
    return safe(f"{text} {'pip' if text.lstrip(f'+{MINUS}') == '1' else 'pips'}")


NO_SLIPPAGE = safe("no slippage")


def slippage_text(worse: Decimal) -> SafeText:
    """Return a slippage in pips in words: 0.1 pip worse, 2.0 pips better, no slippage; positive is worse."""
    size = money(abs(worse), 1)
    if size == "0.0":
        return NO_SLIPPAGE
    name = "pip" if abs(worse) <= 1 else "pips"
    return safe(f"{size} {name} {'worse' if worse > 0 else 'better'}")


def unit_count(value: Decimal) -> SafeText:
    """Return a size in words: 1 unit, 25,000 units."""
    return safe(f"{units(value)} {'unit' if abs(value) == 1 else 'units'}")


def pair(instrument: str) -> SafeText:
    """Return an instrument's name as people say it: EUR/USD."""
    return clean_name(instrument.replace("_", "/"))


def _with_sign(value: Decimal, text: str, *, plus: bool) -> SafeText:
    if not any(digit in "123456789" for digit in text):  # zero, or too small to show
        return safe(text)
    if value < 0:
        return safe(MINUS + text)
    return safe("+" + text if plus else text)


def exact(value: Decimal, *, signed: bool = False) -> SafeText:
    """Return a number as it was typed, unrounded; signed: with a plus or minus."""
    return _minus(f"{value:+f}" if signed else f"{value:f}")


def _minus(text: str) -> SafeText:
    return safe(text.replace("-", MINUS))
