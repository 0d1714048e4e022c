"""Reading JSON bodies: typed members, and the engine's request for an order.

A member of the wrong type raises a 400 `HttpError` with the member's path. Numbers may come as text or as JSON numbers, times
in either format. A well-formed order that breaks a trading rule, such as a missing price, is left to the engine, which
rejects it with a transaction.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, cast, get_args

from keydesk_practice.engine.commands import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    GuaranteedStopLossRequest,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    OrderRequest,
    PositionFill,
    StopLossDetails,
    StopLossRequest,
    StopRequest,
    TakeProfitDetails,
    TakeProfitRequest,
    TimeInForce,
    TrailingStopLossDetails,
    TrailingStopLossRequest,
    TriggerCondition,
)
from keydesk_practice.engine.quotes import Market
from keydesk_practice.http.errors import invalid_value, missing_value
from keydesk_practice.http.requests import read_time, whole_number

MAX_NUMBER_CHARACTERS = 40
MAX_TEXT_CHARACTERS = 8192
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_TIMES_IN_FORCE = frozenset(get_args(TimeInForce))
_POSITION_FILLS = frozenset(get_args(PositionFill))
_TRIGGERS = frozenset(get_args(TriggerCondition))


@dataclass(frozen=True, slots=True)
class JsonReader:
    """A JSON object and its path in the body; each method returns one member as its type, None for null or absent."""

    values: Mapping[str, Any]
    path: str = ""

    def name(self, member: str) -> str:
        """Return the full path of a member, for error messages."""
        return f"{self.path}.{member}" if self.path else member

    def has(self, member: str) -> bool:
        """Return whether a member is present, null included."""
        return member in self.values

    def text(self, member: str) -> str | None:
        """Return a string."""
        value = self.values.get(member)
        if value is not None and (not isinstance(value, str) or len(value) > MAX_TEXT_CHARACTERS):
            raise invalid_value(self.name(member))
        return value

    def word(self, member: str, allowed: frozenset[str]) -> str | None:
        """Return one of the allowed words."""
        value = self.text(member)
        if value is not None and value not in allowed:
            raise invalid_value(self.name(member))
        return value

    def decimal(self, member: str) -> Decimal | None:
        """Return a number, exactly as sent."""
        value = self.values.get(member)
        return None if value is None else decimal_of(value, self.name(member))

    def time(self, member: str) -> int | None:
        """Return a time in nanoseconds since 1970."""
        value = self.values.get(member)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise invalid_value(self.name(member))
        return read_time(str(value), self.name(member))

    def flag(self, member: str) -> bool | None:
        """Return a boolean."""
        value = self.values.get(member)
        if value is not None and not isinstance(value, bool):
            raise invalid_value(self.name(member))
        return value

    def object(self, member: str) -> "JsonReader | None":
        """Return an inner object."""
        value = self.values.get(member)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise invalid_value(self.name(member))
        return JsonReader(value, self.name(member))

    def required(self, member: str) -> "JsonReader":
        """Return an inner object; raise a 400 `HttpError` when it is missing."""
        inner = self.object(member)
        if inner is None:
            raise missing_value(self.name(member))
        return inner


def decimal_of(value: object, name: str) -> Decimal:
    """Return the number of a JSON string or number, without exponent, of at most `MAX_NUMBER_CHARACTERS`."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise invalid_value(name)
    text = format(value, "f") if isinstance(value, Decimal) else _number_text(value)
    if len(text) > MAX_NUMBER_CHARACTERS or not _DECIMAL.fullmatch(text):
        raise invalid_value(name)
    return Decimal(text)


def _number_text(value: str | int) -> str:
    if isinstance(value, str):
        return value
    return str(value) if value.bit_length() < 4 * MAX_NUMBER_CHARACTERS else ""


def read_close_units(body: JsonReader, member: str) -> Literal["ALL"] | Decimal:
    """Return the units of a trade close; `ALL` when the member is absent."""
    if body.values.get(member) in (None, "ALL"):
        return "ALL"
    units = body.decimal(member)
    if units is None or units <= 0:
        raise invalid_value(body.name(member))
    return units


def read_side_units(body: JsonReader, member: str) -> Literal["ALL", "NONE"] | Decimal | None:
    """Return the units of one side of a position close; None when the member is absent."""
    value = body.values.get(member)
    if value == "ALL":
        return "ALL"
    if value == "NONE":
        return "NONE"
    units = body.decimal(member)
    if units is not None and units <= 0:
        raise invalid_value(body.name(member))
    return units


def read_order(body: JsonReader, market: Market) -> OrderRequest:
    """Return the order of a create or replace body."""
    order = body.required("order")
    kind = order.text("type")
    if kind is None:
        raise missing_value(order.name("type"))
    reader = _READERS.get(kind)
    if reader is None:
        raise invalid_value(order.name("type"))
    return reader(order, market)


def read_extensions(parent: JsonReader, member: str) -> ClientExtensions | None:
    """Return the client extensions in a member."""
    details = parent.object(member)
    if details is None:
        return None
    return ClientExtensions(details.text("id"), details.text("tag"), details.text("comment"))


def read_take_profit(parent: JsonReader, member: str) -> TakeProfitDetails | None:
    """Return the details of a take-profit in a member."""
    details = parent.object(member)
    return None if details is None else TakeProfitDetails(**_priced_details(details))


