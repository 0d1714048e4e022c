"""Risk, R and break-even: the client library's formulas (TRADER.md 2.5, 2.8), as the desk's modules name them."""

from keydesk_client.arithmetic.risk import (
    FIRST_STOP_WITHIN_NS,
    break_even_stop,
    exact_break_even,
    locked_profit,
    nearest_stop,
    open_risk,
    r_multiple,
    reward,
    stop_distance,
    trailing_stop,
)

__all__ = [
    "FIRST_STOP_WITHIN_NS",
    "break_even_stop",
    "exact_break_even",
    "locked_profit",
    "nearest_stop",
    "open_risk",
    "r_multiple",
    "reward",
    "stop_distance",
    "trailing_stop",
]
