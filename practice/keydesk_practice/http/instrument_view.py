"""An instrument's specification as the interface writes it."""

from typing import Any

from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.wire_form import plain

DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")


def instrument_view(one: Specification) -> dict[str, Any]:
    """Return the JSON object of an instrument."""
    return {
        "name": one.name,
        "type": one.type,
        "displayName": one.display_name,
        "pipLocation": one.pip_location,
        "displayPrecision": one.display_precision,
        "tradeUnitsPrecision": one.trade_units_precision,
        "minimumTradeSize": plain(one.minimum_trade_size),
        "maximumTrailingStopDistance": plain(one.maximum_trailing_stop_distance),
        "minimumTrailingStopDistance": plain(one.minimum_trailing_stop_distance),
        "maximumPositionSize": plain(one.maximum_position_size),
        "maximumOrderUnits": plain(one.maximum_order_units),
        "marginRate": plain(one.margin_rate),
        **_guaranteed_stops(one),
        "financing": _financing(one),
        "tags": [{"type": type_, "name": name} for type_, name in one.tags],
    }


def _guaranteed_stops(one: Specification) -> dict[str, Any]:
    if one.guaranteed_mode == "DISABLED":
        return {"guaranteedStopLossOrderMode": "DISABLED"}
    found: dict[str, Any] = {
        "guaranteedStopLossOrderMode": one.guaranteed_mode,
        "minimumGuaranteedStopLossDistance": plain(one.guaranteed_minimum_distance),
        "guaranteedStopLossOrderExecutionPremium": plain(one.guaranteed_premium),
    }
    if one.guaranteed_level_volume:
        found["guaranteedStopLossOrderLevelRestriction"] = {
            "volume": plain(one.guaranteed_level_volume),
            "priceRange": plain(one.guaranteed_level_range),
        }
    return found


def _financing(one: Specification) -> dict[str, Any]:
    days = zip(DAYS, one.financing_days, strict=True)
    return {
        "longRate": plain(one.long_rate),
        "shortRate": plain(one.short_rate),
        "financingDaysOfWeek": [
            {"dayOfWeek": day, "daysCharged": charged} for day, charged in days
        ],
    }
