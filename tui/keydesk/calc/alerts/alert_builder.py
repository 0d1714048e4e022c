"""Make an alert from a typed line, where distances from the price become levels and times become instants; write it as a line again."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from decimal import Decimal

from keydesk.calc.alerts.alert import Alert
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
    StreamSilence,
    TradeResult,
)
from keydesk.calc.alerts.parser import AlertLine
from keydesk.calc.alerts.parts import AlertSyntaxError
from keydesk.calc.orders.expiry_time import expiry_ns
from keydesk.calc.orders.ticket_draft import UnreadableText
from keydesk.text.format import at, exact, pair
from keydesk.text.sanitize import clean_name
from keydesk_client.arithmetic.profit import round_price, round_price_down, round_price_up

HUNDRED = Decimal(100)
SIGNS = {"up": ">", "down": "<", "touch": "@"}
WAYS = {"up": "up", "down": "down", "touch": "cross"}


@dataclass(frozen=True, slots=True)
class PriceSnapshot:
    """The prices of an instrument from which an alert is made."""

    bid: Decimal
    ask: Decimal
    pip: Decimal
    precision: int

    def at(self, side: PriceSide) -> Decimal:
        """Return the price of a side."""
        match side:
            case "bid":
                return self.bid
            case "ask":
                return self.ask
            case "mid":
                return (self.bid + self.ask) / 2


@dataclass(frozen=True, slots=True)
class AlertContext:
    """What an alert is made from: the time, the trader's zone and the prices."""

    now_ns: int
    zone: tzinfo = UTC
    prices: Mapping[str, PriceSnapshot] = field(default_factory=dict)
    trades: Collection[str] | None = None  # the ids of the open ones; None: not known


def make_alert(line: AlertLine, around: AlertContext, id_: str = "") -> Alert:
    """Return the alert of a line.

    Raises:
        AlertSyntaxError: a price is not known, a trade is not open, or a time cannot be read or is past.
    """
    expires = _instant(line.lasts, around, "until") if line.lasts else None
    condition = _resolved(line.condition, around)
    return Alert(id_, condition, around.now_ns, line.repeat_s, expires, line.note)


def _resolved(condition: Condition, around: AlertContext) -> Condition:
    match condition:
        case PriceMove():
            return _moved(condition, around)
        case ClockTime():
            return replace(condition, time_ns=_instant(condition.typed, around, "time"))
        case TradeResult(trade_id=id_) if around.trades is not None and id_ not in around.trades:
            raise AlertSyntaxError(
                f"trade: #{clean_name(id_)} is not open; write an open trade's id"
            )
        case _:
            return condition


def _moved(move: PriceMove, around: AlertContext) -> PriceMove:
    priced = around.prices.get(move.instrument)
    if priced is None:
        raise AlertSyntaxError(
            f"price: no price of {pair(move.instrument)} yet; write a level, as > 1.12"
        )
    start = priced.at(move.side)
    step = move.distance * priced.pip if move.unit == "pips" else start * move.distance / HUNDRED
    away = round_price_up if step > 0 else round_price_down  # a mid price has a digit more
    level = away(start + step, priced.precision)
    start = round_price(start, priced.precision)
    if level <= 0:
        distance = exact(move.distance, signed=True)
        raise AlertSyntaxError(f"price: {distance} from {start:f} is not above 0")
    return replace(move, start=start, level=level)


def _instant(text: str, around: AlertContext, part: str) -> int:
    instant = expiry_ns(text, around.now_ns, around.now_ns, around.zone)
    if isinstance(instant, UnreadableText) or instant is None:
        why = f"{instant.text} {instant.reason}" if instant else "none; write 18:30"
        raise AlertSyntaxError(f"{part}: {why}")
    return instant


def standing_text(alert: Alert, value: Decimal | None, precision: int) -> str:
    """Return a hint if a value is beyond the level already: the alert waits until it comes back and crosses again.

    Args:
        alert: Its condition says which value is read.
        value: As it is now; None: not known.
        precision: Decimals of a price of its instrument.
    """
    condition = alert.condition
    if value is None or condition.direction == "touch":
        return ""
    is_up = condition.direction == "up"
    if not (value >= condition.level if is_up else value <= condition.level):
        return ""
    name, shown = _value_name(condition), condition.value_text(value, precision)
    back = "below" if is_up else "above"
    return (
        f"{name} is there already ({shown}): the alert fires after it went {back} and crosses again"
    )


def _value_name(condition: Condition) -> str:  # noqa: PLR0911 - one a kind
    """Return what a condition reads, in words."""
    match condition:
        case SpreadLevel():
            return "the spread"
        case TradeResult():
            return "the P/L of the trade"
        case AccountResult(of=of):
            return "the P/L of the day" if of == "day" else "the open P/L"
        case MarginLevel():
            return "the margin closeout"
        case ClientLongPercent():
            return "the share of long clients"
        case RolloverSoon():
            return "the time to the rollover"
        case StreamSilence():
            return "the silence"
        case _:
            return "the price"


def line_of(alert: Alert, zone: tzinfo) -> str:
    """Return the line of an alert; a distance from a price is written as the level that it came to."""
    parts = [condition_line(alert.condition)]
    parts.append(alert.repeat_text)
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
        case DayHighLow():
            return f"{_name(condition.instrument)} {condition.extreme}"
        case MovingAverageCross():
            how = f"{condition.fast} {condition.slow} {WAYS[condition.direction]}"
            return f"{_name(condition.instrument)} ema {how} {condition.granularity.lower()}"
        case RsiLevel():
            how = f"{condition.period} {SIGNS[condition.direction]} {condition.level:f}"
            return f"{_name(condition.instrument)} rsi {how} {condition.granularity.lower()}"
        case AtrMultiple():
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
        case ClientLongPercent():
            sign = SIGNS[condition.direction]
            return f"{_name(condition.instrument)} clients {sign} {condition.level:f}%"
        case StreamSilence():
            return f"silence {condition.stream} {condition.seconds}s"


def _name(instrument: str) -> str:
    return instrument.replace("_", "").lower()


def _result(condition: TradeResult | AccountResult) -> str:
    unit = "r" if condition.unit == "R" else ""
    return f"{SIGNS[condition.direction]} {condition.level:f}{unit}"
