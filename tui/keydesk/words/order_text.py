"""Orders, edits and requests in words: those of the desk's own instructions, and those written in journal and audit log."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import Field, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeAlias

from msgspec import Struct, structs
from msgspec.structs import FieldInfo

from keydesk.calc.orders.instructions import SetProtection
from keydesk.calc.orders.lifetime import EXPIRY_WORDS
from keydesk.calc.orders.plans.exit_plans import ExitRules
from keydesk.calc.orders.ticket_draft import KIND_WORDS
from keydesk.text.format import EMPTY, date_and_time, money, pair, unit_count, units
from keydesk.text.sanitize import SafeText, clean_name, safe
from keydesk.values import OrderRow
from keydesk_client.models import (
    LimitOrderRequest,
    MarketIfTouchedOrderRequest,
    MarketOrderRequest,
    StopOrderRequest,
)
from keydesk_client.orders.outcome import Action, Intent
from keydesk_client.unset import Unset

EntryRequest: TypeAlias = (
    MarketOrderRequest | LimitOrderRequest | StopOrderRequest | MarketIfTouchedOrderRequest
)

REDUCE_ONLY = "reduce-only"
ORDER_TYPES = {
    "LIMIT": "limit",
    "STOP": "stop",
    "MARKET_IF_TOUCHED": "if touched",
    "TAKE_PROFIT": "target",
    "STOP_LOSS": "stop-loss",
    "TRAILING_STOP_LOSS": "trailing stop",
    "GUARANTEED_STOP_LOSS": "guaranteed stop",
    "FIXED_PRICE": "fixed price",
}
DEPENDENTS = {
    "stopLossOnFill": "stop",
    "takeProfitOnFill": "target",
    "trailingStopLossOnFill": "trailing stop",
    "guaranteedStopLossOnFill": "guaranteed stop",
    "stopLoss": "stop",
    "takeProfit": "target",
    "trailingStopLoss": "trailing stop",
    "guaranteedStopLoss": "guaranteed stop",
}
POSITION_FILLS = {
    "REDUCE_ONLY": REDUCE_ONLY,
    "REDUCE_FIRST": "reduces first",
    "OPEN_ONLY": "opens only",
    "DEFAULT": "",
}
TIMES_IN_FORCE = {"GTC": "until cancelled", "FOK": "fill or kill", "IOC": "immediate or cancel"}
MEMBERS = {
    "price": "at {}",
    "priceBound": "no worse than {}",
    "distance": "{} away",
    "gtdTime": "until {}",
    "tradeID": "for trade #{}",
    "longUnits": "long side: {}",
    "shortUnits": "short side: {}",
}
NAMED_FIRST = ("type", "instrument", "units")  # of the request
USUAL_VALUES = {"triggerCondition": "DEFAULT", "timeInForce": "FOK"}  # not named


def order_name(order: OrderRow) -> SafeText:
    """Return an order in words: BUY 20,000 EUR/USD limit 1.08200 #6415."""
    kind = ORDER_TYPES.get(order.type) or clean_name(order.type.replace("_", " ").lower())
    at = EMPTY if order.price is None else f"{order.price}"
    if order.units is None:
        trade = clean_name(order.trade_id or "?")
        return safe(
            f"{kind} {at} of trade #{trade} {pair(order.instrument)} #{clean_name(order.id)}"
        )
    side = "BUY" if order.units > 0 else "SELL"
    only = f" {REDUCE_ONLY}" if order.reduces else ""
    size, name = units(abs(order.units)), pair(order.instrument)
    return safe(f"{side} {size} {name} {kind} {at}{only} #{clean_name(order.id)}")


def open_text(order: EntryRequest) -> str:
    """Return an order in words: BUY 50,000 EUR/USD at market."""
    where = "at market"
    if not isinstance(order, MarketOrderRequest):
        where = f"{KIND_WORDS[order.type]} {order.price}"
    only = f" {REDUCE_ONLY}" if order.position_fill == "REDUCE_ONLY" else ""
    return f"{side_of(order)} {units(abs(order.units))} {pair(order.instrument)} {where}{only}"


def side_of(order: EntryRequest) -> Literal["BUY", "SELL"]:
    """Return the side of an order."""
    return "BUY" if order.units > 0 else "SELL"


def change_text(change: SetProtection, pip: Decimal | None) -> str:
    """Return an edit in words: stop 1.08230, target off, trail 25.0p."""
    trail = change.trail
    behind = f"{money(trail / pip, 1)}p" if pip and isinstance(trail, Decimal) else trail
    parts = (
        ("stop", change.stop),
        ("target", change.target),
        ("trail", behind),
        ("guaranteed stop", change.guaranteed),
    )
    phrases = [
        f"{name} {'off' if value is None else value}"
        for name, value in parts
        if not isinstance(value, Unset)
    ]
    if change.expiry:
        ends = EXPIRY_WORDS[change.expiry]
        phrases.append(ends if change.gtd_ns is None else f"until {date_and_time(change.gtd_ns)}")
    if change.trigger:
        phrases.append(f"trigger {change.trigger}")
    return ", ".join(phrases)


def instruction_text(instruction: object) -> str:
    """Return all of an instruction for the audit log: its kind, and as JSON the members that differ from their defaults.

    open order {"request": {"type": "MARKET", "instrument": "EUR_USD", "units": "10000"}, "expected": "1.13386"}
    """
    kind = re.sub(r"\B(?=[A-Z])", " ", type(instruction).__name__).lower()
    return f"{kind} {json.dumps(_plain(instruction), ensure_ascii=False)}"


