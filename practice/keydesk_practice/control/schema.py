"""Typed JSON: records read from request bodies, and their JSON Schema for the OpenAPI document.

Members are named as on the v20 wire: `margin_rate` is `marginRate`. A member without a default is required, one that the
record does not have is refused, and every error names the member.
"""

import types
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import fields

from keydesk_practice.engine.wire_form import Timestamp, parse_time, wire_name
from keydesk_practice.http.error_responses import HttpError, invalid_value, missing_value

Record = TypeVar("Record", bound=Struct)
Json = dict[str, Any]
_MAX_DIGITS = 30
_MAX_NUMBER = 1e15  # far above any of ours
_PRIMITIVES: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def read_record(kind: type[Record], body: Mapping[str, Any], path: str = "") -> Record:
    """Return the record of a JSON object; raise a 400 `HttpError` that names the first wrong member."""
    hints = get_type_hints(kind, include_extras=True)
    known = {wire_name(field.name): field for field in fields(kind)}
    for name in body:
        if name not in known:
            raise HttpError(
                400, f"Unknown member '{path}{name}': use one of {', '.join(sorted(known))}"
            )
    values: dict[str, Any] = {}
    for name, field in known.items():
        if name in body:
            values[field.name] = read_value(hints[field.name], body[name], f"{path}{name}")
        elif field.required:
            raise missing_value(f"{path}{name}")
    return kind(**values)


def read_value(hint: Any, value: Any, path: str) -> Any:  # noqa: ANN401, PLR0911 - one line for each kind of type
    """Return a JSON value as its type; raise a 400 `HttpError` for any other."""
    if hint == Timestamp:
        return _time(value, path)
    origin = get_origin(hint)
    if origin in {Union, types.UnionType}:
        inner = next(part for part in get_args(hint) if part is not types.NoneType)
        return None if value is None else read_value(inner, value, path)
    if origin is Literal:
        if value not in get_args(hint):
            text = ", ".join(map(str, get_args(hint)))
            raise invalid_value(path, f": use one of {text}")
        return value
    if origin is tuple:
        return _items(get_args(hint)[0], value, path)
    if isinstance(hint, type) and issubclass(hint, Struct):
        if not isinstance(value, dict):
            raise invalid_value(path, ": an object is expected")
        return read_record(hint, value, f"{path}.")
    if hint is Decimal:
        return _decimal(value, path)
    return _primitive(hint, value, path)


def schema_of(hint: Any, definitions: Json) -> Json:  # noqa: ANN401, PLR0911 - one line for each kind of type
    """Return the JSON Schema of a type; records are added to `definitions` and referred to."""
    if hint == Timestamp:
        return {"type": "string", "format": "date-time"}
    origin = get_origin(hint)
    if origin is Annotated:
        return schema_of(get_args(hint)[0], definitions)
    if origin in {Union, types.UnionType}:
        inner = next(part for part in get_args(hint) if part is not types.NoneType)
        return {"anyOf": [schema_of(inner, definitions), {"type": "null"}]}
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    if origin is tuple:
        return {"type": "array", "items": schema_of(get_args(hint)[0], definitions)}
    if isinstance(hint, type) and issubclass(hint, Struct):
        _define(hint, definitions)
        return {"$ref": f"#/components/schemas/{hint.__name__}"}
    if hint is Decimal:
        return {"type": ["string", "number"], "format": "decimal"}
    return {"type": _PRIMITIVES[hint]}


def _define(kind: type[Struct], definitions: Json) -> None:
    if kind.__name__ in definitions:
        return
    definition: Json = {"type": "object", "description": (kind.__doc__ or "").strip()}
    definitions[kind.__name__] = definition
    hints = get_type_hints(kind, include_extras=True)
    definition["properties"] = {
        wire_name(field.name): schema_of(hints[field.name], definitions) for field in fields(kind)
    }
    required = [wire_name(field.name) for field in fields(kind) if field.required]
    if required:
        definition["required"] = required
    definition["additionalProperties"] = False


def _time(value: object, path: str) -> int:
    try:
        return parse_time(str(value) if isinstance(value, str | int) else "")
    except ValueError:
        raise invalid_value(path, ": use a time such as 2015-01-15T09:00Z") from None


def _items(hint: Any, value: Any, path: str) -> tuple[Any, ...]:  # noqa: ANN401
    if not isinstance(value, list):
        raise invalid_value(path, ": an array is expected")
    return tuple(read_value(hint, one, f"{path}[{number}]") for number, one in enumerate(value))


def _decimal(value: object, path: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise invalid_value(path, ": a number is expected")
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise invalid_value(path, ": a number is expected") from None
    if not number.is_finite() or len(number.as_tuple().digits) > _MAX_DIGITS:
        raise invalid_value(path, f": a finite number of at most {_MAX_DIGITS} digits is expected")
    return number


def _primitive(hint: type, value: Any, path: str) -> Any:  # noqa: ANN401
    if hint is float and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        if -_MAX_NUMBER < value < _MAX_NUMBER:
            return float(value)
    elif isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    raise invalid_value(path, f": a {_PRIMITIVES[hint]} is expected")
