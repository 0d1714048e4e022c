"""Parse the line of an alert: `eurusd > 1.12 once note breakout`, `eurusd +20p repeat 5m`, `trade 6411 < -1r`.

The grammar is: [instrument] condition [once | repeat [5m]] [for 4h | until 18:30] [note words]. An error names the part
and shows how to write it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from keydesk.calc.alerts.alert import MAX_NOTE_LENGTH, USUAL_PAUSE_S, repeat_text
from keydesk.calc.alerts.conditions import (
    AccountResult,
    AtrMultiple,
    ClientLongPercent,
    ClockTime,
    Condition,
    DayHighLow,
    MarginLevel,
    MovingAverageCross,
    PriceCross,
    PriceMove,
    PriceSide,
    RolloverSoon,
    RsiLevel,
    SpreadLevel,
    StreamName,
    StreamSilence,
    TradeResult,
)
from keydesk.calc.alerts.parts import (
    CROSSES,
    DURATION,
    SIGNS,
    AlertSyntaxError,
    amount_of,
    direction_of,
    granularity_of,
    number_of,
    period_of,
    seconds_of,
)
from keydesk.calc.orders.order_parser import matching

SIDES: Mapping[str, PriceSide] = {"bid": "bid", "ask": "ask", "mid": "mid"}
MOVE = re.compile(r"([+-](?:\d{1,6}(?:\.\d{1,4})?|\.\d{1,4}))(p|%)", re.ASCII)
SIGNED = re.compile(r"(>=|<=|>|<|=|@)(\S+)")
TRADE_ID = re.compile(r"#?\d{1,20}", re.ASCII)
MAX_REPEAT_S = 30 * 86_400
USUAL_RSI, USUAL_ATR, USUAL_SILENCE_S = 14, 14, 10
MAX_SILENCE_S, MAX_ROLLOVER_MINUTES = 3600, 1439
ENDS = frozenset(("once", "repeat", "for", "until", "note"))
EXAMPLES = (
    ":alert eurusd > 1.12 once, +20p, -0.5%, spread > 2p, rsi > 70 h1, ema 20 50 up h1, atr 2 h1, "
    "high, low, trade 6411 < -1r, pl > 500, day < -300, margin > 50, time 14:30, rollover 10m, clients > 60, silence 10s"
)
WORDS = (
    *("above", "below", "touch", "bid", "ask", "mid", "spread", "high", "low", "ema", "rsi", "atr"),
    *("trade", "pl", "day", "margin", "time", "rollover", "clients", "silence"),
    *("once", "repeat", "for", "until", "note"),
)
"""The words that the command line completes."""


@dataclass(frozen=True, slots=True)
class AlertLine:
    """An alert as typed; prices and times from now are not resolved yet."""

    condition: Condition
    repeat_s: int | None = None  # None: once
    lasts: str = ""  # "4h" or "18:30"; "": until it is deleted
    note: str = ""

    @property
    def text(self) -> str:
        """Return what it does."""
        often = repeat_text(self.repeat_s)
        how = often if self.repeat_s is None else f"({often})"
        lasts = f", until {self.lasts}" if self.lasts else ""
        note = f": {self.note}" if self.note else ""
        return f"alerts {how} when {self.condition.text}{lasts}{note}"


def parse_alert(line: str, instruments: Iterable[str], focus: str) -> AlertLine:
    """Return the alert that a line means; without an instrument it is one of the focus.

    Raises:
        AlertSyntaxError: a part of the line cannot be read.
    """
    line, note = _split_note(line)
    words = [part for word in line.lower().split() for part in _parts(word)]
    if not words:
        raise AlertSyntaxError(f"alert: nothing typed; {EXAMPLES}")
    ends = next((at for at, word in enumerate(words) if word in ENDS), len(words))
    terms, repeat_s, lasts = words[:ends], *_ending(words[ends:])
    condition = _condition(terms, list(instruments), focus)
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


def _parts(word: str) -> tuple[str, ...]:
    """Return a sign and its number apart: `>1.12` is typed as often as `> 1.12`."""
    match = SIGNED.fullmatch(word)
    return (word,) if match is None or word in SIGNS else (match[1], match[2])


def _ending(words: Sequence[str]) -> tuple[int | None, str]:
    """Return the pause of a repeated alert (None: once), and how long it lasts."""
    repeat_s: int | None = None
    lasts, rest = "", list(words)
    while rest:
        match rest:
            case ["once", *rest]:
                repeat_s = None
            case ["repeat", pause, *rest] if DURATION.fullmatch(pause):
                repeat_s = seconds_of(pause, "repeat", MAX_REPEAT_S)
            case ["repeat", *rest]:
                repeat_s = USUAL_PAUSE_S
            case ["for", length, *rest] if DURATION.fullmatch(length):
                lasts = length
            case ["until", date, clock, *rest] if re.fullmatch(r"\d{4}-\d\d-\d\d", date):
                lasts = f"{date} {clock}"
            case ["until", clock, *rest] if re.fullmatch(r"\d\d?:\d\d", clock):
                lasts = clock
            case [word, *_]:
                raise AlertSyntaxError(_wrong_ending(word))
    return repeat_s, lasts


def _wrong_ending(word: str) -> str:
    if word in {"for", "until"}:
        return f"{word}: not a time; write for 4h, until 18:30 or until 2026-11-25 18:30"
    return f"alert: {word!r} is not understood; after the condition write once, repeat 5m, for 4h, until 18:30, note"


def _condition(words: Sequence[str], instruments: Sequence[str], focus: str) -> Condition:
    match words:
        case [
            ("trade" | "pl" | "day" | "margin" | "time" | "at" | "rollover" | "silence") as kind,
            *rest,
        ]:
            return OF_ACCOUNT[kind](rest)
        case [word, *_] if word.startswith("#"):
            return _trade([word[1:], *words[1:]])
        case [word, *rest] if word[:1].isalpha() and word not in OF_INSTRUMENT:
            name = _instrument(word, instruments)
            return _of_instrument(rest, name)
        case _:
            if not focus:
                raise AlertSyntaxError(
                    "instrument: the chart shows none; write it first, as eurusd"
                )
            return _of_instrument(words, focus)


def _instrument(word: str, instruments: Sequence[str]) -> str:
    plain = "".join(letter for letter in word.upper() if letter.isalnum())
    exact = [each for each in instruments if each.replace("_", "") == plain]
    near = exact or matching(plain, instruments)
    if len(near) != 1:
        raise AlertSyntaxError(
            f"instrument: {word} is not one; write it as eurusd, or leave it out"
        )
    return near[0]


def _of_instrument(words: Sequence[str], name: str) -> Condition:  # noqa: PLR0911 - one a kind
    match words:
        case [word, *rest] if word in INDICATORS:
            return INDICATORS[word](rest, name)
        case ["spread", sign, pips] if sign in SIGNS:
            level = number_of(pips.removesuffix("p"), "spread", above=Decimal(0))
            return SpreadLevel(name, direction_of(sign, "spread"), level)
        case [("high" | "low") as extreme]:
            return DayHighLow(name, extreme)
        case ["clients", "long"]:
            return ClientLongPercent(name, "up", Decimal(50))
        case ["clients", *maybe, sign, percent] if sign in SIGNS and maybe in ([], ["long"]):
            level = number_of(percent.removesuffix("%"), "clients", Decimal(0), Decimal(100))
            return ClientLongPercent(name, direction_of(sign, "clients"), level)
        case [side, *rest] if side in SIDES:
            return _price(rest, name, SIDES[side])
        case _:
            return _price(words, name, "mid")


def _price(words: Sequence[str], name: str, side: PriceSide) -> Condition:
    match words:
        case [move] if (found := MOVE.fullmatch(move)) and Decimal(found[1]):
            unit = "percent" if found[2] == "%" else "pips"
            return PriceMove(name, side, Decimal(found[1]), unit)  # type: ignore[arg-type]
        case [sign, level] if sign in SIGNS:
            return PriceCross(name, side, SIGNS[sign], number_of(level, "price", above=Decimal(0)))
        case [sign] if sign in SIGNS:
            raise AlertSyntaxError(f"price: missing after {sign}; write it as {sign} 1.12")
        case []:
            raise AlertSyntaxError(f"condition: missing after the instrument; {EXAMPLES}")
        case _:
            raise AlertSyntaxError(f"condition: {' '.join(words)!r} is not understood; {EXAMPLES}")


def _trade(words: Sequence[str]) -> Condition:
    match words:
        case [id_, sign, amount] if sign in SIGNS and TRADE_ID.fullmatch(id_):
            return TradeResult(id_.lstrip("#"), *amount_of(sign, amount, "trade"))
        case _:
            raise AlertSyntaxError(
                "trade: write its id and a result: trade 6411 > 50, or trade 6411 < -1r"
            )


def _account(of: str) -> Callable[[Sequence[str]], Condition]:
    def parse(words: Sequence[str]) -> Condition:
        match words:
            case [sign, amount] if sign in SIGNS and of == "pl":
                return AccountResult("open", *amount_of(sign, amount, of))
            case [sign, amount] if sign in SIGNS and not amount.endswith("r"):
                return AccountResult("day", *amount_of(sign, amount, of))
            case _:
                r = ", or pl < -2r" if of == "pl" else "; the day is counted in money"
                raise AlertSyntaxError(f"{of}: write {of} > 500 or {of} < -300{r}")

    return parse


def _margin(words: Sequence[str]) -> Condition:
    match words:
        case [sign, percent] if sign in SIGNS:
            level = number_of(percent.removesuffix("%"), "margin", Decimal(0), Decimal(1000))
            return MarginLevel(direction_of(sign, "margin"), level)
        case _:
            raise AlertSyntaxError(
                "margin: write margin > 50, in percent of the way to the closeout"
            )


def _time(words: Sequence[str]) -> Condition:
    if not words:
        raise AlertSyntaxError("time: none; write time 14:30 or time 2026-11-25 14:30")
    return ClockTime(" ".join(words))


def _rollover(words: Sequence[str]) -> Condition:
    match words:
        case [length]:
            minutes = seconds_of(length, "rollover", MAX_ROLLOVER_MINUTES * 60) // 60
        case _:
            minutes = 0
    if minutes < 1:
        raise AlertSyntaxError("rollover: write how long before it: rollover 10m")
    return RolloverSoon(minutes)


def _silence(words: Sequence[str]) -> Condition:
    stream: StreamName = "prices"
    match words:
        case [("prices" | "events") as stream, *rest]:
            pass
        case _:
            rest = list(words)
    seconds = seconds_of(rest[0], "silence", MAX_SILENCE_S) if rest else USUAL_SILENCE_S
    if seconds < 1 or len(rest) > 1:
        raise AlertSyntaxError("silence: write silence 10s, or silence events 10s")
    return StreamSilence(stream, seconds)


def _average(words: Sequence[str], name: str) -> Condition:
    rest, granularity = granularity_of(words)
    match rest:
        case [fast, slow, *how] if len(how) < 2 and (not how or how[0] in CROSSES):  # noqa: PLR2004 - up, down or nothing
            periods = period_of(fast, "ema"), period_of(slow, "ema")
            if periods[0] >= periods[1]:
                raise AlertSyntaxError("ema: the first period is the shorter one: ema 20 50 up h1")
            return MovingAverageCross(
                name, granularity, *periods, CROSSES[how[0]] if how else "touch"
            )
        case _:
            raise AlertSyntaxError("ema: write two periods and a way: ema 20 50 up h1")


def _strength(words: Sequence[str], name: str) -> Condition:
    rest, granularity = granularity_of(words)
    match rest:
        case [*period, sign, level] if sign in SIGNS and len(period) < 2:  # noqa: PLR2004 - its own period or none
            number = number_of(level, "rsi", Decimal(0), Decimal(100))
            length = period_of(period[0], "rsi") if period else USUAL_RSI
            return RsiLevel(name, granularity, length, SIGNS[sign], number)
        case _:
            raise AlertSyntaxError(
                "rsi: write a level and a candle: rsi > 70 h1, or rsi 9 < 30 m15"
            )


def _range(words: Sequence[str], name: str) -> Condition:
    rest, granularity = granularity_of([each for each in words if each != ">"])
    match rest:
        case [multiple]:
            period = USUAL_ATR
        case [length, multiple]:
            period = period_of(length, "atr")
        case _:
            raise AlertSyntaxError("atr: write how many: atr 2 h1, a candle of twice ATR 14")
    number = number_of(multiple.rstrip("ax"), "atr", Decimal("0.1"), Decimal(50))
    return AtrMultiple(name, granularity, period, number)


OF_ACCOUNT: Mapping[str, Callable[[Sequence[str]], Condition]] = {
    "trade": _trade,
    "pl": _account("pl"),
    "day": _account("day"),
    "margin": _margin,
    "time": _time,
    "at": _time,
    "rollover": _rollover,
    "silence": _silence,
}
INDICATORS: Mapping[str, Callable[[Sequence[str], str], Condition]] = {
    "ema": _average,
    "rsi": _strength,
    "atr": _range,
}
OF_INSTRUMENT = frozenset((*INDICATORS, *SIDES, *SIGNS, "spread", "high", "low", "clients"))