def _plain(value: object) -> object:
    """Return a value as JSON has it: numbers as text, so that no digit is lost, a request as it is sent, an exit plan in words."""
    if isinstance(value, ExitRules):
        return value.text
    if isinstance(value, EntryRequest):
        wire = value.to_wire()
        return {name: wire[name] for name in NAMED_FIRST} | wire
    if (shown := _members(value)) is not None:
        held = ((each, getattr(value, each.name)) for each in shown)
        return {each.name: _plain(one) for each, one in held if one != each.default}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return f"{value:f}" if isinstance(value, Decimal) else value


def _members(value: object) -> Sequence[FieldInfo | Field[Any]] | None:
    """Return the members of a record that are shown; None: it is no record."""
    if isinstance(value, Struct):
        return structs.fields(value)
    if is_dataclass(value):
        return [each for each in fields(value) if each.repr]
    return None


def intent_text(intent: Intent) -> str:
    """Return a journalled intent in words."""
    body = intent.body
    match intent.action:
        case Action.CREATE | Action.REPLACE:
            size, kind = _decimal(body.get("units")), str(body.get("type", "")).lower()
            side = "BUY" if size >= 0 else "SELL"
            name = pair(str(body.get("instrument", "?")))
            return f"{side} {units(abs(size))} {name} {kind.replace('_', ' ')}"
        case Action.CANCEL:
            return f"CANCEL order #{intent.target}{_instrument_of(intent)}"
        case Action.CLOSE_TRADE:
            return f"CLOSE {_closed_size(body)} of #{intent.target}{_instrument_of(intent)}"
        case Action.CLOSE_POSITION:
            return f"CLOSE position {pair(intent.target)}"
        case Action.SET_DEPENDENT_ORDERS:
            return f"PROTECTION of #{intent.target}{_instrument_of(intent)}"


def _closed_size(body: Mapping[str, object]) -> str:
    text = str(body.get("units", "?"))
    try:
        return units(Decimal(text))
    except InvalidOperation:
        return text.lower()


def _instrument_of(intent: Intent) -> str:
    return f" {pair(intent.instrument)}" if intent.instrument else ""


def _decimal(text: object) -> Decimal:
    try:
        return Decimal(str(text))
    except InvalidOperation:
        return Decimal(0)


def request_text(body: Mapping[str, object]) -> str:
    """Return what a request asks for: kind, size, instrument, price, dependent orders, then all other members."""
    if isinstance(request := body.get("request"), dict):  # what the desk decided, and what it adds
        body = {**request, **{name: value for name, value in body.items() if name != "request"}}
    first = " ".join(filter(None, (_kind(body), _size(body), _instrument(body))))
    phrases = [
        first,
        *(_member(name, value) for name, value in body.items() if name not in NAMED_FIRST),
    ]
    return ", ".join(filter(None, phrases))


def words_of_text(request: str) -> str:
    """Return the words of a request as it is written in journal and audit log, its JSON put into words."""
    start = request.find("{")
    if start < 0:
        return request
    with suppress(ValueError):
        body, end = json.JSONDecoder().raw_decode(request[start:])
        if isinstance(body, dict):
            before, after = request[:start].strip(), request[start + end :].strip(" ,")
            return "; ".join(filter(None, (before, request_text(body), after)))
    return request


def _kind(body: Mapping[str, object]) -> str:
    return str(body.get("type") or "").replace("_", " ").lower()


def _size(body: Mapping[str, object]) -> str:
    size = body.get("units")
    if size is None:
        return ""
    try:
        number = Decimal(str(size))
    except InvalidOperation:
        return "all units" if size == "ALL" else f"{size} units"
    if "instrument" not in body:  # part of a trade, which has its side
        return unit_count(number)
    return f"{'buy' if number >= 0 else 'sell'} {units(abs(number))}"


def _instrument(body: Mapping[str, object]) -> str:
    return pair(str(body["instrument"])) if body.get("instrument") else ""


def _member(name: str, value: object) -> str:
    if name in USUAL_VALUES and USUAL_VALUES[name] == value:
        return ""
    if name in DEPENDENTS:
        return _dependent(DEPENDENTS[name], value)
    match name:
        case "positionFill":
            return POSITION_FILLS.get(str(value), str(value))
        case "timeInForce":
            return TIMES_IN_FORCE.get(str(value), "" if value == "GTD" else str(value))
        case "clientExtensions" | "tradeClientExtensions" if isinstance(value, dict):
            return ", ".join(_extensions(name, value))
        case _:
            form = MEMBERS.get(name)
            return form.format(value) if form else f"{name} {value}"


def _dependent(name: str, value: object) -> str:
    if value is None:
        return f"{name} removed"
    if not isinstance(value, dict):
        return f"{name} {value}"
    members = {key: each for key, each in value.items() if (key, each) != ("timeInForce", "GTC")}
    return " ".join([name, *filter(None, (_member(*each) for each in members.items()))])


def _extensions(name: str, value: Mapping[str, object]) -> Iterator[str]:
    of = "trade's " if name.startswith("trade") else ""
    for member, text in value.items():
        if member != "id":  # beside the time it was made
            yield f"{of}{member} {text}"
