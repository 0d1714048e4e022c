"""The OpenAPI document of the control interface, generated from its operations."""

import re
from typing import Any

from keydesk_practice.control.operations import BASE, OPERATIONS, Operation
from keydesk_practice.control.records import Nothing
from keydesk_practice.control.schema import schema_of

_PARAMETER = re.compile(r"\{(\w+)\}")


def control_document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    schemas: dict[str, Any] = {
        "Error": {
            "type": "object",
            "required": ["errorMessage"],
            "properties": {"errorMessage": {"type": "string"}, "errorCode": {"type": "string"}},
        }
    }
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        described = _described(operation, schemas)
        paths.setdefault(f"{BASE}{operation.path}", {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Keydesk practice broker: control",
            "version": "1",
            "description": "Clock, replays, shocks, faults and accounts of a practice market.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {
            "200": _json("The answer", schema_of(operation.answer, schemas)),
            "default": _json("An error", {"$ref": "#/components/schemas/Error"}),
        },
    }
    names = _PARAMETER.findall(operation.path)
    if names:
        found["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
    if operation.request is not Nothing:
        body = schema_of(operation.request, schemas)
        found["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return found


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
