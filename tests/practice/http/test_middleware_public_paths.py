"""What needs no token: health, the OpenAPI document, and pages of named origins."""

import json
import logging
from pathlib import Path

import httpx
import pytest

from keydesk_practice.errors import LedgerWriteFailed
from keydesk_practice.http.middleware import PublicPaths, v20_document
from keydesk_practice.http.routes import PATHS
from support.controlled_broker import TOKEN, ControlledBroker, controlled_broker
from support.v20_openapi import text

PAGE = "http://localhost:3000"


def client(
    market: ControlledBroker, origins: tuple[str, ...] = (), *, logs: bool = False
) -> httpx.AsyncClient:
    application = PublicPaths(
        market.broker, market.application, origins=origins, logs_requests=logs
    )
    transport = httpx.ASGITransport(application)
    return httpx.AsyncClient(transport=transport, base_url="http://broker")


async def test_health_needs_no_token_and_tells_a_failed_ledger(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, client(market) as http:
        healthy = await http.get("/health")
        assert (healthy.status_code, healthy.json()["status"]) == (200, "ok")
        market.broker.commits.failure = LedgerWriteFailed("the disk is full")
        failed = await http.get("/health")
        assert (failed.status_code, failed.json()["reason"]) == (503, "the disk is full")
        market.broker.commits.failure = None
        assert (await http.get("/v3/accounts")).status_code == 401


async def test_the_document_is_served_and_describes_every_path(tmp_path: Path) -> None:
    async with controlled_broker(tmp_path) as market, client(market) as http:
        found = (await http.get("/openapi.json")).json()
    described = {path: {method.upper() for method in one} for path, one in found["paths"].items()}
    assert described == {path: set(methods) for path, methods in PATHS.items()}


def test_the_document_is_the_one_made_from_the_wire_reference() -> None:
    assert v20_document().decode() == text(), "run `python tests/support/v20_openapi.py`"
    names = set(json.loads(text())["components"]["schemas"])
    for reference in text().split("#/components/schemas/")[1:]:
        assert reference.partition('"')[0] in names


async def test_pages_of_other_origins_read_nothing_unless_named(tmp_path: Path) -> None:
    headers = {"Origin": PAGE, "Authorization": f"Bearer {TOKEN}"}
    async with controlled_broker(tmp_path) as market:
        async with client(market) as http:
            answer = await http.get("/v3/accounts", headers=headers)
            assert "access-control-allow-origin" not in answer.headers
            assert (await http.options("/v3/accounts", headers=headers)).status_code == 405
        async with client(market, (PAGE,)) as http:
            answer = await http.get("/v3/accounts", headers=headers)
            assert answer.headers["access-control-allow-origin"] == PAGE
            preflight = await http.options("/v3/accounts", headers={"Origin": PAGE})
            assert preflight.status_code == 204
            assert "Authorization" in preflight.headers["access-control-allow-headers"]
            other = await http.get("/v3/accounts", headers={**headers, "Origin": "http://evil"})
            assert "access-control-allow-origin" not in other.headers


async def test_a_log_line_tells_a_request_and_no_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "keydesk.practice.requests")
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with controlled_broker(tmp_path) as market, client(market, logs=True) as http:
        answer = await http.get("/v3/accounts?secret=1", headers=headers)
    (line,) = caplog.messages
    assert line.startswith("GET /v3/accounts 200 ")
    assert line.endswith(f"ms id {answer.headers['RequestID']}")
    assert TOKEN not in line
    assert "secret" not in line
