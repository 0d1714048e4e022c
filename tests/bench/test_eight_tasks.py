"""Lines, CPU time and memory of eight tasks with four clients: one broker, one run, a process for each client and round.

pytest -m bench -n0 -p no:randomly -s tests/bench/test_eight_tasks.py
"""

# ruff: noqa: T201 - the figures are the result

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bench.tasks import TASKS
from support.broker import practice_server

pytestmark = pytest.mark.bench

TESTS = Path(__file__).parents[1]
PACKAGES = {
    "keydesk": "keydesk_client",
    "fivetwenty": "fivetwenty",
    "v20": "v20",
    "oandapyv20": "oandapyV20",
}
ROUNDS = 3


def lines_of(client: str) -> int:
    """Return the lines of the eight tasks, without their first lines."""
    tree = ast.parse((TESTS / "bench" / "tasks" / f"{client}_tasks.py").read_text())
    tasks = [each for each in tree.body if getattr(each, "name", "") in TASKS]
    return sum((each.end_lineno or 0) - each.lineno for each in tasks)


async def test_the_eight_tasks_beside_other_clients(practice_folder: Path) -> None:
    found: dict[str, list[dict[str, Any]]] = {}
    async with practice_server(practice_folder, "--port", "0", "--rate-limit", "100000") as desk:
        for _ in range(ROUNDS):
            for client, package in PACKAGES.items():
                if find_spec(package) is None:
                    continue
                ran = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this loop
                    [
                        *(sys.executable, "-m", "bench.tasks", client),
                        *(desk.rest_url, desk.token, desk.account_id),
                    ],
                    cwd=TESTS,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                found.setdefault(client, []).append(json.loads(ran.stdout))
    print(f"\n{'':24}" + "".join(f"{PACKAGES[each]:>16}" for each in found))
    print(f"{'lines':24}" + "".join(f"{lines_of(each):16}" for each in found))
    best = {
        client: {task: min(each["ms"][task] for each in rounds) for task in TASKS}
        for client, rounds in found.items()
    }
    for task in TASKS:
        print(f"{task + ' ms':24}" + "".join(f"{best[each][task]:16.1f}" for each in found))
    memory = {client: min(each["MB"] for each in rounds) for client, rounds in found.items()}
    print(f"{'all ms':24}" + "".join(f"{sum(best[each].values()):16.1f}" for each in found))
    print(f"{'peak MB':24}" + "".join(f"{memory[each]:16.1f}" for each in found))
    assert lines_of("keydesk") <= min(map(lines_of, PACKAGES))
