"""Parse the line of an alert: `eurusd > 1.12 once note breakout`, `eurusd +20p repeat 5m`, `trade 6411 < -1r`.

The grammar is: [instrument] condition [once | repeat [5m]] [for 4h | until 18:30] [note words]. An error names the part
and shows how to write it. What a condition is stands with each kind.
"""

import re
from collections.abc import Iterable, Sequence

from keydesk.calc.alerts import candle_conditions, fact_conditions, price_conditions
from keydesk.calc.alerts.alert import MAX_NOTE_LENGTH, USUAL_PAUSE_S, AlertLine
from keydesk.calc.alerts.condition_base import (
    SIGNS,
    AlertSyntaxError,
    Condition,
    seconds_of,
)
from keydesk.calc.alerts.fact_conditions import ClockTime
from keydesk.calc.alerts.price_conditions import SIDES, PriceCross
from keydesk.calc.market.price_levels import PriceLevel, PriceLevels
from keydesk.parse.instruments import find_instrument
from keydesk.parse.price_levels import UnknownLevelError, with_prices
from keydesk.text.typed import clock_time, date_time, duration_s, tokens

KINDS = (*price_conditions.KINDS, *candle_conditions.KINDS, *fact_conditions.KINDS)
OF_INSTRUMENT = frozenset(
    (
        *SIDES,
        *SIGNS,
        *(word for kind in KINDS if kind.HAS_INSTRUMENT for word in kind.first_words()),
    )
)
NO_LEVELS: PriceLevels = {}
MAX_REPEAT_S = 30 * 86_400
ENDS = ("once", "repeat", "for", "until", "note")
EXAMPLES = ":alert eurusd > 1.12 once, " + ", ".join(
    example for kind in KINDS if kind is not PriceCross for example in kind.EXAMPLES
)
WORDS = (
    *("above", "below", "touch", "bid", "ask", "mid"),
    *(word for kind in KINDS for word in kind.first_words()),
    *ENDS,
)
"""The words that the command line completes."""


def parse_alert(
    line: str, instruments: Iterable[str], focus: str, levels: PriceLevels = NO_LEVELS
) -> AlertLine:
    """Return the alert that a line means; without an instrument it is one of the focus.

    `levels` are the trader's price levels: @ and a name is a price.

    Raises:
        AlertSyntaxError: a part of the line cannot be read.
    """
    line, note = _split_note(line)
    words = tokens(line)
    if not words:
        raise AlertSyntaxError(f"alert: nothing typed; {EXAMPLES}")
    ends = next((at for at, word in enumerate(words) if word in ENDS), len(words))
    terms, repeat_s, lasts = words[:ends], *_ending(words[ends:])
    condition = _condition(terms, list(instruments), focus, levels)
    if isinstance(condition, ClockTime) and repeat_s is not None:
        raise AlertSyntaxError("repeat: a time comes once; leave repeat out")
    return AlertLine(condition, repeat_s, lasts, note)


def _split_note(line: str) -> tuple[str, str]:
    match = re.search(r"(?:^|\s)note(?:\s+|$)", line, re.IGNORECASE)
    if match is None:
        return line, ""
    note = line[match.end() :].strip()
    if not note:
        raise AlertSyntaxError("note: it is empty; write it last, as in: note retest of the high")
    if len(note) > MAX_NOTE_LENGTH:
        raise AlertSyntaxError(f"note: has {len(note)} letters; at most {MAX_NOTE_LENGTH}")
    return line[: match.start()], note


def _ending(words: Sequence[str]) -> tuple[int | None, str]:
    """Return the pause of a repeated alert (None: once), and how long it lasts."""
    repeat_s: int | None = None
    lasts, rest = "", list(words)
    while rest:
        match rest:
            case ["once", *rest]:
                repeat_s = None
            case ["repeat", pause, *rest] if duration_s(pause) is not None:
                repeat_s = seconds_of(pause, "repeat", MAX_REPEAT_S)
            case ["repeat", *rest]:
                repeat_s = USUAL_PAUSE_S
            case ["for", length, *rest] if duration_s(length) is not None:
                lasts = length
            case ["until", date, clock, *rest] if date_time(f"{date} {clock}") is not None:
                lasts = f"{date} {clock}"
            case ["until", clock, *rest] if clock_time(clock) is not None:
                lasts = clock
            case [word, *_]:
                raise AlertSyntaxError(_wrong_ending(word))
    return repeat_s, lasts


def _wrong_ending(word: str) -> str:
    if word in {"for", "until"}:
        return f"{word}: not a time; write for 4h, until 18:30 or until 2026-11-25 18:30"
    return f"alert: {word!r} is not understood; after the condition write once, repeat 5m, for 4h, until 18:30, note"


def _condition(
    words: Sequence[str], instruments: Sequence[str], focus: str, levels: PriceLevels
) -> Condition:
    if any(kind.matches(words) for kind in KINDS if not kind.HAS_INSTRUMENT):
        return read_condition(words, "")
    if words[0][:1].isalpha() and words[0] not in OF_INSTRUMENT:
        instrument = find_instrument(words[0], instruments)
        if instrument is None:
            raise AlertSyntaxError(
                f"instrument: {words[0]} is not one; write it as eurusd, or leave it out"
            )
        return read_condition(_priced(words[1:], levels.get(instrument, ())), instrument)
    if not focus:
        raise AlertSyntaxError("instrument: the chart shows none; write it first, as eurusd")
    return read_condition(_priced(words, levels.get(focus, ())), focus)


def _priced(words: Sequence[str], levels: Sequence[PriceLevel]) -> list[str]:
    """Return the words with the price of each level that is named: `> @weekly-high`."""
    try:
        return with_prices(words, levels, SIGNS)
    except UnknownLevelError as error:
        raise AlertSyntaxError(f"price: {error}") from error


def read_condition(words: Sequence[str], instrument: str) -> Condition:
    """Return the condition of words without an instrument; "" for one that has none.

    Raises:
        AlertSyntaxError: a part cannot be read.
    """
    if not words:
        raise AlertSyntaxError(f"condition: missing after the instrument; {EXAMPLES}")
    kinds = (each for each in KINDS if each.HAS_INSTRUMENT is bool(instrument))
    kind = next((each for each in kinds if each.matches(words)), PriceCross)
    condition = kind.parse(words, instrument)
    if condition is None:
        raise AlertSyntaxError(f"condition: {' '.join(words)!r} is not understood; {EXAMPLES}")
    return condition
