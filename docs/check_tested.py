"""Check that every test named in `docs/tested.md` exists; print those that do not and end with 1."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def _tests_in(file: str) -> frozenset[str]:
    path = ROOT / file
    tree = ast.parse(path.read_text() if path.exists() else "")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def main() -> int:
    named = NAMED.findall((ROOT / "docs" / "tested.md").read_text())
    missing = [f"{file}::{name}" for file, name in named if name not in _tests_in(file)]
    for each in missing:
        sys.stderr.write(f"docs/tested.md names a test that does not exist: {each}\n")
    return 1 if missing or not named else 0


if __name__ == "__main__":
    sys.exit(main())
