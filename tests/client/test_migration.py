"""Eight tasks side by side, as the page on migrating shows them; `python tests/client/test_migration.py` writes the page.

Their costs stand in the README of the client; `pytest -m bench -n0 -s tests/bench/test_eight_tasks.py` prints them.
"""

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.broker import practice_server

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "client" / "docs" / "migrating.md"
CLIENTS = {
    "keydesk": "keydesk_client",
    "fivetwenty": "fivetwenty",
    "v20": "v20",
    "oandapyv20": "oandapyV20",
}
TITLES = {
    "nav": "Net asset value",
    "bracket": "Market order with stop and target",
    "year_of_hours": "A year of H1 candles",
    "ten_prices": "Prices as they come",
    "no_transaction_lost": "Transactions, none lost",
    "all_transactions": "Every transaction of the account",
    "close_all": "Close everything",
    "reject_reason": "Why an order was rejected",
}
HEAD = """# Migrating from fivetwenty, v20 or oandapyV20

Eight tasks, each written with four clients. A test runs them against the practice broker, and writes this page.
`client` is the connected client of each package; ours is a `sync.Client`. The others are as short as they can be: they do
not look up lost responses, and what they miss while a stream is down is lost unless the code says otherwise.

## Lines and guarantees

"""
GUARANTEES = """| reads during an outage | retried for 20 s | retried 3 times, 3.5 s at most | raise | raise |
| writes | sent once | sent once | sent once | sent once |
| an order whose answer was lost | `Sender` finds it in the transactions | unknown | unknown | unknown |
| prices after a lost connection | go on, for as long as it takes | go on, for 3 attempts by default | end | end |
| prices missed meanwhile | a `Gap` with times marks them | unmarked | | |
| transactions missed meanwhile | are requested and come in order | are lost | are lost | are lost |
| finished candles as they close | `candles.stream`, none left out | no | no | no |
| requests above the limit | wait for their turn | are sent | are sent | are sent |
| numbers | `Decimal` | `Decimal` | `float` | text |
| times | exact to nanoseconds | cut to microseconds | text | text |

Read in the sources of the versions that the extra `bench` names; the lines are counted below.

"""


def source(client: str, task: str) -> str:
    """Return the body of a task as it stands in its file."""
    text = (TESTS / "bench" / "tasks" / f"{client}_tasks.py").read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == task:
            lines = text.splitlines()[node.body[0].lineno - 1 : node.end_lineno]
            return "\n".join(line.removeprefix("    ") for line in lines)
    raise AssertionError(task)


def lines_of(client: str, task: str) -> int:
    """Return the number of lines of a task."""
    return len(source(client, task).splitlines())


def page() -> str:
    """Return the page on migrating."""
    names = " | ".join(CLIENTS.values())
    lines = " | ".join(str(sum(lines_of(client, task) for task in TITLES)) for client in CLIENTS)
    head = f"| | {names} |\n|---|---|---|---|---|\n| lines of the eight tasks | {lines} |\n"
    parts = [HEAD, head, GUARANTEES]
    for task, title in TITLES.items():
        parts.append(f"## {title}\n\n")
        for client, package in CLIENTS.items():
            parts.append(f"{package}:\n\n```python\n{source(client, task)}\n```\n\n")
    return "".join(parts).rstrip() + "\n"


def test_the_page_shows_the_tasks_as_they_run() -> None:
    assert PAGE.read_text() == page()


def test_our_tasks_have_no_more_lines_than_the_shortest_of_the_others() -> None:
    ours = sum(lines_of("keydesk", task) for task in TITLES)
    others = [sum(lines_of(each, task) for task in TITLES) for each in CLIENTS if each != "keydesk"]
    assert ours <= min(others)


@pytest.mark.e2e
@pytest.mark.parametrize("client", CLIENTS)
async def test_the_tasks_do_what_they_say(client: str, practice_folder: Path) -> None:
    if find_spec(CLIENTS[client]) is None:
        pytest.skip(
            f"{CLIENTS[client]} is not installed: pip install -c constraints.txt -e '.[bench]'"
        )
    async with practice_server(practice_folder, "--port", "0") as desk:
        command = [sys.executable, "-m", "bench.tasks", client, desk.rest_url]
        ran = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this loop
            [*command, desk.token, desk.account_id],
            cwd=TESTS,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr
    results = json.loads(ran.stdout)["results"]
    assert float(results["nav"]) == 100_000
    assert results["year_of_hours"] == 8760
    assert results["no_transaction_lost"] == 3
    assert results["close_all"] == 1
    assert results["reject_reason"] == "UNITS_LIMIT_EXCEEDED"
    assert results["all_transactions"] > 5
    assert results["ten_prices"] > 0  # heartbeats are among the ten items


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
