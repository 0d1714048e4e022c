"""Conditions of alert files of version 1, which held the members of their classes, as typed lines.

The names of kinds and members are those of that version, and stay.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

SIGNS = {"up": ">", "down": "<", "touch": "@"}
WAYS = {"up": "up", "down": "down", "touch": "cross"}
UNITS = {"pips": "p", "percent": "%", "money": "", "R": "r"}
Members = Mapping[str, Any]


def with_line(alert: Members) -> Members:
    """Return the members of an alert of version 1 as those of version 2."""
    condition = alert["condition"]
    line = LINES[condition["type"]](condition)
    return {**alert, "instrument": condition.get("instrument", ""), "line": line}


def _level(of: Members) -> str:
    return f"{SIGNS[of['direction']]} {Decimal(of['level']):f}"


def _move(of: Members) -> str:
    distance = f"{Decimal(of['distance']):+f}{UNITS[of['unit']]}"
    return f"{of['side']} {distance} from {Decimal(of['start']):f} to {Decimal(of['level']):f}"


def _average(of: Members) -> str:
    periods = f"{of['fast']} {of['slow']}"
    return f"ema {periods} {WAYS[of['direction']]} {of['granularity']}"


LINES: Mapping[str, Callable[[Members], str]] = {
    "PriceCross": lambda of: f"{of['side']} {_level(of)}",
    "PriceMove": _move,
    "SpreadLevel": lambda of: f"spread {_level(of)}p",
    "DayExtreme": lambda of: str(of["extreme"]),
    "AverageCross": _average,
    "StrengthLevel": lambda of: f"rsi {of['period']} {_level(of)} {of['granularity']}",
    "RangeMultiple": lambda of: f"atr {of['period']} {Decimal(of['level']):f} {of['granularity']}",
    "TradeResult": lambda of: f"trade {of['trade_id']} {_level(of)}{UNITS[of['unit']]}",
    "AccountResult": lambda of: (
        f"{'day' if of['of'] == 'day' else 'pl'} {_level(of)}{UNITS[of['unit']]}"
    ),
    "MarginLevel": lambda of: f"margin {_level(of)}%",
    "ClockTime": lambda of: f"time {of['typed']} is {of['time_ns']}",
    "RolloverSoon": lambda of: f"rollover {of['minutes']}m",
    "ClientsLong": lambda of: f"clients {_level(of)}%",
    "StreamSilence": lambda of: f"silence {of['stream']} {of['seconds']}s",
}
