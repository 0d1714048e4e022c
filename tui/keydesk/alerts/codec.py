"""Alerts as JSON and back; what cannot be an alert is refused."""

from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args, get_origin, get_type_hints

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.conditions import Condition

LARGEST_DIGITS = 30
LONGEST_TEXT = 200
LARGEST_WHOLE = 2**63
CONDITIONS: Mapping[str, type[Any]] = {each.__name__: each for each in get_args(Condition)}
WRITTEN: tuple[type[Any], ...] = (Alert, *CONDITIONS.values())
HINTS: Mapping[type[Any], Mapping[str, Any]] = {each: get_type_hints(each) for each in WRITTEN}


def written_alert(alert: Alert) -> dict[str, object]:
    """Return an alert as values of JSON."""
    said: dict[str, object] = {
        each.name: getattr(alert, each.name) for each in fields(alert) if each.name != "condition"
    }
    condition = alert.condition
    of: dict[str, object] = {"type": type(condition).__name__}
    for each in fields(condition):
        value = getattr(condition, each.name)
        of[each.name] = str(value) if isinstance(value, Decimal) else value
    return {**said, "condition": of}


def read_alert(said: Mapping[str, Any]) -> Alert:
    """Return the alert of values of JSON.

    Raises:
        ValueError, TypeError, KeyError: they are none.
    """
    values: dict[str, Any] = {
        name: _value(said[name], hint)
        for name, hint in HINTS[Alert].items()
        if name in said and name != "condition"
    }
    return Alert(condition=_condition(said["condition"]), **values)


def _condition(said: Mapping[str, Any]) -> Condition:
    kind = CONDITIONS[said["type"]]
    hints = HINTS[kind]
    values = {each.name: _value(said[each.name], hints[each.name]) for each in fields(kind)}
    condition: Condition = kind(**values)
    return condition


def _value(value: object, hint: Any) -> object:  # noqa: ANN401 - a type as it is annotated
    """Return a value of the annotated type."""
    if get_origin(hint) is Literal:
        return _chosen(value, get_args(hint))
    if value is None and type(None) in get_args(hint):
        return None
    kind = next(
        (each for each in (Decimal, int, str) if each is hint or each in get_args(hint)), None
    )
    if kind is Decimal:
        return _decimal(value)
    if kind is int:
        return _whole(value)
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise TypeError(f"{str(value)[:20]!r} is not text")
    return value


def _chosen(value: object, known: tuple[object, ...]) -> object:
    if value not in known:
        raise ValueError(f"{str(value)[:20]!r} is not one of {known}")
    return value


def _decimal(value: object) -> Decimal:
    if not isinstance(value, str) or len(value) > LARGEST_DIGITS:
        raise TypeError(f"{str(value)[:20]!r} is not a number")
    try:
        number = Decimal(value)
    except InvalidOperation as error:
        raise ValueError(f"{value!r} is not a number") from error
    if not number.is_finite():
        raise ValueError(f"{value!r} is not a number")
    return number


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST_WHOLE:
        raise TypeError(f"{str(value)[:20]!r} is not a whole number")
    return value
