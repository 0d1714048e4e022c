"""Profit and rounding: the client library's formulas (TRADER.md 2.1, 2.2, 2.7), as the desk's modules name them."""

from keydesk_client.arithmetic.profit import (
    HOME,
    Factors,
    average_price,
    closing_price,
    home_profit,
    nearest_price,
    notional,
    pip,
    pip_value,
    price_down,
    price_up,
    profit,
    profit_in_pips,
    quote_profit,
    whole_units,
)

__all__ = [
    "HOME",
    "Factors",
    "average_price",
    "closing_price",
    "home_profit",
    "nearest_price",
    "notional",
    "pip",
    "pip_value",
    "price_down",
    "price_up",
    "profit",
    "profit_in_pips",
    "quote_profit",
    "whole_units",
]
