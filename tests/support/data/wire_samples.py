"""Bodies as `tests/wire/v20.yaml` describes them, drawn at random: complete ones, sparse ones, ones from the future.

Samples(Random(7)).of("$AccountSummary")                     # every member, a random value each
Samples(Random(7), surprises=0.1).answer("create_order")     # and now and then what nobody has heard of yet
"""

# ruff: noqa: ANN401 - these are bodies of any shape

import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml

FILE = Path(__file__).parents[2] / "wire" / "v20.yaml"
RECORDS = ("types", "orders", "requests", "transactions")
NULLABLE = frozenset({"gainQuoteHome", "lossQuoteHome", "gainBaseHome", "lossBaseHome"})
START = datetime(2005, 1, 1, tzinfo=UTC)

Spec = dict[str, Any]


@functools.cache
def specification() -> Spec:
    """The whole file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loaded: Spec = yaml.load(FILE.read_bytes(), loader)  # noqa: S506 - a safe one
    return loaded


def record(name: str) -> Spec:
    """The description of a record."""
    spec = specification()
    found: Spec = next(spec[section][name] for section in RECORDS if name in spec[section])
    return found


def fields_of(name: str) -> Spec:
    """Every member of a record: of its groups, of all transactions if it is one, and its own."""
    spec = specification()
    members: Spec = {}
    if name in spec["transactions"]:
        members |= spec["transactions_base"]["fields"]
    optional = record(name).get("optional_groups", [])
    for group in record(name).get("groups", []):
        fields = spec["groups"][group]["fields"]
        if group in optional:
            fields = {member: {**field, "required": False} for member, field in fields.items()}
        members |= fields
    members |= record(name)["fields"]
    return members


class Samples:
    """Draws bodies; the same chance draws the same ones."""

    def __init__(self, rng: Random, *, optional: float = 1.0, surprises: float = 0.0) -> None:
        self._chance = rng
        self._optional = optional
        self._surprises = surprises

    def answer(self, operation: str) -> Spec:
        """The body of a good answer to an operation."""
        response = specification()["endpoints"][operation]["response"]
        if "body_type" in response:
            whole: Spec = self.of(response["body_type"])
            return whole
        return self._members(response["body"])

    def of(self, kind: str) -> Any:
        """A value of a type, as the file writes types."""
        if kind.startswith("list<"):
            return [self.of(kind[5:-1]) for _ in range(self._chance.randint(0, 3))]
        if not kind.startswith("$"):
            return self._primitive(kind)
        name = kind[1:]
        spec = specification()
        if name in spec["scalars"]:
            return self._scalar(name)
        if name in spec["enums"]:
            return (
                "NEVER_SEEN"
                if self._surprised()
                else self._chance.choice(spec["enums"][name]["values"])
            )
        if name in spec["unions"]:
            return self._one_of(spec["unions"][name]["members"])
        return self.record(name)

    def record(self, name: str) -> Spec:
        """A record by its name."""
        drawn = self._members(fields_of(name))
        if "type_value" in record(name):
            drawn["type"] = record(name)["type_value"]
        elif "default" in fields_of(name).get("type", {}):
            drawn["type"] = fields_of(name)["type"]["default"]
        return drawn

    def _members(self, fields: Spec) -> Spec:
        drawn = {}
        for name, field in fields.items():
            if field["required"] or self._chance.random() < self._optional:
                empty = name in NULLABLE and self._chance.random() < 0.3
                drawn[name] = None if empty else self.of(field["type"])
        if self._surprised():
            drawn["neverHeardOf"] = self._chance.choice([None, 1, "x", {"deep": [1.5, True]}, []])
        return drawn

    def _one_of(self, members: list[str]) -> Spec:
        drawn = self.record(self._chance.choice(members)[1:])
        if self._surprised():
            drawn["type"] = "NEVER_SEEN"
        return drawn

    def _surprised(self) -> bool:
        return self._chance.random() < self._surprises

    def _primitive(self, kind: str) -> Any:
        match kind:
            case "integer":
                return self._chance.randint(0, 10**6)
            case "boolean":
                return self._chance.random() < 0.5
            case _:
                return f"text {self._chance.randint(1, 99)} \u2028 ü"

    def _scalar(self, name: str) -> Any:
        rng = self._chance
        drawn: dict[str, Callable[[], Any]] = {
            "DecimalNumber": self.decimal,
            "AccountUnits": self.decimal,
            "PriceValue": self.decimal,
            "Liquidity": lambda: rng.choice([rng.randint(1, 10**7), self.decimal()]),
            "DateTime": self.moment,
            "InstrumentName": lambda: rng.choice(["EUR_USD", "USD_JPY", "XAU_USD"]),
            "Currency": lambda: rng.choice(["EUR", "INR", "USD"]),
            "AccountID": lambda: f"101-004-{rng.randint(1, 10**6)}-001",
            "CloseUnits": lambda: "ALL",
            "CloseoutUnits": lambda: "ALL",
        }
        return drawn.get(name, lambda: str(rng.randint(1, 10**6)))()

    def decimal(self) -> str:
        """Decimal text of any sane length, trailing zeros included."""
        whole = str(self._chance.randint(0, 10 ** self._chance.randint(1, 12)))
        places = self._chance.randint(0, 12)
        fraction = "".join(self._chance.choices("0123456789", k=places))
        return self._chance.choice(["", "-"]) + whole + (f".{fraction}" if places else "")

    def moment(self) -> str:
        """A time with nine decimals, in either form."""
        at = START + timedelta(seconds=self._chance.randint(0, 10**9))
        nano = f"{self._chance.randint(0, 999_999_999):09d}"
        if self._chance.random() < 0.2:
            return f"{int(at.timestamp())}.{nano}"
        return f"{at:%Y-%m-%dT%H:%M:%S}.{nano}Z"
