"""The start of the desk beside that of a bare Textual program with one DataTable of 80 rows, in turns; figures are printed.

    pytest -m bench -n0 -p no:randomly -s tests/bench/test_start_beside_datatable.py

What is compared is the processor's time of the program itself until a text is on the terminal, so that other programs matter
little; the desk's practice broker starts beside it, on another core. The start of the terminal, 15 ms, is in both.
"""

import re
import statistics
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from support.terminal import Terminal, keydesk

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="it reads /proc"),
]
SIZE = (200, 50)
STARTS = 10
ESCAPE = re.compile(rb"\x1b\[[0-9;<>=?]*[a-zA-Z]")
TABLE = """
from textual.app import App
from textual.widgets import DataTable, Static

class Prices(App):
    CSS = "DataTable { height: 1fr; }"

    def compose(self):
        yield Static("Prices")
        yield DataTable()

    def on_mount(self):
        table = self.query_one(DataTable)
        for column in ("instrument", "bid", "ask", "spread", "day %", "time"):
            table.add_column(column, key=column, width=14)
        for row in range(80):
            price = f"{1 + row / 100:.5f}"
            table.add_row(f"EUR_X{row:02}", price, price, "1.2", "+0.31", "10:00:00")

Prices().run()
"""
# What is on the terminal then, and how many times the table's processor time the desk may take until then.
MOST: Mapping[str, tuple[bytes, float]] = {
    "first picture": (rb"Watch", 1.4),
    "net asset value": (rb"100,000\.00", 2.8),
    "first prices": (rb"1\.[01]\d{4}", 2.9),
}
MOST_MEMORY = 84  # MB, at 120x35


def cpu_ms(pid: int) -> float:
    """Return the processor time of all threads of a process so far."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text(encoding="ascii").split()[0]) for each in tasks) / 1e6


def is_shown(program: Terminal, mark: bytes) -> bool:
    """Return whether a text was sent to the terminal, whatever its colours."""
    return re.search(mark, ESCAPE.sub(b"", program.raw)) is not None


def costs(
    command: list[str], marks: Mapping[str, bytes], env: Mapping[str, str]
) -> dict[str, float]:
    """Start a program; return what it has cost when each mark was on the terminal."""
    found = {}
    with Terminal(command, SIZE, env) as program:
        for name, mark in marks.items():
            program.until(partial(is_shown, program, mark), what=name)
            found[name] = cpu_ms(program.pid)
    return found


def test_the_start_of_the_desk_beside_that_of_a_plain_table(tmp_path: Path) -> None:
    compiled = {"PYTHONPYCACHEPREFIX": str(tmp_path / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    home = {"KEYDESK_HOME": str(tmp_path / "home"), **compiled}
    table_mark, desk_marks = {"table": rb"EUR_X1"}, {name: mark for name, (mark, _) in MOST.items()}
    table, desk = [], []
    for _ in range(1 + STARTS):  # the first compiles
        table.append(costs([sys.executable, "-c", TABLE], table_mark, compiled)["table"])
        desk.append(costs(keydesk("--practice"), desk_marks, home))
    plain = statistics.median(table[1:])
    ratios = {name: statistics.median(each[name] for each in desk[1:]) / plain for name in MOST}
    for name, ratio in ratios.items():
        sys.stdout.write(f"\n{name:<18}{ratio:5.2f} of the table's {plain:.0f} ms of CPU")
    assert {name for name, ratio in ratios.items() if ratio > MOST[name][1]} == set()


def test_the_open_desk_takes_little_memory(tmp_path: Path) -> None:
    home = {"KEYDESK_HOME": str(tmp_path / "home"), "PYTHONDONTWRITEBYTECODE": ""}
    with Terminal(keydesk("--practice"), (120, 35), home) as desk:
        desk.see("round trip")
        desk.pause(6)
        status = Path(f"/proc/{desk.pid}/status").read_text(encoding="ascii")
    kilobytes = int(status.partition("VmRSS:")[2].split()[0])
    sys.stdout.write(f"\nmemory {kilobytes * 1024 / 1e6:.0f} MB\n")
    assert kilobytes * 1024 / 1e6 <= MOST_MEMORY
