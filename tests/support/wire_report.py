"""A pytest plugin: after a complete run of `tests/wire`, the session fails when the reference was not checked completely.

The tests note what they checked in the session fixture `wire_record`. They run in any order and in several processes: each
pytest-xdist worker sends its record to the controller, which merges them and compares the result with the reference and
with the table in the practice broker's README. `WRITE_README=1 pytest tests/wire` writes the table.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.wire import wire
from support.wire_record import (
    UNSENT_BODIES,
    UNSENT_MEMBERS,
    UNSENT_STATUSES,
    Seen,
    WireRecord,
    bodies_of,
    statuses_of,
)

FOLDER = Path(__file__).parents[1] / "wire"
README = FOLDER.parents[1] / "practice" / "README.md"
START = "<!-- operations: written from a test run by tests/support/wire_report.py -->\n"
END = "<!-- operations end -->"
_KEY = "wire_report"


class WireReport:
    """The record of this process, and in the controller the merged record of all."""

    def __init__(self) -> None:
        self.record = WireRecord()
        self.expected: set[str] = set()  # node ids; empty unless the whole folder was collected
        self.passed: set[str] = set()
        self.problems: list[str] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the tests of the folder when all of its files are collected without a filter."""
        items = [item for item in session.items if item.path.parent == FOLDER]
        filtered = session.config.getoption("keyword") or any(
            "::" in one for one in session.config.args
        )
        if not filtered and {item.path for item in items} == set(FOLDER.glob("test_*.py")):
            self.expected = {item.nodeid for item in items}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the passed tests; the controller gets the reports of all workers."""
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:  # noqa: ANN401 - a class of pytest-xdist
        """Merge the record of a worker that has finished."""
        if sent := getattr(node, "workeroutput", {}).get(_KEY):
            self.record.merge(sent["record"])
            self.expected.update(sent["expected"])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """In a worker, send the record to the controller; else check it, if all tests of the folder have passed."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = {"record": self.record.to_json(), "expected": sorted(self.expected)}
        elif self.expected and self.expected <= self.passed:
            self._check(session)

    def _check(self, session: pytest.Session) -> None:
        if "WRITE_README" in os.environ:
            _write(self.record)
        text = README.read_text(encoding="utf-8")
        shown = text[text.index(START) + len(START) : text.index(END)]
        self.problems = [*self.record.unchecked(), *self.record.contradictions()]
        if shown != table(self.record):
            self.problems.append(f"{README.name} differs: run WRITE_README=1 pytest tests/wire")
        if self.problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:  # noqa: ANN401 - not public
        """Print the differences."""
        if self.problems:
            terminalreporter.section("wire reference: not completely checked", red=True)
            for problem in self.problems:
                terminalreporter.line(problem)


def pytest_configure(config: pytest.Config) -> None:
    """Register the report of this process."""
    config.pluginmanager.register(WireReport(), _KEY)


@pytest.fixture(scope="session")
def wire_record(pytestconfig: pytest.Config) -> WireRecord:
    """The record of what was checked."""
    report = pytestconfig.pluginmanager.getplugin(_KEY)
    assert isinstance(report, WireReport)
    return report.record


def table(record: WireRecord) -> str:
    """Return the table of the README: what was checked of each operation."""
    head = [
        "| operation | request | statuses | of them errors | body members | parameters | headers |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    rows = [_row(name, record.of(name)) for name in wire().endpoints]
    return "\n".join([*head, *rows, "", *_never_sent()]) + "\n"


def _row(operation: str, seen: Seen) -> str:
    described = wire().endpoints[operation]
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


def _never_sent() -> Iterator[str]:
    yield "What the reference names and this broker never sends:"
    yield ""
    yield from (f"- `{member}`: {reason}" for member, reason in UNSENT_MEMBERS.items())
    for (operation, status), reason in (UNSENT_STATUSES | UNSENT_BODIES).items():
        what = f"{status}" if (operation, status) in UNSENT_STATUSES else f"a reject with {status}"
        yield f"- {what} of {operation}: {reason}"


def _write(record: WireRecord) -> None:
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    written = before + START + table(record) + END + rest.split(END, 1)[1]
    README.write_text(written, encoding="utf-8")
