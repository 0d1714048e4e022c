import ast
import asyncio
import inspect
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import keydesk_client.client
from keydesk_client import Client, FileJournal, models
from support.broker import PracticeServer

README = Path(__file__).parents[2] / "client" / "README.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.mark.e2e
def test_the_example_runs_as_written(tmp_path: Path) -> None:
    serve = '["keydesk", "practice", "serve", "--port", "0"]'
    example = blocks()[0]
    assert serve in example
    command = [sys.executable, "-m", "keydesk", *("practice", "serve", "--port", "0")]
    here = example.replace(serve, repr([*command, "--data", str(tmp_path / "data")]))
    ran = subprocess.run(
        [sys.executable, "-c", here], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    fill, value = ran.stdout.splitlines()
    assert fill.startswith("OrderFillTransaction(")
    assert "units=Decimal('10000')" in fill
    assert float(value) > 90_000


ENDED = {
    "print(event)": "break",
    "print(item)": "break",
    "        print(candle.time, candle.mid)\n\n# a bracket": "        break\n\n# a bracket",
    'stream("EUR_USD", granularity="M1")': 'stream("EUR_USD", granularity="S5")',
    "count=50_000": "count=5_001",
    "2024-01-01T00:00:00Z": (datetime.now(UTC) - timedelta(minutes=9)).isoformat(),
}
"""How endless and long parts of a block are ended."""


async def run_block(beginning: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run the block that begins so, its endless parts ended; return its names."""
    (block,) = (each for each in blocks() if each.startswith(beginning))
    for whole, ended in ENDED.items():
        block = block.replace(whole, ended)
    code = compile(block, "README", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names |= {name: getattr(models, name) for name in models.__all__}
    if not code.co_flags & inspect.CO_COROUTINE:
        await asyncio.to_thread(exec, code, names)
    else:
        await eval(code, names)  # noqa: S307 - the README's own code
    return names


@pytest.fixture
async def client(
    desk_of_my_own: PracticeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Client]:
    """A client of the practice broker, which stands for the broker's practice environment as well."""
    desk = desk_of_my_own
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(keydesk_client.client, "PRACTICE", (desk.rest_url, desk.stream_url))
    async with Client.practice(desk.token, desk.account_id) as client:
        yield client


async def test_the_block_without_async_runs(client: Client, desk_of_my_own: PracticeServer) -> None:
    await client.orders.market("EUR_USD", 1)
    names = {"token": desk_of_my_own.token, "account_id": desk_of_my_own.account_id}
    await run_block("from keydesk_client import Client, sync", dict(names))


@pytest.mark.e2e
async def test_the_block_about_the_account_as_it_is_now_runs(client: Client) -> None:
    names = {"client": client, "FileJournal": FileJournal, "Decimal": Decimal}
    found = await run_block("journal = FileJournal", dict(names))
    assert found["account"].units("EUR_USD") > 0


@pytest.mark.e2e
async def test_the_block_of_calls_runs(client: Client) -> None:
    opened = await client.orders.market("EUR_USD", 10_000, take_profit="500p")
    fill = opened.order_fill_transaction
    assert fill is not None
    assert fill.trade_opened is not None
    names = {"client": client, "trade_id": fill.trade_opened.trade_id}
    found = await run_block("# any period", dict(names))
    assert len(found["history"]) == 5_001
    (trade,) = (
        each for each in (await client.trades.open()).trades if each.id == names["trade_id"]
    )
    assert trade.current_units == 9_000
    assert trade.take_profit_order is None
    assert trade.stop_loss_order is not None


async def test_the_block_of_a_sender_runs(client: Client, tmp_path: Path) -> None:
    newest = (await client.accounts.summary()).account.last_transaction_id
    names = {"client": client, "folder": tmp_path / "j", "newest_transaction_id": newest}
    assert (await run_block("from keydesk_client import Ambiguous", dict(names)))["units"] == 1000


async def test_the_block_of_transports_runs(request: pytest.FixtureRequest) -> None:
    pytest.importorskip("respx")
    pytest.importorskip("pytest_httpx")
    mock = request.getfixturevalue("httpx_mock")
    names = {"app": None, "httpx_mock": mock, "Client": Client, "url": "https://r.test"}
    found = await run_block("import httpx, respx", dict(names))
    async with found["client"] as client:
        assert (await client.accounts.list()).accounts == ()


@pytest.mark.parametrize("block", blocks())
def test_what_a_block_imports_is_there(block: str) -> None:
    tree = ast.parse(block)
    compile(block, "README", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            module = import_module(node.module)
            assert all(hasattr(module, each.name) for each in node.names)


def test_every_example_that_is_named_is_there() -> None:
    named = re.findall(r"\]\((examples[^)]*)\)", README.read_text())
    assert named
    assert all((README.parent / each).exists() for each in named)


def test_the_table_names_every_call() -> None:
    from keydesk_client import sync  # noqa: PLC0415 - the areas are wanted here only

    text = README.read_text()
    for area in (
        "Accounts",
        "Candles",
        "Pricing",
        "Orders",
        "Trades",
        "Positions",
        "Transactions",
        "Books",
    ):
        calls = {name for name in vars(getattr(sync, area)) if not name.startswith("_")}
        row = re.search(rf"^\| `{area.lower()}` \| `(.*)` \|$", text, re.MULTILINE)
        assert row is not None
        assert set(row[1].split()) == calls