def read_stop_loss(parent: JsonReader, member: str) -> StopLossDetails | None:
    """Return the details of a stop-loss in a member."""
    details = parent.object(member)
    if details is None:
        return None
    return StopLossDetails(**_priced_details(details), guaranteed=details.flag("guaranteed"))


def read_guaranteed_stop_loss(parent: JsonReader, member: str) -> GuaranteedStopLossDetails | None:
    """Return the details of a guaranteed stop in a member."""
    details = parent.object(member)
    return None if details is None else GuaranteedStopLossDetails(**_priced_details(details))


def read_trailing_stop_loss(parent: JsonReader, member: str) -> TrailingStopLossDetails | None:
    """Return the details of a trailing stop in a member."""
    details = parent.object(member)
    if details is None:
        return None
    return TrailingStopLossDetails(distance=details.decimal("distance"), **_details(details))


def _details(details: JsonReader) -> dict[str, Any]:
    return {
        "time_in_force": details.word("timeInForce", _TIMES_IN_FORCE),
        "gtd_time": details.time("gtdTime"),
        "client_extensions": read_extensions(details, "clientExtensions"),
    }


def _priced_details(details: JsonReader) -> dict[str, Any]:
    return {
        "price": details.decimal("price"),
        "distance": details.decimal("distance"),
        **_details(details),
    }


def _entry(order: JsonReader, market: Market) -> dict[str, Any]:
    instrument, units = order.text("instrument"), order.decimal("units")
    if instrument is None or market.specification(instrument) is None:
        raise invalid_value(order.name("instrument"))
    if units is None:
        raise missing_value(order.name("units"))
    return {
        "instrument": instrument,
        "units": units,
        "position_fill": order.word("positionFill", _POSITION_FILLS) or "DEFAULT",
        "client_extensions": read_extensions(order, "clientExtensions"),
        "take_profit_on_fill": read_take_profit(order, "takeProfitOnFill"),
        "stop_loss_on_fill": read_stop_loss(order, "stopLossOnFill"),
        "guaranteed_stop_loss_on_fill": read_guaranteed_stop_loss(
            order, "guaranteedStopLossOnFill"
        ),
        "trailing_stop_loss_on_fill": read_trailing_stop_loss(order, "trailingStopLossOnFill"),
        "trade_client_extensions": read_extensions(order, "tradeClientExtensions"),
    }


def _time_in_force(order: JsonReader, default: Literal["FOK", "GTC"]) -> TimeInForce:
    return cast("TimeInForce | None", order.word("timeInForce", _TIMES_IN_FORCE)) or default


def _resting(order: JsonReader) -> dict[str, Any]:
    return {
        "price": order.decimal("price"),
        "time_in_force": _time_in_force(order, "GTC"),
        "gtd_time": order.time("gtdTime"),
        "trigger_condition": order.word("triggerCondition", _TRIGGERS) or "DEFAULT",
    }


def _market(order: JsonReader, market: Market) -> MarketRequest:
    return MarketRequest(
        **_entry(order, market),
        time_in_force=_time_in_force(order, "FOK"),
        price_bound=order.decimal("priceBound"),
    )


def _limit(order: JsonReader, market: Market) -> LimitRequest:
    return LimitRequest(**_entry(order, market), **_resting(order))


def _stop(order: JsonReader, market: Market) -> StopRequest:
    bound = order.decimal("priceBound")
    return StopRequest(**_entry(order, market), **_resting(order), price_bound=bound)


def _market_if_touched(order: JsonReader, market: Market) -> MarketIfTouchedRequest:
    bound = order.decimal("priceBound")
    return MarketIfTouchedRequest(**_entry(order, market), **_resting(order), price_bound=bound)


def _dependent(order: JsonReader) -> dict[str, Any]:
    trade_id = order.text("tradeID")
    return {
        "trade_id": None if trade_id is None else whole_number(trade_id, order.name("tradeID")),
        "client_trade_id": order.text("clientTradeID"),
        "distance": order.decimal("distance"),
        "client_extensions": read_extensions(order, "clientExtensions"),
        **_resting(order),
    }


def _take_profit(order: JsonReader, _: Market) -> TakeProfitRequest:
    return TakeProfitRequest(**_dependent(order))


def _stop_loss(order: JsonReader, _: Market) -> StopLossRequest:
    return StopLossRequest(**_dependent(order), guaranteed=order.flag("guaranteed"))


def _guaranteed_stop_loss(order: JsonReader, _: Market) -> GuaranteedStopLossRequest:
    return GuaranteedStopLossRequest(**_dependent(order))


def _trailing_stop_loss(order: JsonReader, _: Market) -> TrailingStopLossRequest:
    return TrailingStopLossRequest(**_dependent(order))


_READERS: dict[str, Callable[[JsonReader, Market], OrderRequest]] = {
    "MARKET": _market,
    "LIMIT": _limit,
    "STOP": _stop,
    "MARKET_IF_TOUCHED": _market_if_touched,
    "TAKE_PROFIT": _take_profit,
    "STOP_LOSS": _stop_loss,
    "GUARANTEED_STOP_LOSS": _guaranteed_stop_loss,
    "TRAILING_STOP_LOSS": _trailing_stop_loss,
}
