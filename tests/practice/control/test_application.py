"""Who may control: whoever has the control token, on this machine."""

import json
import re
from pathlib import Path
from typing import Any

import httpx

from keydesk_practice.control.operations import OPERATIONS, control_document
from support.controlled_broker import (
    CONTROL_TOKEN,
    TOKEN,
    ControlledBroker,
    controlled_broker,
)

STATE = "/control/v1/state"


async def test_another_token_does_not_control(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, market.client() as http:
        for token in ("", TOKEN, CONTROL_TOKEN + "x", "\u00e4" * 9):
            headers = {b"Authorization": b"Bearer " + token.encode()}
            assert (await http.get(STATE, headers=headers)).status_code == 401


async def test_the_control_token_does_not_trade(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, market.client(CONTROL_TOKEN) as http:
        assert (await http.get("/v3/accounts")).status_code == 401


async def status_for(market: ControlledBroker, address: str) -> httpx.Response:
    async with market.client(CONTROL_TOKEN, (address, 5)) as http:
        return await http.get(STATE)


async def test_other_machines_do_not_control_unless_told_otherwise(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        for address in ("192.168.1.7", "10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"):
            refused = await status_for(market, address)
            assert (refused.status_code, "--control-anywhere" in refused.text) == (403, True)
        for address in ("127.0.0.1", "::1", "127.9.9.9", "::ffff:127.0.0.1", ""):
            assert (await status_for(market, address)).status_code == 200
    async with controlled_broker(tmp_path, "", control_anywhere=True) as market:
        assert (await status_for(market, "192.168.1.7")).status_code == 200


async def test_a_proxy_on_this_machine_does_not_open_it_to_others(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, market.client(CONTROL_TOKEN) as http:
        for name in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
            assert (await http.get(STATE, headers={name: "1.2.3.4"})).status_code == 403


async def test_unknown_paths_and_methods_are_named(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market:
        await market.control("GET", "/nothing", 404)
        refused = await market.control("GET", "/clock/pause", 405)
        assert refused["errorMessage"]


async def test_the_document_is_served_without_a_token_and_describes_every_operation(
    tmp_path: Path,
) -> None:
    async with controlled_broker(tmp_path) as market, market.client("") as http:
        found = (await http.get("/control/v1/openapi.json")).json()
    assert found == json.loads(json.dumps(control_document()))
    described = {(m.upper(), path) for path, one in found["paths"].items() for m in one}
    assert described == {(one.method, f"/control/v1{one.path}") for one in OPERATIONS}
    schemas = found["components"]["schemas"]
    for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(found)):
        assert name in schemas


def fits(value: object, schema: dict[str, Any], schemas: dict[str, Any]) -> bool:  # noqa: PLR0911 - one line for each kind
    """Return whether a value has the members and types that a schema of ours states."""
    if "$ref" in schema:
        return fits(value, schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        return any(fits(value, one, schemas) for one in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kinds: dict[str, Any] = {"string": str, "integer": int, "number": (int, float), "boolean": bool,
             "array": list, "object": dict, "null": type(None)}  # fmt: skip
    words = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(isinstance(value, kinds[word]) for word in words):
        return False
    if isinstance(value, list):
        return all(fits(one, schema["items"], schemas) for one in value)
    if isinstance(value, dict):
        known = schema["properties"]
        required = set(schema.get("required", ()))
        absent = {name for name in required - value.keys() if not _may_be_null(known[name])}
        inner = (fits(one, known[name], schemas) for name, one in value.items())
        return value.keys() <= known.keys() and not absent and all(inner)
    return True


def _may_be_null(schema: dict[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


async def test_answers_are_what_the_document_says(tmp_path: Path) -> None:
    document = control_document()
    async with controlled_broker(tmp_path) as market:
        await market.control("POST", "/replay", scenario="franc", blind=True)
        await market.control("POST", "/shocks", kind="halt", seconds=5)
        made = {
            ("GET", "/state"): await market.control("GET", "/state"),
            ("GET", "/scenarios"): await market.control("GET", "/scenarios"),
            ("GET", "/checkpoints"): await market.control("GET", "/checkpoints"),
            ("POST", "/accounts"): await market.control("POST", "/accounts", alias="x"),
            ("POST", "/tokens"): await market.control("POST", "/tokens"),
            ("POST", "/replay/finish"): await market.control("POST", "/replay/finish"),
        }
    for (method, path), answer in made.items():
        described = document["paths"][f"/control/v1{path}"][method.lower()]["responses"]["200"]
        schema = described["content"]["application/json"]["schema"]
        assert fits(answer, schema, document["components"]["schemas"]), (path, answer)
