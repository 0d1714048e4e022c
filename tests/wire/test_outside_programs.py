"""Programs that are not ours, unchanged, against the served interface: curl, HTTPie, and schemathesis over both documents.

`pip install -e '.[outside]'` installs those that pip has; one that is missing is skipped by name.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.broker import PracticeServer, practice_server

pytestmark = pytest.mark.e2e

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)
ENDLESS = "/stream"  # a stream does not end
SLOW_OR_ENDING = "jump|step|tokens"  # a year's walk; a ledger of tokens that only grows
PATIENCE = 600.0  # seconds


def program(name: str) -> str:
    """Return the path of a program; skip where it is not installed."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


async def run(*command: str, cwd: Path | None = None) -> str:
    """Run a program to its end and return what it said; fail with that where it fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0, said.decode(errors="replace")[:6000]
    return said.decode()


@pytest.fixture
async def market(practice_folder: Path) -> AsyncIterator[PracticeServer]:
    """A broker on a port, since these programs know no unix sockets."""
    more = ("--port", "0", "--rate-limit", "100000", "--start", "2019-06-05T10:00Z", "--paused")
    async with practice_server(practice_folder, *more) as server:
        yield server


async def test_curl_trades(market: PracticeServer) -> None:
    curl, url = program("curl"), f"{market.rest_url}/v3/accounts/{market.account_id}"
    header = ("-H", f"Authorization: Bearer {market.token}")
    order = {"order": {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}}
    sent = ("-H", "Content-Type: application/json", "-d", json.dumps(order), f"{url}/orders")
    filled = json.loads(await run(curl, "-sS", "--fail", *header, *sent))
    assert filled["orderFillTransaction"]["units"] == "1000"
    packed = json.loads(await run(curl, "-sS", "--fail", "--compressed", *header, url))
    assert len(packed["account"]["trades"]) == 1
    stream = f"{url}/pricing/stream?instruments=EUR_USD"
    # `head` ends first, and curl says that it could not write on.
    first = await run("sh", "-c", f'{curl} -sSN "$@" | head -n 1', "sh", *header, stream)
    assert json.loads(first.splitlines()[0])["instrument"] == "EUR_USD"


async def test_httpie_trades(market: PracticeServer) -> None:
    http, url = program("http"), f"{market.rest_url}/v3/accounts/{market.account_id}"
    given = ("--ignore-stdin", "--check-status", "--body", "--auth-type", "bearer")
    order = (
        *("order[type]=MARKET", "order[instrument]=USD_JPY", "order[units]=-500"),
        "order[stopLossOnFill][distance]=0.500",
    )
    filled: dict[str, Any] = json.loads(
        await run(http, *given, "--auth", market.token, "POST", f"{url}/orders", *order)
    )
    assert filled["orderFillTransaction"]["units"] == "-500"
    closing = ("PUT", f"{url}/positions/USD_JPY/close", "shortUnits=ALL")
    closed = json.loads(await run(http, *given, "--auth", market.token, *closing))
    assert closed["shortOrderFillTransaction"]["units"] == "500"


async def schemathesis(
    market: PracticeServer, document: str, token: str, left_out: str, examples: int
) -> None:
    """Let schemathesis draw requests from a document; each answer must be as the document says."""
    settings = f'[parameters]\n"path.accountID" = "{market.account_id}"\n'
    settings += f'"path.account" = "{market.account_id}"\n'
    (market.data.parent / "schemathesis.toml").write_text(settings)
    await run(
        program("st"),
        *("run", f"{market.rest_url}{document}"),
        *("--header", f"Authorization: Bearer {token}"),
        *("--exclude-path-regex", left_out, "--checks", CHECKS, "--phases", "fuzzing"),
        *("--max-examples", str(examples), "--seed", "1", "--generation-database", "none"),
        *("--request-timeout", "60", "--no-color"),
        cwd=market.data.parent,
    )


async def test_schemathesis_finds_nothing_in_the_v20_interface(market: PracticeServer) -> None:
    await schemathesis(market, "/openapi.json", market.token, ENDLESS, 3)


async def test_schemathesis_finds_nothing_in_the_control_interface(market: PracticeServer) -> None:
    token = (market.data / "control-token").read_text().strip()
    await schemathesis(market, "/control/v1/openapi.json", token, SLOW_OR_ENDING, 3)


@pytest.mark.soak
async def test_schemathesis_finds_nothing_in_a_hundred_requests_an_operation(
    market: PracticeServer,
) -> None:
    await schemathesis(market, "/openapi.json", market.token, ENDLESS, 100)
