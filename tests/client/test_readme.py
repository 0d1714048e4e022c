import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "client" / "README.md"


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


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
