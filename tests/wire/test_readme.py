"""The table in the practice broker's README is what the tests of this folder checked; nothing of the reference is left out.

`WRITE_README=1 pytest tests/wire` writes the table anew.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.wire import wire
from support.wire_record import (
    RECORD,
    UNMADE,
    UNMADE_BODIES,
    UNMADE_STATUSES,
    bodies_of,
    statuses_of,
)

HERE = Path(__file__).parent
README = HERE.parents[1] / "practice" / "README.md"
START = "<!-- operations: written from a test run by tests/wire/test_readme.py -->\n"
END = "<!-- operations end -->"


@pytest.fixture(autouse=True)
def whole_run(request: pytest.FixtureRequest) -> None:
    """Read the record only when the whole folder runs before."""
    files = {item.path.name for item in request.session.items if item.path.parent == HERE}
    chosen = request.config.getoption("keyword") or any("::" in one for one in request.config.args)
    if chosen or files != {path.name for path in HERE.glob("test_*.py")}:
        pytest.skip("the record is whole after all tests of this folder")


def test_nothing_of_the_reference_is_unchecked() -> None:
    assert RECORD.unchecked() == []


def test_the_readme_tells_what_was_checked() -> None:
    if "WRITE_README" in os.environ:
        write()
    text = README.read_text(encoding="utf-8")
    assert text[text.index(START) + len(START) : text.index(END)] == table()


def test_what_is_said_to_be_unmade_was_never_seen() -> None:
    members = {name for one in wire().endpoints for name in RECORD.of(one).paths}
    assert not [name for name in UNMADE if f".{name}" in members]
    assert not [key for key in UNMADE_STATUSES if key[1] in RECORD.of(key[0]).statuses]


def table() -> str:
    head = [
        "| operation | request | statuses | of them errors | body members | parameters | headers |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    rows = [_row(name) for name in wire().endpoints]
    return "\n".join([*head, *rows, "", *_unmade()]) + "\n"


def _row(operation: str) -> str:
    described, seen = wire().endpoints[operation], RECORD.of(operation)
    named = set(statuses_of(described))
    statuses, errors = named & seen.statuses, {one for one in named & seen.statuses if one >= 400}
    asked = [one for one in described["params"] if one["in"] != "path"]
    sent = [one for one in asked if one["name"].lower() in seen.parameters]
    answered = [one for one in described["response"]["headers"] if one.lower() in seen.headers]
    known = [
        (status, member)
        for status, members in bodies_of(described).items()
        for member in members & seen.members.get(status, set())
    ]
    counted = len(known) or len({path for path in seen.paths if path.count(".") == 1})
    request = f"`{described['method']} {described['path']}`"
    cells = (len(statuses), len(errors), counted, len(sent), len(answered))
    return f"| {operation} | {request} | " + " | ".join(map(str, cells)) + " |"


def _unmade() -> Iterator[str]:
    yield "What the reference names and this broker never sends:"
    yield ""
    yield from (f"- `{member}`: {reason}" for member, reason in UNMADE.items())
    for (operation, status), reason in (UNMADE_STATUSES | UNMADE_BODIES).items():
        what = f"{status}" if (operation, status) in UNMADE_STATUSES else f"a reject with {status}"
        yield f"- {what} of {operation}: {reason}"


def write() -> None:
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    README.write_text(before + START + table() + END + rest.split(END, 1)[1], encoding="utf-8")
