"""Write an alert as the line that makes it, for editing."""

from datetime import tzinfo

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.conditions import (
    AccountResult,
    AverageCross,
    ClientsLong,
    ClockTime,
    Condition,
    DayExtreme,
    MarginLevel,
    PriceCross,
    PriceMove,
    RangeMultiple,
    RolloverSoon,
    SpreadLevel,
    StreamSilence,
    StrengthLevel,
    TradeResult,
)
from keydesk.text.format import at

SIGNS = {"up": ">", "down": "<", "touch": "@"}
WAYS = {"up": "up", "down": "down", "touch": "cross"}


def line_of(alert: Alert, zone: tzinfo) -> str:
    """Return the line of an alert; a distance from a price is written as the level that it came to."""
    parts = [condition_line(alert.condition)]
    parts.append("once" if alert.repeat_s is None else f"repeat {alert.repeat_s}s")
    if alert.expires_ns is not None:
        parts.append(f"until {at(alert.expires_ns, zone):%Y-%m-%d %H:%M}")
    if alert.note:
        parts.append(f"note {alert.note}")
    return " ".join(parts)


def condition_line(condition: Condition) -> str:  # noqa: C901, PLR0911, PLR0912 - one a kind
    """Return the condition as it is typed."""
    match condition:
        case PriceCross() | PriceMove():
            sign = SIGNS[condition.direction]
            return f"{_name(condition.instrument)} {condition.side} {sign} {condition.level:f}"
        case SpreadLevel():
            sign = SIGNS[condition.direction]
            return f"{_name(condition.instrument)} spread {sign} {condition.level:f}p"
        case DayExtreme():
            return f"{_name(condition.instrument)} {condition.extreme}"
        case AverageCross():
            how = f"{condition.fast} {condition.slow} {WAYS[condition.direction]}"
            return f"{_name(condition.instrument)} ema {how} {condition.granularity.lower()}"
        case StrengthLevel():
            how = f"{condition.period} {SIGNS[condition.direction]} {condition.level:f}"
            return f"{_name(condition.instrument)} rsi {how} {condition.granularity.lower()}"
        case RangeMultiple():
            how = f"{condition.period} {condition.level:f}"
            return f"{_name(condition.instrument)} atr {how} {condition.granularity.lower()}"
        case TradeResult():
            return f"trade {condition.trade_id} {_result(condition)}"
        case AccountResult():
            return f"{'day' if condition.of == 'day' else 'pl'} {_result(condition)}"
        case MarginLevel():
            return f"margin {SIGNS[condition.direction]} {condition.level:f}%"
        case ClockTime():
            return f"time {condition.typed}"
        case RolloverSoon():
            return f"rollover {condition.minutes}m"
        case ClientsLong():
            sign = SIGNS[condition.direction]
            return f"{_name(condition.instrument)} clients {sign} {condition.level:f}%"
        case StreamSilence():
            return f"silence {condition.stream} {condition.seconds}s"


def _name(instrument: str) -> str:
    return instrument.replace("_", "").lower()


def _result(condition: TradeResult | AccountResult) -> str:
    unit = "r" if condition.unit == "R" else ""
    return f"{SIGNS[condition.direction]} {condition.level:f}{unit}"
