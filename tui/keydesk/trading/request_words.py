"""Put the body of a request that changes an account into words, for the page of order outcomes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation

from keydesk.text.format import pair, units

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
FILLS = {
    "REDUCE_ONLY": "reduce-only",
    "REDUCE_FIRST": "reduces first",
    "OPEN_ONLY": "opens only",
    "DEFAULT": "",
}
FORCES = {"GTC": "until cancelled", "FOK": "fill or kill", "IOC": "immediate or cancel"}
NAMES = {
    "price": "at {}",
    "priceBound": "no worse than {}",
    "distance": "{} away",
    "gtdTime": "until {}",
    "tradeID": "for trade #{}",
    "longUnits": "long side: {}",
    "shortUnits": "short side: {}",
}
QUIET = frozenset(("type", "units", "instrument"))  # said first
USUAL = {"triggerCondition": "DEFAULT", "timeInForce": "FOK"}  # left out as they are


def request_words(body: Mapping[str, object]) -> str:
    """Return what a request asks for: kind, size, instrument, price, dependent orders, then all other members."""
    first = " ".join(filter(None, (_kind(body), _size(body), _instrument(body))))
    said = [first, *(_member(name, value) for name, value in body.items() if name not in QUIET)]
    return ", ".join(filter(None, said))


def words_of_text(request: str) -> str:
    """Return the words of a request as it is written in journal and audit log, its JSON put into words."""
    start = request.find("{")
    if start < 0:
        return request
    with suppress(ValueError):
        body, end = json.JSONDecoder().raw_decode(request[start:])
        if isinstance(body, dict):
            before, after = request[:start].strip(), request[start + end :].strip(" ,")
            return "; ".join(filter(None, (before, request_words(body), after)))
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
        return f"{units(number)} units"
    return f"{'buy' if number >= 0 else 'sell'} {units(abs(number))}"


def _instrument(body: Mapping[str, object]) -> str:
    return pair(str(body["instrument"])) if body.get("instrument") else ""


def _member(name: str, value: object) -> str:
    if name in USUAL and USUAL[name] == value:
        return ""
    if name in DEPENDENTS:
        return _dependent(DEPENDENTS[name], value)
    match name:
        case "positionFill":
            return FILLS.get(str(value), str(value))
        case "timeInForce":
            return FORCES.get(str(value), "" if value == "GTD" else str(value))
        case "clientExtensions" | "tradeClientExtensions" if isinstance(value, dict):
            return ", ".join(_extensions(name, value))
        case _:
            form = NAMES.get(name)
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
