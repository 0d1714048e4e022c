"""Writes the OpenAPI document of the v20 interface from the wire reference: `python tests/support/v20_openapi.py`.

Every answer of the broker is tested against the reference, so the document says what is really served. A test compares the
file with what this module makes, and its paths with the router's.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "tests" / "wire" / "v20.yaml"
TARGET = ROOT / "practice" / "keydesk_practice" / "http" / "v20_openapi.json"
ARRAYS = "list<"
Json = dict[str, Any]
SECTIONS = ("types", "orders", "requests", "transactions")
PATTERNS = {
    "DecimalNumber": r"^-?\d+(\.\d+)?$",
    "AccountUnits": r"^-?\d+\.\d{4}$",
    "PriceValue": r"^-?\d+(\.\d+)?$",
    "TransactionID": r"^[1-9]\d*$",
    "OrderID": r"^\d+$",  # a reject repeats what was asked for, such as 0
    "TradeID": r"^\d+$",
}


def document(reference: Mapping[str, Any]) -> Json:
    """Return the OpenAPI 3.1 document of a wire reference."""
    paths: dict[str, Json] = {}
    for name, endpoint in reference["endpoints"].items():
        method = str(endpoint["method"]).lower()
        paths.setdefault(endpoint["path"], {})[method] = _operation(name, endpoint)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Keydesk practice broker: v20",
            "version": "3.0.25",
            "description": "The v20 REST and streaming interface, as the practice broker serves it.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": _schemas(reference),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def type_schema(text: str) -> Json:
    """Return the schema of a type as the reference writes it: `list<$OrderID>`, `string`, `$Price|null`."""
    if text.endswith("|null"):
        return {"anyOf": [type_schema(text.removesuffix("|null")), {"type": "null"}]}
    if text.startswith(ARRAYS):
        return {"type": "array", "items": type_schema(text[len(ARRAYS) : -1])}
    if text.startswith("$"):
        return {"$ref": f"#/components/schemas/{text[1:]}"}
    return {"type": text}


def _schemas(reference: Mapping[str, Any]) -> Json:
    made: Json = {}
    for name, scalar in reference["scalars"].items():
        made[name] = {"type": scalar["type"], "description": scalar.get("note", "")}
        if name == "Liquidity":
            made[name]["type"] = ["string", "integer"]
        if name in PATTERNS:
            made[name]["pattern"] = PATTERNS[name]
    for name, one in reference["enums"].items():
        made[name] = {"type": "string", "enum": one["values"]}
    for name, union in reference["unions"].items():
        made[name] = {"oneOf": [type_schema(member) for member in union["members"]]}
    for section in SECTIONS:
        for name, record in reference[section].items():
            made[name] = _record(reference, section, record)
    return made


def _record(reference: Mapping[str, Any], section: str, record: Mapping[str, Any]) -> Json:
    fields: Json = (
        dict(reference["transactions_base"]["fields"]) if section == "transactions" else {}
    )
    for group in record.get("groups", ()):
        optional = group in record.get("optional_groups", ())
        for name, one in reference["groups"][group]["fields"].items():
            fields[name] = {**one, "required": one["required"] and not optional}
    fields |= record["fields"]
    schema = _object(fields, requested=section == "requests")
    if "type_value" in record:
        schema["properties"]["type"] = {"type": "string", "const": record["type_value"]}
        schema["required"] = sorted({*schema.get("required", ()), "type"})
    return {"description": record.get("note", ""), **schema}


def _object(fields: Mapping[str, Any], *, requested: bool = False) -> Json:
    """Return the schema of an object; in a request, a member with a default may be left out."""
    schema: Json = {"type": "object", "properties": {}}
    required = []
    for name, one in fields.items():
        described = {"description": one["note"]} if "note" in one else {}
        schema["properties"][name] = {**type_schema(one["type"]), **described}
        if one["required"] and not (requested and "default" in one):
            required.append(name)
    if required:
        schema["required"] = sorted(required)
    return schema


def _operation(name: str, endpoint: Mapping[str, Any]) -> Json:
    answer = endpoint["response"]
    schema = type_schema(answer["body_type"]) if "body_type" in answer else _object(answer["body"])
    kind = "application/octet-stream" if "stream" in name else "application/json"
    responses: Json = {str(answer["status"]): _response("The answer", kind, schema)}
    errors = {*endpoint["errors"], *endpoint["errors_public"]}
    if any(one["name"] == "accountID" for one in endpoint["params"]):
        errors.add(400)  # of a text that can be no account's id, which is not listed for each
    for status in sorted(errors):
        rich = endpoint.get("reject_bodies", {}).get(status)
        error = type_schema("$Error") if rich is None else _object(rich)
        if rich is not None:
            error = {"anyOf": [error, type_schema("$Error")]}
        responses[str(status)] = _response("An error", "application/json", error)
    described: Json = {"operationId": name, "tags": [endpoint["group"]], "responses": responses}
    if endpoint["params"]:
        described["parameters"] = [_parameter(one) for one in endpoint["params"]]
    if "request_body" in endpoint:
        body = _object(endpoint["request_body"], requested=True)
        described["requestBody"] = {
            "required": bool(body.get("required")),
            "content": {"application/json": {"schema": body}},
        }
    return described


def _parameter(one: Mapping[str, Any]) -> Json:
    parameter: Json = {
        "name": one["name"],
        "in": one["in"],
        "required": one["required"],
        "description": one.get("note", ""),
        "schema": type_schema(one["type"]),
    }
    if one["type"].startswith(ARRAYS):
        parameter |= {"style": "form", "explode": False}
    return parameter


def _response(description: str, kind: str, schema: Json) -> Json:
    return {"description": description, "content": {kind: {"schema": schema}}}


def text() -> str:
    """Return the document as the file holds it."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    reference = yaml.load(REFERENCE.read_bytes(), loader)  # noqa: S506 - a safe one
    return json.dumps(document(reference), separators=(",", ":"), sort_keys=True) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), "utf-8")
    sys.stdout.write(f"{TARGET} written\n")
