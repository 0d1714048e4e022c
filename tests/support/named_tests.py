"""Tests named as `folder/file::test` in the tables of what is shown where: whether they are there."""

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent.parent


def missing(names: tuple[str, ...]) -> list[str]:
    """Return the tests that are not there any more under their names."""
    return [each for each in names if each.split("::")[1] not in _tests_in(each.split("::")[0])]


@cache
def _tests_in(file: str) -> frozenset[str]:
    path = TESTS / f"{file}.py"
    tree = ast.parse(path.read_text() if path.exists() else "")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))
