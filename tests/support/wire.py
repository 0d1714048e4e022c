"""Holds an answer against `tests/wire/v20.yaml`, member by member.

    problems = wire().problems("create_order", 201, answer.json())      # [] when all is well

A problem is a sentence with the path of the member. Checked are: members that must be there, members nobody named,
types, the text of numbers, times and ids, enumerations, and the number of decimals of prices where the instrument is
known. `wire_record.py` counts what was seen, for the table in the practice broker's README.
"""

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent.parent / "wire" / "v20.yaml"
NULLABLE = frozenset({"gainQuoteHome", "lossQuoteHome", "gainBaseHome", "lossBaseHome"})
DECIMAL = re.compile(r"-?\d+(\.\d+)?")
TEXTS = {
    "AccountID": re.compile(r"\d+-\d+-\d+-\d+"),
    "TransactionID": re.compile(r"[1-9]\d*"),
    "OrderID": re.compile(r"[1-9]\d*"),
    "TradeID": re.compile(r"[1-9]\d*"),
    "RequestID": re.compile(r"[1-9]\d*"),
    "DecimalNumber": DECIMAL,
    "AccountUnits": re.compile(r"-?\d+\.\d{4}"),
    "PriceValue": DECIMAL,
    "DateTime": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z"),
    "InstrumentName": re.compile(r"[A-Z0-9]+_[A-Z0-9]+"),
    "Currency": re.compile(r"[A-Z]{3}"),
}
UNIX_TIME = re.compile(r"\d+\.\d{9}")
PRIMITIVES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}

Fields = Mapping[str, Mapping[str, Any]]


class Wire:
    """The reference, ready to check answers."""

    def __init__(self, reference: Mapping[str, Any], precisions: Mapping[str, int]) -> None:
        self._reference = reference
        self._precisions = precisions
        self.unix_times = False

    @property
    def endpoints(self) -> Mapping[str, Any]:
        """Every operation by name."""
        found: Mapping[str, Any] = self._reference["endpoints"]
        return found

    def problems(self, endpoint: str, status: int, body: object) -> list[str]:
        """Return everything wrong with the answer of an operation."""
        expected = self.endpoints[endpoint]["response"]
        if status != expected["status"]:
            rejects = self.endpoints[endpoint].get("reject_bodies", {})
            malformed = isinstance(body, dict) and body.keys() <= {"errorCode", "errorMessage"}
            plain = malformed or status not in rejects  # refused before the engine was asked
            fields = self._fields_of("Error") if plain else rejects[status]
            return list(self._record("", body, fields, None))
        if "body_type" in expected:
            return list(self._value("", body, expected["body_type"], None))
        return list(self._record("", body, expected["body"], None))

    def item_problems(self, union: str, item: object) -> list[str]:
        """Return everything wrong with one item of a stream."""
        return list(self._value("", item, f"${union}", None))

    def _value(self, path: str, value: object, type_: str, precision: int | None) -> Iterator[str]:
        if type_.endswith("|null"):
            if value is None:
                return
            type_ = type_.removesuffix("|null")
        if type_.startswith("list<"):
            yield from self._items(path, value, type_[5:-1], precision)
        elif type_.startswith("$"):
            yield from self._named(path, value, type_[1:], precision)
        elif not _is(value, PRIMITIVES[type_]):
            yield f"{path}: {value!r} is no {type_}"

    def _items(self, path: str, value: object, type_: str, precision: int | None) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{path}: {value!r} is no array"
            return
        for index, item in enumerate(value):
            yield from self._value(f"{path}[{index}]", item, type_, precision)

    def _named(self, path: str, value: object, name: str, precision: int | None) -> Iterator[str]:
        reference = self._reference
        if name in reference["scalars"]:
            yield from self._text(path, value, name, precision)
        elif name in reference["enums"]:
            if value not in reference["enums"][name]["values"]:
                yield f"{path}: {value!r} is no {name}"
        elif name in reference["unions"]:
            yield from self._member_of(path, value, reference["unions"][name], precision)
        else:
            yield from self._record(path, value, self._fields_of(name), precision)

    def _text(self, path: str, value: object, name: str, precision: int | None) -> Iterator[str]:
        if name == "Liquidity" and _is(value, int):
            return
        if not isinstance(value, str):
            yield f"{path}: {value!r} is not text ({name})"
            return
        pattern = UNIX_TIME if name == "DateTime" and self.unix_times else TEXTS.get(name)
        if pattern is not None and not pattern.fullmatch(value):
            yield f"{path}: {value!r} is no {name}"
        elif name == "PriceValue" and precision is not None:
            decimals = len(value.partition(".")[2])
            if decimals != precision:
                yield f"{path}: {value!r} has {decimals} decimals, not {precision}"

    def _member_of(
        self, path: str, value: object, union: Mapping[str, Any], precision: int | None
    ) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is no object"
            return
        names = [str(name)[1:] for name in union["members"]]
        for name in names:
            if name in self._reference["unions"] and value.get("type") != "HEARTBEAT":
                yield from self._named(path, value, name, precision)
                return
        kind = value.get("type", "PRICE")
        matching = [name for name in names if self._type_value(name) == kind]
        if not matching:
            yield f"{path}: no member of the union has type {kind!r}"
            return
        yield from self._named(path, value, matching[0], precision)

    def _type_value(self, name: str) -> str:
        for section in ("orders", "requests", "transactions"):
            if name in self._reference[section]:
                return str(self._reference[section][name]["type_value"])
        fields = self._reference["types"].get(name, {}).get("fields", {})
        return str(fields.get("type", {}).get("default", ""))

    def _record(
        self, path: str, value: object, fields: Fields, precision: int | None
    ) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is no object"
            return
        if "rejectReason" in value:
            precision = None  # a reject shows what was asked, decimals and all
        else:
            precision = self._precisions.get(str(value.get("instrument")), precision)
        for name in value.keys() - fields.keys():
            yield f"{path}.{name}: nobody named this member"
        for name, field in fields.items():
            if name in value:
                if value[name] is None and name in NULLABLE:
                    continue
                yield from self._value(f"{path}.{name}", value[name], field["type"], precision)
            elif field["required"]:
                yield f"{path}.{name}: is missing"

    @functools.cache  # noqa: B019 - one reference for the whole run
    def _fields_of(self, name: str) -> Fields:
        """Return the fields of a record: its groups first, then its own."""
        reference = self._reference
        section = next(s for s in ("types", "orders", "transactions") if name in reference[s])
        record = reference[section][name]
        fields: dict[str, Any] = {}
        if section == "transactions":
            fields |= reference["transactions_base"]["fields"]
        for group in record.get("groups", ()):
            optional = group in record.get("optional_groups", ())
            for field_name, field in reference["groups"][group]["fields"].items():
                fields[field_name] = {**field, "required": field["required"] and not optional}
        return {**fields, **record["fields"]}


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


@functools.cache
def _reference() -> Mapping[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: Mapping[str, Any] = yaml.load(FILE.read_bytes(), loader)  # noqa: S506 - a safe one
    return found


def wire(precisions: Mapping[str, int] | None = None) -> Wire:
    """Return a checker; `precisions` are the display precisions of the instruments."""
    return Wire(_reference(), precisions or {})
